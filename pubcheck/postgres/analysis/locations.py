"""Locations of parse nodes and of analysed expressions (exprLocation in nodes/nodeFuncs.c).

A node has one location: a comparison that of its operator, a function call that of its name. An error about a whole
expression points at the leftmost place among it and its operands. -1 means that there is no location.
"""

from __future__ import annotations

from collections.abc import Iterable

from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import Expr

_OF_ARGUMENT = frozenset(
    ("SubscriptingRef", "FieldSelect", "FieldStore", "CollateExpr", "RowCompareExpr", "JsonValueExpr", "JsonBehavior")
)
"""Nodes whose place is that of their first operand."""
_LEFTMOST = frozenset(
    (
        "FuncExpr", "NamedArgExpr", "OpExpr", "DistinctExpr", "NullIfExpr", "ScalarArrayOpExpr", "BoolExpr", "SubLink",
        "RelabelType", "CoerceViaIO", "ArrayCoerceExpr", "ConvertRowtypeExpr", "JsonExpr", "NullTest", "BooleanTest",
        "CoerceToDomain", "XmlExpr",
    )
)  # fmt: skip
"""Nodes that look at their own place and at that of their first operand that has one."""


def expr_location(expr: Expr) -> int:
    """Return the start of an analysed expression, a byte offset into the statement; -1 where the server does not know
    it."""
    best = -1
    while True:
        kind = expr.node
        if kind in _OF_ARGUMENT:
            args = expr.args
        elif kind in _LEFTMOST:
            best = _leftmost(best, expr.location)
            # A named argument of an XML construct has the location of its name; only unnamed ones are visited.
            args = expr.args[expr.value[1] :] if kind == "XmlExpr" else expr.args
            if kind in ("ArrayCoerceExpr", "SubLink", "JsonExpr"):
                args = args[:1]
        else:
            return _leftmost(best, expr.location)
        if not args:
            return best
        # Chains of operators lean left and may be long: the first operand is followed, not called.
        first = args[0]
        if len(args) > 1 and _placeless(first):
            return _leftmost(best, next((place for place in map(expr_location, args) if place >= 0), -1))
        expr = first


def _placeless(expr: Expr) -> bool:
    """Return whether an operand may be without a place, so that the next one counts."""
    return expr.location < 0 and expr.node != "Var"


def _leftmost(first: int, second: int) -> int:
    if first < 0:
        return second
    return first if second < 0 else min(first, second)


def node_location(node: Node | None) -> int:
    """Return the start of a parse node; -1 where the server does not know it."""
    if not node:
        return -1
    ((kind, body),) = node.items()
    if kind == "CollateClause":
        return node_location(body.get("arg"))
    place: int = body.get("location", 0) if kind in _PLACED else -1
    if kind == "A_Expr":
        return _leftmost(place, node_location(body.get("lexpr")))
    if kind == "FuncCall":
        return _leftmost(place, _first(body.get("args", ())))
    if kind == "TypeCast":
        place = _leftmost(place, body["typeName"].get("location", 0))
        return _leftmost(place, node_location(body.get("arg")))
    if kind in ("BoolExpr", "XmlExpr"):
        return _leftmost(place, _first(body.get("args", ())))
    if kind in ("NullTest", "BooleanTest"):
        return _leftmost(place, node_location(body.get("arg")))
    if kind == "SubLink":
        return _leftmost(place, node_location(body.get("testexpr")))
    if kind == "NamedArgExpr":
        return _leftmost(place, node_location(body.get("arg")))
    return place


_PLACED = frozenset(
    (
        "A_ArrayExpr", "A_Const", "A_Expr", "BoolExpr", "BooleanTest", "CaseExpr", "CoalesceExpr", "ColumnRef",
        "FuncCall", "GroupingFunc", "JsonArrayConstructor", "JsonArrayQueryConstructor", "JsonIsPredicate",
        "JsonObjectConstructor", "MergeSupportFunc", "MinMaxExpr", "NamedArgExpr", "NullTest", "ParamRef", "RowExpr",
        "SQLValueFunction", "SetToDefault", "SubLink", "TypeCast", "XmlExpr", "XmlSerialize",
    )
)  # fmt: skip


def _first(nodes: Iterable[Node]) -> int:
    return next((place for place in map(node_location, nodes) if place >= 0), -1)
