"""COPY ... FROM STDIN in the text and CSV formats (commands/copyfrom.c, copyfromparse.c)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.input import read
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.domains import domain_check
from pubcheck.simulate.executor.expressions import Scope
from pubcheck.simulate.executor.row_operations import insert_into, leaf_of, ready_row, store_row
from pubcheck.simulate.executor.statement_scope import (
    Changes,
    Rows,
    complete,
    condition,
    rows_of,
    run_changes,
    target_item,
)
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.targets import named_relation, target_relation
from pubcheck.simulate.executor.triggers import triggers_of, with_statement_triggers
from pubcheck.simulate.not_followed import NotFollowed


class CopyFormat:
    """The options of a COPY statement."""

    def __init__(self, options: Any) -> None:
        named = {item["DefElem"]["defname"]: item["DefElem"].get("arg") for item in options}
        self.csv = _text(named.get("format")) == "csv"
        self.delimiter = _text(named.get("delimiter")) or ("," if self.csv else "\t")
        null = _text(named.get("null"))
        self.null = ("" if self.csv else "\\N") if null is None else null
        self.quote = _text(named.get("quote")) or '"'
        self.escape = _text(named.get("escape")) or self.quote
        self.header = "header" in named and _text(named["header"]) not in ("false", "off", "0")
        rest = named.keys() - {"format", "delimiter", "null", "quote", "escape", "header", "encoding", "freeze"}
        if rest or _text(named.get("format")) == "binary":
            raise NotFollowed(f"COPY with the option {min(rest, default='binary')}")


def _text(argument: Any) -> str | None:
    if argument is None:
        return None
    if "String" in argument:
        return str(argument["String"].get("sval", ""))
    if "Boolean" in argument:
        return "true" if argument["Boolean"].get("boolval") else "false"
    return str(next(iter(argument.values())).get("ival", ""))


_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|(.))", re.DOTALL)
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _unescape(match: re.Match[str]) -> str:
    octal, hexadecimal, letter = match.groups()
    if octal is not None:
        return chr(int(octal, 8) & 0xFF)
    if hexadecimal is not None:
        return chr(int(hexadecimal, 16))
    return _LETTERS.get(letter, letter)


def text_rows(data: str, form: CopyFormat) -> Iterator[list[str | None]]:
    """CopyReadAttributesText."""
    for line in _lines(data):
        if line == "\\.":
            return
        fields: list[str | None] = []
        for field in _split(line, form.delimiter):
            if field == form.null:
                fields.append(None)
            else:
                fields.append(_ESCAPE.sub(_unescape, field) if "\\" in field else field)
        yield fields


def _lines(data: str) -> Iterator[str]:
    """The lines of the text format; a backslash before a newline makes it part of a field."""
    part = ""
    for line in data.removesuffix("\n").split("\n") if data else ():
        line = line.removesuffix("\r")
        backslashes = len(line) - len(line.rstrip("\\"))
        if backslashes % 2:
            part += line + "\n"
            continue
        yield part + line
        part = ""
    if part:
        yield part.removesuffix("\n")


def _split(line: str, delimiter: str) -> list[str]:
    if "\\" not in line:
        return line.split(delimiter)
    return re.findall(rf"((?:\\.|[^\\{re.escape(delimiter)}])*)(?:{re.escape(delimiter)}|$)", line, re.DOTALL)[
        : _count(line, delimiter) + 1
    ]


def _count(line: str, delimiter: str) -> int:
    return len(re.findall(rf"\\.|({re.escape(delimiter)})", line, re.DOTALL)) - len(re.findall(r"\\.", line, re.DOTALL))


def csv_rows(data: str, form: CopyFormat) -> Iterator[list[str | None]]:
    """CopyReadAttributesCSV. Raises ServerError 22P04 for a quote that is not closed."""
    offset, end = 0, len(data)
    while offset < end:
        fields: list[str | None] = []
        while True:
            value, quoted, offset = _csv_field(data, offset, form)
            fields.append(None if not quoted and value == form.null else value)
            if offset >= end or data[offset] != form.delimiter:
                break
            offset += 1
        offset += 2 if data.startswith("\r\n", offset) else 1
        if fields == ["\\."]:
            return
        yield fields


def _csv_field(data: str, offset: int, form: CopyFormat) -> tuple[str, bool, int]:
    """A field, whether it was quoted, and where it ends."""
    parts: list[str] = []
    quoted = inside = False
    while offset < len(data):
        character = data[offset]
        if inside:
            following = data[offset + 1 : offset + 2]
            if character == form.escape and following in (form.quote, form.escape) and following:
                parts.append(following)
                offset += 1
            elif character == form.quote:
                inside = False
            else:
                parts.append(character)
        elif character == form.quote:
            quoted = inside = True
        elif character == form.delimiter or character in "\r\n":
            break
        else:
            parts.append(character)
        offset += 1
    if inside:
        raise ServerError("22P04", "unterminated CSV quoted field")
    return "".join(parts), quoted, offset


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
