"""Find, add, change, compare and rename columns of a relation. A relation of unknown columns gets those that
statements name.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

SYSTEM_COLUMNS = {"ctid": -1, "xmin": -2, "cmin": -3, "xmax": -4, "cmax": -5, "tableoid": -6}
"""System attributes and their numbers (catalog/heap.c: SysAtt)."""


def require_column(session: Session, relation: int, name: str) -> Column:
    """Return the live column of that name. Raises ServerError 42703; an unknown relation is assumed to have it."""
    row = session.catalog.relations[relation]
    column = row.column(name)
    if column is not None:
        return column
    if row.seen:
        raise ServerError("42703", f'column "{name}" of relation "{row.name}" does not exist')
    column = Column(len(row.columns) + 1, name)
    put_columns(session, row, (*row.columns, column))
    return column


def alterable_column(session: Session, relation: int, name: str, location: int | None = None) -> Column:
    """Return the column that ALTER COLUMN names. Raises ServerError 42703, and 0A000 for a system column."""
    if name in SYSTEM_COLUMNS:
        raise ServerError("0A000", f'cannot alter system column "{name}"', location=location)
    return require_column(session, relation, name)


def refuse_unknown_columns(session: Session, relation: Relation, names: Iterable[str]) -> None:
    """Refuse, with ServerError 42703, a name in an expression over a relation, after any qualifier, that is not one of
    its columns and cannot be the row or a function of it: `t.total` is total(t)."""
    for name in names if relation.seen else ():
        exists = relation.column(name) is not None or name in SYSTEM_COLUMNS or name == relation.name
        if not (exists or session.syscache.procs([name])):
            raise ServerError("42703", f'column "{name}" does not exist')


def having_column(session: Session, relation: int, name: str, recurse: bool) -> list[int]:
    """The relation and, going down, its descendants that have the column."""
    catalog = session.catalog
    relations = catalog.descendants(relation) if recurse or catalog.relations[relation].kind == "p" else [relation]
    return [oid for oid in relations if catalog.relations[oid].column(name) is not None]


def put_columns(session: Session, row: Relation, columns: tuple[Column, ...]) -> Relation:
    new = replace(row, columns=columns)
    session.catalog.relations.put(row.oid, new)
    return new


def change_columns(session: Session, relation: int, numbers: Iterable[int], **changes: Any) -> None:
    """Give the columns of those numbers new attributes."""
    row = session.catalog.relations[relation]
    columns = list(row.columns)
    for number in numbers:
        columns[number - 1] = replace(columns[number - 1], **changes)
    put_columns(session, row, tuple(columns))


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
