"""FROM of sub-selects: tables, queries, functions and joins (parser/parse_clause.c, parse_relation.c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.analysis.casts import type_and_typmod
from pubcheck.postgres.analysis.coerce import coerce_to_boolean
from pubcheck.postgres.analysis.namespace_items import Item, Nested, Output
from pubcheck.postgres.analysis.operators import find_operator
from pubcheck.postgres.analysis.parse_state import expr_location
from pubcheck.postgres.analysis.pathways import common_type, is_complex
from pubcheck.postgres.catalog import PG_CATALOG
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import TYPES_UNMATCHED, ServerError, Unknowable
from pubcheck.postgres.oids import INT8, POLYMORPHIC, RECORD, TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import figure_name, strings
from pubcheck.postgres.primnodes import UNKNOWN, Expr

Joined = tuple[list[Item], list[Output] | None, Any]
"""The entries that an item of FROM brings, its columns in their order, and its rows' source: an Item or a Join."""
_NAMES = {"GraphTable": "graph_table", "JsonTable": "json_table", "RangeTableFunc": "xmltable"}
"""The names of items without an alias."""
AnalyzeQuery = Callable[[Nested, Node], list[Output] | None]


class Join:
    """A join of two sources. ``conditions`` are ON's, or the pairs of columns that USING compares."""

    def __init__(self, kind: str, left: Any, right: Any) -> None:
        self.kind, self.left, self.right = kind, left, right
        self.condition: Expr | None = None
        self.using: list[str] = []


def from_clause(p: Nested, entries: list[Node], analyze_query: AnalyzeQuery) -> None:
    """transformFromClause; sub-selects are analysed by ``analyze_query``."""
    for entry in entries:
        items, _, source = _item(p, entry, analyze_query)
        p.query.sources.append(source)
        _check_names(p, p.items, items)
        for item in items:
            item.lateral_only = True
        p.items += items
    for item in p.items:
        item.lateral_only = False


def _check_names(p: Nested, earlier: list[Item], new: list[Item]) -> None:
    """checkNameSpaceConflicts."""
    for item in new:
        for earlier_item in earlier:
            if not (item.name_visible and earlier_item.name_visible and item.name == earlier_item.name):
                continue
            tables = (
                item.relation is not None
                and earlier_item.relation is not None
                and not item.alias
                and not earlier_item.alias
            )
            if tables and item.relation is not earlier_item.relation:
                continue
            raise p.error("42712", f'table name "{item.name}" specified more than once')


def _item(p: Nested, entry: Node, analyze_query: AnalyzeQuery) -> Joined:
    ((kind, body),) = entry.items()
    if kind == "JoinExpr":
        return _join(p, body, analyze_query)
    if kind == "RangeTableSample":
        return _item(p, body["relation"], analyze_query)
    alias = body.get("alias", {})
    name, names = alias.get("aliasname", ""), strings(alias.get("colnames", ()))
    if kind == "RangeVar":
        item = _table(p, body, name)
    elif kind == "RangeSubselect":
        outputs, source = _sub_select(p, body, analyze_query)
        item = Item(name, outputs, alias=bool(name))
        item.source = source
    elif kind == "RangeFunction":
        item = _function(p, body, name)
    else:
        if kind == "GraphTable":
            _table(p, body["graph"], "")
        item = Item(name or _NAMES[kind], None, alias=bool(name))
    if names and item.columns is not None:
        if len(names) > len(item.columns):
            has = f"has {len(item.columns)} columns available but {len(names)} columns specified"
            raise p.error("42P10", f'table "{item.name}" {has}')
        item.columns = renamed(item.columns, names)
    item.name_visible = bool(item.name)
    p.entries.append(item)
    return [item], _handed_on(item), item


def _handed_on(item: Item) -> list[Output] | None:
    if item.columns is None:
        return None
    return [column if column.origin else replace(column, origin=(item, column.name)) for column in item.columns]


def renamed(outputs: list[Output], names: list[str]) -> list[Output]:
    return [
        replace(output, name=names[index]) if index < len(names) else output for index, output in enumerate(outputs)
    ]


# Tables and queries.


def _table(p: Nested, body: Node, alias: str) -> Item:
    name = body["relname"]
    if "schemaname" not in body and name in p.queries:
        item = Item(alias or name, p.queries[name], alias=bool(alias))
        item.source = p.query_sources.get(name)
        return item
    relation = p.session.find_relation(body)
    if relation is None:
        schema = f"{body['schemaname']}." if "schemaname" in body else ""
        message = f'relation "{schema}{name}" does not exist'
        location: int = body.get("location", -1)
        if not p.cache.complete_names:
            raise Unknowable(message, location)
        raise p.error("42P01", message, location)
    item = Item(alias or relation.name, _relation_columns(p, relation), relation=relation, alias=bool(alias))
    item.only = not body.get("inh", False)
    return item


