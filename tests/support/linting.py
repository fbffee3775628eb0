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


def writes(findings: list[Diagnostic]) -> list[tuple[str | None, str | None, str]]:
    """(table, operation, certainty) of what is said about UPDATE and DELETE."""
    return [(finding.object, finding.operation, finding.certainty) for finding in findings if finding.phase == "write"]


def answers(findings: list[Diagnostic]) -> list[tuple[str, str, str]]:
    """(SQLSTATE, message, certainty) of the refusals of statements."""
    return [
        (finding.server.sqlstate, finding.server.message, finding.certainty)
        for finding in findings
        if finding.phase == "ddl" and finding.server is not None
    ]
