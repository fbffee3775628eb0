"""Insert, Update and Delete messages of an Arrow column as columns of a table.

The messages of one relation in one version, which have the same columns, are cut at once: by `_changes.c` where it is
compiled, which takes a fraction of the time of decoding them, and else by the decoder. A message that is not plain
(malformed, with binary values, or with text that is not UTF-8) is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress, repeat
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from msgspec import Struct
from numpy.typing import NDArray

from pubcheck.stream import whole
from pubcheck.stream.decode import Decoder
from pubcheck.stream.encode import encode
from pubcheck.stream.messages import (
    UNCHANGED_TOAST,
    Delete,
    Insert,
    Relation,
    Row,
    StreamStart,
    UnchangedToast,
    Update,
    Value,
)

Integers: TypeAlias = NDArray[np.int64]
Letters: TypeAlias = NDArray[np.uint8]

_IS_CHANGE = np.zeros(256, np.bool_)
_IS_CHANGE[list(b"IUD")] = True
_ROW = pa.map_(pa.string(), pa.string())
_PLAIN = frozenset({str, type(None), UnchangedToast})
_DELETE, _NULL = b"Dn"
_LARGEST = 2**28
"""Bytes of messages, and of the columns' names for each, that are cut at once: their texts fit into an Arrow array."""


class Changes(Struct, frozen=True):
    """``places`` are those of the messages. The others have a row for each: ``kinds`` I, U or D, ``old_kinds`` K or O,
    or 0 where there is no old row; ``old`` and ``new`` the values by column, without the unchanged ones (NULL for no
    row), of which ``unchanged`` has the columns."""

    places: Integers
    kinds: Letters
    old_kinds: Letters
    old: pa.MapArray
    new: pa.MapArray
    unchanged: pa.ListArray


class Messages:
    """A column of messages that are not NULL."""

    def __init__(self, data: pa.LargeBinaryArray) -> None:
        self.data = data
        self.offsets: Integers = np.frombuffer(data.buffers()[1], np.int64)[data.offset : data.offset + len(data) + 1]
        self.content: pa.Buffer | bytes = data.buffers()[2] or b""
        self._bytes = np.frombuffer(self.content, np.uint8)
        # A view of the big-endian integer that begins at each byte.
        size = max(len(self._bytes) - 3, 0)
        self._integers = np.ndarray((size,), ">u4", self._bytes.data, strides=(1,)) if size else np.zeros(0, ">u4")

    def changes(self, in_block: NDArray[np.bool_]) -> tuple[Integers, Integers]:
        """Return the places of the messages that hold rows, and the OIDs of their relations. ``in_block`` says of each
        message whether a transaction ID precedes the OID. Messages that end before it are left out."""
        if not len(self._bytes):
            return np.zeros(0, np.int64), np.zeros(0, np.int64)
        prefixes = 1 + 4 * in_block
        letters = self._bytes[np.minimum(self.offsets[:-1], len(self._bytes) - 1)]  # an empty one may begin at the end
        places = np.nonzero(_IS_CHANGE[letters] & (np.diff(self.offsets) >= prefixes + 4))[0]
        return places, self.integers(places, prefixes[places])

    def integers(self, places: Integers, offset: int | Integers) -> Integers:
        """Return the numbers of four bytes at an offset of these messages, which must have as many."""
        numbers: Integers = self._integers[self.offsets[places] + offset].astype(np.int64)
        return numbers


def cut_changes(messages: Messages, chosen: Integers, relation: Relation, *, in_block: bool) -> Iterator[Changes]:
    """Yield the plain ones among the messages at some places, which are changes of a relation, many at a time.
    ``in_block`` says whether transaction IDs precede OIDs."""
    cut = _cut_in_python if whole.COMPILED is None else _cut_in_c
    names = [readable(column.name) for column in relation.columns]
    keys = [column.key for column in relation.columns]
    size_of_names = len("".join((*names, readable(relation.namespace), readable(relation.name))).encode())
    parts = [chosen]
    if len(messages.content) + size_of_names * len(chosen) > _LARGEST:
        sizes = np.diff(messages.offsets)[chosen] + size_of_names
        fits = sizes <= _LARGEST
        numbers = np.cumsum(sizes[fits]) // _LARGEST
        parts = np.split(chosen[fits], np.nonzero(np.diff(numbers))[0] + 1)
    for part in parts:
        changes = cut(messages, part, names, keys, in_block)
        if len(changes.places):
            yield changes


