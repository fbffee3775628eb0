"""Linting SQL in tests: a text in, its diagnostics out."""

from __future__ import annotations

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic, Span
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Result, Unit
from pubcheck.source import Source


def run(*texts: str, complete: bool = False, postgres: tuple[int, ...] = (18,), select: tuple[str, ...] = ()) -> Result:
    """Lint texts as one unit, with the rules that are on by default; the world is open unless ``complete``."""
    sources = tuple(Source(f"{number}.sql", text) for number, text in enumerate(texts, 1))
    config = Config(complete=complete, postgres=postgres, select=select)
    return Linter(config).lint(Unit(sources))


def lint(*texts: str, complete: bool = False, postgres: tuple[int, ...] = (18,)) -> list[Diagnostic]:
    return list(run(*texts, complete=complete, postgres=postgres).diagnostics)


def covered(span: Span) -> str:
    """The text under a span."""
    return span.source.text[span.start : span.end]


def writes(found: list[Diagnostic]) -> list[tuple[str | None, str | None, str]]:
    """(table, operation, certainty) of what is said about UPDATE and DELETE."""
    return [(one.object, one.operation, one.certainty) for one in found if one.phase == "write"]


def answers(found: list[Diagnostic]) -> list[tuple[str, str, str]]:
    """(SQLSTATE, message, certainty) of the refusals of statements."""
    return [
        (one.server.sqlstate, one.server.message, one.certainty)
        for one in found
        if one.phase == "ddl" and one.server is not None
    ]
