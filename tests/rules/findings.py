"""What the linter finds of one rule, and where, as the marks of examples say it."""

from __future__ import annotations

from pubcheck import Config, Diagnostic, Linter, Source, Span, Unit
from tools.rulebook.pages import Place


def findings(code: str, sql: str, major: int) -> list[Diagnostic]:
    """The findings of a rule, whether it is on by default or not."""
    config = Config(postgres=(major,), complete=True, select=("PUB",))
    result = Linter(config).lint(Unit((Source("example.sql", sql),)))
    return [diagnostic for diagnostic in result.diagnostics if diagnostic.rule == code]


def place(span: Span) -> Place:
    """Where a finding is, as a page can mark it: on one line, and at least three columns if it begins the line."""
    text = span.source.text
    line = text.rfind("\n", 0, span.start) + 1
    end = min(max(span.end, span.start + 1), text.index("\n", span.start))
    column = span.start - line + 1
    return Place(text.count("\n", 0, span.start) + 1, column, max(end - line + 1, 4 if column == 1 else 0))


def places(code: str, sql: str, major: int) -> tuple[Place, ...]:
    """Where a rule is reported, each place once."""
    return tuple(sorted({place(diagnostic.span) for diagnostic in findings(code, sql, major)}))
