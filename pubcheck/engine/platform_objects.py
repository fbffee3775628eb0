"""The objects that the platform of a unit creates by itself."""

from __future__ import annotations

from collections.abc import Mapping

from pubcheck.config import Config
from pubcheck.postgres.session.platform import Platform

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
