"""Names that PostgreSQL makes up: commands/indexcmds.c (makeObjectName, ChooseRelationName, ChooseIndexColumnNames)
and catalog/pg_constraint.c (ChooseConstraintName)."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from itertools import count

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.parse import Node
from pubcheck.postgres.sql_value_functions import name_of

NAME_BYTES = 63
"""NAMEDATALEN - 1: the longest identifier, in bytes."""


def truncate(name: str) -> str:
    """An identifier cut to NAMEDATALEN - 1 bytes, never inside a character (truncate_identifier)."""
    if len(name) * 4 <= NAME_BYTES or len(name.encode()) <= NAME_BYTES:
        return name
    return name.encode()[:NAME_BYTES].decode(errors="ignore")


def make_object_name(first: str, second: str | None, label: str | None) -> str:
    """``first_second_label``; where that is too long, the longer of the first two parts is cut (makeObjectName)."""
    name = first if second is None else f"{first}_{second}"
    if label:
        name = f"{name}_{label}"
    if len(name) <= NAME_BYTES and name.isascii():
        return name
    overhead = (1 if second is not None else 0) + (len(label) + 1 if label else 0)
    available = NAME_BYTES - overhead
    one, two = first.encode(), (second or "").encode()
    length_one, length_two = len(one), len(two)
    while length_one + length_two > available:
        if length_one > length_two:
            length_one -= 1
        else:
            length_two -= 1
    parts = [one[:length_one].decode(errors="ignore")]
    if second is not None:
        parts.append(two[:length_two].decode(errors="ignore"))
    if label:
        parts.append(label)
    return "_".join(parts)


def choose_relation_name(
    catalog: Catalog, namespace: int, first: str, second: str | None, label: str, *, constraint: bool
) -> str:
    """A relation name that is free in a schema, and free as a constraint's name too where it is to be one."""
    names, taken = catalog.relation_names, catalog.constraint_taken
    key = (namespace, first, second, label)
    for attempt in count(catalog.first_attempt(key)):
        name = make_object_name(first, second, f"{label}{attempt or ''}")
        if (namespace, name) in names:
            catalog.failed_attempt(key, attempt)
        elif not (constraint and taken(namespace, name)):
            return name
    raise AssertionError  # count() does not end


def choose_constraint_name(
    catalog: Catalog, namespace: int, first: str, second: str | None, label: str, others: Collection[str] = ()
) -> str:
    """A constraint name that no constraint of the schema has, nor any of ``others``."""
    key = (namespace, first, second, label)
    for attempt in count(catalog.first_attempt(key)):
        name = make_object_name(first, second, f"{label}{attempt or ''}")
        if any(oid in catalog.constraints for oid in catalog.constraint_names.groups.get((namespace, name), ())):
            catalog.failed_attempt(key, attempt)
        elif name not in others and not catalog.constraint_taken(namespace, name):
            return name
    raise AssertionError  # count() does not end


def addition(columns: Iterable[str]) -> str:
    """The middle part of an index's name (ChooseIndexNameAddition)."""
    text = ""
    for column in columns:
        text = f"{text}_{column}" if text else column
        if len(text.encode()) >= NAME_BYTES + 1:
            break
    return text


def index_column_names(elements: Iterable[Node]) -> list[str]:
    """The column names that an index gets: of its columns, else after the expression, made unique by a number."""
    found: list[str] = []
    for element in elements:
        base = element.get("indexcolname") or element.get("name") or expression_name(element.get("expr"))
        name, attempt = base, 0
        while name in found:
            attempt += 1
            suffix = str(attempt)
            name = base.encode()[: NAME_BYTES - len(suffix)].decode(errors="ignore") + suffix
        found.append(name)
    return found


def expression_name(node: Node | None) -> str:
    """What an expression index's column is called (FigureIndexColname; "expr" when nothing fits)."""
    return figure_name(node)[0] or "expr"


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
