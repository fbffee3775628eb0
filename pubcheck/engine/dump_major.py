"""The major version in the header of a dump."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pubcheck.diagnostics import Diagnostic, Span
from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.versions import MAJORS, nearest
from pubcheck.rulebook import RULES, finder
from pubcheck.source import Source

_DUMP_HEADER = lazy_compile(r"^-- Dumped from database version (\d+)", re.MULTILINE)
_HEADER_LENGTH = 2000


@finder("PUB007")
def major_of_dump(sources: Sequence[Source]) -> tuple[tuple[int, ...], tuple[Diagnostic, ...]]:
    """Return the major that a pg_dump header names, and a note if it is not a supported one. The nearest supported
    major is then used."""
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