def readable(text: str) -> str:
    """Return a text with \\x and two digits in place of each byte that is not UTF-8."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _cut_in_c(
    messages: Messages, chosen: Integers, names: Sequence[str], keys: Sequence[bool], in_block: bool
) -> Changes:
    encoded = [name.encode() for name in names]
    columns = b"".join(encoded), np.cumsum([len(name) for name in encoded], dtype=np.int32), bytes(keys)
    cut = whole.COMPILED.cut_changes  # type: ignore[union-attr]
    places, kinds, old_kinds, *rows = cut(messages.offsets, messages.content, chosen, *columns, in_block)
    return _changes(
        np.frombuffer(places, np.int64),
        np.frombuffer(kinds, np.uint8),
        np.frombuffer(old_kinds, np.uint8),
        *(_rows_in(rows[start : start + 6]) for start in (0, 6, 12)),
    )


def _cut_in_python(
    messages: Messages, chosen: Integers, names: Sequence[str], keys: Sequence[bool], in_block: bool
) -> Changes:
    decoder = Decoder()
    if in_block:
        decoder.decode(encode(StreamStart(0, True)))
    places: list[int] = []
    kinds, old_kinds = bytearray(), bytearray()
    old_rows, new_rows, unchanged = _Lists(), _Lists(), _Lists()
    content, offsets = memoryview(messages.content), messages.offsets
    for place in chosen.tolist():
        data = bytes(content[offsets[place] : offsets[place + 1]])
        message = decoder.peek(data)
        if not isinstance(message, Insert | Update | Delete):
            continue
        old, old_kind = (None, None) if isinstance(message, Insert) else (message.old, message.old_kind)
        new = None if isinstance(message, Delete) else message.new
        if not (_is_plain(data, old, len(names)) and _is_plain(data, new, len(names))):
            continue
        places.append(place)
        kinds.append(data[0])
        old_kinds.append(ord(old_kind) if old_kind else 0)
        old_rows.append(names, old or (), keys if old_kind == "K" else None)
        new_rows.append(names, new or ())
        if new_rows.ends[-1] - new_rows.ends[-2] < len(new or ()):
            unchanged.names += compress(names, [value is UNCHANGED_TOAST for value in new or ()])
        unchanged.ends.append(len(unchanged.names))
    return _changes(
        np.array(places, np.int64),
        np.frombuffer(kinds, np.uint8),
        np.frombuffer(old_kinds, np.uint8),
        *(lists.rows() for lists in (old_rows, new_rows, unchanged)),
    )


def _is_plain(data: bytes, row: Row | None, columns: int) -> bool:
    return row is None or (
        len(row) == columns and _PLAIN.issuperset(map(type, row)) and (data.isascii() or _is_utf8(row))
    )


def _is_utf8(row: Row) -> bool:
    try:
        "".join(value for value in row if isinstance(value, str)).encode()
    except UnicodeEncodeError:
        return False
    return True


class _Rows(Struct, frozen=True):
    """Rows that are lists of columns: where each begins and the last ends, and the names and values of all."""

    ends: pa.Int32Array
    names: pa.StringArray
    values: pa.StringArray


def _rows_in(buffers: Sequence[bytearray]) -> _Rows:
    ends, letters, name_ends, names, value_ends, values = map(pa.py_buffer, buffers)
    valid = None
    if b"n" in buffers[1]:
        valid = pa.py_buffer(np.packbits(np.frombuffer(letters, np.uint8) != _NULL, bitorder="little"))
    return _Rows(
        pa.Array.from_buffers(pa.int32(), ends.size // 4, [None, ends]),
        pa.Array.from_buffers(pa.string(), name_ends.size // 4 - 1, [None, name_ends, names]),
        pa.Array.from_buffers(pa.string(), value_ends.size // 4 - 1, [valid, value_ends, values]),
    )


class _Lists:
    """Rows that grow."""

    def __init__(self) -> None:
        self.ends = [0]
        self.names: list[str] = []
        self.values: list[Value] = []

    def append(self, names: Sequence[str], row: Row, keys: Sequence[bool] | None = None) -> None:
        """Append the columns of a row that are of the key, without the unchanged ones."""
        if keys is None and UnchangedToast not in map(type, row):
            self.names += names[: len(row)]
            self.values += row
        else:
            kept = [key and value is not UNCHANGED_TOAST for key, value in zip(keys or repeat(True), row, strict=False)]
            self.names += compress(names, kept)
            self.values += compress(row, kept)
        self.ends.append(len(self.names))

    def rows(self) -> _Rows:
        return _Rows(
            pa.array(self.ends, pa.int32()), pa.array(self.names, pa.string()), pa.array(self.values, pa.string())
        )


def _changes(places: Integers, kinds: Letters, old_kinds: Letters, old: _Rows, new: _Rows, unchanged: _Rows) -> Changes:
    columns = pa.ListArray.from_arrays(unchanged.ends, unchanged.names)
    return Changes(places, kinds, old_kinds, _maps(old, old_kinds == 0), _maps(new, kinds == _DELETE), columns)


def _maps(rows: _Rows, absent: NDArray[np.bool_]) -> pa.MapArray:
    if absent.all():
        return pa.nulls(len(absent), _ROW)
    mask = pa.array(absent) if absent.any() else None
    return pa.MapArray.from_arrays(rows.ends, rows.names, rows.values, mask=mask)
