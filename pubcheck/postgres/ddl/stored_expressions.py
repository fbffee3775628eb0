"""Expressions in definitions as the server analyses them: defaults, CHECK, GENERATED, keys and predicates of indexes,
partition keys and bounds, USING of a new type (catalog/heap.c: cookDefault; commands/tablecmds.c).

Refusals are not reported; what is defined is then not created, or stays as it is. The module is loaded only where an
expression, or a type, does not show at a glance to be accepted: it needs all that analyses expressions.
"""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.analysis.analyze import transform
from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.parse_state import NOTHING, ParseState
from pubcheck.postgres.analysis.pathways import IMMUTABLE, MUTABLE, can_coerce, mutability
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, FIRST_UNPINNED
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.ddl.index_keys import no_operator_class
from pubcheck.postgres.ddl.types import type_collation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import BOOL, INT2, INT4, INT8, NUMERIC, RECORD, TEXT, UNKNOWN, VARCHAR
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import find
from pubcheck.postgres.primnodes import IMPLICIT, Expr, nodes
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.syscache import EQUAL


def analyze_stored(session: Session, relation: Relation, tree: Node, clause: str) -> tuple[ParseState, Expr]:
    """Return an expression over a relation as the server analyses it, which calls it ``clause`` (ParseExprKindName).

    Raises ServerError if the server refuses it, Unknowable if that depends on something unknown.
    """
    refuse_out_of_place(tree, clause.removesuffix("s"))
    p = parse_state(session, relation)
    p.clause = clause
    return p, transform(p, tree)


def refuse_out_of_place(tree: Node, where: str, columns: str = "") -> None:
    """Raise ServerError 0A000 for a sub-select (transformSubLink), and for a column if ``columns`` names a clause that
    must not have one (transformColumnRef).
    """
    for kind, _ in find(tree, "SubLink", "ColumnRef") if columns else find(tree, "SubLink"):
        construct = f"subquery in {where}" if kind == "SubLink" else f"column reference in {columns}"
        raise ServerError("0A000", f"cannot use {construct}")


def refuse_mutable(p: ParseState, expr: Expr, message: str) -> Expr:
    """Return the expression as the planner leaves it.

    Raises ServerError 42P17 for a function that is not immutable, the errors of constant folding, and Unknowable if
    either is not known.
    """
    from pubcheck.postgres.executor.planner_folding import planned

    left = planned(p, expr)
    worst = max((mutability(p.cache, node) for node in nodes(left)), default=IMMUTABLE)
    if worst == MUTABLE:
        raise ServerError("42P17", message)
    if worst != IMMUTABLE:
        raise Unknowable("what the planner makes of the expression")
    return left


def refuse_default_value(session: Session, relation: Relation, column: Column, expression: Node) -> None:
    """Raise ServerError if the server certainly refuses a default."""
    with only_certain(session):
        p, expr = analyze_stored(session, relation, expression, "DEFAULT expressions")
        _refuse_type(p, column, expr)
        assign_collations(p, expr)


def _refuse_type(p: ParseState, column: Column, expr: Expr) -> None:
    """Raise ServerError 42804 if a value cannot be assigned to the column (cookDefault)."""
    if coerce_to_target_type(p, expr, expr.type, column.type, column.typmod, "a", IMPLICIT, -1) is None:
        raise ServerError(
            "42804",
            f'column "{column.name}" is of type {p.cache.format_type(column.type)} '
            f"but default expression is of type {p.cache.format_type(expr.type)}",
            hint="You will need to rewrite or cast the expression.",
        )


def refuse_default_of_rows(session: Session, relation: Relation, name: str, expression: Node) -> None:
    """Raise ServerError if a new column's default fails for the existing rows.

    The server evaluates its constants even if there is no row (ATExecAddColumn).
    """
    column = relation.column(name)
    if column is None:
        return
    # Loaded only where it does not show at a glance.
    from pubcheck.postgres.executor.planner_folding import planned

    with only_certain(session):
        p, expr = analyze_stored(session, relation, expression, "DEFAULT expressions")
        coerced = coerce_to_target_type(p, expr, expr.type, column.type, column.typmod, "a", IMPLICIT, -1)
        if coerced is not None:
            assign_collations(p, coerced)
            planned(p, coerced)


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
    _refuse_type(p, column, expr)
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


def refuse_pair(session: Session, column: Column, to_column: Column, name: str) -> None:
    """Raise ServerError 42804 if a column certainly cannot refer to the other one, for their types."""
    of_type, to_type = column.type, to_column.type
    with only_certain(session):
        cache = session.syscache
        family, compared = cache.default_class(to_type, "b")
        if not family or cache.opfamily_member(family, compared, cache.base_type(of_type)[0], EQUAL):
            return
        if not (can_coerce(cache, to_type, compared, "i") and can_coerce(cache, of_type, compared, "i")):
            pair = f'"{column.name}" and "{to_column.name}"'
            if session.catalog.major.named_not_null:
                pair = f'"{column.name}" of the referencing table and "{to_column.name}" of the referenced table'
            types = f"{cache.format_type(of_type)} and {cache.format_type(to_type)}"
            raise ServerError(
                "42804",
                f'foreign key constraint "{name}" cannot be implemented',
                detail=f"Key columns {pair} are of incompatible types: {types}.",
            )


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
    """Return the value of an expression in a bound, like ``partition_bounds.read_value``
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
        from pubcheck.postgres.executor.planner_folding import planned

        left = planned(p, coerced)
        # NaN has no place in Python's order of numbers.
        is_nan = left.value != left.value
        if left.node == "Const" and not is_nan and (left.null or column.type in _AS_EVALUATED):
            values.append((left.value,))
    return values[0] if values else None


_AS_EVALUATED = frozenset((INT2, INT4, INT8, NUMERIC, BOOL, TEXT, VARCHAR))
"""Types whose values are the same for the ``executor`` and for bounds."""
