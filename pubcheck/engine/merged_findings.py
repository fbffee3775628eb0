"""Merge the findings of all majors."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from pubcheck.diagnostics import Diagnostic


def without_repeated_notes(diagnostics: list[Diagnostic]) -> Iterator[Diagnostic]:
    """Yield the findings. The note that statements are in a program appears once per file, and only if a finding there
    is assumed."""
    assumed = {
        id(diagnostic.span.source)
        for diagnostic in diagnostics
        if diagnostic.certainty == "assumed" and diagnostic.rule != _NOT_SEEN
    }
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
