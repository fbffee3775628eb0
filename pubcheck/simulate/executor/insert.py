"""INSERT (parser/analyze.c: transformInsertStmt; executor/nodeModifyTable.c: ExecInsert)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.executor.changes import check_constraints, compute_generated, insert_version
from pubcheck.simulate.executor.expressions import Scope, Step, assigned, compile_expression
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.targets import target_relation
from pubcheck.simulate.not_followed import NotFollowed

if TYPE_CHECKING:
    from pubcheck.simulate.session import Result, ServerSession


def insert(session: ServerSession, node: Node) -> Result:
    from pubcheck.simulate.session import Result

    relation = target_relation(session, node["relation"])
    table = table_of(session, relation)
    if node.keys() & {"onConflictClause", "withClause", "returningClause"}:
        raise NotFollowed("INSERT with ON CONFLICT, WITH or RETURNING")
    columns = target_columns(relation, node.get("cols", ()))
    source = node.get("selectStmt", {}).get("SelectStmt")
    count = 0
    for values in rows_to_insert(session, table, columns, source, named="cols" in node):
        insert_row(session, table, values)
        count += 1
    return Result(count=count)


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


def rows_to_insert(
    session: ServerSession, table: Table, columns: list[Column], source: Node | None, *, named: bool
) -> Iterable[dict[int, Any]]:
    """The rows, with defaults for the columns that the statement leaves out."""
    if source is None:
        defaults = [(column, table.default(column)) for column in table.columns]
        return [{column.number: step(()) for column, step in defaults}]
    if "valuesLists" not in source or source.keys() & {"withClause", "sortClause", "limitCount", "limitOffset"}:
        raise NotFollowed("INSERT ... SELECT")
    lists = (item["List"].get("items", ()) for item in source["valuesLists"])
    plans = [value_steps(session, table, columns, items, named=named) for items in lists]
    return ({number: step(()) for number, step in plan} for plan in plans)


def value_steps(
    session: ServerSession, table: Table, columns: list[Column], items: Any, *, named: bool
) -> list[tuple[int, Step]]:
    """The values of all columns of one row of VALUES (transformInsertRow, rewriteTargetListIU)."""
    if len(items) > len(columns):
        raise ServerError("42601", "INSERT has more expressions than target columns")
    if named and len(items) < len(columns):
        raise ServerError("42601", "INSERT has more target columns than expressions")
    given: dict[int, Step] = {}
    scope = Scope(session)
    scope.clause = "VALUES"
    for column, item in zip(columns, items, strict=False):
        if "SetToDefault" in item:
            continue
        refuse_given(column)
        given[column.number] = compile_expression(session, scope, assigned(scope, column, item))
    return [(c.number, given[c.number] if c.number in given else table.default(c)) for c in table.columns]


def refuse_given(column: Column) -> None:
    """A value for a column that only DEFAULT may be given for. Raises ServerError 428C9."""
    if column.generated:
        raise ServerError(
            "428C9",
            f'cannot insert a non-DEFAULT value into column "{column.name}"',
            detail=f'Column "{column.name}" is a generated column.',
        )
    if column.identity == "a":
        raise ServerError(
            "428C9",
            f'cannot insert a non-DEFAULT value into column "{column.name}"',
            detail=f'Column "{column.name}" is an identity column defined as GENERATED ALWAYS.',
            hint="Use OVERRIDING SYSTEM VALUE to override.",
        )


def insert_row(session: ServerSession, table: Table, values: dict[int, Any]) -> None:
    if table.relation.kind == "p":
        raise NotFollowed("partitions")
    compute_generated(table, values)
    check_constraints(table, values)
    insert_version(session, table, values)
