"""What every row of a table meets: the definitions of its columns, CHECK constraints, and the bounds of a partition.
And what analysed expressions are made of, as far as logic needs to know: which are the same, strict, or cannot fail.

A row filter cannot read a column of a domain or an enum itself, but a generated column that has its value.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from functools import partial
from operator import is_
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from pubcheck.postgres import oids
from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.row_filter import analyze, parse_state
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, OTHER, PG_CATALOG, TYPE
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.partition_bounds import INFINITIES
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.compare import is_deterministic
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import IMPLICIT, Expr, nodes
from pubcheck.postgres.session import Session

if TYPE_CHECKING:
    from pubcheck.postgres.session.syscache import SysCache

_TRANSPARENT = frozenset(("RelabelType", "CollateExpr", "NamedArgExpr"))
_TEXTS = frozenset((oids.TEXT, oids.VARCHAR))
_FAITHFUL = frozenset(
    (
        (oids.INT2, oids.INT4), (oids.INT2, oids.INT8), (oids.INT4, oids.INT8),
        (oids.INT2, oids.NUMERIC), (oids.INT4, oids.NUMERIC), (oids.INT8, oids.NUMERIC),
        (oids.INT2, oids.FLOAT8), (oids.INT4, oids.FLOAT8), (oids.FLOAT4, oids.FLOAT8), (oids.BPCHAR, oids.TEXT),
    )
)  # fmt: skip
"""Casts that keep the order of values and their difference, and never fail."""


def key_of(expr: Expr) -> tuple[Any, ...]:
    """Return what makes two expressions the same, wherever they were written."""
    value = expr.value
    return (
        expr.node,
        expr.type,
        expr.typmod,
        expr.input_collation,
        expr.functions,
        expr.operators,
        expr.null,
        repr(value) if expr.node == "Const" else value,
        tuple([key_of(arg) for arg in expr.args]),
    )


def variables_in(expr: Expr) -> list[int]:
    """Return the attribute numbers of the columns that an expression reads."""
    return list(dict.fromkeys(node.value for node in nodes(expr) if node.node == "Var"))


def seen_through(cache: SysCache, expr: Expr) -> Expr:
    """Return the expression whose value another one has, under casts that keep its order."""
    while expr.args:
        inner = expr.args[0]
        same = inner.type == expr.type or (inner.type in _TEXTS and expr.type in _TEXTS)
        relabelled = expr.node in _TRANSPARENT and same
        faithful = expr.node == "FuncExpr" and len(expr.args) == 1 and (inner.type, expr.type) in _FAITHFUL
        if not relabelled and not (faithful and _is_cast(cache, expr)):
            break
        expr = inner
    return expr


def _is_cast(cache: SysCache, expr: Expr) -> bool:
    row = cache.proc(expr.functions[0])
    return row.oid < FIRST_NORMAL_OID and row.name in ("int4", "int8", "numeric", "float8", "text")


def substituted(expr: Expr, part: Expr, other: Expr) -> Expr:
    """Return an expression with another one in the place of a part of it."""
    if expr is part:
        return other
    if not expr.args:
        return expr
    return replace(expr, args=[substituted(arg, part, other) for arg in expr.args])


_SCALARS = frozenset(
    (
        oids.BOOL, oids.INT2, oids.INT4, oids.INT8, oids.OID, oids.NUMERIC, oids.FLOAT4, oids.FLOAT8, oids.TEXT,
        oids.VARCHAR, oids.BPCHAR, oids.NAME, oids.DATE, oids.TIMESTAMP, oids.TIMESTAMPTZ, oids.TIME, oids.TIMETZ,
        oids.INTERVAL, oids.UUID, oids.BYTEA, 869, 650,
    )
)  # fmt: skip
_TOTAL_FUNCTIONS = frozenset(
    (
        "ascii", "bit_length", "btrim", "char_length", "character_length", "initcap", "length", "lower", "ltrim", "md5",
        "octet_length", "reverse", "rtrim", "starts_with", "upper",
    )
)  # fmt: skip
"""Functions of scalars that give a value for all values but NULL, and never fail."""
_SAFE_OPERATORS = frozenset(
    ["=", "<>", "<", "<=", ">", ">=", "~~", "!~~", "~~*", "!~~*", "^@", "||", "~<~", "~<=~", "~>~", "~>=~"]
)
_PLAIN = frozenset(("Var", "Const", "BoolExpr", "NullTest", "BooleanTest", "ArrayExpr", *_TRANSPARENT))


def is_strict(cache: SysCache, expr: Expr) -> bool:
    """Return whether an expression is NULL as soon as a column that it reads is."""
    for node in nodes(expr):
        if node.node in _TRANSPARENT or node.node in ("Var", "Const"):
            continue
        if node.node not in ("FuncExpr", "OpExpr") or not all(cache.proc(oid).strict for oid in node.functions):
            return False
    return True


def never_null(cache: SysCache, expr: Expr) -> bool:
    """Return whether an expression has a value in every row whose columns have one."""
    for node in nodes(expr):
        if node.node == "Const" and node.null:
            return False
        if node.node in ("OpExpr", "ScalarArrayOpExpr"):
            if not all(arg.type in _SCALARS or arg.node in ("ArrayExpr", "Const") for arg in node.args):
                return False
        elif node.node == "FuncExpr":
            if not (_is_total(cache, node) or seen_through(cache, node) is not node):
                return False
        elif node.node not in _PLAIN:
            return False
    return True


def never_fails(cache: SysCache, expr: Expr) -> bool:
    """Return whether an expression raises no error in any row."""
    for node in nodes(expr):
        if node.node in ("OpExpr", "ScalarArrayOpExpr", "DistinctExpr"):
            names = {cache.operator(oid).name for oid in node.operators}
            if not names <= _SAFE_OPERATORS and not (names <= {"/", "%"} and _divides_by_number(node)):
                return False
            if not all(arg.type in _SCALARS or arg.node in ("ArrayExpr", "Const") for arg in node.args):
                return False
        elif node.node == "FuncExpr":
            if not (_is_total(cache, node) or seen_through(cache, node) is not node):
                return False
        elif node.node not in _PLAIN and node.node not in ("CoalesceExpr", "CaseExpr", "NullIfExpr", "MinMaxExpr"):
            return False
    return True


def _divides_by_number(expr: Expr) -> bool:
    divisor = expr.args[1]
    return (
        divisor.node == "Const"
        and divisor.type in (oids.INT2, oids.INT4, oids.INT8)
        and divisor.value not in (0, -1, None)
    )


def _is_total(cache: SysCache, expr: Expr) -> bool:
    row = cache.proc(expr.functions[0])
    if row.oid >= FIRST_NORMAL_OID or row.name not in _TOTAL_FUNCTIONS:
        return False
    return all(arg.type in _SCALARS for arg in expr.args)


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


def _domain_checks(session: Session, relation: Relation) -> Iterator[Expr]:
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


def _generated_value(session: Session, relation: Relation, column: Column) -> Expr | None:
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


def _equality(session: Session, relation: Relation, number: int, value: Expr) -> Expr | None:
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


_MOST = 40
"""Constraints that are read at most."""


def facts_of(session: Session, relation: Relation, numbers: Collection[int]) -> tuple[list[Expr], dict[int, Expr]]:
    """Return conditions that no row of a table violates, and the expressions of the generated columns in them.

    Only conditions about the columns ``numbers`` are returned: they read one of them, or share a column with another
    such condition.

    CHECK constraints that are not validated or not enforced do not count. One that cannot be read, or whose literals
    depended on the session when it was created, is left out.
    """
    others: list[Expr] = [*_domain_checks(session, relation)]
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
            value = _generated_value(session, relation, left.pop(number))
            same = _equality(session, relation, number, value) if value is not None else None
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
