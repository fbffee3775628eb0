"""Publications and tables that a platform creates by itself: they exist although no statement creates them."""

from __future__ import annotations

import re
from functools import cached_property


class Platform:
    """The names of a platform's objects, looked up where a name is unknown; `*` in one matches any characters without
    a dot."""

    def __init__(self, publications: tuple[str, ...], tables: tuple[str, ...]) -> None:
        self._publications = publications
        self._tables = tables

    @property
    def publication_names(self) -> list[str]:
        """The entries that are names and not patterns."""
        return [name for name in self._publications if "*" not in name]

    def has_publication(self, name: str) -> bool:
        return self._publication_pattern.fullmatch(name) is not None

    def has_table(self, schema: str, name: str) -> bool:
        """Return whether a table is the platform's: by its qualified name, or in any schema by a pattern without
        one."""
        pattern = self._table_pattern
        return pattern.fullmatch(f"{schema}.{name}") is not None or pattern.fullmatch(name) is not None

    def has_schema(self, name: str) -> bool:
        """Return whether all tables of a schema are the platform's, and so the schema too."""
        return f"{name}.*" in self._tables

    @cached_property
    def _publication_pattern(self) -> re.Pattern[str]:
        return _pattern(self._publications)

    @cached_property
    def _table_pattern(self) -> re.Pattern[str]:
        return _pattern(self._tables)


def _pattern(names: tuple[str, ...]) -> re.Pattern[str]:
    """Return one pattern for all of the names, in which `*` represents any characters without a dot."""
    return re.compile("|".join(re.escape(name).replace(r"\*", "[^.]*") for name in names) or r"(?!)", re.DOTALL)
