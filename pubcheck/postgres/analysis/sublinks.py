"""Sub-selects in an expression (transformSubLink in parser/parse_expr.c).

No row filter may hold one. What the server finds wrong before it says so is looked for as far as the sub-select is
plain: tables and columns that do not exist, operators that do not fit, the number of columns. Where its result type
cannot be known and is needed, the refusal that is certain is raised at once.
"""

from __future__ import annotations

from typing import NoReturn

from pubcheck.postgres.analysis.comparisons import compare_rows
from pubcheck.postgres.analysis.json import returning
from pubcheck.postgres.analysis.namespace_items import Nested, Output
from pubcheck.postgres.analysis.parse_state import ParseState, node_location
from pubcheck.postgres.analysis.row_filter import DETAILS, MESSAGE
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.oids import BOOL, JSON, JSONB
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names as names_of
from pubcheck.postgres.primnodes import Expr


def sublink(p: ParseState, body: Node) -> Expr:
    """EXISTS, (SELECT ...), ARRAY(SELECT ...), IN, ANY and ALL. ``args``: the comparison, if there is one;
    ``value``: the form, whether the sub-select refers to the filter's table, and all it refers to outside of itself."""
    form = body["subLinkType"].removesuffix("_SUBLINK")
    location: int = body.get("location", -1)
    start = node_location({"SubLink": body})
    outputs, inner = _query(p, body["subselect"], start)
    if form == "EXISTS":
        return Expr("SubLink", BOOL, [], location, value=(form, inner.touches, inner.outer, inner))
    columns = _named_outputs(p, outputs, start)
    if form in ("EXPR", "ARRAY"):
        if len(columns) != 1:
            raise p.error("42601", "subquery must return only one column", location)
        return _scalar(p, form, columns[0], location, inner)
    names = names_of(body["operName"]) if "operName" in body else ["="]
    left = p.transform(body["testexpr"])
    left_columns = left.args if left.node == "RowExpr" else [left]
    return _compare(p, form, left_columns, names, columns, location, inner)


def row_operator(p: ParseState, body: Node) -> Expr:
    """``ROW(...) op (SELECT ...)``, whose place is that of the operator."""
    left, names, location = body["lexpr"], names_of(body["name"]), body.get("location", -1)
    start = node_location(left)
    outputs, inner = _query(p, body["rexpr"]["SubLink"]["subselect"], start)
    row = p.transform(left)
    return _compare(p, "ROWCOMPARE", row.args, names, _named_outputs(p, outputs, start), location, inner)


def json_array_query(p: ParseState, body: Node) -> Expr:
    """JSON_ARRAY(SELECT ...), which is a sub-select with JSON_ARRAYAGG."""
    location: int = body.get("location", -1)
    outputs, inner = _query(p, body["query"], location)
    columns = _named_outputs(p, outputs, location)
    if len(columns) != 1:
        raise p.error("42601", "subquery must return only one column", location)
    to = returning(p, body.get("output"), any_format=True)
    oid = to.type or (JSONB if columns[0].type == JSONB else JSON)
    return Expr("SubLink", oid, [], location, typmod=to.typmod, value=("EXPR", inner.touches, inner.outer, inner))


def _query(p: ParseState, query: Node, location: int) -> tuple[list[Output] | None, Nested]:
    nested = Nested(p)
    try:
        return analyze_query(nested, query), nested
    except Unknowable:
        _refused(p, location)


def _named_outputs(p: ParseState, outputs: list[Output] | None, location: int) -> list[Output]:
    if outputs is None or not all(output.type for output in outputs):
        _refused(p, location)
    return outputs


def _refused(p: ParseState, location: int) -> NoReturn:
    """Raise the refusal that the server gives in the end, whatever the sub-select contains."""
    key = "filter-construct"
    raise p.error("0A000", MESSAGE, location, key, detail=DETAILS[key])


def _scalar(p: ParseState, form: str, column: Output, location: int, inner: Nested) -> Expr:
    oid = column.type
    if form == "ARRAY":
        # get_promoted_array_type: an array of arrays is an array of more dimensions.
        oid = p.cache.array_type(oid) or (oid if p.cache.element_type(oid) else 0)
        if not oid:
            message = f"could not find array type for data type {p.type_name(column.type)}"
            raise p.error("42704", message, location)
    expr = Expr("SubLink", oid, [], location, typmod=column.typmod, collation=column.collation)
    expr.value = (form, inner.touches, inner.outer, inner)
    return expr


def _compare(
    p: ParseState,
    form: str,
    left: list[Expr],
    names: list[str],
    columns: list[Output],
    location: int,
    inner: Nested,
) -> Expr:
    if len(left) != len(columns):
        many = "many" if len(left) < len(columns) else "few"
        raise p.error("42601", f"subquery has too {many} columns", location)
    right = [Expr("Param", column.type, typmod=column.typmod, collation=column.collation) for column in columns]
    test = compare_rows(p, names, left, right, location)
    return Expr("SubLink", BOOL, [test], location, value=(form, inner.touches, inner.outer, inner))
