"""Comparisons and choices (parser/parse_expr.c): ANY and ALL, IN, BETWEEN, IS DISTINCT FROM, NULLIF; CASE, COALESCE,
GREATEST and LEAST, which give the common type of their results."""

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
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.analysis.row_expr import compare_rows
from pubcheck.postgres.oids import BOOL, RECORD, TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names as names_of
from pubcheck.postgres.primnodes import IMPLICIT, UNKNOWN, Expr, nodes


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
