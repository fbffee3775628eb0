"""SET of UPDATE: of columns, several columns, and parts of columns.

Columns follow transformUpdateTargetList in parser/analyze.c, SET (a, b) = (SELECT ...) transformMultiAssignRef in
parser/parse_expr.c. A part is an element of an array (utils/adt/arrayfuncs.c: array_set_element), a field of a
composite value, or a member of a document.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.select import analyze_select
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.datum import Array
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import INT4, JSONB, TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import UNKNOWN, Expr, nodes
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import (
    Scope,
    Step,
    assign,
    assigned,
    compile_expression,
    converted,
    frame_of,
)
from pubcheck.simulate.executor.query import Plan, plan
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.not_followed import NotFollowed


def element_assignment(session: Backend, scope: Scope, column: Column, target: Node) -> Step:
    cache = session.catalog_session.syscache
    element = cache.element_type(cache.base_type(column.type)[0])
    indexes = target["indirection"]
    if not element or len(indexes) != 1 or "A_Indices" not in indexes[0] or indexes[0]["A_Indices"].get("is_slice"):
        raise NotFollowed("an assignment to a part of a column")
    index = scope.transform(indexes[0]["A_Indices"]["uidx"])
    place = compile_expression(session, scope, converted(scope, index, INT4, -1, "a subscript that is not an integer"))
    value = compile_expression(session, scope, assigned(scope, replace(column, type=element), target["val"]))
    number = column.number

    def step(row: Any) -> Any:
        array, number_of_element, new = row[0][number], place(row), value(row)
        if array is None or number_of_element is None or len(array.lengths) != 1:
            raise NotFollowed("an assignment to an element of an array that is not there")
        lower = array.lowers[0]
        if not lower <= number_of_element < lower + len(array.elements):
            raise NotFollowed("an assignment that makes an array longer")
        elements = list(array.elements)
        elements[number_of_element - lower] = new
        return Array(elements, array.lengths, array.lowers)

    return step


def part_assignment(session: Backend, scope: Scope, column: Column, target: Node) -> Step:
    """Return the new value of a column after an assignment to a part of it (transformAssignmentIndirection)."""
    cache = session.catalog_session.syscache
    base = cache.base_type(column.type)[0]
    first = target["indirection"][0]
    if "String" in first and cache.type(base).kind == "c" and len(target["indirection"]) == 1:
        return _field(session, scope, column, target, first["String"]["sval"])
    if base == JSONB and all("A_Indices" in item for item in target["indirection"]):
        return _member(session, scope, column, target)
    return element_assignment(session, scope, column, target)


def _field(session: Backend, scope: Scope, column: Column, target: Node, name: str) -> Step:
    fields = [field for field in session.catalog_session.syscache.fields(column.type) if not field.dropped]
    place = next((place for place, field in enumerate(fields) if field.name == name), None)
    if place is None:
        raise ServerError("42703", f'cannot assign to field "{name}" of column "{column.name}"')
    part = replace(column, type=fields[place].type, typmod=fields[place].typmod)
    value = compile_expression(session, scope, assigned(scope, part, target["val"]), in_order=True)

    def step(row: Any) -> Any:
        values = list(row[0][column.number] or [None] * len(fields))
        values[place] = value(row)
        return tuple(values)

    return step


def _member(session: Backend, scope: Scope, column: Column, target: Node) -> Step:
    """SET document['key'] = ...: objects that are missing on the way are made (jsonb_set_element)."""
    keys = []
    for item in target["indirection"]:
        index = scope.transform(item["A_Indices"]["uidx"])
        text = converted(scope, index, TEXT, -1, "a subscript of a document that is not a text", casts="i")
        keys.append(compile_expression(session, scope, text))
    value = compile_expression(session, scope, assigned(scope, column, target["val"]), in_order=True)

    def step(row: Any) -> Any:
        document, path, new = row[0][column.number], [key(row) for key in keys], value(row)
        if None in path or new is None:
            raise NotFollowed("a NULL that is assigned to a member of a document")
        return _with_member({} if document is None else document, path, new)

    return step


def _with_member(document: Any, path: list[str], new: Any) -> Any:
    if not isinstance(document, dict):
        raise NotFollowed("an assignment to a member of a document that is not an object")
    key, *rest = path
    return {**document, key: _with_member(document.get(key, {}), rest, new) if rest else new}


class FromSubSelect:
    """The sub-selects that give values for several columns of a statement, each with its columns."""

    def __init__(self, session: Backend, scope: Scope) -> None:
        self._session, self._scope = session, scope
        self._queries: dict[int, _Query] = {}

    def step(self, reference: Node, column: Column) -> Step:
        """The value of one of the columns."""
        select = reference["source"]["SubLink"]["subselect"]["SelectStmt"]
        query = self._queries.get(id(select))
        if query is None:
            query = self._queries[id(select)] = _Query(self._session, self._scope, select)
            if len(query.targets) != reference["ncolumns"]:
                raise ServerError("42601", "number of columns does not match number of values")
        return query.value_for(column, reference["colno"] - 1)


class _Query:
    """A sub-select, run once for each row of the statement."""

    def __init__(self, session: Backend, scope: Scope, select: Node) -> None:
        self._session, self._scope = session, scope
        inner = Nested(scope)
        targets = analyze_select(inner, select)
        if targets is None:
            raise Unknowable("the columns of a sub-select")
        self._level = inner
        self.targets = [target for target in targets if not target.junk]
        self._plan: Plan | None = None
        self._row: Any = None
        self._result: tuple[Any, ...] = ()

    def value_for(self, column: Column, number: int) -> Step:
        target = self.targets[number]
        scope = Scope(self._session, self._scope)
        if target.expr.type == UNKNOWN:
            target.expr = assign(scope, column, target.expr)
            return lambda row: self._values(row, number == 0)[number]
        held = Expr("Param", target.expr.type, [], typmod=target.expr.typmod, collation=target.expr.collation)
        held.value = lambda row: self._values(row, number == 0)[number]
        return compile_expression(self._session, scope, assign(scope, column, held))

    def _values(self, row: Any, is_first: bool) -> tuple[Any, ...]:
        """The values for a row of the statement, which the step of the first column works out."""
        if not is_first and self._result:
            return self._result
        frame = frame_of(self._scope)
        held, frame.row = frame.row, row
        try:
            if self._plan is None:
                self._plan = plan(self._session, self._level)
            rows = list(self._plan.run())
        finally:
            frame.row = held
        if len(rows) > 1:
            raise ServerError("21000", "more than one row returned by a subquery used as an expression")
        self._result = rows[0] if rows else (None,) * len(self.targets)
        return self._result


def assignments(session: Backend, scope: Scope, table: Table, targets: list[Node]) -> list[tuple[int, Step]]:
    """The new values of an UPDATE (transformUpdateTargetList). Raises ServerError 42703, 42601, 428C9."""
    steps: dict[int, Step] = {}
    several = FromSubSelect(session, scope)
    scope.clause = "UPDATE"
    for item in targets:
        target = item["ResTarget"]
        column = table.relation.column(target["name"])
        if column is None:
            message = f'column "{target["name"]}" of relation "{table.relation.name}" does not exist'
            raise ServerError("42703", message, location=target.get("location"))
        if column.number in steps:
            raise ServerError("42601", f'multiple assignments to same column "{column.name}"')
        value = target["val"]
        if "indirection" in target:
            steps[column.number] = part_assignment(session, scope, column, target)
            continue
        if "SubLink" in value.get("MultiAssignRef", {}).get("source", {}):
            steps[column.number] = several.step(value["MultiAssignRef"], column)
            scope.uses_sources = True
            continue
        if "MultiAssignRef" in value:
            value = _one_of_several(value["MultiAssignRef"])
        if "SetToDefault" in value:
            steps[column.number] = table.default(column)
            continue
        expr = assigned(scope, column, value)
        scope.uses_sources = scope.uses_sources or _uses_sources(scope, expr)
        if column.generated or column.identity == "a":
            raise ServerError(
                "428C9",
                f'column "{column.name}" can only be updated to DEFAULT',
                detail=f'Column "{column.name}" is '
                + ("a generated column." if column.generated else "an identity column defined as GENERATED ALWAYS."),
            )
        steps[column.number] = compile_expression(session, scope, expr, in_order=True)
    return list(steps.items())


def _uses_sources(scope: Scope, expr: Expr) -> bool:
    target = scope.entries[0]
    return any(
        node.node == "SubLink" or (node.node == "Var" and type(node.value) is tuple and node.value[1] is not target)
        for node in nodes(expr)
    )


def _one_of_several(several: Node) -> Node:
    """A value of SET (a, b) = ROW (...)."""
    parts = several["source"].get("RowExpr", {}).get("args", ())
    if len(parts) != several["ncolumns"]:
        if parts:
            raise ServerError("42601", "number of columns does not match number of values")
        raise NotFollowed("SET of several columns from a row")
    part: Node = parts[several["colno"] - 1]
    return part
