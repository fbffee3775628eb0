"""The publications and tables that must exist if a condition is true, because the condition looks for them."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import conjuncts, names
from pubcheck.postgres.plpgsql.evaluate import Evaluator

Assumption = tuple[str, str, str]
"""("publication", "", name) or ("relation", schema or "", name)."""


def assumptions(evaluator: Evaluator, node: Node) -> list[Assumption]:
    """Return the objects that exist if an expression is true."""
    return list(_assumed(evaluator, node, positive=True))


def _assumed(evaluator: Evaluator, node: Node, *, positive: bool) -> Iterator[Assumption]:
    """``positive``: where it is true, else where it is false."""
    for kind, body in node.items():
        if kind == "BoolExpr":
            if body["boolop"] == "NOT_EXPR":
                yield from _assumed(evaluator, body["args"][0], positive=not positive)
            elif (body["boolop"] == "AND_EXPR") == positive:
                for item in body["args"]:
                    yield from _assumed(evaluator, item, positive=positive)
        elif kind == "SubLink" and positive and "SelectStmt" in body.get("subselect", {}):
            select = body["subselect"]["SelectStmt"]
            if body["subLinkType"] == "EXISTS_SUBLINK":
                yield from _rows(evaluator, select)
            elif body["subLinkType"] == "EXPR_SUBLINK" and len(select.get("targetList", ())) == 1:
                # "count(*) > 0 FROM ...", as PL/pgSQL lets one write it.
                yield from _counted(evaluator, select, select["targetList"][0]["ResTarget"].get("val", {}))
        elif kind == "A_Expr" and positive and "SubLink" in body.get("lexpr", {}):
            select = body["lexpr"]["SubLink"].get("subselect", {}).get("SelectStmt", {})
            sign = names(body["name"])[-1]
            if sign in (">", "<>") or (sign in (">=", "=") and evaluator.value(body["rexpr"]) != 0):
                yield from _rows(evaluator, select)
        elif kind == "NullTest" and "FuncCall" in body["arg"]:
            call = body["arg"]["FuncCall"]
            if names(call["funcname"])[-1] == "to_regclass" and (body["nulltesttype"] == "IS_NOT_NULL") == positive:
                argument = evaluator.value(call["args"][0])
                if isinstance(argument, str):
                    schema, _, name = argument.replace('"', "").rpartition(".")
                    yield "relation", schema, name


def _counted(evaluator: Evaluator, select: Node, value: Node) -> Iterator[Assumption]:
    body = value.get("A_Expr", {})
    if body and names(body["name"])[-1] in (">", "<>") and evaluator.value(body["rexpr"]) == 0:
        yield from _rows(evaluator, select)


_NAMES = {
    "pubname": "publication",
    "tablename": "relation",
    "relname": "relation",
    "table_name": "relation",
}
_SCHEMAS = ("schemaname", "table_schema", "nspname")


def _rows(evaluator: Evaluator, select: Node) -> Iterator[Assumption]:
    """Return the values of a row of a query over catalogs, by the equalities that it satisfies."""
    names_by_column: dict[str, str] = {}
    joined = [item["JoinExpr"].get("quals") for item in select.get("fromClause", ()) if "JoinExpr" in item]
    for condition in conjuncts(*joined, select.get("whereClause")):
        body = condition.get("A_Expr")
        if body is None or body["kind"] != "AEXPR_OP" or names(body["name"])[-1] != "=":
            continue
        for column_side, operand in ((body.get("lexpr", {}), body["rexpr"]), (body["rexpr"], body.get("lexpr", {}))):
            fields = column_side.get("ColumnRef", {}).get("fields", ())
            if fields and "String" in fields[-1]:
                value = evaluator.value(operand)
                if isinstance(value, str):
                    names_by_column[fields[-1]["String"]["sval"]] = value
    schema = next((names_by_column[column] for column in _SCHEMAS if column in names_by_column), "")
    for column, kind in _NAMES.items():
        if column in names_by_column:
            yield kind, schema if kind == "relation" else "", names_by_column[column]
