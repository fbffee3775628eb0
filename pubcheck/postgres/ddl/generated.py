"""Generated columns: what their expressions may be (catalog/heap.c: cookDefault, CheckAttributeType); more for
virtual ones (18).

Nobody is told of a refusal here; the table or column is then not made.
"""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, FIRST_UNPINNED
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.certain import only_certain
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.expressions.analyze import transform
from pubcheck.postgres.expressions.coerce import coerce_to_target_type
from pubcheck.postgres.expressions.filters import parse_state
from pubcheck.postgres.expressions.nodes import IMPLICIT, Expr
from pubcheck.postgres.expressions.state import ParseState
from pubcheck.postgres.session import Session
from pubcheck.postgres.tree import find

_TABLEOID = -6


def refuse_generated(session: Session, relation: Relation, column: Column, tree: Any) -> None:
    """Raises ServerError where the server certainly refuses a generated column of that expression."""
    with only_certain(session):
        _check(session, relation, column, tree)


def _check(session: Session, relation: Relation, column: Column, tree: Any) -> None:
    virtual = column.generated == "v"
    if virtual and column.type >= FIRST_UNPINNED:
        raise ServerError("0A000", f'virtual generated column "{column.name}" cannot have a user-defined type')
    if any(True for _ in find(tree, "SubLink")):
        raise ServerError("0A000", "cannot use subquery in column generation expression")
    p = parse_state(session, relation)
    p.clause = "column generation expressions"
    expr = transform(p, tree)
    stack = [expr]
    while stack:
        node = stack.pop()
        _check_node(p, node)
        if virtual:
            _check_users(node)
        stack.extend(node.args)
    if not column.type:
        return
    if coerce_to_target_type(p, expr, expr.type, column.type, column.typmod, "a", IMPLICIT, -1) is None:
        of_type = session.syscache.format_type
        message = (
            f'column "{column.name}" is of type {of_type(column.type)} but default expression is of type '
            f"{of_type(expr.type)}"
        )
        raise ServerError("42804", message, hint="You will need to rewrite or cast the expression.")


def _check_node(p: ParseState, node: Expr) -> None:
    if node.node == "Var" and node.value is not None and node.value < 0 and node.value != _TABLEOID:
        raise ServerError("42P10", "cannot use system column in column generation expression")
    if node.node == "SQLValueFunction" or any(p.cache.proc(oid).volatility != "i" for oid in _functions(p, node)):
        raise ServerError("42P17", "generation expression is not immutable")


def _check_users(node: Expr) -> None:
    """A virtual column's expression has nothing in it that a user defined."""
    if node.type >= FIRST_UNPINNED:
        raise ServerError("0A000", "generation expression uses user-defined type")
    if any(oid >= FIRST_NORMAL_OID for oid in node.functions):
        raise ServerError("0A000", "generation expression uses user-defined function")


def _functions(p: ParseState, node: Expr) -> list[int]:
    """The functions of a node (check_functions_in_node)."""
    if node.node != "CoerceViaIO":
        return [oid for oid in node.functions if oid]
    _, written = p.cache.io_functions(node.args[0].type)
    read, _ = p.cache.io_functions(node.type)
    return [oid for oid in (written, read) if oid]
