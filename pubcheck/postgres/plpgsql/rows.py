"""The rows of a query."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.postgres.plpgsql.values import UNKNOWN, Value, has_unknown

SeenRow = tuple[tuple[Value, ...], bool]
"""The values of a row, and whether it is surely there."""


class Rows(Struct):
    """The result of a query: its columns, its rows with whether each is certain, and whether there may be others."""

    columns: tuple[str, ...]
    rows: list[SeenRow]
    open: bool = False

    @property
    def known(self) -> bool:
        """Whether these rows are the complete result."""
        return not self.open and all(sure for _, sure in self.rows)

    def exists(self) -> Value:
        if any(sure for _, sure in self.rows):
            return True
        return UNKNOWN if self.open or self.rows else False

    def scalar(self) -> Value:
        """Return the value of the query as an expression."""
        if not self.known or len(self.rows) > 1:
            return UNKNOWN
        return self.rows[0][0][0] if self.rows else None

    def column(self) -> list[Value]:
        return [values[0] for values, _ in self.rows]


UNKNOWN_ROWS = Rows((), [], open=True)


def sortable(key: tuple[Value, ...]) -> bool:
    """Return whether values have the same order as in Python under any collation.

    Numbers have, and names in lower case of one kind.
    """
    return all(
        (isinstance(value, int) and not isinstance(value, bool))
        or (isinstance(value, str) and value.isascii() and value.isalnum() and value == value.lower())
        for value in key
    )


def distinct_rows(rows: list[SeenRow]) -> list[SeenRow] | None:
    """Return the rows without duplicates; None if it is not known which are equal.

    A row is certain if one of its duplicates is.
    """
    distinct: dict[Value, SeenRow] = {}
    for row, sure in rows:
        if has_unknown(*row) or any(isinstance(value, dict) for value in row):
            return None
        key = hashable(row)
        distinct[key] = row, sure or (key in distinct and distinct[key][1])
    return list(distinct.values())


def hashable(value: Value) -> Value:
    """Return a row or value with tuples instead of arrays."""
    return tuple(map(hashable, value)) if isinstance(value, list | tuple) else value
