"""Reads a message that is all of its data, in half the time that the functions of `readers` take for the usual rows.

A row differs from MessagePack in few bytes, so msgspec reads it. The number of columns is that of an array after 0xdc.
The letter t and the length of a text, of which the first two bytes are zero below 64 kB, are those of a string after
0xda (two bytes of length) or 0xdb (four). The letters n and u are small integers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from struct import Struct as Layout
from typing import Literal, Protocol, TypeAlias

from msgspec import MsgspecError
from msgspec.msgpack import Decoder as MessagePack

from pubcheck.stream.messages import UNCHANGED_TOAST, AnyMessage, Delete, Insert, Row, UnchangedToast, Update, Value
from pubcheck.stream.readers import OLD_KINDS, Reader, delete_at, insert_at, number_at, row_at, update_at

WholeReader: TypeAlias = Callable[[bytes], AnyMessage]


class _Change(Protocol):
    def __call__(self, data: bytes, at: int = 1, xid: int | None = None, /) -> AnyMessage: ...


_packed_texts = MessagePack(tuple[str, ...]).decode
_packed_values = MessagePack(tuple[str | int, ...]).decode
_NOT_PACKED = (MsgspecError, UnicodeDecodeError, KeyError, IndexError)
_MARKS: Mapping[int, Literal[UnchangedToast.UNCHANGED_TOAST] | None] = {ord("n"): None, ord("u"): UNCHANGED_TOAST}
_NEW, _OLD, _KEY = b"NOK"
_change = Layout(">xIB").unpack_from
_change_in_block = Layout(">xIIB").unpack_from
_change_at = Layout(">IB").unpack_from


def text_row(data: bytes) -> Row | None:
    """Return the row that ``data`` is; None if it has other values than short texts, NULL and unchanged ones, or is
    malformed: `row_at` has to read it.

    What is read as MessagePack is the row if every replacement is the start of a text, and every start of a text a
    replacement. In ASCII there is no other start, so their numbers are equal only then. Otherwise, a replacement inside
    a text leaves 0xdb before a zero byte, which is not UTF-8; and one in a length is followed by a text that begins
    with a zero byte, as none of PostgreSQL's does.
    """
    try:
        if data.isascii():
            packed = data.replace(b"t\0\0", b"\xda")
            texts = (len(data) - len(packed)) // 2
            if texts == data[1] and data[0] == 0:
                return _packed_texts(b"\xdc" + packed)
            return _with_marks(_packed_values(b"\xdc" + packed), texts) if data[0] < 8 else None
        if data.count(b"t\0\0") != data[1] or data[0] != 0:
            return None
        row = _packed_texts(b"\xdc" + data.replace(b"t\0\0", b"\xdb\0\0"))
        return row if "\0" not in "".join(row) else None
    except _NOT_PACKED:
        return None


def _with_marks(values: tuple[str | int, ...], texts: int) -> Row | None:
    """Return the row of these values, if ``texts`` of them are texts."""
    row: list[Value] = []
    for value in values:
        if value.__class__ is str:
            row.append(value)
        else:
            row.append(_MARKS[value])  # type: ignore[index]
            texts += 1
    return tuple(row) if texts == len(row) else None


def _exact(message: AnyMessage, end: int, data: bytes) -> AnyMessage:
    if end != len(data):
        raise ValueError
    return message


def _insert(data: bytes) -> AnyMessage:
    relation, kind = _change(data)
    if kind == _NEW:
        new = text_row(data[6:])
        if new is not None:
            return Insert(relation, new)
    return _exact(*insert_at(data, 1), data)


def _insert_in_block(data: bytes) -> AnyMessage:
    xid, relation, kind = _change_in_block(data)
    if kind == _NEW:
        new = text_row(data[10:])
        if new is not None:
            return Insert(relation, new, xid)
    return _exact(*insert_at(data, 5, xid), data)


def _update(data: bytes, at: int = 1, xid: int | None = None) -> AnyMessage:
    relation, kind = _change_at(data, at)
    start = at + 5
    old: Row | None = None
    if kind == _OLD:
        # Both rows have the same number of columns. A wrong end of the first one makes it unreadable.
        end = data.find(b"N" + data[start : start + 2], start)
        old = text_row(data[start:end]) if end > 0 else None
        start = end + 1
    elif kind == _KEY:  # mostly NULL
        old, end = row_at(data, start)
        start = end + 1
    if data[start - 1] == _NEW and (old is not None or kind == _NEW):
        new = text_row(data[start:])
        if new is not None:
            return Update(relation, new, old, OLD_KINDS.get(kind), xid)
    return _exact(*update_at(data, at, xid), data)


def _delete(data: bytes, at: int = 1, xid: int | None = None) -> AnyMessage:
    relation, kind = _change_at(data, at)
    if kind == _OLD:
        whole = text_row(data[at + 5 :])
        if whole is not None:
            return Delete(relation, whole, "O", xid)
    elif kind == _KEY:  # mostly NULL
        key, end = row_at(data, at + 5)
        return _exact(Delete(relation, key, "K", xid), end, data)
    return _exact(*delete_at(data, at, xid), data)


def whole_reader(kind: int, read: Reader, *, in_block: bool) -> WholeReader:
    """Return a reader of messages of a kind, of which ``read`` is the other reader."""
    if kind == _INSERT:
        return _insert_in_block if in_block else _insert
    change = _CHANGES.get(kind)
    if change is None:
        return lambda data: _exact(*read(data, 1), data)
    if in_block:
        return lambda data: change(data, 5, number_at(data, 1)[0])
    return change


_INSERT = ord("I")
_CHANGES: Mapping[int, _Change] = {ord("U"): _update, ord("D"): _delete}
