"""HTML pages from the templates next to this module; `page.html` is the frame of all of them.

Every page is one file, also with the pages of rules in it: style and scripts are written into it, and `page.js` belongs
to every page.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup

from pubcheck import rulebook
from pubcheck.source import escape

_FOLDER = os.path.dirname(os.path.abspath(__file__))


def render(template: str, **values: object) -> Iterator[str]:
    """Return the page in pieces. Texts in ``values`` are escaped, except those that are `Markup`."""
    stream = _environment().get_template(template).stream(values)
    stream.enable_buffering(200)
    return stream


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(os.path.join(_FOLDER, "templates")),
        autoescape=True,
        finalize=_printable,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["file"] = _file
    environment.filters["number"] = lambda number: f"{number:,}"
    return environment


def _printable(value: object) -> object:
    """Return a value that the page shows and a browser does not obey, for example to turn the reading direction."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return "\n".join(map(escape, value.split("\n")))
    return value


def _file(name: str) -> Markup:
    """Return a style sheet or script in this folder."""
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return Markup(file.read())


def rule_pages(codes: Iterable[str]) -> Iterator[tuple[rulebook.Rule, Markup]]:
    """Yield the rules with these codes, in order, with their pages; codes of another version are left out."""
    markdown = MarkdownIt("commonmark", {"html": False})
    for code in sorted(set(codes) & set(rulebook.RULES)):
        text = str(markdown.render(rulebook.sections(code))).replace("<h3>", "<h4>").replace("</h3>", "</h4>")
        text = text.replace("<h2>", "<h3>").replace("</h2>", "</h3>").replace("<a href", '<a rel="noreferrer" href')
        yield rulebook.RULES[code], Markup(text)
