"""A unit, which the engine lints, and the result; its major versions, and notes that hold for all of these."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from pubcheck.config import Config
from pubcheck.diagnostics import Certainty, Diagnostic, Span
from pubcheck.faults import Fault
from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.session.statement_context import Platform
from pubcheck.postgres.versions import DEFAULT_MAJOR, MAJORS, nearest
from pubcheck.rulebook import RULES, finder
from pubcheck.source import Source
from pubcheck.statement_index import StatementText

if TYPE_CHECKING:
    from typing import Unpack

    from pubcheck.diagnostics import Details


REPLICATED = lazy_compile(r"(?i)(?:create|alter|drop)\s+(?:publication|subscription)\b|replica\s+identity")
"""What statements about replication hold."""


class Unit(Struct, frozen=True):
    """The ordered sources that together build one database."""

    sources: tuple[Source, ...]
    postgres: tuple[int, ...] = ()
    """The majors to check, empty for those of the configuration."""
    convention: str = ""
    """The tool's convention by which the unit was found. It may imply a platform: `supabase`."""
    reading_notes: tuple[Diagnostic, ...] = ()
    """Notes about reading its files; reported with its findings."""
    loose: bool = False
    """Whether no convention or option shows that the files are a whole database."""
    context: int = 0
    """The number of sources at the beginning that are there before the others run: a finding that they alone have is
    not one of the others."""

    def speaks_of_replication(self) -> bool:
        """Return whether any source is about replication."""
        return any(source.listing is not None or REPLICATED.search(source.text) for source in self.sources)


class Result(Struct, frozen=True):
    """The result for a unit.

    ``diagnostics`` are in report order and include ``faults``, pubcheck's own errors. ``postgres`` has the majors,
    ``statements`` the number of statements, ``counts`` that number for each source. ``publications`` are the names of
    those that there are at the end.
    """

    diagnostics: tuple[Diagnostic, ...]
    postgres: tuple[int, ...]
    statements: int
    counts: tuple[int, ...] = ()
    faults: tuple[Fault, ...] = ()
    publications: frozenset[str] = frozenset()


_Names = tuple[str, ...]

_PUBLICATIONS: _Names = ("supabase_realtime", "supabase_realtime_messages_publication")
"""Publications whose names say which platform creates them."""
_TABLES: Mapping[str, _Names] = {
    "supabase": ("auth.*", "storage.*", "realtime.*", "vault.*", "cron.*", "net.*", "graphql.*", "extensions.*"),
}
"""The tables that exist before a unit's first file runs, by the unit's convention."""


def platform_of(config: Config, convention: str = "") -> Platform:
    """Return the platform of a unit: the objects named in the configuration, and well-known ones.

    Well-known tables depend on the unit's convention. A complete dump has only the objects of the configuration.
    """
    publications, tables = ((), ()) if config.complete else (_PUBLICATIONS, _TABLES.get(convention, ()))
    return Platform(config.platform_publications + publications, config.platform_tables + tables)


# The major versions to check a unit for, which the header of a dump may name.

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


# Notes about a unit that hold for all its majors, most of them once per file.


class Notes:
    """Collects the notes. ``majors`` are those of the unit."""

    def __init__(self, majors: tuple[int, ...]) -> None:
        self.majors = majors
        self.diagnostics: list[Diagnostic] = []
        self._not_seen: set[str] = set()
        """Labels of sources for which an unseen part was reported."""

    def add(
        self,
        code: str,
        certainty: Certainty,
        message: str,
        span: Span,
        *,
        majors: Sequence[int] = (),
        **details: Unpack[Details],
    ) -> None:
        """Add a finding of the rule with that code. ``majors`` are those for which it holds, all without any."""
        self.diagnostics.append(
            RULES[code].diagnostic(certainty, tuple(majors) or self.majors, message, span, **details)
        )

    @finder("PUB009")
    def report_unseen(self, span: Span, statement: StatementText | None, message: str, help_text: str) -> None:
        """Report, once per file, something that may change publications and cannot be seen completely."""
        if self.first_unseen(span.source.label):
            ref = statement.ref() if statement is not None else None
            self.add("PUB009", "assumed", message, span, help=help_text, statement=ref)

    def first_unseen(self, label: str) -> bool:
        """Record that part of a source is not seen, and return whether this is the first such part."""
        is_first = label not in self._not_seen
        self._not_seen.add(label)
        return is_first
