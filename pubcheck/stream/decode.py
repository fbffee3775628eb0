"""Bytes to messages.

The functions below read a message without checking each field: a field that is cut short either raises in `struct` or
by its index, or moves the end of the message beyond that of the bytes. Then `fields`, which reads step by step, reports
the first fault.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct as Layout
from struct import error as StructError
from typing import Literal, TypeAlias

from pubcheck.stream.fields import END, fields, shown
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
    Malformed,
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

Streaming: TypeAlias = Literal["off", "on", "parallel"]
_Reader: TypeAlias = Callable[[bytes, int], tuple[AnyMessage, int]]
_Prefixed: TypeAlias = Callable[[bytes, int, int | None], tuple[AnyMessage, int]]

_FAULTS = (StructError, IndexError, KeyError, ValueError)
"""What the functions below raise for bytes that are not a message."""

_count = Layout(">H").unpack_from
_number = Layout(">I").unpack_from
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
_NEW, _KEY, _OLD = b"NKO"
_IDENTITIES = {letter: chr(letter) for letter in b"dnfi"}
_FLAGS = {0: False, 1: True}


def _text(data: bytes, at: int) -> tuple[str, int]:
    end = data.index(0, at)
    return data[at:end].decode("utf-8", "surrogateescape"), end + 1


def _row(data: bytes, at: int) -> tuple[Row, int]:
    values: list[Value] = []
    append = values.append
    (count,) = _count(data, at)
    at += 2
    for _ in range(count):
        kind = data[at]
        if kind == _TEXT:
            start = at + 5
            at = start + _number(data, at + 1)[0]
            append(data[start:at].decode("utf-8", "surrogateescape"))
        elif kind == _NULL:
            append(None)
            at += 1
        elif kind == _UNCHANGED:
            append(UNCHANGED_TOAST)
            at += 1
        elif kind == _BINARY:
            start = at + 5
            at = start + _number(data, at + 1)[0]
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
    end = start + _number(data, at)[0]
    return Message(_FLAGS[flags], lsn, prefix, data[start:end], xid), end


def _relation(data: bytes, at: int, xid: int | None = None) -> tuple[Relation, int]:
    (oid,) = _number(data, at)
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
    (oid,) = _number(data, at)
    namespace, at = _text(data, at + 4)
    name, at = _text(data, at)
    return Type(oid, namespace, name, xid), at


def _insert(data: bytes, at: int, xid: int | None = None) -> tuple[Insert, int]:
    (relation,) = _number(data, at)
    if data[at + 4] != _NEW:
        raise ValueError
    new, at = _row(data, at + 5)
    return Insert(relation, new, xid), at


def _update(data: bytes, at: int, xid: int | None = None) -> tuple[Update, int]:
    (relation,) = _number(data, at)
    kind = data[at + 4]
    if kind == _NEW:
        new, at = _row(data, at + 5)
        return Update(relation, new, None, None, xid), at
    if kind != _KEY and kind != _OLD:
        raise ValueError
    old, at = _row(data, at + 5)
    if data[at] != _NEW:
        raise ValueError
    new, at = _row(data, at + 1)
    return Update(relation, new, old, "K" if kind == _KEY else "O", xid), at


def _delete(data: bytes, at: int, xid: int | None = None) -> tuple[Delete, int]:
    (relation,) = _number(data, at)
    kind = data[at + 4]
    if kind != _KEY and kind != _OLD:
        raise ValueError
    old, at = _row(data, at + 5)
    return Delete(relation, old, "K" if kind == _KEY else "O", xid), at


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


def _short_abort(data: bytes, at: int) -> tuple[StreamAbort, int]:
    return StreamAbort(*_abort_fields(data, at)), at + 8


def _long_abort(data: bytes, at: int) -> tuple[StreamAbort, int]:
    return StreamAbort(*_parallel_abort_fields(data, at)), at + 24


def _abort_of_any_length(data: bytes, at: int) -> tuple[StreamAbort, int]:
    return _short_abort(data, at) if len(data) - at <= 8 else _long_abort(data, at)


def _begin_prepare(data: bytes, at: int) -> tuple[BeginPrepare, int]:
    prepare_lsn, end_lsn, prepare_time, xid = _begin_prepare_fields(data, at)
    gid, at = _text(data, at + 28)
    return BeginPrepare(prepare_lsn, end_lsn, prepare_time, xid, gid), at


def _prepared(
    kind: type[Prepare] | type[CommitPrepared] | type[StreamPrepare],
) -> _Reader:
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


def _after_xid(read: _Prefixed) -> _Reader:
    def read_prefixed(data: bytes, at: int) -> tuple[AnyMessage, int]:
        return read(data, at + 4, _number(data, at)[0])

    return read_prefixed


_PREFIXED: Mapping[int, _Prefixed] = {
    ord("R"): _relation,
    ord("Y"): _type,
    ord("I"): _insert,
    ord("U"): _update,
    ord("D"): _delete,
    ord("T"): _truncate,
    ord("M"): _message,
}
"""The messages that have a transaction ID inside a streamed block."""

_OUTSIDE: Mapping[int, _Reader] = {
    ord("R"): _relation,
    ord("Y"): _type,
    ord("I"): _insert,
    ord("U"): _update,
    ord("D"): _delete,
    ord("T"): _truncate,
    ord("M"): _message,
    ord("B"): _begin,
    ord("C"): _commit,
    ord("O"): _origin,
    ord("S"): _stream_start,
    ord("E"): _stream_stop,
    ord("c"): _stream_commit,
    ord("A"): _abort_of_any_length,
    ord("b"): _begin_prepare,
    ord("P"): _prepared(Prepare),
    ord("K"): _prepared(CommitPrepared),
    ord("r"): _rollback_prepared,
    ord("p"): _prepared(StreamPrepare),
}
_INSIDE: Mapping[int, _Reader] = {**_OUTSIDE, **{kind: _after_xid(read) for kind, read in _PREFIXED.items()}}
_ABORTS: Mapping[Streaming | None, _Reader] = {
    None: _abort_of_any_length,
    "off": _short_abort,
    "on": _short_abort,
    "parallel": _long_abort,
}
_REMEMBERED = frozenset(b"RSEcpA")


class Decoder:
    """Decodes the messages of one stream, in their order.

    A decoder remembers whether a streamed block is open, because messages inside it carry a transaction ID, and the
    last Relation of each OID. A Relation inside a streamed block counts for its transaction alone until that is
    committed or prepared: the transaction may have altered the table.

    ``streaming`` is the option of that name that the stream was requested with: ``parallel`` makes Stream Abort longer.
    By default its length decides.

    A capture may begin inside a streamed block, or lack the message that begins or ends one. A message that is
    malformed outside a block and correct inside one is therefore read as inside, and the other way round; the verifier
    of the stream checks the order.
    """

    def __init__(self, streaming: Streaming | None = None) -> None:
        self._relations: dict[int, Relation] = {}
        self._streamed: dict[int, dict[int, Relation]] = {}
        self._top: int | None = None
        self._streaming = streaming
        abort = {ord("A"): _ABORTS[streaming]}
        self._outside = {**_OUTSIDE, **abort}
        self._inside = {**_INSIDE, **abort}
        self._readers: Mapping[int, _Reader] = self._outside

    @property
    def in_block(self) -> bool:
        """Whether a streamed block is open: the last message was sent between Stream Start and Stream Stop."""
        return self._readers is self._inside

    def decode(self, data: bytes) -> AnyMessage:
        """Return the message that ``data`` holds, which is all of it. Raises Malformed; the next message can be decoded
        all the same."""
        try:
            kind = data[0]
            message, end = self._readers[kind](data, 1)
            if end != len(data):
                raise ValueError
        except _FAULTS:
            return self._decode_in_other_state(data)
        if kind in _REMEMBERED:
            self._remember(message)
        return message

    def decode_first(self, data: bytes, at: int = 0, follower: bytes = b"") -> tuple[AnyMessage, int]:
        """Return the message that begins at an offset of ``data``, and the offset of its end. Raises Malformed.

        This cuts messages out of bytes that hold several of them, without their lengths. ``follower`` is what stands
        after each of them; it may be missing at the end. Without the option ``streaming``, Stream Abort is the short
        one if that is followed so.
        """
        kind = data[at] if at < len(data) else -1
        for readers in (self._readers, self._other_readers()) if kind in _PREFIXED else (self._readers,):
            read = readers.get(kind, _unknown)
            if read is _abort_of_any_length:
                read = _short_abort if _is_followed(data, at + 9, follower) else _long_abort
            try:
                message, end = read(data, at + 1)
            except _FAULTS:
                continue
            if end <= len(data) and _is_followed(data, end, follower):
                self._readers = readers
                if kind in _REMEMBERED:
                    self._remember(message)
                return message, end
        raise self._fault(data[at:], follower) from None

    def relation(self, oid: int) -> Relation | None:
        """Return the Relation that describes a change in the next message, or None if the stream has not sent it."""
        streamed = None if self._top is None else self._streamed.get(self._top, {}).get(oid)
        return streamed or self._relations.get(oid)

    def row(self, relation: int, row: Row) -> dict[str, Value] | None:
        """Return the values of a row by column name, or None if the stream has not described the relation, or described
        it with another number of columns."""
        description = self.relation(relation)
        if description is None or len(description.columns) != len(row):
            return None
        return {column.name: value for column, value in zip(description.columns, row, strict=True)}

    def _remember(self, message: AnyMessage) -> None:
        if isinstance(message, Relation):
            streamed = None if self._top is None else self._streamed.setdefault(self._top, {})
            (self._relations if streamed is None else streamed)[message.oid] = message
        elif isinstance(message, StreamStart):
            self._readers = self._inside
            self._top = message.xid
        elif isinstance(message, StreamStop):
            self._readers = self._outside
            self._top = None
        elif isinstance(message, StreamCommit | StreamPrepare):
            self._relations.update(self._streamed.pop(message.xid, {}))
        elif isinstance(message, StreamAbort) and message.xid == message.subxid:
            self._streamed.pop(message.xid, None)

    def _other_readers(self) -> Mapping[int, _Reader]:
        return self._outside if self.in_block else self._inside

    def _decode_in_other_state(self, data: bytes) -> AnyMessage:
        if data[:1] and data[0] in _PREFIXED:
            readers = self._other_readers()
            try:
                message, end = readers[data[0]](data, 1)
                if end != len(data):
                    raise ValueError
            except _FAULTS:
                raise self._fault(data) from None
            self._readers = readers
            self._remember(message)
            return message
        raise self._fault(data) from None

    def _fault(self, data: bytes, follower: bytes = b"") -> Malformed:
        try:
            for field in fields(data, in_block=self.in_block, streaming=self._streaming):
                end = field.end
        except Malformed as fault:
            if not follower or fault.expected != END:
                return fault
            end = fault.offset
        return Malformed(end, f"{shown(follower)} after the message", shown(data[end : end + 1]))


def _unknown(data: bytes, at: int) -> tuple[AnyMessage, int]:
    raise KeyError


def _is_followed(data: bytes, end: int, follower: bytes) -> bool:
    return data.startswith(follower, end) or end == len(data)
