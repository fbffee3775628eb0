"""Helpers that the modules share which generate pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct
from pymdownx.slugs import slugify


class Generated(Struct, frozen=True):
    """A page that is written at build time: its path below `docs/`, its text as Markdown, its title in the navigation,
    and the section of the navigation that it is in. ``source`` is the file of the repository in which its relative
    links are; without it they are those of the site."""

    path: str
    text: str
    title: str
    section: str = ""
    source: str = ""


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table; its cells are Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


_ESCAPES = {ord(sign): f"&#{ord(sign)};" for sign in "\\`*_[]<>&#"}


def escape(text: str) -> str:
    """Return plain text as Markdown that shows it."""
    return text.translate(_ESCAPES)


def anchor(heading: str) -> str:
    """Return the anchor of a heading, as in `mkdocs.yml`."""
    slug: str = slugify(case="lower")(heading, "-")
    return slug


def fence(language: str, text: str, title: str = "") -> str:
    """Return a block of code."""
    ticks = "```"
    while ticks in text:
        ticks += "`"
    info = language + (f' title="{title}"' if title else "")
    return f"{ticks}{info}\n{text.rstrip()}\n{ticks}\n"
