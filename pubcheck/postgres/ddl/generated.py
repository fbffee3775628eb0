"""Generated columns: which expressions they may have (catalog/heap.c: cookDefault, CheckAttributeType); virtual ones
have more conditions (18).

Such refusals are not reported; the table or column is then not created.
"""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, FIRST_UNPINNED
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.ddl.immutability import refuse_mutable
from pubcheck.postgres.ddl.stored_expressions import analyze_stored
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.primnodes import IMPLICIT, Expr, nodes
from pubcheck.postgres.session import Session

_TABLEOID = -6


def refuse_generated(session: Session, relation: Relation, column: Column, tree: Any) -> None:
    """Raise ServerError if the server certainly refuses a generated column with that expression."""
    with only_certain(session):
        _check(session, relation, column, tree)


def _check(session: Session, relation: Relation, column: Column, tree: Any) -> None:
    virtual = column.generated == "v"
    if virtual and column.type >= FIRST_UNPINNED:
        raise ServerError("0A000", f'virtual generated column "{column.name}" cannot have a user-defined type')
    p, expr = analyze_stored(session, relation, tree, "column generation expressions")
    refuse_system_columns(expr, "column generation expression")
    if any(node.node == "Var" and node.value == 0 for node in nodes(expr)):
        raise ServerError("42P17", "cannot use whole-row variable in column generation expression")
    for node in nodes(expr) if virtual else ():
        _check_users(node)
    refuse_mutable(p, expr, "generation expression is not immutable")
    if not column.type:
        return
    if coerce_to_target_type(p, expr, expr.type, column.type, column.typmod, "a", IMPLICIT, -1) is None:
        of_type = session.syscache.format_type
        message = (
            f'column "{column.name}" is of type {of_type(column.type)} but default expression is of type '
            f"{of_type(expr.type)}"
        )
        raise ServerError("42804", message, hint="You will need to rewrite or cast the expression.")
    assign_collations(p, expr)


def refuse_system_columns(expr: Expr, where: str) -> None:
    """Raise ServerError 42P10 for a system column, except for tableoid (scanNSItemForColumn)."""
    for node in nodes(expr):
        if node.node == "Var" and node.value is not None and node.value < 0 and node.value != _TABLEOID:
            raise ServerError("42P10", f"cannot use system column in {where}")


def _check_users(node: Expr) -> None:
    """A virtual column's expression has nothing in it that a user defined."""
    if node.type >= FIRST_UNPINNED:
        raise ServerError("0A000", "generation expression uses user-defined type")
    if any(oid >= FIRST_NORMAL_OID for oid in node.functions):
        raise ServerError("0A000", "generation expression uses user-defined function")
