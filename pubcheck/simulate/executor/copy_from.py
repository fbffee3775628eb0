"""COPY ... FROM STDIN (commands/copyfrom.c, copyfromparse.c)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.input import read
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.copy_formats import CopyFormat, csv_rows, text_rows
from pubcheck.simulate.executor.domains import domain_check
from pubcheck.simulate.executor.expressions import Scope
from pubcheck.simulate.executor.row_operations import insert_into, leaf_of, ready_row, store_row
from pubcheck.simulate.executor.row_statements import complete, rows_of, run_changes
from pubcheck.simulate.executor.statement_scope import Changes, Rows, condition, target_item
from pubcheck.simulate.executor.statement_triggers import with_statement_triggers
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.targets import named_relation, target_relation
from pubcheck.simulate.executor.triggers import triggers_of
from pubcheck.simulate.not_followed import NotFollowed

_BATCH_ROWS, _BATCH_BYTES = 1000, 65_535
"""MAX_BUFFERED_TUPLES and MAX_BUFFERED_BYTES: how many rows are inserted at a time."""


def copy(session: Backend, node: Node) -> Result:
    if "filename" in node:
        raise NotFollowed("COPY with a file or a program")
    if not node.get("is_from"):
        return _copy_to(session, node)
    if node.get("data") is None:
        raise NotFollowed("COPY without its data")
    relation = target_relation(session, node["relation"])
    if relation.kind == "v":
        raise NotFollowed("COPY to a view")
    table = table_of(session, relation)
    columns = _columns(table, node.get("attlist", ()))
    form = CopyFormat(node.get("options", ()))
    scope = Scope(session)
    target_item(session, scope, relation, node["relation"])
    where = condition(session, scope, node.get("whereClause"), "COPY FROM WHERE")
    left_out = [column for column in table.columns if column not in columns]
    defaults = [(column.number, table.default(column)) for column in left_out]

    def run() -> Rows:
        buffer = _Buffer(session, relation)
        for fields in _parsed(node["data"], form, columns):
            values: dict[int, Any] = {}
            for column, field in zip(columns, fields, strict=False):
                values[column.number] = None if field is None else read_field(session, column, field)
            if len(fields) < len(columns):
                raise ServerError("22P04", f'missing data for column "{columns[len(fields)].name}"')
            values |= {number: step(()) for number, step in defaults}
            if where is not None and where((values,)) is not True:
                continue
            buffer.add(values, sum(map(len_of, fields)) + len(fields) - 1)
            yield ()
        buffer.flush()

    return complete(session, with_statement_triggers(session, relation, [("insert", frozenset())], Changes([], run)))


def _copy_to(session: Backend, node: Node) -> Result:
    """COPY ... TO STDOUT changes what its query changes. The text that it gives is not made."""
    if "query" not in node:
        named_relation(session, node["relation"])
        return Result()
    ((kind, body),) = node["query"].items()
    result = rows_of(session, body) if kind == "SelectStmt" else run_changes(session, kind, body)
    return Result(count=len(result.rows))


class _Buffer:
    """Rows that are inserted together, by table, in the order in which tables get their first (CopyMultiInsertInfo)."""

    def __init__(self, session: Backend, relation: Relation) -> None:
        self.session, self.relation = session, relation
        self.rows: dict[int, tuple[Table, list[dict[int, Any]]]] = {}
        self.count = self.bytes = 0

    def add(self, values: dict[int, Any], size: int) -> None:
        session = self.session
        table, row = leaf_of(session, self.relation, values)
        # With a transition table, the rows of a partitioned table are inserted one by one.
        by_one = self.relation.kind == "p" and (self.relation.oid, "insert") in session.transitions
        if by_one or triggers_of(session, table).before["insert"]:
            insert_into(session, table, row, routed=table.oid != self.relation.oid)
            return
        ready = ready_row(session, table, row, routed=table.oid != self.relation.oid)
        if ready is None:
            return
        self.rows.setdefault(table.oid, (table, []))[1].append(ready)
        self.count, self.bytes = self.count + 1, self.bytes + size
        if self.count >= _BATCH_ROWS or self.bytes >= _BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        for table, rows in self.rows.values():
            for number, row in enumerate(rows):
                store_row(self.session, table, row, joined=number > 0)
        for _, rows in self.rows.values():
            rows.clear()
        self.count = self.bytes = 0


def len_of(field: str | None) -> int:
    """The bytes of a field in its line, about."""
    return 2 if field is None else len(field.encode())


def _columns(table: Table, named: Any) -> list[Column]:
    """CopyGetAttnums. Raises ServerError 42703, 42701, 42P10."""
    if not named:
        return [column for column in table.columns if not column.generated]
    columns: list[Column] = []
    for item in named:
        name = item["String"]["sval"]
        column = table.relation.column(name)
        if column is None:
            raise ServerError("42703", f'column "{name}" of relation "{table.relation.name}" does not exist')
        if column.generated:
            raise ServerError(
                "42P10",
                f'column "{name}" is a generated column',
                detail="Generated columns cannot be used in COPY.",
            )
        if column in columns:
            raise ServerError("42701", f'column "{name}" specified more than once')
        columns.append(column)
    return columns


def _parsed(data: str, form: CopyFormat, columns: list[Column]) -> Iterator[list[str | None]]:
    """The fields of each line, which may be too few. Raises ServerError 22P04 for too many."""
    rows = csv_rows(data, form) if form.csv else text_rows(data, form)
    if form.header:
        next(rows, None)
    for fields in rows:
        if len(fields) > len(columns):
            raise ServerError("22P04", "extra data after last expected column")
        yield fields


def read_field(session: Backend, column: Column, text: str) -> Any:
    """A field through the input function of its column's type."""
    cache = session.catalog_session.syscache
    base, typmod = cache.base_type(column.type, column.typmod)
    value = read(session.inputs, base, text, typmod)
    if base != column.type:
        check = domain_check(session, column.type)
        if check is not None:
            check(value)
    return value
