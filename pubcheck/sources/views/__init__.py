"""Files of every kind as SQL of the same length: where statements stand in templates, migrations, scripts and programs.

A view blanks what PostgreSQL is not given and keeps every offset, so that what is found in its SQL is found in the
file. Each kind's module is loaded when a file of that kind is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from pubcheck.sources.text import Note, Source, View

__all__ = ["SUFFIXES", "VIEWS", "Note", "View", "kind_of", "source"]


def _sql(text: str) -> View:
    return View(text)


VIEWS: Mapping[str, Callable[[str], View]] = {"sql": _sql}
"""By the name of a kind, what turns a text of that kind into SQL."""

SUFFIXES: Mapping[str, str] = {".sql": "sql"}
"""By the end of a file's name in lower case, the kind that its text has."""


def kind_of(path: str) -> str | None:
    """The kind of a file by its name, a key of ``VIEWS``; None where files of that name are not looked into."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    dot = name.rfind(".")
    return SUFFIXES.get(name[dot:]) if dot >= 0 else None


def source(label: str, text: str, kind: str = "sql") -> Source:
    """A file's text as the source that the engine is given."""
    view = VIEWS[kind](text)
    if view.text is text and not view.notes:
        return Source(label, text)
    return Source(label, view.text, text, view)
