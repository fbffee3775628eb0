"""Rows as texts, for the details of errors."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pubcheck.simulate.executor.tables import Table

_LONGEST = 64
"""The most bytes of a value that a detail shows."""


def value_text(table: Table, type_oid: int, value: Any) -> str:
    """A value as its output function writes it."""
    return table.session.output.writer(type_oid)(value)


def failing_row(table: Table, values: dict[int, Any]) -> str:
    """ExecBuildSlotValueDescription."""
    parts = []
    for column in table.columns:
        value = values.get(column.number)
        if column.generated == "v":
            parts.append("virtual")
        elif value is None:
            parts.append("null")
        else:
            text = value_text(table, column.type, value)
            data = text.encode()
            parts.append(text if len(data) <= _LONGEST else data[:_LONGEST].decode(errors="ignore") + "...")
    return f"Failing row contains ({', '.join(parts)})."


def key_text(table: Table, numbers: Iterable[int], values: Any) -> str:
    """(a, b)=(1, x), as BuildIndexValueDescription."""
    names, texts = [], []
    for number in numbers:
        column = table.relation.columns[number - 1]
        value = values[number]
        names.append(column.name)
        texts.append("null" if value is None else value_text(table, column.type, value))
    return f"({', '.join(names)})=({', '.join(texts)})"
