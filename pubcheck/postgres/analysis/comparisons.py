"""ROW(...), comparisons and choices (parser/parse_expr.c): of rows, which go column by column; ANY and ALL, IN,
BETWEEN, IS DISTINCT FROM, NULLIF; CASE, COALESCE, GREATEST and LEAST, which give the common type of their results.
"""

from __future__ import annotations

from pubcheck.postgres.analysis.coerce import (
    coerce_to_boolean,
    coerce_to_common_type,
    select_common_type,
    select_common_typmod,
    verify_common_type,
)
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.operators import make_op, make_scalar_array_op
from pubcheck.postgres.analysis.parse_state import ParseState, column_var
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.oids import BOOL, RECORD, TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names as names_of
from pubcheck.postgres.primnodes import IMPLICIT, UNKNOWN, Expr, nodes
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


def any_or_all(p: ParseState, body: Node) -> Expr:
    """``x op ANY (array)`` and ALL."""
    left, right = p.transform(body["lexpr"]), p.transform(body["rexpr"])
    use_or = body["kind"] == "AEXPR_OP_ANY"
    return make_scalar_array_op(p, names_of(body["name"]), use_or, left, right, body.get("location", -1))


def in_list(p: ParseState, body: Node) -> Expr:
    """IN and NOT IN with a list (transformAExprIn).

    Items without columns go into one array if there are two of them and their common type has an array type; the rest
    are comparisons of their own.
    """
    names, location = names_of(body["name"]), body.get("location", -1)
    use_or = names[0] != "<>"
    left = p.transform(body["lexpr"])
    items = [p.transform(item) for item in body["rexpr"]["List"]["items"]]
    plain = [item for item in items if not has_columns(item)]
    result: Expr | None = None
    if len(plain) > 1:
        everything = [left, *plain]
        common = select_common_type(p, everything, None)
        if common and not verify_common_type(p, common, everything):
            common = 0
        array = p.cache.array_type(common) if common and common != RECORD else 0
        if array:
            elements = [coerce_to_common_type(p, item, common, "IN") for item in plain]
            right = Expr("ArrayExpr", array, elements, value=False)
            result = make_scalar_array_op(p, names, use_or, left, right, location)
            items = [item for item in items if has_columns(item)]
    for item in items:
        if left.node == "RowExpr" and item.node == "RowExpr":
            comparison = compare_rows(p, names, left.args, item.args, location)
        else:
            comparison = make_op(p, names, left, item, location)
        comparison = coerce_to_boolean(p, comparison, "IN")
        if result is not None:
            operation = "OR" if use_or else "AND"
            comparison = Expr("BoolExpr", BOOL, [result, comparison], location, value=operation)
        result = comparison
    assert result is not None
    return result


def has_columns(expr: Expr) -> bool:
    """contain_vars_of_level: whether an expression names a column, a sub-select's reference to the outside included."""
    return any(node.node == "Var" or (node.node == "SubLink" and node.value[1]) for node in nodes(expr))


def between(p: ParseState, body: Node) -> Expr:
    """BETWEEN in its four forms becomes comparisons, each analysed by itself (transformAExprBetween)."""
    kind, location = body["kind"], body.get("location", -1)
    value = body["lexpr"]
    low, high = body["rexpr"]["List"]["items"]
    negated = kind.startswith("AEXPR_NOT")
    above, below = ("<", ">") if negated else (">=", "<=")
    inner, outer = ("OR_EXPR", "AND_EXPR") if negated else ("AND_EXPR", "OR_EXPR")

    def compare(name: str, bound: Node) -> Node:
        parts = {"kind": "AEXPR_OP", "name": [{"String": {"sval": name}}]}
        return {"A_Expr": {**parts, "lexpr": value, "rexpr": bound, "location": location}}

    def combine(operation: str, *args: Node) -> Node:
        return {"BoolExpr": {"boolop": operation, "args": list(args), "location": location}}

    tree = combine(inner, compare(above, low), compare(below, high))
    if kind.endswith("SYM"):
        tree = combine(outer, tree, combine(inner, compare(above, high), compare(below, low)))
    return p.transform(tree)


