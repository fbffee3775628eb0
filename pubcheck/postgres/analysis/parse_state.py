"""The state of the analysis of one expression (parser/parse_node.c), and the locations of its nodes (exprLocation in
nodes/nodeFuncs.c).

A node has one location: a comparison that of its operator, a function call that of its name. An error about a whole
expression points at the leftmost place among it and its operands. -1 means that there is no location.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, PG_CATALOG
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import Expr

if TYPE_CHECKING:
    from pubcheck.postgres.input import InputContext
    from pubcheck.postgres.session import Session
    from pubcheck.postgres.session.syscache import SysCache
from collections.abc import Iterable

NOTHING = Relation(0, "", PG_CATALOG, "r", 0, seen=True)
"""The relation name of an expression that has no relation."""
_WITH_SETS = frozenset(("SELECT", "ORDER BY", "GROUP BY", "DISTINCT ON", "functions in FROM"))


class ParseState:
    """The relation in scope, and the session whose search path and settings apply.

    ``inputs`` reads the literals; it records which of them were frozen. ``transform_expr`` analyses the
    parts of an expression: each construct is a module of its own, and ``analyze`` knows them all.
    """

    clause = "WHERE"
    """The place of the expression in its query (p_expr_kind), in the words of errors."""
    nested = False
    """Whether the expression is in a sub-select."""
    merge_action: Callable[[object], str] | None = None
    """What merge_action() returns for a row of RETURNING, in a MERGE that runs."""

    def __init__(
        self,
        session: Session,
        relation: Relation,
        inputs: InputContext,
        transform_expr: Callable[[ParseState, Node], Expr],
    ) -> None:
        self.session = session
        self.cache: SysCache = inputs.cache
        self.relation = relation
        self.inputs = inputs
        self.transform_expr = transform_expr
        self.major = session.catalog.major
        self.frozen: list[tuple[int, frozenset[str]]] = []
        """The places of the literals whose value was fixed when they were read, and its causes."""

    def transform(self, node: Node) -> Expr:
        """An expression with its types, functions and operators found (``analyze.transform``)."""
        return self.transform_expr(self, node)

    def operator_signature(self, names: list[str], left: int, right: int) -> str:
        """op_signature_string."""
        start = f"{self.type_name(left)} " if left else ""
        return f"{start}{'.'.join(names)} {self.type_name(right)}"

    def error(
        self,
        sqlstate: str,
        message: str,
        location: int | None = None,
        key: str = "expression",
        *,
        hint: str | None = None,
        detail: str | None = None,
        **arguments: str,
    ) -> ServerError:
        """Return the error at a byte offset of the statement; a negative one is the server's "no position"."""
        place = location if location is not None and location >= 0 else None
        return ServerError(
            sqlstate, message, key=key, detail=detail, hint=hint, location=place, culprit=None, **arguments
        )

    def missing(
        self,
        message: str,
        key: str,
        signature: str,
        location: int,
        types: Sequence[int],
        *,
        exists: bool,
        reason: tuple[str | None, str | None],
    ) -> ServerError:
        """Return the refusal (42883) of an operator or function that does not exist for these types.

        ``reason`` is its DETAIL and HINT. It is assumed if an unknown statement may have created one. For built-in
        types and a name that ``exists`` on the server this is not expected.
        """
        own = exists and all(oid < FIRST_NORMAL_OID for oid in types)
        if not self.cache.complete_names and (not own or self.session.blind or self.session.extensions):
            self.session.assume("whether a function or operator for these types is created elsewhere")
        return self.error("42883", message, location, key, detail=reason[0], hint=reason[1], signature=signature)

    def take_set(self, location: int) -> None:
        """Refuse a set-returning function here (check_srf_call_placement). Raises ServerError 0A000."""
        if self.clause not in _WITH_SETS:
            message = "set-returning functions are not allowed in {clause}"
            raise self.error("0A000", message, location, "set-out-of-place", clause=self.clause)

    def type_name(self, oid: int) -> str:
        """format_type_be."""
        return self.cache.format_type(oid)


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
