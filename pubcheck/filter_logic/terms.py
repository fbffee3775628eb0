"""What analysed expressions are made of, as far as logic needs to know: which are the same, strict, or cannot fail."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from pubcheck.postgres import oids
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.primnodes import Expr, nodes

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
