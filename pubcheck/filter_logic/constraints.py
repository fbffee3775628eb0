"""What every row of a table meets: CHECK constraints, definitions of its columns, and the bounds of a partition."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from pubcheck.filter_logic.columns import domain_checks, equality, generated_value
from pubcheck.filter_logic.terms import variables_in
from pubcheck.postgres import oids
from pubcheck.postgres.analysis.row_filter import analyze, parse_state
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.partition_bound_values import INFINITIES
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.compare import is_deterministic
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import Expr, nodes
from pubcheck.postgres.session import Session

_MOST = 40
"""Constraints that are read at most."""


def facts_of(session: Session, relation: Relation, numbers: Collection[int]) -> tuple[list[Expr], dict[int, Expr]]:
    """Return conditions that no row of a table violates, and the expressions of the generated columns in them.

    Only conditions about the columns ``numbers`` are returned: they read one of them, or share a column with another
    such condition.

    CHECK constraints that are not validated or not enforced do not count. One that cannot be read, or whose literals
    depended on the session when it was created, is left out.
    """
    others: list[Expr] = [*domain_checks(session, relation)]
    for tree in _trees(session, relation):
        state = parse_state(session, relation)
        try:
            expr = analyze(state, tree)
        except (ServerError, Unknowable, RecursionError):
            continue
        if not state.frozen:
            others.append(expr)
    links = [(set(variables_in(check)), check) for check in others]
    left = {column.number: column for column in relation.live() if column.generated == "s"}
    generated: dict[int, Expr] = {}
    checks: list[Expr] = []
    concerned = set(numbers)
    while len(checks) < _MOST:
        # A generated column says nothing about the columns that it reads, so it counts only if it is concerned itself.
        for number in left.keys() & concerned:
            value = generated_value(session, relation, left.pop(number))
            same = equality(session, relation, number, value) if value is not None else None
            if value is not None and same is not None:
                generated[number] = value
                links.append(({number}, same))
        link = next((link for link in links if not concerned.isdisjoint(link[0])), None)
        if link is None:
            break
        links.remove(link)
        if all(_is_deterministic(session, node) for node in nodes(link[1])):
            checks.append(link[1])
            concerned.update(variables_in(link[1]))
    return checks, generated


def _is_deterministic(session: Session, expr: Expr) -> bool:
    """Return whether an expression finds only identical texts equal. No filter can have a collation that does not."""
    try:
        return is_deterministic(session.syscache, expr.input_collation)
    except Unknowable:
        return False


def _trees(session: Session, relation: Relation) -> Iterator[Node]:
    catalog = session.catalog
    # A publication's filter on a table with children is theirs too.
    has_children = bool(catalog.children.get(relation.oid))
    for oid in catalog.constraints_of.get(relation.oid):
        row = catalog.constraints.get(oid)
        if row is None or row.kind != "c" or (row.no_inherit and has_children):
            continue
        if row.validated and row.enforced and isinstance(row.tree, dict):
            yield row.tree
    child = relation
    while child.partition and child.parents:
        parent = catalog.relations[child.parents[0]]
        tree = _bound_tree(session, parent, child)
        if tree is not None:
            yield tree
        child = parent


def bounds_are_followed(session: Session, relation: Relation, numbers: Collection[int]) -> bool:
    """Return whether ``facts_of`` includes the bounds of a partition and its parents on the columns ``numbers``.

    Other columns always have values within the bounds."""
    names = {column.name for column in relation.live() if column.number in numbers}
    child = relation
    while child.partition and child.parents:
        parent = session.catalog.relations[child.parents[0]]
        keys = {parent.columns[number - 1].name if number else None for number in parent.partition_key}
        matters = None in keys or not keys.isdisjoint(names)
        if matters and _bound_tree(session, parent, child) is None:
            return False
        child = parent
    return True


def _bound_tree(session: Session, parent: Relation, child: Relation) -> Node | None:
    """Return the condition that a partition's bound is, None if it is not followed."""
    bound: tuple[Any, ...] | None = child.bound
    keys = [parent.columns[number - 1] if number else None for number in parent.partition_key]
    key = keys[0] if keys else None
    if bound is None or key is None:
        return None
    if bound[0] == "d":
        siblings = [
            _bound_tree(session, parent, session.catalog.relations[oid])
            for oid in session.catalog.children.get(parent.oid)
            if oid != child.oid
        ]
        known = [sibling for sibling in siblings if sibling is not None]
        if len(known) < len(siblings) or len(keys) > 1:
            return None
        return _logic("AND", [_test("BooleanTest", "booltesttype", "IS_NOT_TRUE", sibling) for sibling in known])
    if bound[0] == "l":
        values = [value for value in bound[1] if value is not None]
        constants = [_constant(key, value) for value in values]
        parts = [_comparison(key, "=", constant) for constant in constants if constant is not None]
        if len(parts) < len(constants):
            return None
        if None in bound[1]:
            parts.append(_null_test(key, "IS_NULL"))
        return _logic("AND", [_logic("OR", parts), *([] if None in bound[1] else [_null_test(key, "IS_NOT_NULL")])])
    if bound[0] != "r":
        return None
    parts = [_null_test(column, "IS_NOT_NULL") for column in keys if column is not None]
    for side, exact, several in ((bound[1], ">=", ">="), (bound[2], "<", "<=")):
        kind, value = side[0]
        constant = _constant(key, value) if kind == 0 else None
        if constant is not None:
            parts.append(_comparison(key, exact if len(keys) == 1 else several, constant))
        elif kind == 0:
            return None
    return _logic("AND", parts)


def _constant(column: Column, value: Any) -> Node | None:
    if column.type == oids.TIMESTAMPTZ and value not in INFINITIES and not str(value).endswith("Z"):
        return None  # it depends on the time zone
    return {"A_Const": {"sval": {"sval": ("t" if value else "f") if isinstance(value, bool) else str(value)}}}


def _reference(column: Column) -> Node:
    return {"ColumnRef": {"fields": [{"String": {"sval": column.name}}]}}


def _comparison(column: Column, name: str, constant: Node) -> Node:
    operator = [{"String": {"sval": name}}]
    return {"A_Expr": {"kind": "AEXPR_OP", "name": operator, "lexpr": _reference(column), "rexpr": constant}}


def _null_test(column: Column, kind: str) -> Node:
    return _test("NullTest", "nulltesttype", kind, _reference(column))


def _test(node: str, field: str, kind: str, arg: Node) -> Node:
    return {node: {"arg": arg, field: kind}}


def _logic(kind: str, parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else {"BoolExpr": {"boolop": f"{kind}_EXPR", "args": parts}}
