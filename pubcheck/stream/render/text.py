"""A line of text for each message, for people; and the bytes of messages, as lines that `read` reads again, and field
by field."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pubcheck.stream import messages as wire
from pubcheck.stream.fields import fields
from pubcheck.stream.lsn import format_lsn, format_time
from pubcheck.stream.messages import Delete, Insert, Message, Relation, Truncate, Type, Update
from pubcheck.stream.render.events import Event, Events, text_of

_NUMBERS = frozenset({20, 21, 23, 26, 700, 701, 1700})
"""OIDs of int8, int2, int4, oid, float4, float8 and numeric."""

_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_$]*")
_PLAIN_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?")
_ESCAPES = {"\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f", "\\": "\\\\", "'": "\\'"}


def render(event: Event, events: Events) -> Iterator[str]:
    """Yield the line of a message: position, transaction, and what it says."""
    lsn = "" if event.frame.lsn is None else format_lsn(event.frame.lsn)
    xid = "" if event.xid is None else str(event.xid)
    yield f"{lsn:<11} {xid:<7} {_LINES[type(event.message)](event.message, event, events)}\n"


def _relation(message: wire.Relation, event: Event, events: Events) -> str:
    columns = ", ".join(
        f"{name(column.name)}{'*' if column.key else ''} {events.type_name(column.type_oid, column.type_modifier)}"
        for column in message.columns
    )
    return f"RELATION {qualified(message)} identity {message.replica_identity} ({columns}){_own_xid(message, event)}"


def _insert(message: wire.Insert, event: Event, events: Events) -> str:
    relation, columns = _described(event, message.relation, message.new)
    return f"INSERT {relation} {_row(message.new, columns)}{_own_xid(message, event)}"


def _update(message: wire.Update, event: Event, events: Events) -> str:
    relation, columns = _described(event, message.relation, message.new)
    new = _row(message.new, columns)
    if message.old is not None:
        new = f"{_old(message, columns)} new({new})"
    return f"UPDATE {relation} {new}{_own_xid(message, event)}"


def _delete(message: wire.Delete, event: Event, events: Events) -> str:
    relation, columns = _described(event, message.relation, message.old)
    return f"DELETE {relation} {_old(message, columns)}{_own_xid(message, event)}"


def _truncate(message: wire.Truncate, event: Event, events: Events) -> str:
    names = ", ".join(_described(event, oid, None)[0] for oid in message.relations)
    options = (" CASCADE" if message.cascade else "") + (" RESTART IDENTITY" if message.restart_identity else "")
    return f"TRUNCATE {names}{options}{_own_xid(message, event)}"


def _message(message: wire.Message, event: Event, events: Events) -> str:
    kind = "transactional" if message.transactional else "not transactional"
    content = content_text(message.content)
    return f"MESSAGE {literal(message.prefix)} ({kind}) {content}{_own_xid(message, event)}"


def _stream_abort(message: wire.StreamAbort, event: Event, events: Events) -> str:
    subtransaction = f" subtransaction {message.subxid}" if message.subxid != message.xid else ""
    time = "" if message.abort_time is None else f" at {format_time(message.abort_time)}"
    return f"STREAM ABORT {message.xid}{subtransaction}{time}"


def _prepared(verb: str) -> Callable[[Any, Event, Events], str]:
    def line(message: wire.BeginPrepare | wire.Prepare | wire.StreamPrepare, event: Event, events: Events) -> str:
        return f"{verb} {literal(message.gid)} {message.xid} at {format_time(message.prepare_time)}"

    return line


_LINES: Mapping[type[wire.AnyMessage], Callable[[Any, Event, Events], str]] = {
    wire.Begin: lambda message, event, events: (
        f"BEGIN {message.xid} at {format_time(message.commit_time)}, commits at {format_lsn(message.final_lsn)}"
    ),
    wire.Message: _message,
    wire.Commit: lambda message, event, events: f"COMMIT, ends at {format_lsn(message.end_lsn)}",
    wire.Origin: lambda message, event, events: f"ORIGIN {literal(message.name)} at {format_lsn(message.lsn)}",
    wire.Relation: _relation,
    wire.Type: lambda message, event, events: (
        f"TYPE {name(message.namespace or 'pg_catalog')}.{name(message.name)}{_own_xid(message, event)}"
    ),
    wire.Insert: _insert,
    wire.Update: _update,
    wire.Delete: _delete,
    wire.Truncate: _truncate,
    wire.StreamStart: lambda message, event, events: (
        f"STREAM START {message.xid}{' (first block)' if message.first_segment else ''}"
    ),
    wire.StreamStop: lambda message, event, events: "STREAM STOP",
    wire.StreamCommit: lambda message, event, events: (
        f"STREAM COMMIT {message.xid} at {format_time(message.commit_time)}, ends at {format_lsn(message.end_lsn)}"
    ),
    wire.StreamAbort: _stream_abort,
    wire.BeginPrepare: _prepared("BEGIN PREPARE"),
    wire.Prepare: _prepared("PREPARE"),
    wire.CommitPrepared: lambda message, event, events: (
        f"COMMIT PREPARED {literal(message.gid)} {message.xid} at {format_time(message.commit_time)}"
    ),
    wire.RollbackPrepared: lambda message, event, events: (
        f"ROLLBACK PREPARED {literal(message.gid)} {message.xid} at {format_time(message.rollback_time)}"
    ),
    wire.StreamPrepare: _prepared("STREAM PREPARE"),
}


def _described(event: Event, oid: int, row: wire.Row | None) -> tuple[str, tuple[wire.Column, ...] | None]:
    """Return the name of a relation, and its columns if they fit the row."""
    relation = event.relations.get(oid)
    if relation is None:
        return f"relation {oid} (no Relation message seen)", None
    if row is not None and len(row) != len(relation.columns):
        return f"{qualified(relation)} (described with {len(relation.columns)} columns)", None
    return qualified(relation), relation.columns


def _old(message: wire.Update | wire.Delete, columns: tuple[wire.Column, ...] | None) -> str:
    row = message.old or ()
    if message.old_kind == "O":
        return f"old({_row(row, columns)})"
    in_key = [value is not None or (columns is not None and columns[index].key) for index, value in enumerate(row)]
    return f"key({_row(row, columns, in_key)})"


def _row(row: wire.Row, columns: tuple[wire.Column, ...] | None, shown: list[bool] | None = None) -> str:
    parts = []
    for index, value in enumerate(row):
        if shown is None or shown[index]:
            column = None if columns is None else columns[index]
            parts.append(f"{f'${index + 1}' if column is None else name(column.name)}={_value(value, column)}")
    return " ".join(parts)


def _value(value: wire.Value, column: wire.Column | None) -> str:
    if value is None:
        return "NULL"
    if value is wire.UNCHANGED_TOAST:
        return "<unchanged>"
    if isinstance(value, bytes):
        text = None if column is None else text_of(value, column.type_oid)
        if text is None:
            return f"\\x{value.hex()}"
        value = text
    if column is not None and column.type_oid in _NUMBERS and _PLAIN_NUMBER.fullmatch(value):
        return value
    return literal(value)


def _own_xid(message: Any, event: Event) -> str:
    return f" (subtransaction {message.xid})" if message.xid not in (None, event.xid) else ""


def qualified(relation: wire.Relation) -> str:
    """Return the name of a relation with its schema, quoted where SQL needs that."""
    return f"{name(relation.namespace or 'pg_catalog')}.{name(relation.name)}"


def name(text: str) -> str:
    """Return a name on one line, quoted unless it is plain."""
    if _PLAIN_NAME.fullmatch(text):
        return text
    return '"' + "".join(_escaped(char) for char in text.replace('"', '""')) + '"'


def literal(text: str) -> str:
    """Return a text on one line as a literal of SQL. Bytes that are not UTF-8 are escaped."""
    if text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return "E'" + "".join(_ESCAPES.get(char) or _escaped(char) for char in text) + "'"


def _escaped(char: str) -> str:
    if char.isprintable():
        return char
    code = ord(char)
    if 0xDC80 <= code <= 0xDCFF:
        return f"\\x{code - 0xDC00:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def content_text(content: bytes) -> str:
    """Return the content of a logical message: as a literal if it is printable text, otherwise in hex."""
    try:
        text = content.decode()
    except UnicodeDecodeError:
        return f"\\x{content.hex()}"
    readable = all(char.isprintable() or char in _ESCAPES for char in text)
    return literal(text) if readable else f"\\x{content.hex()}"


_IN_BLOCK = (Relation, Type, Insert, Update, Delete, Truncate, Message)
_WIDTH = 12
"""Bytes in a line of the annotated dump."""


def render_hex(event: Event, events: Events) -> Iterator[str]:
    """Yield position, transaction and bytes, with tabs between them; only the bytes if neither is known."""
    lsn, xid, data, _ = event.frame
    if lsn is None and event.xid is None:
        yield f"{data.hex()}\n"
    else:
        shown = xid if xid is not None else event.xid
        yield f"{format_lsn(lsn or 0)}\t{0 if shown is None else shown}\t{data.hex()}\n"


def render_fields(event: Event, events: Events) -> Iterator[str]:
    """Yield the bytes of each field, its name and its value."""
    in_block = isinstance(event.message, _IN_BLOCK) and event.message.xid is not None
    yield from dump(event.frame.data, in_block=in_block)
    yield "\n"


def dump(data: bytes, *, in_block: bool = False) -> Iterator[str]:
    """Yield lines with the bytes of each field of a message, its name and its value."""
    for field in fields(data, in_block=in_block):
        content = data[field.start : field.end]
        for start in range(0, max(1, len(content)), _WIDTH):
            shown = content[start : start + _WIDTH].hex(" ")
            yield f"{shown:<{3 * _WIDTH}} {f'{field.name:<24} {field.value}' if start == 0 else ''}".rstrip() + "\n"
