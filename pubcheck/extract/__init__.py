"""Files of every kind as SQL of the same length: the statements in templates, migrations, scripts and programs.

A view blanks what PostgreSQL is not given and keeps every offset, so that what is found in its SQL is found in the
file. Each kind's module is loaded when a file of that kind is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from msgspec.structs import replace

from pubcheck.extract.masked_text import marked_rollback
from pubcheck.source import Note, Source, View

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.extract.frameworks.project import Project

__all__ = ["VIEWS", "Note", "View", "source"]


def _sql(text: str) -> View:
    if not marked_rollback(text):
        return View(text)
    from pubcheck.extract.sql_migrations import script

    return script(text)


def _shell(text: str) -> View:
    from pubcheck.extract.shell import shell

    return shell(text)


def _make(text: str) -> View:
    from pubcheck.extract.shell import makefile

    return makefile(text)


def _yaml(text: str) -> View:
    from pubcheck.extract.markup import yaml

    return yaml(text)


def _xml(text: str) -> View:
    from pubcheck.extract.markup import xml

    return xml(text)


def _prisma(text: str) -> View:
    from pubcheck.extract.frameworks.prisma import prisma
    from pubcheck.lexing.items import blank

    operations = prisma(text)
    return View(blank(text), quoted=True, calls=tuple(operations.calls) if operations is not None else ())


def _program(language: str, text: str, project: Project | None = None) -> View:
    from pubcheck.extract.embedded_sql import program

    return program(text, language, project)


_LANGUAGES = ("python", "ruby", "javascript", "go", "elixir", "java", "csharp", "php", "rust")

VIEWS: Mapping[str, Callable[[str], View]] = {
    "sql": _sql,
    "shell": _shell,
    "make": _make,
    "yaml": _yaml,
    "xml": _xml,
    "prisma": _prisma,
    **{language: partial(_program, language) for language in _LANGUAGES},
}
"""The function that turns a text of a kind into SQL, by the name of the kind."""


def source(
    label: str, text: str, kind: str = "sql", project: Project | None = None, *, sometime: bool = False
) -> Source:
    """Return a file's text as the source that the engine is given. ``kind`` is a key of ``VIEWS``; others are SQL.
    ``project``: what is known of the migrations before it in its unit; ``sometime``: when it runs is not known."""
    make = partial(_program, kind, project=project) if kind in _LANGUAGES else VIEWS.get(kind, _sql)
    if "\r" in text and "\n" not in text:
        # Lines that end with CR alone: views look for LF, and have the same characters in between.
        view = make(text.replace("\r", "\n"))
        view = replace(view, text=view.text.replace("\n", "\r"))
    else:
        view = make(text)
    if sometime:
        view = replace(view, perhaps=((0, len(text)),))
    if view == View(text):
        return Source(label, text)
    return Source(label, view.text, text, view)
