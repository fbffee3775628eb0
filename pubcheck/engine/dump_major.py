"""The major version in the header of a dump."""

from __future__ import annotations

import re
from collections.abc import Sequence

from pubcheck.diagnostics import Diagnostic, Span
from pubcheck.postgres.versions import MAJORS, nearest
from pubcheck.rulebook import RULES
from pubcheck.source import Source

_DUMP_HEADER = re.compile(r"^-- Dumped from database version (\d+)", re.MULTILINE)
_HEADER_LENGTH = 2000


def major_of_dump(sources: Sequence[Source]) -> tuple[tuple[int, ...], tuple[Diagnostic, ...]]:
    """The major that a pg_dump header names, and what is to be said of it: another than the supported ones is judged as
    the nearest."""
    for source in sources:
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
            f"a dump of PostgreSQL {number} is judged as PostgreSQL {major}",
            Span(source, header.start(), header.end()),
            help=f"majors that can be judged: {', '.join(map(str, MAJORS))}; choose one with --postgres",
        )
        return (major,), (note,)
    return (), ()
