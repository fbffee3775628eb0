"""The rows of a query."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.postgres.plpgsql.values import UNKNOWN, Value

SeenRow = tuple[tuple[Value, ...], bool]
"""The values of a row, and whether it is surely there."""


class Rows(Struct):
    """What a query gives: its columns, its rows with whether each is surely there, and whether there may be others."""

    columns: tuple[str, ...]
    rows: list[SeenRow]
    open: bool = False

    @property
    def known(self) -> bool:
        """Whether these rows are the result."""
        return not self.open and all(sure for _, sure in self.rows)

    def exists(self) -> Value:
        if any(sure for _, sure in self.rows):
            return True
        return UNKNOWN if self.open or self.rows else False

    def scalar(self) -> Value:
        """The value of the query as an expression."""
        if not self.known or len(self.rows) > 1:
            return UNKNOWN
        return self.rows[0][0][0] if self.rows else None

    def column(self) -> list[Value]:
        return [values[0] for values, _ in self.rows]


UNKNOWN_ROWS = Rows((), [], open=True)
