"""Partition keys that need analysis: expressions, and types that may have no order or hash (commands/tablecmds.c:
ComputePartitionAttrs).
"""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.parse_state import NOTHING
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.ddl.immutability import refuse_mutable
from pubcheck.postgres.ddl.index_keys import no_operator_class
from pubcheck.postgres.ddl.stored_expressions import analyze_stored, refuse_out_of_place
from pubcheck.postgres.ddl.type_modifiers import type_collation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.executor.planner_folding import planned
from pubcheck.postgres.oids import BOOL, INT2, INT4, INT8, NUMERIC, RECORD, TEXT, UNKNOWN, VARCHAR
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import IMPLICIT, nodes
from pubcheck.postgres.session import Session


def refuse_key(session: Session, row: Relation, element: Node, number: int, method: str) -> None:
    """Raise ServerError if the server certainly refuses one key: the column of that number, or an expression.

    ``method``: b(tree) or h(ash), for which its type needs an operator class.
    """
    with only_certain(session):
        of_type = row.columns[number - 1].type if number else _type_of(session, row, element["expr"])
        if "collation" in element and of_type and not type_collation(session, of_type):
            raise ServerError("42804", f"collations are not supported by type {session.syscache.format_type(of_type)}")
        if of_type and "opclass" not in element and session.syscache.default_class(of_type, method) == (0, 0):
            raise no_operator_class(session, of_type, {"b": "btree", "h": "hash"}[method])


def _type_of(session: Session, row: Relation, tree: Node) -> int:
    """The type of an expression that may be a key. Raises ServerError 0A000, 42P17, 42P16 and what analysis does."""
    p, expr = analyze_stored(session, row, tree, "partition key expressions")
    assign_collations(p, expr)
    if expr.type in (RECORD, UNKNOWN):
        raise ServerError("42P16", "partition key column has a pseudo-type")
    for node in nodes(expr):
        if node.node == "Var" and node.value is not None and node.value < 0:
            raise ServerError("42P17", "partition key expressions cannot contain system column references")
        if node.node == "Var" and node.value and row.columns[node.value - 1].generated:
            raise ServerError("42P17", "cannot use generated column in partition key")
    left = refuse_mutable(p, expr, "functions in partition key expression must be marked IMMUTABLE")
    if left.node == "Const":
        raise ServerError("42P17", "cannot use constant expression as partition key")
    return expr.type


def value_of(session: Session, column: Column, tree: Node) -> tuple[Any] | None:
    """Return the value of an expression in a bound, like ``partition_bound_values.read_value``
    (transformPartitionBoundValue).

    Raises ServerError if the server certainly refuses it.
    """
    values: list[tuple[Any]] = []
    refuse_out_of_place(tree, "partition bound", columns="partition bound expression")
    with only_certain(session):
        p, expr = analyze_stored(session, NOTHING, tree, "partition bound")
        coerced = coerce_to_target_type(p, expr, expr.type, column.type, column.typmod, "a", IMPLICIT, -1)
        if coerced is None:
            shown = session.syscache.format_type(column.type)
            raise ServerError("42804", f'specified value cannot be cast to type {shown} for column "{column.name}"')
        left = planned(p, coerced)
        # NaN has no place in Python's order of numbers.
        is_nan = left.value != left.value
        if left.node == "Const" and not is_nan and (left.null or column.type in _AS_EVALUATED):
            values.append((left.value,))
    return values[0] if values else None


_AS_EVALUATED = frozenset((INT2, INT4, INT8, NUMERIC, BOOL, TEXT, VARCHAR))
"""Types whose values are the same for the ``executor`` and for bounds."""
