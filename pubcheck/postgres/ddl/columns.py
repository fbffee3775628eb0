"""Columns of relations: found, added, changed. A relation of unknown columns gets the columns that statements name."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.parse import Node


def difference(column: Column, parent_column: Column) -> str:
    """Return the difference of two columns that must be equal: "type" (with its modifiers), "collation", or ""."""
    if not column.type or not parent_column.type:
        return ""
    if column.type != parent_column.type or column.typmod != parent_column.typmod:
        return "type"
    # A collation that is not visible may be the same one; types alike, both columns are collatable or neither is.
    return (
        "collation"
        if column.collation != parent_column.collation and min(column.collation, parent_column.collation) >= 0
        else ""
    )


DIFFERENT = {"type": "42804", "collation": "42P21"}
"""The SQLSTATE of each ``difference``."""


def rename_columns(tree: Any, old: str | None = None, new: str = "") -> Any:
    """Return a copy of an expression over one table, with unqualified column references and one column renamed.

    The copy can still be read after the table is renamed.
    """
    root = [tree]
    work: list[tuple[Any, Any]] = [(root, 0)]
    while work:
        holder, position = work.pop()
        value = holder[position]
        if type(value) is dict:
            copy: Any = dict(value)
            parts: Any = value.items()
        elif type(value) is list:
            copy, parts = list(value), enumerate(value)
        else:
            continue
        holder[position] = copy
        for key, part in parts:
            if key == "ColumnRef":
                copy[key] = _reference(part, old, new)
            else:
                work.append((copy, key))
    return root[0]


def _reference(body: Node, old: str | None, new: str) -> Node:
    last = body["fields"][-1]
    if old is not None and last.get("String", {}).get("sval") == old:
        last = {"String": {"sval": new}}
    return {**body, "fields": [last]}
