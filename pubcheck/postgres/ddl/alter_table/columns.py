"""ADD COLUMN, here and in all children (commands/tablecmds.c: ATExecAddColumn)."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Column, NotNull
from pubcheck.postgres.ddl.constraints import add_constraint, order_constraints
from pubcheck.postgres.ddl.indexes import rebuild_indexes
from pubcheck.postgres.ddl.not_null import add_not_null
from pubcheck.postgres.ddl.tables.column_definition import (
    attach_default,
    define_column,
    depend_on_type,
    refuse_pseudo_type,
)
from pubcheck.postgres.ddl.tables.default_types import is_simple, without_null_default
from pubcheck.postgres.errors import ServerError, without_position
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import DIFFERENT, change_columns, difference, put_columns


def add_column(session: Session, relation: int, command: Node, recurse: bool) -> None:
    catalog = session.catalog
    body = command["def"]["ColumnDef"]
    row = catalog.relations[relation]
    name = body["colname"]
    if row.of_type and "through_type" not in command:
        raise ServerError("42809", "cannot add column to typed table")
    if row.partition:
        raise ServerError("42809", "cannot add column to a partition")
    if row.column(name) is not None:
        if command.get("missing_ok"):
            session.notices.append(f'column "{name}" of relation "{row.name}" already exists, skipping')
            return
        raise ServerError("42701", 'column "{name}" of relation "{owner}" already exists', name=name, owner=row.name)
    if not recurse and catalog.children.has(relation):
        raise ServerError("42P16", "column must be added to child tables too")
    deferred: list[Node] = []
    owned: list[tuple[str, Node]] = []
    column = without_null_default(define_column(session, body, len(row.columns) + 1, deferred, owned))
    refuse_pseudo_type(column)
    if column.identity and catalog.children.has(relation) and row.kind != "p":
        raise ServerError("42P16", "cannot recursively add identity column to table that has child tables")
    not_null = column.constraint
    if column.not_null and catalog.major.named_not_null:
        # The constraint is one of its own, which children inherit (18).
        not_null = not_null or NotNull()
        column = replace(column, not_null=False, constraint=None)
    put_columns(session, row, (*row.columns, column))
    depend_on_type(session, relation, column)
    if column.generated == "s" or column.identity or any("serial" in definition for _, definition in owned):
        rebuild_indexes(session, relation)
    for child in sorted(catalog.children.get(relation)):
        _add_inherited(session, child, column)
    if not_null is not None:
        add_not_null(session, relation, name, not_null, recurse)
    with without_position():
        for owner, definition in owned:
            attach_default(session, relation, owner, definition)
            if row.kind == "r" and definition.get("contype") == "CONSTR_DEFAULT" and _may_fail(definition["raw_expr"]):
                # Loaded only where it does not show at a glance.
                from pubcheck.postgres.ddl.stored_expressions import refuse_default_of_rows

                refuse_default_of_rows(session, catalog.relations[relation], owner, definition["raw_expr"])
        for constraint in order_constraints(deferred):
            add_constraint(session, relation, constraint, recurse)


def _may_fail(default: Node) -> bool:
    """Return whether a default is more than a literal, a literal with its type or a call without arguments."""
    inner = default["TypeCast"]["arg"] if "TypeCast" in default else default
    return not is_simple(default) or "TypeCast" in inner


def _add_inherited(session: Session, child: int, column: Column) -> None:
    """ATExecAddColumn going down: a column that is there already is inherited from here on, and it goes no deeper."""
    catalog = session.catalog
    row = catalog.relations[child]
    existing = row.column(column.name)
    if existing is not None:
        if wrong := difference(existing, column):
            message = f'child table "{row.name}" has different {wrong} for column "{column.name}"'
            raise ServerError(DIFFERENT[wrong], message)
        change_columns(session, child, [existing.number], inherited=existing.inherited + 1)
        return
    new = replace(column, number=len(row.columns) + 1, inherited=1, local=False)
    put_columns(session, row, (*row.columns, new))
    depend_on_type(session, child, new)
    if new.generated == "s":
        rebuild_indexes(session, child)
    if new.generated:
        attach_default(session, child, new.name, {"contype": "CONSTR_GENERATED"})
    for grandchild in sorted(catalog.children.get(child)):
        _add_inherited(session, grandchild, column)
