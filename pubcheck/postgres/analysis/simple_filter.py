"""The nodes that a row filter may contain (check_simple_rowfilter_expr in commands/publicationcmds.c)."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.postgres.analysis.locations import expr_location
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.primnodes import Expr, nodes

MESSAGE = "invalid publication WHERE expression"
DETAILS = {
    "filter-system-column": "System columns are not allowed.",
    "filter-user-operator": "User-defined operators are not allowed.",
    "filter-user-type": "User-defined types are not allowed.",
    "filter-mutable-function": "User-defined or built-in mutable functions are not allowed.",
    "filter-user-function": "User-defined or built-in mutable functions are not allowed.",
    "filter-user-collation": "User-defined collations are not allowed.",
    "filter-construct": "Only columns, constants, built-in operators, built-in data types, built-in collations, and "
    "immutable built-in functions are allowed.",
}
"""DETAIL by the key of the error."""

_OPERATORS = frozenset(("OpExpr", "DistinctExpr", "NullIfExpr", "ScalarArrayOpExpr", "RowCompareExpr"))
_CALLS = _OPERATORS | {"FuncExpr"}
"""Nodes whose functions count; those of XML constructs, GREATEST and LEAST do not (check_functions_in_node)."""
_ALLOWED = frozenset(
    (
        "ArrayExpr", "BoolExpr", "BooleanTest", "CaseExpr", "CaseTestExpr", "CoalesceExpr", "CollateExpr", "Const",
        "FuncExpr", "MinMaxExpr", "NullTest", "RelabelType", "RowExpr", "XmlExpr",
    )
)  # fmt: skip


class Refusal(Struct, frozen=True):
    """The server's refusal of a filter: the ``key`` of the error, the first node that is not allowed, and the object in
    it.

    ``oid`` is the function, operator, type or collation that is refused, 0 if it is the node as such or a system
    column. ``error`` is the server's answer, whose position is that of the culprit.
    """

    key: str
    culprit: Expr
    oid: int
    error: ServerError

    @property
    def detail(self) -> str:
        return DETAILS[self.key]


def _refuse(p: ParseState, key: str, culprit: Expr, oid: int = 0) -> Refusal:
    error = p.error("0A000", MESSAGE, expr_location(culprit), key, detail=DETAILS[key])
    return Refusal(key, culprit, oid, error)


def check_simple(p: ParseState, expr: Expr) -> Refusal | None:
    """Return the first node, from the root down and left to right, that a row filter may not contain, or None.

    Raises Unknowable where that depends on an unknown function or collation.
    """
    for node in nodes(expr):
        refusal = _check(p, node)
        if refusal is not None:
            return refusal
    return None


def _check(p: ParseState, expr: Expr) -> Refusal | None:
    kind = expr.node
    if kind == "Var":
        if expr.value is not None and expr.value < 0:
            return _refuse(p, "filter-system-column", expr)
    elif kind in _OPERATORS:
        for oid in expr.operators:
            if oid >= FIRST_NORMAL_OID:
                return _refuse(p, "filter-user-operator", expr, oid)
    elif kind not in _ALLOWED:
        return _refuse(p, "filter-construct", expr)
    if expr.type >= FIRST_NORMAL_OID:
        return _refuse(p, "filter-user-type", expr, expr.type)
    if kind in _CALLS:
        for oid in expr.functions:
            if oid >= FIRST_NORMAL_OID:
                return _refuse(p, "filter-user-function", expr, oid)
            if p.cache.proc(oid).volatility != "i":
                return _refuse(p, "filter-mutable-function", expr, oid)
    for oid in (expr.collation, expr.input_collation):
        if oid < 0:
            raise Unknowable("a collation that is not visible", expr_location(expr))
        if oid >= FIRST_NORMAL_OID:
            return _refuse(p, "filter-user-collation", expr, oid)
    return None
