"""What the definitions of columns say about every row of a table: NOT NULL, the types under domains and their CHECK
constraints, and the expressions of stored generated columns.

A row filter cannot read a column of a domain or an enum itself, but a generated column that has its value.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import is_

from msgspec.structs import replace

from pubcheck.postgres import oids
from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.row_filter import analyze, parse_state
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, OTHER, PG_CATALOG, TYPE
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.primnodes import IMPLICIT, Expr, nodes
from pubcheck.postgres.session import Session


def columns_of(session: Session, relation: Relation) -> list[Column]:
    """Return the columns of a table, with the types under domains.

    A NOT NULL that old rows, or rows of an inheriting table, need not meet does not count.
    """
    catalog, cache = session.catalog, session.syscache
    # Partitions have every NOT NULL of their root.
    family = [relation]
    if relation.kind != "p":
        family = [catalog.relations[oid] for oid in catalog.descendants(relation.oid)]
    columns = []
    for column in relation.live():
        required = column.not_null and all(_is_required(row.column(column.name)) for row in family)
        oid, typmod = column.type, column.typmod
        if oid >= FIRST_NORMAL_OID:
            try:
                oid, typmod = cache.base_type(oid, typmod)
            except Unknowable:
                oid = 0
        columns.append(replace(column, type=oid, typmod=typmod, not_null=required))
    return columns


def _is_required(column: Column | None) -> bool:
    return column is not None and column.not_null and (column.constraint is None or column.constraint.validated)


def over_columns(columns: dict[int, Column], expr: Expr) -> Expr:
    """Return an expression whose variables have the types that ``columns_of`` gives their columns."""

    def typed(variable: Expr) -> Expr:
        column = columns.get(variable.value)
        if column is None or column.type in (0, variable.type):
            return variable
        return replace(variable, type=column.type, typmod=column.typmod)

    return _with_variables(expr, typed)


def _with_variables(expr: Expr, changed: Callable[[Expr], Expr]) -> Expr:
    """Return an expression with each of its variables changed. It may be deeper than calls can be."""
    done: dict[int, Expr] = {}
    stack = [expr]
    while stack:
        node = stack[-1]
        if waiting := [arg for arg in node.args if id(arg) not in done]:
            stack += waiting
            continue
        stack.pop()
        args = [done[id(arg)] for arg in node.args]
        if node.node == "Var":
            done[id(node)] = changed(node)
        else:
            done[id(node)] = node if all(map(is_, args, node.args)) else replace(node, args=args)
    return done[id(expr)]


def domain_checks(session: Session, relation: Relation) -> Iterator[Expr]:
    """Yield the CHECK constraints of the domains of a table's columns, as conditions on the columns.

    NULL can be stored in a column of a domain that excludes it, as by an INSERT of an empty sub-select, so NULL is
    never excluded.
    """
    catalog = session.catalog
    for column in relation.live():
        domain = catalog.types.get(column.type)
        while domain is not None and domain.kind == "d":
            value = Column(1, "value", domain.base, typmod=domain.typmod, collation=domain.collation)
            table = Relation(0, "", PG_CATALOG, "r", 0, columns=(value,), seen=True)
            for key, _, _ in catalog.dependents.get((TYPE, domain.oid)):
                tree = catalog.definitions.get(("domain check", key[1])) if key[0] == OTHER else None
                if tree is None or ("domain check not valid", key[1]) in catalog.definitions:
                    continue
                state = parse_state(session, table)
                try:
                    check = analyze(state, tree)
                except (ServerError, Unknowable, RecursionError):
                    continue
                if not state.frozen:
                    yield _or_null(_with_variables(check, partial(_numbered, column.number)))
            domain = catalog.types.get(domain.base)


def _numbered(number: int, variable: Expr) -> Expr:
    return replace(variable, value=number)


def _or_null(check: Expr) -> Expr:
    variable = next((node for node in nodes(check) if node.node == "Var"), None)
    if variable is None:
        return check
    is_null = Expr("NullTest", oids.BOOL, [variable], value="IS_NULL")
    return Expr("BoolExpr", oids.BOOL, [is_null, check], value="OR")


def generated_value(session: Session, relation: Relation, column: Column) -> Expr | None:
    """Return the expression of a stored generated column, None if it is not followed."""
    catalog = session.catalog
    family = [catalog.relations[oid].column(column.name) for oid in catalog.descendants(relation.oid)]
    if not isinstance(column.tree, dict) or any(member is None or member.tree != column.tree for member in family):
        return None  # a partition or child may have an expression of its own
    state = parse_state(session, relation)
    try:
        expr = state.transform(column.tree)
        value = coerce_to_target_type(state, expr, expr.type, column.type, column.typmod, "a", IMPLICIT, -1)
        if value is not None:
            assign_collations(state, value)
    except (ServerError, Unknowable, RecursionError):
        return None
    # A function of a user may have been replaced after it computed the values.
    if value is None or state.frozen or any(oid >= FIRST_NORMAL_OID for node in nodes(value) for oid in node.functions):
        return None
    return value


def equality(session: Session, relation: Relation, number: int, value: Expr) -> Expr | None:
    """Return the condition that a column is not distinct from an expression."""
    reference = {"ColumnRef": {"fields": [{"String": {"sval": relation.columns[number - 1].name}}]}}
    operator = [{"String": {"sval": "="}}]
    tree = {"A_Expr": {"kind": "AEXPR_NOT_DISTINCT", "name": operator, "lexpr": reference, "rexpr": reference}}
    try:
        same = analyze(parse_state(session, relation), tree)
    except (ServerError, Unknowable):
        return None  # values of its type have no equality
    distinct = same.args[0]
    other = _with_variables(distinct.args[1], lambda _: value)
    return replace(same, args=[replace(distinct, args=[distinct.args[0], other])])
