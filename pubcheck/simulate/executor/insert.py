"""INSERT (parser/analyze.c: transformInsertStmt; executor/nodeModifyTable.c: ExecInsert)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.select import analyze_select
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import UNKNOWN, Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope, Step, assign, assigned, compile_expression
from pubcheck.simulate.executor.on_conflict import OnConflict
from pubcheck.simulate.executor.query import plan
from pubcheck.simulate.executor.row_operations import insert_row
from pubcheck.simulate.executor.statement_scope import Changes, Rows, returning, target_item
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.targets import refuse_write, target_relation
from pubcheck.simulate.executor.triggers import (
    Event,
    InsteadTriggers,
    assigned_columns,
    with_statement_triggers,
)
from pubcheck.simulate.executor.views import Target, base_target, fires_instead
from pubcheck.simulate.not_followed import NotFollowed

Values = dict[int, Any]
_OF_A_QUERY = frozenset(("withClause", "sortClause", "limitCount", "limitOffset"))


def prepare_insert(session: Backend, node: Node, outer: Scope) -> Changes:
    relation = target_relation(session, node["relation"])
    columns = target_columns(relation, node.get("cols", ()))
    instead = None
    if relation.kind == "v" and fires_instead(session, relation, "insert"):
        instead = InsteadTriggers(session, relation, "insert")
    target = Target(relation) if instead is not None else base_target(session, relation, "insert")
    table = table_of(session, target.relation)
    overriding = node.get("override", "OVERRIDING_NOT_SET")
    source = node.get("selectStmt", {}).get("SelectStmt")
    rows = source_rows(session, outer, Source(table, target, columns, overriding, "cols" in node), source)
    conflict = None
    if "onConflictClause" in node:
        conflict = OnConflict(session, outer, target, node)
    scope = Scope(session, outer)
    target_item(session, scope, relation, node["relation"])
    outputs, returned = returning(session, scope, node)

    def run() -> Rows:
        if conflict is not None and conflict.updates and table.relation.kind != "p":
            refuse_write(session, table, "update", certain=True)
        for values in rows():
            row: Any
            if instead is not None:
                row = instead.run(None, values)
            elif conflict is None:
                row = insert_row(session, target.relation, values)
            else:
                row = conflict.insert(values)
            if row is not None:
                target.check_option(session, row)
                shown = row if instead is not None else target.row_of(session, row)
                yield () if returned is None else returned((shown,))

    events: list[Event] = [("insert", frozenset())]
    if conflict is not None and conflict.updates:
        events.append(("update", assigned_columns(node["onConflictClause"])))
    return with_statement_triggers(session, relation, events, Changes(outputs, run))


class Source:
    """Where the rows of an INSERT go."""

    def __init__(self, table: Table, target: Target, columns: list[Column], overriding: str, named: bool) -> None:
        self.table, self.target, self.columns = table, target, columns
        self.overriding, self.named = overriding, named

    def base(self, column: Column) -> Column:
        return self.target.base_column(column)


def target_columns(relation: Relation, named: Iterable[Node]) -> list[Column]:
    """checkInsertTargets. Raises ServerError 42703, 42701."""
    named = list(named)
    if not named:
        return list(relation.live())
    columns: list[Column] = []
    for item in named:
        target = item["ResTarget"]
        column = relation.column(target["name"])
        if column is None:
            message = f'column "{target["name"]}" of relation "{relation.name}" does not exist'
            raise ServerError("42703", message, location=target.get("location"))
        if column in columns:
            message = f'column "{column.name}" specified more than once'
            raise ServerError("42701", message, location=target.get("location"))
        if "indirection" in target:
            raise NotFollowed("INSERT into a part of a column")
        columns.append(column)
    return columns


def source_rows(session: Backend, scope: Scope, into: Source, source: Node | None) -> Callable[[], Iterator[Values]]:
    """The rows, with defaults for the columns that the statement leaves out."""
    table = into.table
    if source is None:
        defaults = [(column.number, table.default(column)) for column in table.columns]
        return lambda: iter(({number: step(()) for number, step in defaults},))
    if "valuesLists" in source and not source.keys() & _OF_A_QUERY:
        lists = [item["List"].get("items", ()) for item in source["valuesLists"]]
        if len({len(items) for items in lists}) > 1:
            raise ServerError("42601", "VALUES lists must all be the same length")
        if len(lists) > 1:
            return _several_rows(session, scope, into, lists)
        plan = with_defaults(into, value_steps(session, scope, into, lists[0]))
        return lambda: iter(({number: step(()) for number, step in plan},))
    return query_rows(session, scope, into, source)


def _several_rows(session: Backend, scope: Scope, into: Source, lists: list[Any]) -> Callable[[], Iterator[Values]]:
    """The values of a row of VALUES are evaluated before the defaults of the other columns."""
    table = into.table
    listed = [value_steps(session, scope, into, items) for items in lists]
    defaults = [(column.number, table.default(column)) for column in table.columns if column.number not in listed[0]]

    def rows() -> Iterator[Values]:
        for steps in listed:
            values = {number: step(()) for number, step in steps.items()}
            values |= {number: step(()) for number, step in defaults}
            yield {column.number: values[column.number] for column in table.columns}

    return rows


def refuse_number(into: Source, count: int) -> None:
    if count > len(into.columns):
        raise ServerError("42601", "INSERT has more expressions than target columns")
    if into.named and count < len(into.columns):
        raise ServerError("42601", "INSERT has more target columns than expressions")


def with_defaults(into: Source, steps: dict[int, Step]) -> list[tuple[int, Step]]:
    """The steps of all columns: those of the statement, and defaults (rewriteTargetListIU)."""
    table = into.table
    return [(c.number, steps[c.number] if c.number in steps else table.default(c)) for c in table.columns]


def value_steps(session: Backend, outer: Scope, into: Source, items: Any) -> dict[int, Step]:
    """The values of one row of VALUES by column, in the order of the row (transformInsertRow)."""
    refuse_number(into, len(items))
    steps: dict[int, Step] = {}
    scope = Scope(session, outer)
    scope.clause = "VALUES"
    for column, item in zip(into.columns, items, strict=False):
        base = into.base(column)
        if "SetToDefault" in item:
            steps[base.number] = into.table.default(base)
            continue
        expr = assigned(scope, column, item)
        if refuse_value(base, into.overriding):
            steps[base.number] = into.table.default(base)
            continue
        steps[base.number] = compile_expression(session, scope, expr, in_order=True)
    return steps


def refuse_value(column: Column, overriding: str) -> bool:
    """Whether a value for an identity column is ignored. Raises ServerError 428C9 where only DEFAULT is allowed."""
    if column.generated:
        raise ServerError(
            "428C9",
            f'cannot insert a non-DEFAULT value into column "{column.name}"',
            detail=f'Column "{column.name}" is a generated column.',
        )
    if not column.identity:
        return False
    if overriding == "OVERRIDING_USER_VALUE":
        return True
    if column.identity == "a" and overriding != "OVERRIDING_SYSTEM_VALUE":
        raise ServerError(
            "428C9",
            f'cannot insert a non-DEFAULT value into column "{column.name}"',
            detail=f'Column "{column.name}" is an identity column defined as GENERATED ALWAYS.',
            hint="Use OVERRIDING SYSTEM VALUE to override.",
        )
    return False


def query_rows(session: Backend, outer: Scope, into: Source, source: Node) -> Callable[[], Iterator[Values]]:
    """INSERT ... SELECT: literals of no type become values of the columns, the rest is coerced."""
    inner = Nested(outer)
    inner.resolves = False
    targets = analyze_select(inner, source)
    if targets is None:
        raise NotFollowed("the columns of a SELECT")
    shown = [target for target in targets if not target.junk]
    refuse_number(into, len(shown))
    steps: dict[int, Step] = {}
    scope = Scope(session, outer)
    for number, (column, target) in enumerate(zip(into.columns, shown, strict=False)):
        expr = target.expr
        base = into.base(column)
        if refuse_value(base, into.overriding):
            continue
        if expr.type == UNKNOWN:
            target.expr = assign(scope, column, expr)
            steps[base.number] = _value_at(number)
            continue
        held = Expr("Param", expr.type, [], expr.location, typmod=expr.typmod, collation=expr.collation)
        held.value = _value_at(number)
        steps[base.number] = compile_expression(session, scope, assign(scope, column, held), in_order=True)
    query = plan(session, inner)
    every = with_defaults(into, steps)

    def rows() -> Iterator[Values]:
        if query.in_order:
            for row in query.run():
                yield {number: step(row) for number, step in every}
            return
        listed = list(query.run())
        if not query.certain and len(listed) > 1:
            raise NotFollowed("the order in which a SELECT without ORDER BY gives its rows")
        for row in listed:
            yield {number: step(row) for number, step in every}

    return rows


def _value_at(number: int) -> Step:
    return lambda row: row[number]
