"""Sub-selects in an expression (parser/parse_expr.c: transformSubLink) and their analysis for result types and errors
(parser/analyze.c: transformSelectStmt, set operations, VALUES; parse_cte.c).

No row filter may hold a sub-select. What the server finds wrong before it says so is looked for as far as it is plain:
tables and columns that do not exist, operators that do not fit, the number of columns. Where the result type cannot be
known and is needed, the refusal that is certain is raised at once.
"""

from __future__ import annotations

from typing import Any, NoReturn

from pubcheck.postgres.analysis.coerce import (
    coerce_to_boolean,
    coerce_to_common_type,
    coerce_type,
    select_common_type,
)
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.comparisons import compare_rows
from pubcheck.postgres.analysis.from_clause import from_clause, renamed
from pubcheck.postgres.analysis.grouping import Target, check_grouping, distinct, group, limit, sort, windows
from pubcheck.postgres.analysis.json import returning
from pubcheck.postgres.analysis.namespace_items import Item, Nested, Output, WorkingTable, item_named, outside
from pubcheck.postgres.analysis.parse_state import ParseState, column_var, expr_location, node_location
from pubcheck.postgres.analysis.row_filter import DETAILS, MESSAGE
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.oids import BOOL, JSON, JSONB, TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import figure_name, strings, walk
from pubcheck.postgres.parse_tree import names as names_of
from pubcheck.postgres.primnodes import IMPLICIT, UNKNOWN, Expr


def analyze_query(p: Nested, query: Node) -> list[Output] | None:
    """The columns of a SELECT, None where their number cannot be known. Raises ServerError and Unknowable."""
    for kind, body in query.items():
        if kind != "SelectStmt":
            return None
        targets = analyze_select(p, body)
        return None if targets is None else _outputs(p, targets)
    return None


def _outputs(p: Nested, targets: list[Target]) -> list[Output]:
    """The columns that a query gives; literals of no type become texts (resolveTargetListUnknowns)."""
    outputs = []
    for target in targets:
        if target.junk:
            continue
        expr = target.expr
        if expr.type == UNKNOWN:
            expr = target.expr = coerce_type(p, expr, UNKNOWN, TEXT, -1, "i", IMPLICIT, -1)
        outputs.append(Output(target.name, expr.type, expr.typmod, expr.collation))
    return outputs


def analyze_select(p: Nested, body: Node, recursive: tuple[str, list[str]] | None = None) -> list[Target] | None:
    """The select list; ``recursive``: the name, and the names of the columns, that the query refers to itself by."""
    if "withClause" in body:
        with_clause(p, body["withClause"])
    if body.get("op", "SETOP_NONE") != "SETOP_NONE":
        return _set_operations(p, body, recursive)
    if "valuesLists" in body:
        return _values(p, body)
    return _select(p, body)


def _select(p: Nested, body: Node) -> list[Target] | None:
    if "intoClause" in body:
        location: int = body["intoClause"]["rel"].get("location", -1)
        raise p.error("42601", "SELECT ... INTO is not allowed here", location)
    p.windows = {window["WindowDef"]["name"] for window in body.get("windowClause", ())}
    from_clause(p, body.get("fromClause", []), analyze_query)
    targets: list[Target] = []
    for target in body.get("targetList", ()):
        p.clause = "SELECT"
        targets += select_target(p, target["ResTarget"])
    conditions: list[Expr] = []
    for key, clause in (("whereClause", "WHERE"), ("havingClause", "HAVING")):
        if key in body:
            p.clause = clause
            conditions.append(coerce_to_boolean(p, p.transform(body[key]), clause))
            setattr(p.query, clause.lower(), conditions[-1])
    sorted_by = sort(p, body.get("sortClause", []), targets)
    grouped = group(p, body.get("groupClause", []), targets, sorted_by)
    if "distinctClause" in body:
        distinct(p, body["distinctClause"], targets, sorted_by)
    p.query.targets, p.query.groups = targets, grouped if "groupClause" in body else None
    p.query.grouping_sets = p.has_grouping_sets
    p.query.locking = body.get("lockingClause", [])
    _limits(p, body)
    windows(p, body.get("windowClause", []), targets)
    if p.resolves:
        _outputs(p, targets)
    evaluated = [target.expr for target in targets] + conditions
    for expr in evaluated:
        assign_collations(p, expr)
    p.analysed[:0] = evaluated
    if p.has_aggregates or "groupClause" in body or "havingClause" in body:
        having = conditions[-1:] if "havingClause" in body else []
        check_grouping(p, [target.expr for target in targets] + having, [target.expr for target in grouped])
    return targets


