"""The findings of all majors as one list."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from pubcheck.diagnostics import Diagnostic


def without_repeated_notes(found: list[Diagnostic]) -> Iterator[Diagnostic]:
    """The findings, with the note that statements are in programs once, where it explains that one is assumed."""
    assumed = {id(each.span.source) for each in found if each.certainty == "assumed" and each.rule != _NOT_SEEN}
    said = False
    for each in found:
        if each.rule != _OF_A_PROGRAM:
            yield each
        elif not said and id(each.span.source) in assumed:
            said = True
            yield each


_OF_A_PROGRAM, _NOT_SEEN = "PUB010", "PUB009"


def merged(diagnostics: list[Diagnostic]) -> list[Diagnostic]:
    """Equal findings of several majors as one, with all their majors."""
    found: dict[Diagnostic, tuple[int, ...]] = {}
    for diagnostic in diagnostics:
        key = replace(diagnostic, postgres=())
        found[key] = tuple(sorted({*found.get(key, ()), *diagnostic.postgres}))
    return [replace(key, postgres=majors) for key, majors in found.items()]
