"""The name of a column whose query gives it none, from its expression (parser/parse_target.c: FigureColname)."""

from __future__ import annotations

from pubcheck.postgres.parse import Node
from pubcheck.postgres.sql_value_functions import name_of


def figure_name(node: Node | None) -> tuple[str, int]:
    """(name, strength) of an expression as a column name (parse_target.c: FigureColnameInternal)."""
    if not node:
        return "", 0
    ((kind, body),) = node.items()
    if kind == "ColumnRef":
        names = [field["String"]["sval"] for field in body["fields"] if "String" in field]
        return (names[-1], 2) if names else ("", 0)
    if kind == "A_Indirection":
        names = [part["String"]["sval"] for part in body.get("indirection", ()) if "String" in part]
        return (names[-1], 2) if names else figure_name(body.get("arg"))
    if kind == "FuncCall":
        return body["funcname"][-1]["String"]["sval"], 2
    if kind == "A_Expr" and body.get("kind") == "AEXPR_NULLIF":
        return "nullif", 2
    if kind == "TypeCast":
        name, strength = figure_name(body.get("arg"))
        return (name, strength) if strength > 1 else (body["typeName"]["names"][-1]["String"]["sval"], 1)
    if kind == "CollateClause":
        return figure_name(body.get("arg"))
    if kind == "CaseExpr":
        name, strength = figure_name(body.get("defresult"))
        return (name, strength) if strength > 1 else ("case", 1)
    if kind == "SubLink":
        return _sublink_name(body)
    if kind == "MinMaxExpr":
        return ("greatest" if body["op"] == "IS_GREATEST" else "least"), 2
    if kind == "SQLValueFunction":
        return name_of(body["op"]).lower(), 2
    return _FIXED.get(kind, ("", 0))


_FIXED = {
    "A_ArrayExpr": ("array", 2),
    "RowExpr": ("row", 2),
    "CoalesceExpr": ("coalesce", 2),
    "GroupingFunc": ("grouping", 2),
    "XmlSerialize": ("xmlserialize", 2),
    "JsonObjectConstructor": ("json_object", 2),
    "JsonArrayConstructor": ("json_array", 2),
    "JsonArrayQueryConstructor": ("json_array", 2),
    "JsonObjectAgg": ("json_objectagg", 2),
    "JsonArrayAgg": ("json_arrayagg", 2),
    "JsonParseExpr": ("json", 2),
    "JsonScalarExpr": ("json_scalar", 2),
    "JsonSerializeExpr": ("json_serialize", 2),
    "MergeSupportFunc": ("merge_action", 2),
}


def _sublink_name(body: Node) -> tuple[str, int]:
    kind = body.get("subLinkType")
    if kind == "EXISTS_SUBLINK":
        return "exists", 2
    if kind == "ARRAY_SUBLINK":
        return "array", 2
    if kind == "EXPR_SUBLINK":
        targets = body.get("subselect", {}).get("SelectStmt", {}).get("targetList", ())
        if targets:
            target = targets[0].get("ResTarget", {})
            if "name" in target:
                return target["name"], 2
            return figure_name(target.get("val"))
    return "", 0
