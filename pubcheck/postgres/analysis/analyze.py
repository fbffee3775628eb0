"""Parse nodes of an expression become typed ones (transformExprRecurse in parser/parse_expr.c), in the server's order.

A filter is analysed as a WHERE clause with one relation in scope. Each construct has its function; they
are looked up by the parse node's kind, and the modules of the rarer ones are loaded when the first is met. Constants
follow make_const in parser/parse_node.c and transformSQLValueFunction in parser/parse_expr.c.
"""

from __future__ import annotations

from collections.abc import Callable

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres import input
from pubcheck.postgres.analysis.coerce import coerce_to_boolean
from pubcheck.postgres.analysis.operators import make_op
from pubcheck.postgres.analysis.parse_state import MissingColumn, ParseState, column_reference
from pubcheck.postgres.errors import OUT_OF_PLACE, ServerError, Unknowable
from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.oids import BIT, BOOL, INT4, INT8, NAME, NUMERIC
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names as names_of
from pubcheck.postgres.parse_tree import value_function_name, value_function_type
from pubcheck.postgres.primnodes import UNKNOWN, Expr

_INTEGER = lazy_compile(r"[+-]?(?:[0-9][0-9_]*|0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+)")
_DECIMAL = lazy_compile(r"([+-]?)0*([0-9]*)")
NAME_COLLATION = 950
"""typcollation of name: "C"."""


def constant(p: ParseState, body: Node) -> Expr:
    """An A_Const. Raises ServerError 22003 for a number that numeric cannot hold, 22P02 for a bit string's digit."""
    location: int = body.get("location", -1)
    if "sval" in body:
        return Expr("Const", UNKNOWN, [], location, value=body["sval"].get("sval", ""))
    if "ival" in body:
        return Expr("Const", INT4, [], location, value=body["ival"].get("ival", 0))
    if "boolval" in body:
        return Expr("Const", BOOL, [], location, value=body["boolval"].get("boolval", False))
    if "fval" in body:
        return _number(p, body["fval"].get("fval", "0"), location)
    if "bsval" in body:
        return _read(p, BIT, body["bsval"].get("bsval", ""), location)
    return Expr("Const", UNKNOWN, [], location, null=True)


def _number(p: ParseState, text: str, location: int) -> Expr:
    """Digits with a point or an exponent, or more of them than an int4 holds."""
    if _INTEGER.fullmatch(text):
        digits = text.replace("_", "")
        decimal = _DECIMAL.fullmatch(digits)
        # Python converts only so many decimal digits; twenty are beyond an int8 however they go on.
        value = int(digits, 0) if decimal is None else int(decimal[1] + (decimal[2][:20] or "0"))
        if -(1 << 31) <= value < 1 << 31:
            return Expr("Const", INT4, [], location, value=value)
        if -(1 << 63) <= value < 1 << 63:
            return Expr("Const", INT8, [], location, value=value)
    return _read(p, NUMERIC, text, location)


def _read(p: ParseState, oid: int, text: str, location: int) -> Expr:
    try:
        value = input.read(p.inputs, oid, text)
    except ServerError as error:
        if error.location is None and location >= 0:
            error.location = error.culprit = location
        raise
    return Expr("Const", oid, [], location, value=value)


_MAX_PRECISION = 6
"""MAX_TIME_PRECISION, MAX_TIMESTAMP_PRECISION; more digits are taken for as many, with a warning."""


def value_function(p: ParseState, body: Node) -> Expr:
    """Analyse CURRENT_DATE, LOCALTIME(2), CURRENT_USER and similar."""
    op: str = body["op"]
    typmod: int = body.get("typmod", 0 if op.endswith("_N") else -1)
    oid = value_function_type(op)
    return Expr(
        "SQLValueFunction",
        oid,
        [],
        body.get("location", -1),
        typmod=min(typmod, _MAX_PRECISION),
        collation=NAME_COLLATION if oid == NAME else 0,
        value=value_function_name(op),
    )


Handler = Callable[[ParseState, Node], Expr]