def _relation_columns(p: Nested, relation: Relation) -> list[Output] | None:
    if relation.namespace == PG_CATALOG:
        columns = p.cache.builtin.columns(relation.name)
        return None if columns is None else [Output(row.name, row.type, row.typmod, row.collation) for row in columns]
    if not relation.seen or not relation.columns:
        return None
    outputs = []
    for column in relation.live():
        collation = column.collation or (p.cache.type(column.type).collation if column.type else 0)
        outputs.append(Output(column.name, column.type, column.typmod, collation))
    return outputs


def _sub_select(p: Nested, body: Node, analyze_query: AnalyzeQuery) -> tuple[list[Output] | None, Nested]:
    inner = Nested(p)
    before, p.lateral, p.clause = p.lateral, bool(body.get("lateral")), "FROM clause of their own query level"
    outputs = analyze_query(inner, body["subquery"])
    p.lateral = before
    return outputs, inner


# Functions.


def _function(p: Nested, body: Node, alias: str) -> Item:
    """RangeFunction: the columns of one function or, with ROWS FROM, of several (transformRangeFunction)."""
    before, p.lateral, p.clause = p.lateral, True, "functions in FROM"
    calls: list[tuple[Node, list[Node]]] = []
    for function in body["functions"]:
        call, *rest = function["List"]["items"]
        definitions = rest[0].get("List", {}).get("items", []) if rest else []
        calls += [(unnested, definitions) for unnested in _unnested(call)]
    if "coldeflist" in body:
        calls = [(call, body["coldeflist"]) for call, _ in calls]
    columns: list[Output] | None = []
    scalar = 0
    name = alias
    source: list[Expr] = []
    for call, definitions in calls:
        expr = p.transform(call)
        p.analysed.append(expr)
        source.append(expr)
        called = _called(call)
        name = name or called
        outputs = _returned(p, expr, definitions, called, alias if len(calls) == 1 else "")
        if outputs is not None and len(calls) == 1 and not definitions and not _is_composite(p, expr):
            scalar = outputs[0].type
        columns = None if columns is None or outputs is None else columns + outputs
    p.lateral = before
    if body.get("ordinality"):
        scalar = 0
        if columns is not None:
            columns = [*columns, Output("ordinality", INT8)]
    item = Item(name, columns, alias=bool(alias))
    item.scalar, item.source, item.ordinality = scalar, source, bool(body.get("ordinality"))
    return item


def _unnested(call: Node) -> list[Node]:
    """unnest(a, b) is short for two of them side by side."""
    body = call.get("FuncCall", {})
    if len(body.get("args", ())) < 2 or [part["String"]["sval"] for part in body["funcname"]] != ["unnest"]:
        return [call]
    if body.keys() & {"agg_order", "agg_filter", "agg_star", "agg_distinct", "func_variadic", "over"}:
        return [call]
    parts = {"funcname": [{"String": {"sval": "pg_catalog"}}, {"String": {"sval": "unnest"}}]}
    return [{"FuncCall": {**body, **parts, "args": [argument]}} for argument in body["args"]]


def _called(call: Node) -> str:
    """FigureColname of a call."""
    return figure_name(call)[0] or "?column?"


def _is_composite(p: Nested, expr: Expr) -> bool:
    return expr.type == RECORD or is_complex(p.cache, expr.type)


def _returned(p: Nested, expr: Expr, definitions: list[Node], called: str, alias: str) -> list[Output] | None:
    """Return the columns of a function's result (get_expr_result_type, chooseScalarFunctionAlias)."""
    cache = p.cache
    row = cache.proc(expr.functions[0]) if expr.node == "FuncExpr" else None
    outs = [index for index, mode in enumerate(row.modes) if mode in "obt"] if row is not None else []
    if definitions:
        if expr.type != RECORD:
            message = 'a column definition list is only allowed for functions returning "record"'
            raise p.error("42601", message, _place(definitions))
        if outs:
            message = "a column definition list is redundant for a function with OUT parameters"
            raise p.error("42601", message, _place(definitions))
        return [_defined(p, field["ColumnDef"]) for field in definitions]
    if expr.type == RECORD:
        if row is None or not outs:
            message = 'a column definition list is required for functions returning "record"'
            raise p.error("42601", message, expr_location(expr))
        names, types = row.argument_names or ("",) * len(row.modes), cache.parameter_types(row)
        if any(types[index] in POLYMORPHIC for index in outs):
            return None
        return [_typed(p, names[index] or f"column{n}", types[index]) for n, index in enumerate(outs, 1)]
    if is_complex(cache, expr.type):
        fields = cache.fields(expr.type)
        return [Output(field.name, field.type, field.typmod, field.collation) for field in fields if not field.dropped]
    name = row.argument_names[outs[0]] if row is not None and len(outs) == 1 and row.argument_names else ""
    return [replace(_typed(p, name or alias or called, expr.type), collation=cache.type(expr.type).collation)]


