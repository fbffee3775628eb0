"""Reads messages that are all of their data, in half the time that the functions of `readers` take for the usual rows.

A row differs from MessagePack in few bytes, so msgspec reads it. The number of columns is that of an array after 0xdc.
The letter t and the length of a text, of which the first two bytes are zero below 64 kB, are those of a string after
0xda (two bytes of length) or 0xdb (four). The letters n and u are small integers. Rows of one or two texts are cut
without msgspec, because calling it takes longer.

What is read as MessagePack is the row if every replacement is the start of a text, and every start of a text a
replacement. In ASCII there is no other start. A replacement inside a text is not UTF-8 there, and one in a length or a
number of columns makes that at least 0xda, for which a short row has no bytes. In longer rows of ASCII, the numbers of
replacements and of texts are equal only if every replacement is a start. Otherwise, a replacement inside a text leaves
0xdb before a zero byte, which is not UTF-8; and one in a length is followed by a text that begins with a zero byte, as
none of PostgreSQL's does.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from itertools import chain
from struct import Struct as Layout
from struct import error as StructError
from typing import TypeAlias, TypeVar

from msgspec import MsgspecError
from msgspec.msgpack import Decoder as MessagePack

from pubcheck.stream.messages import (
    UNCHANGED_TOAST,
    AnyMessage,
    Begin,
    Column,
    Commit,
    Delete,
    Insert,
    Relation,
    Row,
    Truncate,
    Update,
    Value,
)
from pubcheck.stream.readers import OLD_KINDS, PREFIXED, Reader, delete_at, insert_at, number_at, update_at

WholeReader: TypeAlias = Callable[[bytes], AnyMessage]
_Message = TypeVar("_Message")
_FromRow: TypeAlias = Callable[[int, Row], Insert | Update | Delete]
_Change: TypeAlias = Callable[[bytes, int, int | None], AnyMessage]


class _Mark(Enum):
    """The letters of values that are not sent."""

    NULL = ord("n")
    UNCHANGED = ord("u")


# msgspec looks the member of an integer up here, so that it puts None and UNCHANGED_TOAST into rows by itself.
_Mark._value2member_map_.update({ord("n"): None, ord("u"): UNCHANGED_TOAST})  # type: ignore[dict-item]

_Text: TypeAlias = tuple[str, ...]
_Values: TypeAlias = tuple[str | _Mark, ...]
_packed_texts: Callable[[bytes], Row] = MessagePack(_Text).decode
_packed_values: Callable[[bytes], Row] = MessagePack(_Values).decode  # type: ignore[assignment]
_packed_pair: Callable[[bytes], tuple[Row, Row]] = MessagePack(tuple[_Values, _Values]).decode  # type: ignore[assignment]
_packed_rows: Callable[[bytes], Sequence[Row]] = MessagePack(list[_Text]).decode
_packed_value_rows: Callable[[bytes], Sequence[Row]] = MessagePack(list[_Values]).decode  # type: ignore[assignment]
if _packed_values(b"\x92nu") != (None, UNCHANGED_TOAST):
    # A msgspec that looks elsewhere: `row_at` reads the rows that have such values.
    _packed_values, _packed_value_rows = _packed_texts, _packed_rows
    _packed_pair = MessagePack(tuple[_Text, _Text]).decode

_NOT_PACKED = (MsgspecError, UnicodeDecodeError)
_ROW = b"\xdd\0\0"
"""The start of an array. No text has it, because it is not UTF-8. As a part of a length it makes that longer than the
short row after it, and is followed by a text that begins with a zero byte."""
_SHORT = 0xDA
"""Rows with fewer bytes are short."""
LONG = 128
"""With more bytes than this for each column, searching a row takes longer than reading it value by value."""
_NEW, _KEY, _TEXT = b"NKt"
_RELATION = ord("R")
_LONGEST_DESCRIPTION = 4096
_change = Layout(">xIBHBI").unpack_from
"""The relation, the kind of row, its number of columns, and the letter and the length of the first value, whose text
begins at byte 13. The text of another value begins 5 bytes after the one before it."""
_change_at = Layout(">IBH").unpack_from
_value = Layout(">BI").unpack_from
_begin = Layout(">xQqI").unpack
_commit = Layout(">xBQQq").unpack
_column_fields = Layout(">Ii").unpack_from
_truncate_fields = Layout(">xIB").unpack_from


def text_row(data: bytes, columns: int) -> Row | None:
    """Return the row that ``data`` is, which begins with its number of columns; None if it has other values than short
    texts, NULL and unchanged ones, or is malformed: `row_at` has to read it."""
    if len(data) > LONG * (columns + 1):
        return None
    try:
        if data.isascii():
            packed = data.replace(b"t\0\0", b"\xda")
            if columns < len(data) < _SHORT:
                return _packed_values(b"\xdc" + packed)
            texts = (len(data) - len(packed)) // 2
            if texts == columns:
                return _packed_texts(b"\xdc" + packed)
            row = _packed_values(b"\xdc" + packed) if columns < len(data) else ()
            return row if texts + _marks(row) == columns == len(row) else None
        texts = data.count(b"t\0\0")
        row = _packed_values(b"\xdc" + data.replace(b"t\0\0", b"\xdb\0\0")) if columns < len(data) else ()
        return row if texts + _marks(row) == columns == len(row) and not _has_zero(row) else None
    except _NOT_PACKED:
        return None


def text_rows(rows: Sequence[bytes]) -> Sequence[Row] | None:
    """Return the rows that `text_row` returns for each of these; None if one of them is to be read by `row_at`."""
    data = _ROW.join(rows)
    start = b"\xdd" + len(rows).to_bytes(4, "big") + _ROW
    is_ascii = b"".join(rows).isascii()
    try:
        if is_ascii:
            packed = start + data.replace(b"t\0\0", b"\xda")
            if max(map(len, rows)) < _SHORT:
                return _packed_value_rows(packed)
            texts = (len(data) + len(start) - len(packed)) // 2
        else:
            packed = start + data.replace(b"t\0\0", b"\xdb\0\0")
            texts = data.count(b"t\0\0")
        try:
            result = _packed_rows(packed)
            is_exact = texts == sum(map(len, result))
        except MsgspecError:
            result = _packed_value_rows(packed)
            is_exact = texts + _marks(list(chain.from_iterable(result))) == sum(map(len, result))
    except _NOT_PACKED:
        return None
    return result if is_exact and (is_ascii or not _has_zero(chain.from_iterable(result))) else None


def _marks(values: Sequence[Value]) -> int:
    return values.count(None) + values.count(UNCHANGED_TOAST)


def _has_zero(values: Iterable[Value]) -> bool:
    return "\0" in "".join([value for value in values if value.__class__ is str])


def _exact(message: _Message, end: int, data: bytes) -> _Message:
    if end != len(data):
        raise ValueError
    return message


def _read_begin(data: bytes) -> AnyMessage:
    return Begin(*_begin(data))


def _read_commit(data: bytes) -> AnyMessage:
    flags, lsn, end_lsn, time = _commit(data)
    if flags:
        raise ValueError
    return Commit(lsn, end_lsn, time)


_relation_head = re.compile(rb"([^\0]*)\0([^\0]*)\0([dnfi])(..)", re.DOTALL).match
_relation_columns = re.compile(rb"[\0\1][^\0]{0,63}\0.{8}", re.DOTALL).findall
"""Names that PostgreSQL can give. Columns with longer ones are not kept."""


@lru_cache(maxsize=4096)
def _column(data: bytes) -> Column:
    """Return a column. Those of many relations are alike."""
    type_oid, type_modifier = _column_fields(data, len(data) - 8)
    return Column(data[1:-9].decode("utf-8", "surrogateescape"), type_oid, type_modifier, data[0] == 1)


@lru_cache(maxsize=256)
def _description(data: bytes) -> tuple[str, str, str, tuple[Column, ...]] | None:
    """Return the fields of a Relation after its OID, None for an unusual one. A server sends a Relation again after
    each change of a definition."""
    head = _relation_head(data)
    if head is None:
        return None
    namespace, name, identity, count = head.groups()
    columns = _relation_columns(data, head.end())
    if len(columns) != int.from_bytes(count) or head.end() + sum(map(len, columns)) != len(data):
        return None
    names = namespace.decode("utf-8", "surrogateescape"), name.decode("utf-8", "surrogateescape")
    return *names, identity.decode(), tuple(map(_column, columns))


def _read_relation(data: bytes) -> AnyMessage:
    description = _description(data[5:]) if len(data) <= _LONGEST_DESCRIPTION else None
    if description is None:
        return _exact(*PREFIXED[_RELATION](data, 1, None), data)
    return Relation(number_at(data, 1)[0], *description)


@lru_cache(maxsize=256)
def _numbers(count: int) -> Callable[[bytes, int], tuple[int, ...]]:
    return Layout(f">{count}I").unpack_from


def _read_truncate(data: bytes) -> AnyMessage:
    count, flags = _truncate_fields(data)
    if len(data) != 6 + 4 * count or flags > 3:
        raise ValueError
    return Truncate(_numbers(count)(data, 6), flags & 1 == 1, flags & 2 == 2)


def _reader_of_new_rows(message: _FromRow, read: WholeReader) -> WholeReader:
    """Return the reader of messages that have only a new row; ``read`` reads unusual ones. It repeats
    `text_row`, because a call takes as long as a value."""

    def read_row(data: bytes) -> AnyMessage:
        try:
            relation, kind, columns, mark, length = _change(data)
            if kind != _NEW:
                return read(data)
            if columns == 1:
                if mark == _TEXT and length == len(data) - 13:
                    return message(relation, (data[13:].decode(),))
            elif columns == 2 and mark == _TEXT and length + 18 <= len(data):
                end = length + 13
                mark, length = _value(data, end)
                if mark == _TEXT and length == len(data) - end - 5:
                    return message(relation, (data[13:end].decode(), data[end + 5 :].decode()))
            row = data[6:]
            if columns < len(row) < _SHORT and row.isascii():
                return message(relation, _packed_values(b"\xdc" + row.replace(b"t\0\0", b"\xda")))
            values = text_row(row, columns)
            if values is not None:
                return message(relation, values)
        except (StructError, *_NOT_PACKED):
            pass
        return read(data)

    return read_row


def _read_insert(data: bytes) -> AnyMessage:
    return _insert(data, 1, None)


def read_update(data: bytes) -> Update:
    """Read an Update with an old row, which has as many columns as the new one. The start of the new row becomes that
    of an array, which is nowhere else either."""
    relation, kind, columns = _change_at(data, 1)
    rows = data[6:]
    if kind in OLD_KINDS and columns < len(rows) < _SHORT and rows.isascii():
        count = data[6:8]
        packed = rows.replace(b"t\0\0", b"\xda").replace(b"N" + count, b"\xdc" + count)
        try:
            old, new = _packed_pair(b"\x92\xdc" + packed)
        except _NOT_PACKED:
            return _update(data, 1, None)
        return Update(relation, new, old, OLD_KINDS[kind])
    return _update(data, 1, None)


def _read_delete(data: bytes) -> AnyMessage:
    """Read a Delete. Most keys are a text, and NULL for all columns after it."""
    try:
        relation, kind, columns, mark, length = _change(data)
        if kind == _KEY and mark == _TEXT and columns and length + columns + 12 == len(data):
            end = length + 13
            if data[end:] == b"n" * (columns - 1):
                return Delete(relation, (data[13:end].decode(), *(None,) * (columns - 1)), "K")
    except (StructError, UnicodeDecodeError):
        pass
    return _delete(data, 1, None)


def _insert(data: bytes, offset: int, xid: int | None) -> AnyMessage:
    relation, kind, columns = _change_at(data, offset)
    if kind == _NEW:
        new = text_row(data[offset + 5 :], columns)
        if new is not None:
            return Insert(relation, new, xid)
    return _exact(*insert_at(data, offset, xid), data)


def _update(data: bytes, offset: int, xid: int | None) -> Update:
    relation, kind, columns = _change_at(data, offset)
    start = offset + 5
    old: Row | None = None
    if kind != _NEW:
        # Both rows have the same number of columns. A wrong end of the first one makes it unreadable.
        end = data.find(b"N" + data[start : start + 2], start)
        old = text_row(data[start:end], columns) if end > 0 and kind in OLD_KINDS else None
        start = end + 1
    if kind == _NEW or old is not None:
        new = text_row(data[start:], columns)
        if new is not None:
            return Update(relation, new, old, OLD_KINDS.get(kind), xid)
    return _exact(*update_at(data, offset, xid), data)


def _delete(data: bytes, offset: int, xid: int | None) -> AnyMessage:
    relation, kind, columns = _change_at(data, offset)
    if kind in OLD_KINDS:
        old = text_row(data[offset + 5 :], columns)
        if old is not None:
            return Delete(relation, old, OLD_KINDS[kind], xid)
    return _exact(*delete_at(data, offset, xid), data)


_CHANGES = {ord("I"): _insert, ord("U"): _update, ord("D"): _delete}
_QUICK: Mapping[int, WholeReader] = {
    ord("I"): _reader_of_new_rows(Insert, _read_insert),
    ord("U"): _reader_of_new_rows(Update, read_update),
    ord("D"): _read_delete,
    ord("B"): _read_begin,
    ord("C"): _read_commit,
    _RELATION: _read_relation,
    ord("T"): _read_truncate,
}


def whole_reader(kind: int, read: Reader, *, in_block: bool) -> WholeReader:
    """Return a fast reader of messages of a kind; ``read`` is the slower one that reads all of them."""
    change = _CHANGES.get(kind)
    if in_block and change is not None:
        return lambda data: change(data, 5, number_at(data, 1)[0])
    quick = None if in_block and kind in PREFIXED else _QUICK.get(kind)
    return quick or (lambda data: _exact(*read(data, 1), data))
