"""The major versions to check a unit for, which the header of a dump may name."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pubcheck.diagnostics import Diagnostic, Span
from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.versions import DEFAULT_MAJOR, MAJORS, nearest
from pubcheck.rulebook import RULES, finder
from pubcheck.source import Source

if TYPE_CHECKING:
    from pubcheck.config import Config
    from pubcheck.engine.unit import Unit

_DUMP_HEADER = lazy_compile(r"^-- Dumped from database version (\d+)", re.MULTILINE)
_HEADER_LENGTH = 2000


def majors_of(unit: Unit, config: Config) -> tuple[tuple[int, ...], tuple[Diagnostic, ...]]:
    """Return the majors to check: those of the unit, else of the configuration, else of a dump's header, else the
    default one; and the note of ``major_of_dump``."""
    requested = unit.postgres or config.postgres
    from_dump, note = ((), ()) if requested else major_of_dump(unit.sources)
    return requested or from_dump or (DEFAULT_MAJOR,), note


@finder("PUB007")
def major_of_dump(sources: Sequence[Source]) -> tuple[tuple[int, ...], tuple[Diagnostic, ...]]:
    """Return the major of a pg_dump header, or the nearest supported one with a note."""
    for source in sources:
        if "-- Dumped from" not in source.text[:_HEADER_LENGTH]:
            continue
        header = _DUMP_HEADER.search(source.text, 0, _HEADER_LENGTH)
        if header is None:
            continue
        number = int(header[1])
        major = nearest(number)
        if major == number:
            return (major,), ()
        note = RULES["PUB007"].diagnostic(
            "certain",
            (major,),
            f"this dump of PostgreSQL {number} is checked as PostgreSQL {major}",
            Span(source, header.start(), header.end()),
            help=f"supported versions: {', '.join(map(str, MAJORS))}; choose one with --postgres",
        )
        return (major,), (note,)
    return (), ()
