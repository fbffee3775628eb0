"""ROW(...) and comparisons of rows, which go column by column (parser/parse_expr.c)."""

from __future__ import annotations

from pubcheck.postgres.analysis.columns import column_var
from pubcheck.postgres.analysis.operators import make_op
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.oids import BOOL, RECORD
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names as names_of
from pubcheck.postgres.primnodes import IMPLICIT, Expr
from pubcheck.postgres.session.syscache import EQUAL, NOT_EQUAL

MOST_ENTRIES = 1664
"""MaxTupleAttributeNumber."""


def row(p: ParseState, body: Node) -> Expr:
    """ROW(...) or (a, b) (transformRowExpr, transformExpressionList)."""
    location: int = body.get("location", -1)
    args: list[Expr] = []
    for argument in body.get("args", ()):
        args += _expanded(p, argument)
    if len(args) > MOST_ENTRIES:
        raise p.error("54011", f"ROW expressions can have at most {MOST_ENTRIES} entries", location)
    return Expr("RowExpr", RECORD, args, location, form=IMPLICIT)


def _expanded(p: ParseState, argument: Node) -> list[Expr]:
    """Return an item of a list, or the expansion of ``relation.*`` and ``(value).*``."""
    reference = argument.get("ColumnRef")
    if reference is not None and "A_Star" in reference["fields"][-1]:
        whole = p.transform({"ColumnRef": reference})
        return _fields(p, whole, whole.location)
    indirection = argument.get("A_Indirection")
    if indirection is not None and "A_Star" in indirection["indirection"][-1]:
        steps = indirection["indirection"][:-1]
        value = p.transform({"A_Indirection": {**indirection, "indirection": steps}} if steps else indirection["arg"])
        return _fields(p, value, value.location)
    return [p.transform(argument)]


def _fields(p: ParseState, value: Expr, location: int) -> list[Expr]:
    """All fields of a composite value (ExpandSingleTable, ExpandRowReference)."""
    if value.node == "Var" and value.value == 0:
        if not p.relation.seen:
            raise Unknowable("the columns of a table", location)
        return [column_var(p, column, location) for column in p.relation.live()]
    if value.node == "RowExpr" and value.type == RECORD:
        return [
            Expr("FieldSelect", field.type, [value], typmod=field.typmod, value=number)
            for number, field in enumerate(value.args, 1)
        ]
    if value.type == RECORD:
        raise Unknowable("the columns of a record", location)
    base, _ = p.cache.base_type(value.type)
    relation = p.session.catalog.relations.get(p.cache.type(base).relation)
    if relation is None:
        raise p.error("42809", f"type {p.type_name(value.type)} is not composite")
    fields = []
    for column in relation.live():
        field = column_var(p, column, location)
        selection = Expr("FieldSelect", field.type, [value], typmod=field.typmod, collation=field.collation)
        selection.value = column.number
        fields.append(selection)
    return fields


def row_operator(p: ParseState, body: Node) -> Expr:
    """An operator between two ROWs."""
    left, right = p.transform(body["lexpr"]), p.transform(body["rexpr"])
    return compare_rows(p, names_of(body["name"]), left.args, right.args, body.get("location", -1))


def compare_rows(p: ParseState, names: list[str], left: list[Expr], right: list[Expr], location: int) -> Expr:
    """make_row_comparison_op: one operator, an AND or OR of them, or a RowCompareExpr.

    Raises ServerError 42601, 0A000, 42804.
    """
    if len(left) != len(right):
        raise p.error("42601", "unequal number of entries in row expressions", location)
    if not left:
        raise p.error("0A000", "cannot compare rows of zero length", location)
    pairs: list[Expr] = []
    for left_item, right_item in zip(left, right, strict=True):
        pair = make_op(p, names, left_item, right_item, location)
        if pair.type != BOOL:
            message = f"row comparison operator must yield type boolean, not type {p.type_name(pair.type)}"
            raise p.error("42804", message, location)
        pairs.append(pair)
    if len(pairs) == 1:
        return pairs[0]
    common: set[int] | None = None
    for pair in pairs:
        strategies = {strategy for _, strategy in p.cache.btree_interpretations(pair.operators[0])}
        common = strategies if common is None else common & strategies
    if not common:
        raise p.error(
            "0A000",
            f"could not determine interpretation of row comparison operator {names[-1]}",
            location,
            hint="Row comparison operators must be associated with btree operator families.",
        )
    strategy = min(common)
    if strategy in (EQUAL, NOT_EQUAL):
        return Expr("BoolExpr", BOOL, pairs, location, value="AND" if strategy == EQUAL else "OR")
    return Expr(
        "RowCompareExpr",
        BOOL,
        [pair.args[0] for pair in pairs] + [pair.args[1] for pair in pairs],
        functions=tuple(pair.functions[0] for pair in pairs),
        operators=tuple(pair.operators[0] for pair in pairs),
        value=len(pairs),
    )