def transform(p: ParseState, node: Node) -> Expr:
    """Return the analysed expression, with its types, functions and operators.

    Raises ServerError where the server refuses it, Unknowable where that depends on an unknown object.
    """
    for kind, body in node.items():
        try:
            handler = _HANDLERS[kind]
        except KeyError:
            raise Unknowable(f"what {kind} means") from None
        return handler(p, body)
    raise ValueError("an empty parse node")


def _operator(p: ParseState, body: Node) -> Expr:
    """An A_Expr. Plain operators chain to the left, and such a chain may be long: it is followed, not called."""
    kind = body["kind"]
    if kind not in _PLAIN:
        return _SPECIAL[kind](p, body)
    chain = [body]
    first = body.get("lexpr")
    while first is not None and "A_Expr" in first and first["A_Expr"]["kind"] in _PLAIN and not _of_row(chain[-1]):
        chain.append(first["A_Expr"])
        first = chain[-1].get("lexpr")
    result: Expr | None = None
    for link in reversed(chain):
        if result is None:
            of_row = _of_row(link)
            if of_row:
                result = _SPECIAL[of_row](p, link)
                continue
            if first is not None:
                result = transform(p, first)
        right = transform(p, link["rexpr"])
        result = make_op(p, names_of(link["name"]), result, right, link.get("location", -1))
    assert result is not None
    return result


_PLAIN = frozenset(("AEXPR_OP", "AEXPR_LIKE", "AEXPR_ILIKE", "AEXPR_SIMILAR"))


def _of_row(body: Node) -> str:
    """Return whether an operator's left operand is a ROW, and its right one another ROW or a sub-select."""
    if "RowExpr" not in body.get("lexpr", ()):
        return ""
    right = body["rexpr"]
    if "RowExpr" in right:
        return "rows"
    return "row and query" if right.get("SubLink", {}).get("subLinkType") == "EXPR_SUBLINK" else ""


_OPERATIONS = {"AND_EXPR": "AND", "OR_EXPR": "OR", "NOT_EXPR": "NOT"}


def _boolean(p: ParseState, body: Node) -> Expr:
    """AND, OR and NOT, nested as deeply as may be (transformBoolExpr)."""
    open_nodes: list[tuple[Node, list[Expr]]] = [(body, [])]
    while True:
        node, operands = open_nodes[-1]
        operation = _OPERATIONS[node["boolop"]]
        args = node["args"]
        below = None
        while len(operands) < len(args):
            argument = args[len(operands)]
            below = argument.get("BoolExpr")
            if below is not None:
                break
            operands.append(coerce_to_boolean(p, transform(p, argument), operation))
        if below is not None:
            open_nodes.append((below, []))
            continue
        finished = Expr("BoolExpr", BOOL, operands, node.get("location", -1), value=operation)
        open_nodes.pop()
        if not open_nodes:
            return finished
        open_nodes[-1][1].append(finished)


def column(p: ParseState, body: Node) -> Expr:
    """A ColumnRef; ``t.total`` is total(t) where t has no such column (transformColumnRef)."""
    reference = _REFERENCES[p.nested](p, body)
    if isinstance(reference, Expr):
        return reference
    return _OTHER_NAMES["call"](p, reference)


def _named_argument(p: ParseState, body: Node) -> Expr:
    argument = transform(p, body["arg"])
    return Expr(
        "NamedArgExpr",
        argument.type,
        [argument],
        body.get("location", -1),
        typmod=argument.typmod,
        value=body.get("name", ""),
    )


def _null_test(p: ParseState, body: Node) -> Expr:
    return Expr("NullTest", BOOL, [transform(p, body["arg"])], body.get("location", -1), value=body["nulltesttype"])


def _boolean_test(p: ParseState, body: Node) -> Expr:
    clause = body["booltesttype"].replace("_", " ")
    argument = coerce_to_boolean(p, transform(p, body["arg"]), clause)
    return Expr("BooleanTest", BOOL, [argument], body.get("location", -1), value=clause)


def _parameter(p: ParseState, body: Node) -> Expr:
    name = f"${body.get('number', 0)}"
    raise p.error("42P02", "there is no parameter {name}", body.get("location", -1), "no-parameter", name=name)


