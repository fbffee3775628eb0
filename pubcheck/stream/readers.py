"""Reads a message from an offset, and returns where it ends.

The functions do not check each field: a field that is cut short either raises in `struct` or by its index, or moves the
end of the message beyond that of the bytes. The caller looks at the end, and `fields` finds the fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct as Layout
from struct import error as StructError
from typing import Literal, TypeAlias

from pubcheck.stream.messages import (
    UNCHANGED_TOAST,
    AnyMessage,
    Begin,
    BeginPrepare,
    Column,
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
    Value,
)

Reader: TypeAlias = Callable[[bytes, int], tuple[AnyMessage, int]]
PrefixedReader: TypeAlias = Callable[[bytes, int, int | None], tuple[AnyMessage, int]]

FAULTS = (StructError, IndexError, KeyError, ValueError)
"""What the functions raise for bytes that are not a message."""

_count = Layout(">H").unpack_from
number_at = Layout(">I").unpack_from
_begin_fields = Layout(">QqI").unpack_from
_commit_fields = Layout(">BQQq").unpack_from
_origin_fields = Layout(">Q").unpack_from
_column_fields = Layout(">Ii").unpack_from
_message_fields = Layout(">BQ").unpack_from
_truncate_fields = Layout(">IB").unpack_from
_stream_start_fields = Layout(">IB").unpack_from
_stream_commit_fields = Layout(">IBQQq").unpack_from
_abort_fields = Layout(">II").unpack_from
_parallel_abort_fields = Layout(">IIQq").unpack_from
_begin_prepare_fields = Layout(">QQqI").unpack_from
_prepare_fields = Layout(">BQQqI").unpack_from
_rollback_fields = Layout(">BQQqqI").unpack_from

_TEXT, _BINARY, _NULL, _UNCHANGED = b"tbnu"
_NEW = ord("N")
OLD_KINDS: Mapping[int, Literal["K", "O"]] = {ord("K"): "K", ord("O"): "O"}
_IDENTITIES = {letter: chr(letter) for letter in b"dnfi"}
_FLAGS = {0: False, 1: True}


def _text(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(0, at)
    return data[at:end].decode("utf-8", "surrogateescape"), end + 1


def row_at(data: bytes, at: int) -> tuple[Row, int]:
    values: list[Value] = []
    append = values.append
    (count,) = _count(data, at)
    at += 2
    for _ in range(count):
        kind = data[at]
        if kind == _TEXT:
            start = at + 5
            at = start + number_at(data, at + 1)[0]
            append(data[start:at].decode("utf-8", "surrogateescape"))
        elif kind == _NULL:
            append(None)
            at += 1
        elif kind == _UNCHANGED:
            append(UNCHANGED_TOAST)
            at += 1
        elif kind == _BINARY:
            start = at + 5
            at = start + number_at(data, at + 1)[0]
            append(data[start:at])
        else:
            raise ValueError
    return tuple(values), at


def _begin(data: bytes, at: int) -> tuple[Begin, int]:
    return Begin(*_begin_fields(data, at)), at + 20


def _commit(data: bytes, at: int) -> tuple[Commit, int]:
    flags, commit_lsn, end_lsn, commit_time = _commit_fields(data, at)
    if flags:
        raise ValueError
    return Commit(commit_lsn, end_lsn, commit_time), at + 25


def _origin(data: bytes, at: int) -> tuple[Origin, int]:
    (lsn,) = _origin_fields(data, at)
    name, at = _text(data, at + 8)
    return Origin(lsn, name), at


def _message(data: bytes, at: int, xid: int | None = None) -> tuple[Message, int]:
    flags, lsn = _message_fields(data, at)
    prefix, at = _text(data, at + 9)
    start = at + 4
    end = start + number_at(data, at)[0]
    return Message(_FLAGS[flags], lsn, prefix, data[start:end], xid), end


def _relation(data: bytes, at: int, xid: int | None = None) -> tuple[Relation, int]:
    (oid,) = number_at(data, at)
    namespace, at = _text(data, at + 4)
    name, at = _text(data, at)
    identity = _IDENTITIES[data[at]]
    (count,) = _count(data, at + 1)
    at += 3
    columns = []
    for _ in range(count):
        key = _FLAGS[data[at]]
        column, at = _text(data, at + 1)
        type_oid, type_modifier = _column_fields(data, at)
        columns.append(Column(column, type_oid, type_modifier, key))
        at += 8
    return Relation(oid, namespace, name, identity, tuple(columns), xid), at


def _type(data: bytes, at: int, xid: int | None = None) -> tuple[Type, int]:
    (oid,) = number_at(data, at)
    namespace, at = _text(data, at + 4)
    name, at = _text(data, at)
    return Type(oid, namespace, name, xid), at


def insert_at(data: bytes, at: int, xid: int | None = None) -> tuple[Insert, int]:
    (relation,) = number_at(data, at)
    if data[at + 4] != _NEW:
        raise ValueError
    new, at = row_at(data, at + 5)
    return Insert(relation, new, xid), at


def update_at(data: bytes, at: int, xid: int | None = None) -> tuple[Update, int]:
    (relation,) = number_at(data, at)
    kind = data[at + 4]
    if kind == _NEW:
        new, at = row_at(data, at + 5)
        return Update(relation, new, None, None, xid), at
    if kind not in OLD_KINDS:
        raise ValueError
    old, at = row_at(data, at + 5)
    if data[at] != _NEW:
        raise ValueError
    new, at = row_at(data, at + 1)
    return Update(relation, new, old, OLD_KINDS[kind], xid), at


def delete_at(data: bytes, at: int, xid: int | None = None) -> tuple[Delete, int]:
    (relation,) = number_at(data, at)
    kind = data[at + 4]
    if kind not in OLD_KINDS:
        raise ValueError
    old, at = row_at(data, at + 5)
    return Delete(relation, old, OLD_KINDS[kind], xid), at


def _truncate(data: bytes, at: int, xid: int | None = None) -> tuple[Truncate, int]:
    count, flags = _truncate_fields(data, at)
    at += 5
    end = at + 4 * count
    if end > len(data) or flags > 3:
        raise ValueError
    relations = Layout(f">{count}I").unpack_from(data, at)
    return Truncate(relations, bool(flags & 1), bool(flags & 2), xid), end


def _stream_start(data: bytes, at: int) -> tuple[StreamStart, int]:
    xid, first_segment = _stream_start_fields(data, at)
    return StreamStart(xid, _FLAGS[first_segment]), at + 5


def _stream_stop(data: bytes, at: int) -> tuple[StreamStop, int]:
    return StreamStop(), at


def _stream_commit(data: bytes, at: int) -> tuple[StreamCommit, int]:
    xid, flags, commit_lsn, end_lsn, commit_time = _stream_commit_fields(data, at)
    if flags:
        raise ValueError
    return StreamCommit(xid, commit_lsn, end_lsn, commit_time), at + 29


def short_abort(data: bytes, at: int) -> tuple[StreamAbort, int]:
    return StreamAbort(*_abort_fields(data, at)), at + 8


def long_abort(data: bytes, at: int) -> tuple[StreamAbort, int]:
    return StreamAbort(*_parallel_abort_fields(data, at)), at + 24


def _begin_prepare(data: bytes, at: int) -> tuple[BeginPrepare, int]:
    prepare_lsn, end_lsn, prepare_time, xid = _begin_prepare_fields(data, at)
    gid, at = _text(data, at + 28)
    return BeginPrepare(prepare_lsn, end_lsn, prepare_time, xid, gid), at


def _prepared(
    kind: type[Prepare] | type[CommitPrepared] | type[StreamPrepare],
) -> Reader:
    def read(data: bytes, at: int) -> tuple[AnyMessage, int]:
        flags, lsn, end_lsn, time, xid = _prepare_fields(data, at)
        if flags:
            raise ValueError
        gid, at = _text(data, at + 29)
        return kind(lsn, end_lsn, time, xid, gid), at

    return read


def _rollback_prepared(data: bytes, at: int) -> tuple[RollbackPrepared, int]:
    flags, prepare_end_lsn, rollback_end_lsn, prepare_time, rollback_time, xid = _rollback_fields(data, at)
    if flags:
        raise ValueError
    gid, at = _text(data, at + 37)
    return RollbackPrepared(prepare_end_lsn, rollback_end_lsn, prepare_time, rollback_time, xid, gid), at


def after_xid(read: PrefixedReader) -> Reader:
    def read_prefixed(data: bytes, at: int) -> tuple[AnyMessage, int]:
        return read(data, at + 4, number_at(data, at)[0])

    return read_prefixed


PREFIXED: Mapping[int, PrefixedReader] = {
    ord("R"): _relation,
    ord("Y"): _type,
    ord("I"): insert_at,
    ord("U"): update_at,
    ord("D"): delete_at,
    ord("T"): _truncate,
    ord("M"): _message,
}
"""The messages that have a transaction ID inside a streamed block."""

OTHERS: Mapping[int, Reader] = {
    ord("B"): _begin,
    ord("C"): _commit,
    ord("O"): _origin,
    ord("S"): _stream_start,
    ord("E"): _stream_stop,
    ord("c"): _stream_commit,
    ord("b"): _begin_prepare,
    ord("P"): _prepared(Prepare),
    ord("K"): _prepared(CommitPrepared),
    ord("r"): _rollback_prepared,
    ord("p"): _prepared(StreamPrepare),
}
