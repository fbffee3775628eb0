"""Messages to bytes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct as Layout
from struct import error as StructError
from typing import Any

from pubcheck.stream.messages import (
    UNCHANGED_TOAST,
    AnyMessage,
    Begin,
    BeginPrepare,
    Commit,
    CommitPrepared,
    Delete,
    Insert,
    Message,
    Origin,
    Prepare,
    Relation,
    RollbackPrepared,
    Row,
    StreamAbort,
    StreamCommit,
    StreamPrepare,
    StreamStart,
    StreamStop,
    Truncate,
    Type,
    Update,
)

_head = Layout(">cI").pack
_head_with_xid = Layout(">cII").pack
_count = Layout(">H").pack
_length = Layout(">cI").pack
_begin = Layout(">cQqI").pack
_commit = Layout(">cBQQq").pack
_origin = Layout(">cQ").pack
_column_type = Layout(">Ii").pack
_message = Layout(">BQ").pack
_number = Layout(">I").pack
_stream_start = Layout(">cIB").pack
_stream_commit = Layout(">cIBQQq").pack
_abort = Layout(">cII").pack
_parallel_abort = Layout(">cIIQq").pack
_begin_prepare = Layout(">cQQqI").pack
_prepare = Layout(">cBQQqI").pack
_rollback = Layout(">cBQQqqI").pack


def encode(message: AnyMessage) -> bytes:
    """Return the bytes of a message: the inverse of `Decoder.decode`. Raises ValueError for a message that the protocol
    cannot carry, such as a name with a zero byte."""
    try:
        return _WRITERS[type(message)](message)
    except (StructError, UnicodeEncodeError, OverflowError) as error:
        raise ValueError(f"{type(message).__name__} cannot be encoded: {error}") from None


def _text(text: str) -> bytes:
    if "\0" in text:
        raise ValueError(f"{text!r} contains a zero byte")
    return text.encode("utf-8", "surrogateescape") + b"\0"


def _row(parts: list[bytes], row: Row) -> None:
    append = parts.append
    append(_count(len(row)))
    for value in row:
        if value is None:
            append(b"n")
        elif value is UNCHANGED_TOAST:
            append(b"u")
        elif isinstance(value, str):
            text = value.encode("utf-8", "surrogateescape")
            append(_length(b"t", len(text)))
            append(text)
        else:
            append(_length(b"b", len(value)))
            append(value)


def _start(kind: bytes, oid: int, xid: int | None) -> bytes:
    return _head(kind, oid) if xid is None else _head_with_xid(kind, xid, oid)


def _write_insert(message: Insert) -> bytes:
    parts = [_start(b"I", message.relation, message.xid), b"N"]
    _row(parts, message.new)
    return b"".join(parts)


def _write_update(message: Update) -> bytes:
    parts = [_start(b"U", message.relation, message.xid)]
    if (message.old is None) != (message.old_kind is None):
        raise ValueError("Update needs old and old_kind together")
    if message.old is not None and message.old_kind is not None:
        parts.append(message.old_kind.encode())
        _row(parts, message.old)
    parts.append(b"N")
    _row(parts, message.new)
    return b"".join(parts)


def _write_delete(message: Delete) -> bytes:
    parts = [_start(b"D", message.relation, message.xid), message.old_kind.encode()]
    _row(parts, message.old)
    return b"".join(parts)


def _write_truncate(message: Truncate) -> bytes:
    flags = message.cascade | message.restart_identity << 1
    oids = message.relations
    return _start(b"T", len(oids), message.xid) + Layout(f">B{len(oids)}I").pack(flags, *oids)


def _write_relation(message: Relation) -> bytes:
    parts = [
        _start(b"R", message.oid, message.xid),
        _text(message.namespace),
        _text(message.name),
        message.replica_identity.encode(),
        _count(len(message.columns)),
    ]
    for column in message.columns:
        parts += (b"\1" if column.key else b"\0", _text(column.name))
        parts.append(_column_type(column.type_oid, column.type_modifier))
    return b"".join(parts)


def _write_type(message: Type) -> bytes:
    return _start(b"Y", message.oid, message.xid) + _text(message.namespace) + _text(message.name)


def _write_message(message: Message) -> bytes:
    start = b"M" if message.xid is None else _head(b"M", message.xid)
    prefix = _text(message.prefix)
    content = message.content
    return start + _message(message.transactional, message.lsn) + prefix + _number(len(content)) + content


def _write_stream_abort(message: StreamAbort) -> bytes:
    if message.abort_lsn is None or message.abort_time is None:
        if message.abort_lsn is not message.abort_time:
            raise ValueError("StreamAbort needs abort_lsn and abort_time together")
        return _abort(b"A", message.xid, message.subxid)
    return _parallel_abort(b"A", message.xid, message.subxid, message.abort_lsn, message.abort_time)


def _write_begin_prepare(message: BeginPrepare) -> bytes:
    fields = (message.prepare_lsn, message.end_lsn, message.prepare_time, message.xid)
    return _begin_prepare(b"b", *fields) + _text(message.gid)


def _write_prepare(kind: bytes, message: Prepare | StreamPrepare) -> bytes:
    fields = (message.prepare_lsn, message.end_lsn, message.prepare_time, message.xid)
    return _prepare(kind, 0, *fields) + _text(message.gid)


def _write_commit_prepared(message: CommitPrepared) -> bytes:
    fields = (message.commit_lsn, message.end_lsn, message.commit_time, message.xid)
    return _prepare(b"K", 0, *fields) + _text(message.gid)


def _write_rollback_prepared(message: RollbackPrepared) -> bytes:
    lsns = (message.prepare_end_lsn, message.rollback_end_lsn)
    return _rollback(b"r", 0, *lsns, message.prepare_time, message.rollback_time, message.xid) + _text(message.gid)


def _write_stream_commit(message: StreamCommit) -> bytes:
    return _stream_commit(b"c", message.xid, 0, message.commit_lsn, message.end_lsn, message.commit_time)


_WRITERS: Mapping[type[AnyMessage], Callable[[Any], bytes]] = {
    Begin: lambda message: _begin(b"B", message.final_lsn, message.commit_time, message.xid),
    Message: _write_message,
    Commit: lambda message: _commit(b"C", 0, message.commit_lsn, message.end_lsn, message.commit_time),
    Origin: lambda message: _origin(b"O", message.lsn) + _text(message.name),
    Relation: _write_relation,
    Type: _write_type,
    Insert: _write_insert,
    Update: _write_update,
    Delete: _write_delete,
    Truncate: _write_truncate,
    StreamStart: lambda message: _stream_start(b"S", message.xid, message.first_segment),
    StreamStop: lambda message: b"E",
    StreamCommit: _write_stream_commit,
    StreamAbort: _write_stream_abort,
    BeginPrepare: _write_begin_prepare,
    Prepare: lambda message: _write_prepare(b"P", message),
    CommitPrepared: _write_commit_prepared,
    RollbackPrepared: _write_rollback_prepared,
    StreamPrepare: lambda message: _write_prepare(b"p", message),
}