def _limits(p: Nested, body: Node) -> None:
    if "limitOffset" in body:
        limit(p, body["limitOffset"], "OFFSET")
    if "limitCount" in body:
        limit(p, body["limitCount"], "LIMIT", body.get("limitOption") == "LIMIT_OPTION_WITH_TIES")


# The select list.


def select_target(p: Nested, target: Node) -> list[Target]:
    value = target["val"]
    reference = value.get("ColumnRef")
    if reference is not None and "A_Star" in reference["fields"][-1]:
        return _star(p, reference)
    if "A_Indirection" in value and "A_Star" in value["A_Indirection"]["indirection"][-1]:
        raise Unknowable("the fields of a value")
    name = target.get("name") or figure_name(value)[0] or "?column?"
    return [Target(name, p.transform(value))]


def _star(p: Nested, reference: Node) -> list[Target]:
    fields, location = reference["fields"], reference.get("location", -1)
    if len(fields) > 1:
        level, item = item_named(p, strings(fields[:-1]), location)
        return _expanded(p, level, item, location)
    visible = [item for item in p.items if item.columns_visible]
    if not visible:
        raise p.error("42601", "SELECT * with no tables specified is not valid", location)
    return [target for item in visible for target in _expanded(p, p, item, location)]


def _expanded(p: Nested, level: ParseState, item: Item, location: int) -> list[Target]:
    if not isinstance(level, Nested) and level.relation.seen:
        columns = level.relation.live()
        return [Target(field.name, outside(p, level, column_var(level, field, location))) for field in columns]
    if item.columns is None:
        raise Unknowable("the columns of a sub-select", location)
    targets = []
    names = [column.name for column in item.columns]
    for place, column in enumerate(item.columns):
        if not column.type:
            raise Unknowable(f'the type of column "{column.name}"', location)
        reference = Expr("Var", column.type, [], location, typmod=column.typmod, collation=column.collation)
        name = column.name if names.count(column.name) == 1 or item.relation is not None else place
        reference.value = (level, *(column.origin or (item, name)))
        targets.append(Target(column.name, reference))
    return targets


# UNION, INTERSECT, EXCEPT, VALUES.


def _set_operations(p: Nested, body: Node, recursive: tuple[str, list[str]] | None) -> list[Target] | None:
    """transformSetOperationStmt: names of the leftmost, types that all agree on."""
    targets, p.query.arms = _tree(p, body, recursive)
    if targets is None:
        return None
    outputs = [
        Output(target.name, target.expr.type, target.expr.typmod, target.expr.collation or _collation(p, target.expr))
        for target in targets
    ]
    item = Item("", outputs)
    item.name_visible, p.items = False, [item]
    count = len(targets)
    sort(p, body.get("sortClause", []), targets)
    if len(targets) > count:
        raise p.error(
            "0A000",
            "invalid UNION/INTERSECT/EXCEPT ORDER BY clause",
            expr_location(targets[count].expr),
            detail="Only result column names can be used, not expressions or functions.",
            hint="Add the expression/function to every SELECT, or move the UNION into a FROM clause.",
        )
    _limits(p, body)
    return targets


def _collation(p: Nested, expr: Expr) -> int:
    return p.cache.type(expr.type).collation if expr.type else 0


_OF_A_WHOLE = ("sortClause", "limitOffset", "limitCount", "lockingClause", "withClause")


_Arm = tuple[list[Target] | None, Any]
"""The select list of a side of a set operation, and where its rows come from: a query's state, or such an operation."""


def _tree(p: Nested, body: Node, recursive: tuple[str, list[str]] | None = None) -> _Arm:
    """transformSetOperationTree."""
    left, left_source = _arm(p, body["larg"])
    if recursive is not None:
        name, names = recursive
        columns = None if left is None else _outputs(p, left)
        p.queries[name] = None if columns is None else renamed(columns, names)
        p.query_sources[name] = p.query.working_table = WorkingTable()
    right, right_source = _arm(p, body["rarg"])
    if left is None or right is None:
        return None, ()
    construct = body["op"].removeprefix("SETOP_")
    if len(left) != len(right):
        place = next((position for position in (expr_location(target.expr) for target in right) if position >= 0), -1)
        raise p.error("42601", f"each {construct} query must have the same number of columns", place)
    targets: list[Target] = []
    for left_target, right_target in zip(left, right, strict=True):
        if recursive is not None:
            construct = "recursive UNION"
        oid = select_common_type(p, [left_target.expr, right_target.expr], construct)
        for side in (left_target, right_target):
            expr = coerce_to_common_type(p, side.expr, oid, construct)
            if side.expr.type == UNKNOWN:
                side.expr = expr
        first, second = left_target.expr, right_target.expr
        typmod = first.typmod if first.typmod == second.typmod and first.type == second.type else -1
        place = expr_location(first if first.type == oid else second)
        all_rows = body["op"] == "SETOP_UNION" and body.get("all")
        if not all_rows and not p.cache.type_cache(oid).eq:
            raise p.error("42883", f"could not identify an equality operator for type {p.type_name(oid)}", place)
        left_target.output, right_target.output = (
            coerce_to_common_type(p, side.expr, oid, construct) for side in (left_target, right_target)
        )
        expr = Expr(
            "Var",
            oid,
            [],
            place,
            typmod=typmod,
            collation=first.collation,
            value=(p, left_target.name, len(targets)),
        )
        targets.append(Target(left_target.name, expr))
    return targets, (construct, bool(body.get("all")), (left_source, left), (right_source, right))


