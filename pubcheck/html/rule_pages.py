"""The pages of rules as HTML, for pages that need no network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from markdown_it import MarkdownIt
from markupsafe import Markup

from pubcheck import rulebook


def rule_pages(codes: Iterable[str]) -> Iterator[tuple[rulebook.Rule, Markup]]:
    """Yield the rules with these codes, in order, with their pages; codes of another version are left out."""
    markdown = MarkdownIt("commonmark", {"html": False})
    for code in sorted(set(codes) & set(rulebook.RULES)):
        _, _, body = rulebook.body(code).strip().partition("\n")  # after the title
        text = str(markdown.render(body)).replace("<h3>", "<h4>").replace("</h3>", "</h4>")
        text = text.replace("<h2>", "<h3>").replace("</h2>", "</h3>").replace("<a href", '<a rel="noreferrer" href')
        yield rulebook.RULES[code], Markup(text)
