"""Columns of queries, of items of FROM and of relations, as far as names, types and collations can be known.

Follows parser/parse_clause.c (merging of columns) and parser/parse_relation.c (aliases).
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.type_modifiers import DEFAULT_COLLATION, UNSEEN_COLLATION
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import BOOL, INT8

_SEQUENCE = (("last_value", INT8), ("log_cnt", INT8), ("is_called", BOOL))


class OutputColumn(Struct, frozen=True):
    """A column of a query or of an item of FROM; ``source`` is the relation and column number that it plainly is.

    ``collation`` and ``typmod`` are meaningful only if the ``type`` is known.
    """

    name: str
    type: int = 0
    collation: int = 0
    source: tuple[int, int] | None = None
    typmod: int = -1


Outputs = list[OutputColumn] | None
"""Columns in order; None when they cannot be known."""


def columns_of(row: Relation) -> Outputs:
    """Return the columns of a relation, as a query that reads it sees them."""
    if row.kind == "S":
        return [OutputColumn(name, oid) for name, oid in _SEQUENCE]
    # The server's own catalogs, and views whose columns are unknown, are kept without columns.
    if not row.seen or (not row.columns and (row.oid < FIRST_NORMAL_OID or row.kind == "v")):
        return None
    return [
        OutputColumn(column.name, column.type, column.collation, (row.oid, column.number), column.typmod)
        for column in row.columns
        if not column.dropped
    ]


def common_output(left: OutputColumn, right: OutputColumn) -> OutputColumn:
    """Return a column of a set operation, or one that USING merges: of the common type, else of none."""
    if left.type != right.type or not left.type:
        return OutputColumn(left.name)
    typmod = left.typmod if left.typmod == right.typmod else -1
    collation = left.collation
    if collation == DEFAULT_COLLATION:
        collation = right.collation
    elif right.collation not in (collation, DEFAULT_COLLATION):
        collation = UNSEEN_COLLATION
    return OutputColumn(left.name, left.type, collation, None, typmod)


def field_of(column: Column) -> OutputColumn:
    """Return a field of a composite value as a column."""
    return OutputColumn(column.name, column.type, column.collation, None, column.typmod)


def apply_aliases(columns: Outputs, aliases: list[str]) -> Outputs:
    """Return the columns with an alias's column names for the first ones."""
    if columns is None or not aliases:
        return columns
    if len(aliases) > len(columns):
        raise ServerError("42P10", f"table has {len(columns)} columns available but {len(aliases)} columns specified")
    return [
        replace(column, name=aliases[position]) if position < len(aliases) else column
        for position, column in enumerate(columns)
    ]