def distinct(p: ParseState, body: Node) -> Expr:
    """IS [NOT] DISTINCT FROM; with a bare NULL on a side it is a test for NULL (transformAExprDistinct)."""
    left_node, right_node, location = body["lexpr"], body["rexpr"], body.get("location", -1)
    negated = body["kind"] == "AEXPR_NOT_DISTINCT"
    for side, operand in ((right_node, left_node), (left_node, right_node)):
        if side.get("A_Const", {}).get("isnull"):
            test = "IS_NULL" if negated else "IS_NOT_NULL"
            # For a row this tests the row itself, where IS NULL tests its fields: the form distinguishes them.
            return Expr("NullTest", BOOL, [p.transform(operand)], location, value=test, form=IMPLICIT)
    names = names_of(body["name"])
    left, right = p.transform(left_node), p.transform(right_node)
    if left.node == "RowExpr" and right.node == "RowExpr":
        result = _distinct_rows(p, names, left.args, right.args, location)
    else:
        result = _distinct(p, names, left, right, location)
    return Expr("BoolExpr", BOOL, [result], location, value="NOT") if negated else result


def _distinct(p: ParseState, names: list[str], left: Expr, right: Expr, location: int) -> Expr:
    result = make_op(p, names, left, right, location)
    if result.type != BOOL:
        raise p.error("42804", "IS DISTINCT FROM requires = operator to yield boolean", location)
    result.node = "DistinctExpr"
    return result


def _distinct_rows(p: ParseState, names: list[str], left: list[Expr], right: list[Expr], location: int) -> Expr:
    if len(left) != len(right):
        raise p.error("42601", "unequal number of entries in row expressions", location)
    result: Expr | None = None
    for left_item, right_item in zip(left, right, strict=True):
        pair = _distinct(p, names, left_item, right_item, location)
        result = pair if result is None else Expr("BoolExpr", BOOL, [result, pair], location, value="OR")
    return result if result is not None else Expr("Const", BOOL, value=False)


def nullif(p: ParseState, body: Node) -> Expr:
    """NULLIF: an equality that gives its first operand (transformAExprNullIf)."""
    location: int = body.get("location", -1)
    left, right = p.transform(body["lexpr"]), p.transform(body["rexpr"])
    result = make_op(p, names_of(body["name"]), left, right, location)
    if result.type != BOOL:
        raise p.error("42804", "NULLIF requires = operator to yield boolean", location)
    result.node = "NullIfExpr"
    result.type, result.typmod = result.args[0].type, result.args[0].typmod
    return result


_NULL: Node = {"A_Const": {"isnull": True, "location": -1}}


def case(p: ParseState, body: Node) -> Expr:
    """CASE (transformCaseExpr).

    ``args``: the tested expression if there is one, condition and result of each WHEN, the ELSE; ``value``: whether the
    first argument is the tested expression.
    """
    tested: Expr | None = None
    if "arg" in body:
        tested = p.transform(body["arg"])
        if tested.type == UNKNOWN:
            tested = coerce_to_common_type(p, tested, TEXT, "CASE")
        assign_collations(p, tested)
    conditions: list[Expr] = []
    results: list[Expr] = []
    for item in body["args"]:
        branch = item["CaseWhen"]
        if tested is None:
            condition = p.transform(branch["expr"])
        else:
            placeholder = Expr("CaseTestExpr", tested.type, typmod=tested.typmod, collation=tested.collation)
            condition = make_op(p, ["="], placeholder, p.transform(branch["expr"]), branch.get("location", -1))
        conditions.append(coerce_to_boolean(p, condition, "CASE/WHEN"))
        results.append(p.transform(branch["result"]))
    otherwise = p.transform(body.get("defresult", _NULL))
    # The ELSE comes first: it counts most in the choice of a type.
    common = select_common_type(p, [otherwise, *results], "CASE")
    otherwise = coerce_to_common_type(p, otherwise, common, "CASE/ELSE")
    args = [] if tested is None else [tested]
    outcomes = [otherwise]
    for condition, result in zip(conditions, results, strict=True):
        outcome = coerce_to_common_type(p, result, common, "CASE/WHEN")
        outcomes.append(outcome)
        args += [condition, outcome]
    args.append(otherwise)
    return Expr(
        "CaseExpr",
        common,
        args,
        body.get("location", -1),
        typmod=select_common_typmod(outcomes, common),
        value=tested is not None,
    )


def coalesce(p: ParseState, body: Node) -> Expr:
    """transformCoalesceExpr."""
    return _common(p, "CoalesceExpr", "COALESCE", body)


def greatest_or_least(p: ParseState, body: Node) -> Expr:
    """transformMinMaxExpr."""
    return _common(p, "MinMaxExpr", "LEAST" if body.get("op") == "IS_LEAST" else "GREATEST", body)


def _common(p: ParseState, node: str, construct: str, body: Node) -> Expr:
    args = [p.transform(argument) for argument in body.get("args", ())]
    common = select_common_type(p, args, construct)
    args = [coerce_to_common_type(p, arg, common, construct) for arg in args]
    typmod = select_common_typmod(args, common)
    return Expr(node, common, args, body.get("location", -1), typmod=typmod, value=construct)
