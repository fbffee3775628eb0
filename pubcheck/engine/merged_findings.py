"""The findings of a unit for its report: those of all majors as one, and at the statements that they are about."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from pubcheck.diagnostics import Diagnostic, Span, StatementRef
from pubcheck.statement_index import Statements


def without_repeated_notes(diagnostics: list[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the findings. The note that statements are in a program appears once per file, and only if a finding there
    is assumed."""
    assumed = {id(row.span.source) for row in diagnostics if row.certainty == "assumed" and row.rule != _NOT_SEEN}
    reported = False
    for diagnostic in diagnostics:
        if diagnostic.rule != _OF_A_PROGRAM:
            yield diagnostic
        elif not reported and id(diagnostic.span.source) in assumed:
            reported = True
            yield diagnostic


_OF_A_PROGRAM, _NOT_SEEN = "PUB010", "PUB009"


def merged(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Return equal findings of several majors as one finding with all their majors."""
    majors_of: dict[Diagnostic, tuple[int, ...]] = {}
    for diagnostic in diagnostics:
        key = replace(diagnostic, postgres=())
        majors_of[key] = tuple(sorted({*majors_of.get(key, ()), *diagnostic.postgres}))
    return [replace(key, postgres=majors) for key, majors in majors_of.items()]


def at_statements(diagnostics: Iterable[Diagnostic], statements: Statements) -> Iterator[Diagnostic]:
    """Yield findings; those at an object of a database that point at a statement of a file, too, at that statement: it
    is what the user can change, and what a report that needs a file and a line can show."""
    for diagnostic in diagnostics:
        cause = diagnostic.span
        span = next((span for span in diagnostic.related if span.source.listing is None), None)
        if cause.source.listing is None or span is None:
            yield diagnostic
            continue
        others = tuple(other for other in diagnostic.related if other is not span)
        yield replace(
            diagnostic,
            span=span,
            related=(replace(cause, message="the object that this finding is about"), *others),
            statement=_statement(span, statements),
        )


def _statement(span: Span, statements: Statements) -> StatementRef | None:
    number = next(number for number, source in enumerate(statements.sources) if source is span.source)
    starts, _ = statements.bounds(number)
    index = bisect_right(starts, span.start) - 1
    return StatementRef(span.source, index, starts[index]) if index >= 0 else None
