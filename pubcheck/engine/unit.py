"""A unit, which the engine lints, and the result."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from pubcheck.config import Config
from pubcheck.diagnostics import Diagnostic
from pubcheck.faults import Fault
from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.session.statement_context import Platform
from pubcheck.source import Source

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
