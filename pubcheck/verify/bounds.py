"""Whether a row can be in the partition under whose name it comes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.partition_bound_values import read_value
from pubcheck.postgres.oids import TIMESTAMPTZ
from pubcheck.postgres.session import Session
from pubcheck.stream import Row

Within = Callable[[Row], bool]
"""Returns whether a row is within a bound; also where that cannot be known."""


def bound_checks(session: Session, table: Relation, names: Sequence[str]) -> list[Within]:
    """Return checks for the bounds of a table and of the partitions above it. ``names`` are the columns of rows."""
    catalog, checks = session.catalog, []
    while table.partition and table.parents:
        parent = catalog.relations[table.parents[0]]
        check = _check(session, table, parent, names)
        if check is not None:
            checks.append(check)
        table = parent
    return checks


def _check(session: Session, table: Relation, parent: Relation, names: Sequence[str]) -> Within | None:
    bound: Any = table.bound
    if bound is None or bound[0] not in "lr" or 0 in parent.partition_key:
        return None
    columns = [parent.columns[number - 1] for number in parent.partition_key]
    # The text of a timestamptz depends on the time zone of the session that reads the stream.
    if any(column.name not in names or column.type == TIMESTAMPTZ for column in columns):
        return None
    keys = [(names.index(column.name), column) for column in columns]
    kind: str = bound[0]
    ends: Any = bound[1:]

    def within(row: Row) -> bool:
        values = [_value(session, column, row[position]) for position, column in keys]
        if None in values:
            return True
        if kind == "l":
            return values[0] is None or values[0][0] in ends[0]
        if any(value is not None and value[0] is None for value in values):
            return False
        key = tuple((0, value[0]) for value in values if value is not None)
        lower, upper = ends
        return bool(lower <= key < upper)

    return within


def _value(session: Session, column: Column, value: Any) -> tuple[Any] | None:
    if value is None:
        return (None,)
    return read_value(session, column, {"sval": {"sval": value}}) if isinstance(value, str) else None
