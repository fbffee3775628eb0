"""Find, add and change columns of a relation. A relation of unknown columns gets those that statements name."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
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