def _arm(p: Nested, body: Node) -> _Arm:
    """A side of a set operation: a tree of its own, or a query (a leaf)."""
    if body.get("op", "SETOP_NONE") != "SETOP_NONE" and not any(key in body for key in _OF_A_WHOLE):
        return _tree(p, body)
    inner = Nested(p)
    inner.resolves = False
    targets = analyze_select(inner, body)
    return None if targets is None else [target for target in targets if not target.junk], inner


def _values(p: Nested, body: Node) -> list[Target] | None:
    """transformValuesClause."""
    rows: list[list[Expr]] = []
    for row in body["valuesLists"]:
        p.clause = "VALUES"
        items = [p.transform(item) for item in row["List"].get("items", ())]
        if rows and len(items) != len(rows[0]):
            place = next((position for position in map(expr_location, items) if position >= 0), -1)
            raise p.error("42601", "VALUES lists must all be the same length", place)
        rows.append(items)
        p.analysed += items
    targets = []
    columns: list[list[Expr]] = []
    for number, column in enumerate(zip(*rows, strict=True), 1):
        oid = select_common_type(p, column, "VALUES")
        coerced = [coerce_to_common_type(p, item, oid, "VALUES") for item in column]
        columns.append(coerced)
        first = coerced[0]
        value = Expr("Var", oid, [], expr_location(first), collation=_collation(p, first))
        value.value = (p, "VALUES", number)
        targets.append(Target(f"column{number}", value))
    p.query.rows, p.query.targets = [list(row) for row in zip(*columns, strict=True)], targets
    sort(p, body.get("sortClause", []), targets)
    _limits(p, body)
    return targets


# WITH.


def with_clause(p: Nested, clause: Node) -> None:
    """transformWithClause, checkWellFormedRecursion, analyzeCTE."""
    parts = [item["CommonTableExpr"] for item in clause["ctes"]]
    for index, part in enumerate(parts):
        for later_part in parts[index + 1 :]:
            if later_part["ctename"] == part["ctename"]:
                name, place = part["ctename"], later_part.get("location", -1)
                raise p.error("42712", f'WITH query name "{name}" specified more than once', place)
    for part in parts:
        if clause.get("recursive"):
            p.queries[part["ctename"]] = None
    for part in parts:
        _common(p, part, bool(clause.get("recursive")))


def _common(p: Nested, part: Node, recursive: bool) -> None:
    name, location = part["ctename"], part.get("location", -1)
    names = strings(part.get("aliascolnames", ()))
    body = part["ctequery"].get("SelectStmt")
    if body is None:
        message = "WITH clause containing a data-modifying statement must be at the top level"
        raise p.error("0A000", message, location)
    itself = (name, names) if recursive and _names_table(body, name) else None
    if itself and (body.get("op") != "SETOP_UNION" or "sortClause" in body):
        message = f'recursive query "{name}" does not have the form non-recursive-term UNION [ALL] recursive-term'
        raise p.error("42P19", message, location)
    inner = Nested(p)
    p.query_sources[name] = inner
    targets = analyze_select(inner, body, itself)
    outputs = None if targets is None else _outputs(inner, targets)
    if outputs is not None:
        if len(names) > len(outputs):
            has = f"has {len(outputs)} columns available but {len(names)} columns specified"
            raise p.error("42P10", f'WITH query "{name}" {has}', location)
        outputs = renamed(outputs, names)
    p.queries[name] = outputs


def _names_table(body: object, name: str) -> bool:
    tables = (table for kind, table in walk(body) if kind == "RangeVar")
    return any(table["relname"] == name and "schemaname" not in table for table in tables)


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