def _place(definitions: list[Node]) -> int:
    return int(definitions[0]["ColumnDef"].get("location", -1))


def _defined(p: Nested, column: Node) -> Output:
    oid, typmod = type_and_typmod(p, column["typeName"])
    return Output(column["colname"], oid, typmod, p.cache.type(oid).collation)


def _typed(p: Nested, name: str, oid: int) -> Output:
    oid = TEXT if oid == UNKNOWN else oid
    return Output(name, oid, collation=p.cache.type(oid).collation)


# Joins.


def _join(p: Nested, body: Node, analyze_query: AnalyzeQuery) -> Joined:
    left_items, left, left_source = _item(p, body["larg"], analyze_query)
    for item in left_items:
        item.lateral_only = True
    before = len(p.items)
    p.items += left_items
    right_items, right, right_source = _item(p, body["rarg"], analyze_query)
    del p.items[before:]
    _check_names(p, left_items, right_items)
    items = left_items + right_items
    for item in items:
        item.lateral_only = False
    source = Join(body["jointype"], left_source, right_source)
    if left is None or right is None:
        return _open_join(p, body, items, source)
    using = strings(body.get("usingClause", ()))
    if body.get("isNatural"):
        right_names = {column.name for column in right}
        using = [column.name for column in left if column.name in right_names]
    merged = [_merged(p, name, using[:index], left, right) for index, name in enumerate(using)]
    source.using = using
    if not using:
        _on(p, body, items, source)
    rest = [column for column in left + right if column.name not in using]
    columns = [*merged, *rest]
    for item in items:
        item.columns_visible = False
    if "join_using_alias" in body:
        shared = Item(body["join_using_alias"]["aliasname"], merged, alias=True)
        shared.columns_visible = False
        items = [*items, shared]
    alias = body.get("alias", {})
    join = Item(alias.get("aliasname", ""), columns, alias=bool(alias))
    join.is_join, join.name_visible = True, bool(alias)
    if alias:
        join.columns = columns = renamed(columns, strings(alias.get("colnames", ())))
        for item in items:
            item.name_visible = False
        items = []
    p.entries.append(join)
    return [*items, join], columns, source


def _open_join(p: Nested, body: Node, items: list[Item], source: Join) -> Joined:
    """A join with columns that cannot be known."""
    if "usingClause" in body or body.get("isNatural") or "alias" in body:
        raise Unknowable("the columns of a join")
    _on(p, body, items, source)
    return items, None, source


def _on(p: Nested, body: Node, items: list[Item], join: Join) -> None:
    if "quals" not in body:
        return
    outer_items, p.items, p.clause = p.items, items, "JOIN conditions"
    join.condition = coerce_to_boolean(p, p.transform(body["quals"]), "JOIN/ON")
    p.analysed.append(join.condition)
    p.items = outer_items


def _merged(p: Nested, name: str, before: list[str], left: list[Output], right: list[Output]) -> Output:
    """Return the column that USING merges from two."""
    if name in before:
        raise p.error("42701", f'column name "{name}" appears more than once in USING clause')
    matches: list[Output] = []
    for side, columns in (("left", left), ("right", right)):
        fitting = [row for row in columns if row.name == name]
        if not fitting:
            raise p.error("42703", f'column "{name}" specified in USING clause does not exist in {side} table')
        if len(fitting) > 1:
            raise p.error("42702", f'common column name "{name}" appears more than once in {side} table')
        matches += fitting
    left_column, right_column = matches
    if not (left_column.type and right_column.type):
        raise Unknowable(f'the type of column "{name}"')
    find_operator(p, ["="], left_column.type, right_column.type, -1)

    def refuse(first: int, second: int, index: int) -> ServerError:
        names = p.type_name(first), p.type_name(second)
        return p.error(
            "42804", TYPES_UNMATCHED, None, "types-unmatched", what="JOIN/USING", one=names[0], other=names[1]
        )

    oid = common_type(p.cache, [left_column.type, right_column.type], refuse)
    return left_column if oid == left_column.type else Output(name, oid, collation=p.cache.type(oid).collation)
