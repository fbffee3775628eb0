"""The lines of the tables that benchmarks print."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct


class Row(Struct, frozen=True):
    """A line of a table. ``value`` is held to ``limit`` where there is one; both are in ``unit``."""

    name: str
    measured: str
    value: float | None = None
    limit: float | None = None
    unit: str = "x"

    @property
    def broken(self) -> bool:
        return self.value is not None and self.limit is not None and self.value > self.limit


def table(rows: Iterable[Row]) -> bool:
    """Print rows as they come, and return whether one breaks its limit."""
    broken = False
    for row in rows:
        value = f"{row.value:8,.2f} {row.unit:<2}" if row.value is not None else ""
        limit = f"{'ABOVE' if row.broken else 'of at most'} {row.limit:g}" if row.limit is not None else ""
        print(f"  {row.name:<44} {value:<12} {limit:<16} {row.measured}".rstrip(), flush=True)
        broken = broken or row.broken
    return broken
