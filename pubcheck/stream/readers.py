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


def _text(data: bytes, offset: int) -> tuple[str, int]:
    end = data.index(0, offset)
    return data[offset:end].decode("utf-8", "surrogateescape"), end + 1


def row_at(data: bytes, offset: int) -> tuple[Row, int]:
    values: list[Value] = []
    append = values.append
    (count,) = _count(data, offset)
    offset += 2
    for _ in range(count):
        kind = data[offset]
        if kind == _TEXT:
            start = offset + 5
            offset = start + number_at(data, offset + 1)[0]
            append(data[start:offset].decode("utf-8", "surrogateescape"))
        elif kind == _NULL:
            append(None)
            offset += 1
        elif kind == _UNCHANGED:
            append(UNCHANGED_TOAST)
            offset += 1
        elif kind == _BINARY:
            start = offset + 5
            offset = start + number_at(data, offset + 1)[0]
            append(data[start:offset])
        else:
            raise ValueError
    return tuple(values), offset


def _begin(data: bytes, offset: int) -> tuple[Begin, int]:
    return Begin(*_begin_fields(data, offset)), offset + 20


def _commit(data: bytes, offset: int) -> tuple[Commit, int]:
    flags, commit_lsn, end_lsn, commit_time = _commit_fields(data, offset)
    if flags:
        raise ValueError
    return Commit(commit_lsn, end_lsn, commit_time), offset + 25


def _origin(data: bytes, offset: int) -> tuple[Origin, int]:
    (lsn,) = _origin_fields(data, offset)
    name, offset = _text(data, offset + 8)
    return Origin(lsn, name), offset


def _message(data: bytes, offset: int, xid: int | None = None) -> tuple[Message, int]:
    flags, lsn = _message_fields(data, offset)
    prefix, offset = _text(data, offset + 9)
    start = offset + 4
    end = start + number_at(data, offset)[0]
    return Message(_FLAGS[flags], lsn, prefix, data[start:end], xid), end


def _relation(data: bytes, offset: int, xid: int | None = None) -> tuple[Relation, int]:
    (oid,) = number_at(data, offset)
    namespace, offset = _text(data, offset + 4)
    name, offset = _text(data, offset)
    identity = _IDENTITIES[data[offset]]
    (count,) = _count(data, offset + 1)
    offset += 3
    columns = []
    for _ in range(count):
        key = _FLAGS[data[offset]]
        column, offset = _text(data, offset + 1)
        type_oid, type_modifier = _column_fields(data, offset)
        columns.append(Column(column, type_oid, type_modifier, key))
        offset += 8
    return Relation(oid, namespace, name, identity, tuple(columns), xid), offset


def _type(data: bytes, offset: int, xid: int | None = None) -> tuple[Type, int]:
    (oid,) = number_at(data, offset)
    namespace, offset = _text(data, offset + 4)
    name, offset = _text(data, offset)
    return Type(oid, namespace, name, xid), offset


def insert_at(data: bytes, offset: int, xid: int | None = None) -> tuple[Insert, int]:
    (relation,) = number_at(data, offset)
    if data[offset + 4] != _NEW:
        raise ValueError
    new, offset = row_at(data, offset + 5)
    return Insert(relation, new, xid), offset


def update_at(data: bytes, offset: int, xid: int | None = None) -> tuple[Update, int]:
    (relation,) = number_at(data, offset)
    kind = data[offset + 4]
    if kind == _NEW:
        new, offset = row_at(data, offset + 5)
        return Update(relation, new, None, None, xid), offset
    if kind not in OLD_KINDS:
        raise ValueError
    old, offset = row_at(data, offset + 5)
    if data[offset] != _NEW:
        raise ValueError
    new, offset = row_at(data, offset + 1)
    return Update(relation, new, old, OLD_KINDS[kind], xid), offset


def delete_at(data: bytes, offset: int, xid: int | None = None) -> tuple[Delete, int]:
    (relation,) = number_at(data, offset)
    kind = data[offset + 4]
    if kind not in OLD_KINDS:
        raise ValueError
    old, offset = row_at(data, offset + 5)
    return Delete(relation, old, OLD_KINDS[kind], xid), offset


def _truncate(data: bytes, offset: int, xid: int | None = None) -> tuple[Truncate, int]:
    count, flags = _truncate_fields(data, offset)
    offset += 5
    end = offset + 4 * count
    if end > len(data) or flags > 3:
        raise ValueError
    relations = Layout(f">{count}I").unpack_from(data, offset)
    return Truncate(relations, bool(flags & 1), bool(flags & 2), xid), end


def _stream_start(data: bytes, offset: int) -> tuple[StreamStart, int]:
    xid, first_segment = _stream_start_fields(data, offset)
    return StreamStart(xid, _FLAGS[first_segment]), offset + 5


def _stream_stop(data: bytes, offset: int) -> tuple[StreamStop, int]:
    return StreamStop(), offset


def _stream_commit(data: bytes, offset: int) -> tuple[StreamCommit, int]:
    xid, flags, commit_lsn, end_lsn, commit_time = _stream_commit_fields(data, offset)
    if flags:
        raise ValueError
    return StreamCommit(xid, commit_lsn, end_lsn, commit_time), offset + 29


def short_abort(data: bytes, offset: int) -> tuple[StreamAbort, int]:
    return StreamAbort(*_abort_fields(data, offset)), offset + 8


def long_abort(data: bytes, offset: int) -> tuple[StreamAbort, int]:
    return StreamAbort(*_parallel_abort_fields(data, offset)), offset + 24


def _begin_prepare(data: bytes, offset: int) -> tuple[BeginPrepare, int]:
    prepare_lsn, end_lsn, prepare_time, xid = _begin_prepare_fields(data, offset)
    gid, offset = _text(data, offset + 28)
    return BeginPrepare(prepare_lsn, end_lsn, prepare_time, xid, gid), offset


def _prepared(
    kind: type[Prepare] | type[CommitPrepared] | type[StreamPrepare],
) -> Reader:
    def read(data: bytes, offset: int) -> tuple[AnyMessage, int]:
        flags, lsn, end_lsn, time, xid = _prepare_fields(data, offset)
        if flags:
            raise ValueError
        gid, offset = _text(data, offset + 29)
        return kind(lsn, end_lsn, time, xid, gid), offset

    return read


def _rollback_prepared(data: bytes, offset: int) -> tuple[RollbackPrepared, int]:
    flags, prepare_end_lsn, rollback_end_lsn, prepare_time, rollback_time, xid = _rollback_fields(data, offset)
    if flags:
        raise ValueError
    gid, offset = _text(data, offset + 37)
    return RollbackPrepared(prepare_end_lsn, rollback_end_lsn, prepare_time, rollback_time, xid, gid), offset


def after_xid(read: PrefixedReader) -> Reader:
    def read_prefixed(data: bytes, offset: int) -> tuple[AnyMessage, int]:
        return read(data, offset + 4, number_at(data, offset)[0])

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
