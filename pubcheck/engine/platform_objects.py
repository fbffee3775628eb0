"""What a platform makes by itself: publications and tables that are there although the unit does not make them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from pubcheck.config import Config

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    import re


_Names = tuple[str, ...]

WELL_KNOWN: Mapping[str, tuple[_Names, _Names]] = {
    "supabase": (
        ("supabase_realtime", "supabase_realtime_messages_publication"),
        ("auth.*", "storage.*", "realtime.*", "vault.*", "cron.*", "net.*", "graphql.*", "extensions.*"),
    ),
}
"""By the habit of a unit, the publications and the tables that are there before its first file is run."""


class Platform:
    """The names of a unit's platform, asked for where a name is not visible: those of the configuration and those that
    are well known of the ``habit`` by which the unit was found. A unit that is said to be the whole database
    (``complete``) has those of the configuration only.
    """

    def __init__(self, config: Config, convention: str = "") -> None:
        publications, tables = ((), ()) if config.complete else WELL_KNOWN.get(convention, ((), ()))
        self._publications = config.platform_publications + publications
        self._tables = config.platform_tables + tables

    @property
    def publication_names(self) -> list[str]:
        """Those that are names and not patterns."""
        return [name for name in self._publications if "*" not in name]

    def has_publication(self, name: str) -> bool:
        return self._publication_pattern.fullmatch(name) is not None

    def has_table(self, schema: str, name: str) -> bool:
        """Whether a table is the platform's: by its qualified name, or in any schema by a pattern without one."""
        pattern = self._table_pattern
        return pattern.fullmatch(f"{schema}.{name}") is not None or pattern.fullmatch(name) is not None

    def has_schema(self, name: str) -> bool:
        """Whether all tables of a schema are the platform's, and so the schema too."""
        return f"{name}.*" in self._tables

    @cached_property
    def _publication_pattern(self) -> re.Pattern[str]:
        return _pattern(self._publications)

    @cached_property
    def _table_pattern(self) -> re.Pattern[str]:
        return _pattern(self._tables)


def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """One pattern for all of the names, in which `*` stands for any characters without a dot."""
    import re

    return re.compile("|".join(re.escape(name).replace(r"\*", "[^.]*") for name in names) or r"(?!)", re.DOTALL)
