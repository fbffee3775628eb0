"""Links of the pages: codes of rules become links, and links to files of the repository work in the site too.

A page of `docs/` links to `../rules/PUB301-name.md` or to `../action.yml`. In the site the first is `/rules/PUB301.md`,
and the second a page that `repository` generates. MkDocs checks the links afterwards.
"""

from __future__ import annotations

import posixpath
import re
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.inlinepatterns import InlineProcessor
from markdown.treeprocessors import Treeprocessor

from pubcheck.rulebook import RULES

_RULE_FILE = re.compile(r"rules/(PUB\d{3})-[\w-]+\.md")
_ELSEWHERE = re.compile(r"[a-z]+:|//|/|#")
"""How a link begins that is not relative to the file it is in."""


def site_path(file: str) -> str:
    """Return the page of the site that shows a file of the repository."""
    if match := _RULE_FILE.fullmatch(file):
        return f"rules/{match[1]}.md"
    if file == "CHANGELOG.md":
        return "changelog.md"
    return file.removeprefix("docs/") if file.startswith("docs/") else f"repository/{file.replace('/', '-')}.md"


def linked_file(href: str, source: str) -> tuple[str, str] | None:
    """Return the file of the repository, and the anchor in it, that a link in the file ``source`` means; None for a
    link to elsewhere or within its page."""
    path, _, anchor = href.partition("#")
    if not path or _ELSEWHERE.match(href):
        return None
    return posixpath.normpath(posixpath.join(posixpath.dirname(source), path)), anchor


class SiteLinks(Extension):
    """``source`` is the file of the repository that is converted next, "" for a generated page."""

    source = ""

    def extendMarkdown(self, md: Markdown) -> None:
        md.inlinePatterns.register(_RuleCodes(r"\b(PUB\d{3})\b", md), "rule-codes", 70)
        # After the headings have their anchors (5), before MkDocs resolves links (0).
        md.treeprocessors.register(_FileLinks(md, self), "file-links", 1)


class _RuleCodes(InlineProcessor):
    """Links the code of a rule to its page, outside code, links and headings."""

    ANCESTOR_EXCLUDES = ("a", "code", "h1", "h2", "h3")

    # The base class declares a string pattern's method too.
    def handleMatch(  # type: ignore[override]
        self, m: re.Match[str], data: str
    ) -> tuple[Element | None, int | None, int | None]:
        if m[1] not in RULES:
            return None, None, None
        link = Element("a", href=f"/rules/{m[1]}.md")
        link.text = m[1]
        return link, m.start(0), m.end(0)


class _FileLinks(Treeprocessor):
    def __init__(self, md: Markdown, links: SiteLinks) -> None:
        super().__init__(md)
        self._links = links

    def run(self, root: Element) -> None:
        if not self._links.source:
            return  # the links of a generated page are those of the site
        for link in root.iter("a"):
            target = linked_file(link.get("href", ""), self._links.source)
            if target is not None:
                file, anchor = target
                link.set("href", f"/{site_path(file)}" + (f"#{anchor}" if anchor else ""))