def _default(p: ParseState, body: Node) -> Expr:
    message = "DEFAULT is not allowed in this context"
    raise p.error("42601", message, body.get("location", -1), "construct-out-of-place")


def _grouping(p: ParseState, body: Node) -> Expr:
    """GROUPING(): its arguments are analysed before it is refused (transformGroupingFunc)."""
    location: int = body.get("location", -1)
    args = body.get("args", [])
    if len(args) > _MAX_GROUPING:
        raise p.error("54023", f"GROUPING must have fewer than {_MAX_GROUPING + 1} arguments", location)
    grouping = Expr("GroupingFunc", INT4, [transform(p, argument) for argument in args], location)
    if p.clause not in ("SELECT", "HAVING", "ORDER BY", "DISTINCT ON"):
        construct = "grouping operations"
        raise p.error("42803", OUT_OF_PLACE, location, "out-of-place", what=construct, clause=p.clause)
    return grouping


_MAX_GROUPING = 31


_PACKAGE = "pubcheck.postgres.analysis"
_HANDLERS: Deferred[str, Handler] = Deferred(
    _PACKAGE,
    {
        "A_ArrayExpr": "casts:array",
        "A_Indirection": "casts:indirection",
        "CaseExpr": "comparisons:case",
        "CoalesceExpr": "comparisons:coalesce",
        "CollateClause": "casts:collate",
        "FuncCall": "calls:call",
        "JsonArrayAgg": "json:array_aggregate",
        "JsonArrayConstructor": "json:array_constructor",
        "JsonArrayQueryConstructor": "select:json_array_query",
        "JsonFuncExpr": "json:query_function",
        "JsonIsPredicate": "json:is_json",
        "JsonObjectAgg": "json:object_aggregate",
        "JsonObjectConstructor": "json:object_constructor",
        "JsonParseExpr": "json:parse",
        "JsonScalarExpr": "json:scalar",
        "JsonSerializeExpr": "json:serialize",
        "MergeSupportFunc": "calls:merge_action",
        "MinMaxExpr": "comparisons:greatest_or_least",
        "RowExpr": "comparisons:row",
        "SubLink": "select:sublink",
        "TypeCast": "casts:cast",
        "XmlExpr": "calls:xml_expression",
        "XmlSerialize": "calls:serialize",
    },
    loaded={
        "A_Const": constant,
        "A_Expr": _operator,
        "BoolExpr": _boolean,
        "BooleanTest": _boolean_test,
        "ColumnRef": column,
        "GroupingFunc": _grouping,
        "NamedArgExpr": _named_argument,
        "NullTest": _null_test,
        "ParamRef": _parameter,
        "SQLValueFunction": value_function,
        "SetToDefault": _default,
    },
)
_SPECIAL: Deferred[str, Handler] = Deferred(
    _PACKAGE,
    {
        "AEXPR_BETWEEN": "comparisons:between",
        "AEXPR_BETWEEN_SYM": "comparisons:between",
        "AEXPR_DISTINCT": "comparisons:distinct",
        "AEXPR_IN": "comparisons:in_list",
        "AEXPR_NOT_BETWEEN": "comparisons:between",
        "AEXPR_NOT_BETWEEN_SYM": "comparisons:between",
        "AEXPR_NOT_DISTINCT": "comparisons:distinct",
        "AEXPR_NULLIF": "comparisons:nullif",
        "AEXPR_OP_ALL": "comparisons:any_or_all",
        "AEXPR_OP_ANY": "comparisons:any_or_all",
        "row and query": "select:row_operator",
        "rows": "comparisons:row_operator",
    },
)
"""Handlers of A_Exprs that are not plain operators, by their kind, and of those that compare rows."""
_REFERENCES: Deferred[bool, Callable[[ParseState, Node], Expr | MissingColumn]] = Deferred(
    _PACKAGE, {True: "namespace_items:nested_reference"}, loaded={False: column_reference}
)
"""What finds the column that a ColumnRef means, by whether it is in a sub-select."""
_OTHER_NAMES: Deferred[str, Callable[[ParseState, MissingColumn], Expr]] = Deferred(
    _PACKAGE, {"call": "calls:column_as_call"}
)
"""What else a name may be that is not a column's."""
