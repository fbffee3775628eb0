"""CASE, COALESCE, GREATEST and LEAST, which give the common type of their results (parser/parse_expr.c)."""

from __future__ import annotations

from pubcheck.postgres.analysis.coerce import (
    coerce_to_boolean,
    coerce_to_common_type,
    select_common_type,
    select_common_typmod,
)
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.operators import make_op
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.oids import TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import UNKNOWN, Expr

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
