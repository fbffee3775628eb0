"""Captured messages decoded in batches into Arrow tables: any batch by itself, given the timelines of its streams.

Insert, Update and Delete messages of one relation in one version, which have the same columns, are cut at once: by
`_changes.c` where it is compiled, which takes a fraction of the time of decoding them, and else by the decoder. A
message that is not plain (malformed, with binary values, or with text that is not UTF-8) is left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress, pairwise, repeat
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct
from numpy.typing import NDArray

from pubcheck.stream import whole
from pubcheck.stream.decode import Decoder, Streaming, Timeline
from pubcheck.stream.encode import encode
from pubcheck.stream.framing.rows import Frame, Place
from pubcheck.stream.lsn import lsn_or_none
from pubcheck.stream.messages import (
    UNCHANGED_TOAST,
    Begin,
    BeginPrepare,
    Delete,
    Insert,
    Malformed,
    Relation,
    Row,
    StreamStart,
    StreamStop,
    Truncate,
    UnchangedToast,
    Update,
    Value,
)
from pubcheck.stream.render.events import Event, Events
from pubcheck.stream.render.jsonl import kind_name, render

Integers: TypeAlias = NDArray[np.int64]
Letters: TypeAlias = NDArray[np.uint8]

_IS_CHANGE = np.zeros(256, np.bool_)
_IS_CHANGE[list(b"IUD")] = True
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


CAPTURED = pa.schema(
    [
        ("slot", pa.string()),
        ("ordinal", pa.int64()),
        ("lsn", pa.string()),
        ("xid", pa.int64()),
        ("data", pa.large_binary()),
    ]
)
"""A captured message: the slot that it is from, its number there, and lsn, xid and data of the slot functions' rows."""

_ROW = pa.map_(pa.string(), pa.string())
DECODED = pa.schema(
    [
        *(CAPTURED.field(name) for name in ("slot", "ordinal", "lsn", "xid")),
        ("kind", pa.string()),
        ("subxid", pa.int64()),
        ("relation", pa.int64()),
        ("namespace", pa.string()),
        ("name", pa.string()),
        ("old_kind", pa.string()),
        ("old", _ROW),
        ("new", _ROW),
        ("unchanged", pa.list_(pa.string())),
        ("message", pa.string()),
        ("error", pa.string()),
    ]
)
"""A row for each message. ``subxid`` is the transaction ID of a message within a streamed block. ``namespace`` and
``name`` are those of the relation, NULL if the stream has not described it; columns are then named by their numbers.
``old_kind`` is K where ``old`` has the columns of the key alone, O where it is the whole row. ``message`` is a message
without rows as `pubcheck decode --format jsonl` shows it, ``error`` says what is malformed."""

_KINDS = {"I": "insert", "U": "update", "D": "delete"}
_OLD_KINDS = {"K": "K", "O": "O"}
_STOP = encode(StreamStop())
_CARRIED = ("slot", "ordinal", "lsn", "xid")


def decode_batch(
    captured: pa.RecordBatch, timelines: Mapping[str, Timeline], streaming: Streaming | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield a row of the schema `DECODED` for each message of the schema `CAPTURED`, not in their order.

    ``timelines`` are those of the slots. A message without data is malformed.
    """
    for slot, messages in _by_slot(captured):
        yield from _Batch(messages, timelines.get(slot) or Timeline(()), streaming).decoded()


def _by_slot(captured: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    slots = captured.column("slot")
    if captured.num_rows and pc.all(pc.equal(slots, slots[0]), skip_nulls=False).as_py():
        yield slots[0].as_py(), captured
        return
    slots = slots.dictionary_encode()
    numbers = slots.indices.to_numpy()
    order = np.argsort(numbers, kind="stable")
    captured = captured.take(pa.array(order))
    bounds = np.searchsorted(numbers[order], np.arange(len(slots.dictionary) + 1)).tolist()
    for slot, (start, end) in zip(slots.dictionary.to_pylist(), pairwise(bounds), strict=True):
        yield slot, captured.slice(start, end - start)


def _grouped(changes: Integers, oids: Integers, tops: Integers) -> Iterator[tuple[tuple[int, int], Integers]]:
    """Yield the changes of each relation in each streamed transaction."""
    if len(changes) and (oids == oids[0]).all() and (tops == tops[0]).all():
        yield (int(oids[0]), int(tops[0])), changes
        return
    order = np.lexsort((tops, oids))
    borders = np.nonzero((np.diff(oids[order]) != 0) | (np.diff(tops[order]) != 0))[0] + 1
    for group in np.split(order, borders):
        if len(group):
            yield (int(oids[group[0]]), int(tops[group[0]])), changes[group]


class _Batch:
    """Messages of one slot."""

    def __init__(self, captured: pa.RecordBatch, timeline: Timeline, streaming: Streaming | None) -> None:
        self._captured, self._timeline, self._streaming = captured, timeline, streaming
        self._ordinals: Integers = captured.column("ordinal").to_numpy()
        data = captured.column("data")
        self._messages = Messages(data.fill_null(b"") if data.null_count else data)
        self._tops = timeline.transactions(self._ordinals)
        self._decoder = Decoder(streaming)
        self._events = Events(streaming)

    def decoded(self) -> Iterator[pa.RecordBatch]:
        changes, oids = self._messages.changes(self._tops >= 0)
        left = np.ones(self._captured.num_rows, np.bool_)
        for (oid, top), chosen in _grouped(changes, oids, self._tops[changes]):
            descriptions, versions = self._timeline.relations(oid, top, self._ordinals[chosen])
            for version in range(max(int(versions.min()), 0), int(versions.max()) + 1):
                relation, of_version = descriptions[version], chosen[versions == version]
                for plain in cut_changes(self._messages, of_version, relation, in_block=top >= 0):
                    left[plain.places] = False
                    yield self._rows(plain, relation, in_block=top >= 0)
        if left.any():
            rest = pa.array(np.nonzero(left)[0])
            rows = [captured.take(rest) for captured in map(self._captured.column, CAPTURED.names)]
            tops = self._tops[left].tolist()
            yield pa.RecordBatch.from_pylist(
                [self._message(*row) for row in zip(*(values.to_pylist() for values in rows), tops, strict=True)],
                DECODED,
            )

    def _rows(self, changes: Changes, relation: Relation, *, in_block: bool) -> pa.RecordBatch:
        places, count = changes.places, len(changes.places)
        carried = self._captured if count == self._captured.num_rows else self._captured.take(pa.array(places))
        return pa.RecordBatch.from_arrays(
            [
                *map(carried.column, _CARRIED),
                _words(_KINDS, changes.kinds),
                pa.array(self._messages.integers(places, 1)) if in_block else pa.nulls(count, pa.int64()),
                pa.repeat(pa.scalar(relation.oid, pa.int64()), count),
                _repeated(readable(relation.namespace or "pg_catalog"), count),
                _repeated(readable(relation.name), count),
                _words(_OLD_KINDS, changes.old_kinds),
                changes.old,
                changes.new,
                changes.unchanged,
                pa.nulls(count, pa.string()),
                pa.nulls(count, pa.string()),
            ],
            schema=DECODED,
        )

    def _message(
        self, slot: str, ordinal: int, lsn: str | None, xid: int | None, data: bytes | None, top: int
    ) -> dict[str, object]:
        """Return one message as a row, by the decoder."""
        row: dict[str, object] = {"slot": slot, "ordinal": ordinal, "lsn": lsn, "xid": xid}
        if data is None:
            return row | {"kind": "malformed", "error": "no data"}
        self._decoder.decode(_STOP if top < 0 else encode(StreamStart(top, True)))
        try:
            message = self._decoder.decode(data)
        except Malformed as error:
            return row | {"kind": "malformed", "error": str(error)}
        row |= {"kind": kind_name(message), "subxid": getattr(message, "xid", None) if top >= 0 else None}
        if isinstance(message, Insert | Update | Delete):
            return row | _change(message, self._relation(message.relation, top, ordinal))
        oids = message.relations if isinstance(message, Truncate) else ()
        relations = {oid: relation for oid in oids if (relation := self._relation(oid, top, ordinal)) is not None}
        if isinstance(message, Begin | BeginPrepare | StreamStart):
            xid = message.xid
        frame = Frame(lsn_or_none(lsn), xid, data, Place(ordinal))
        event = Event(frame, message, xid, None, relations)
        return row | {"message": "".join(render(event, self._events)).rstrip("\n")}

    def _relation(self, oid: int, top: int, ordinal: int) -> Relation | None:
        descriptions, versions = self._timeline.relations(oid, top, np.array([ordinal]))
        return descriptions[versions[0]] if versions[0] >= 0 else None


def _repeated(text: str, count: int) -> pa.StringArray:
    """Return what `pyarrow.repeat` does, in a fraction of its time."""
    content = text.encode()
    ends = np.arange(count + 1, dtype=np.int32) * np.int32(len(content))
    return pa.StringArray.from_buffers(count, pa.py_buffer(ends), pa.py_buffer(content * count))


def _words(words: Mapping[str, str], letters: Letters) -> pa.StringArray:
    """Return the word for each letter, NULL for another one."""
    if (letters == letters[0]).all():
        word = words.get(chr(letters[0]))
        return pa.nulls(len(letters), pa.string()) if word is None else _repeated(word, len(letters))
    numbers = np.full(256, len(words), np.int8)
    numbers[[ord(letter) for letter in words]] = range(len(words))
    return pa.array([*words.values(), None], pa.string()).take(pa.array(numbers[letters]))


def _change(message: Insert | Update | Delete, relation: Relation | None) -> dict[str, object]:
    """Return the columns of a change. ``relation`` is None if the stream has not described the relation."""
    old, old_kind = (None, None) if isinstance(message, Insert) else (message.old, message.old_kind)
    new = None if isinstance(message, Delete) else message.new
    count = len(new or old or ())
    if relation is not None and len(relation.columns) == count:
        names = [readable(column.name) for column in relation.columns]
        key = [column.key or old_kind == "O" for column in relation.columns]
    else:
        names, key = [str(number) for number in range(1, count + 1)], [True] * count
    return {
        "relation": message.relation,
        "namespace": None if relation is None else readable(relation.namespace or "pg_catalog"),
        "name": None if relation is None else readable(relation.name),
        "old_kind": old_kind,
        "old": None if old is None else _pairs(compress(names, key), compress(old, key)),
        "new": None if new is None else _pairs(names, new),
        "unchanged": [name for name, value in zip(names, new or (), strict=False) if value is UNCHANGED_TOAST],
    }


def _pairs(names: Iterable[str], row: Iterable[Value]) -> list[tuple[str, str | None]]:
    return [(name, _shown(value)) for name, value in zip(names, row, strict=True) if value is not UNCHANGED_TOAST]


def _shown(value: str | bytes | None) -> str | None:
    """Return a value as text: binary as bytea's hex, and bytes that are not UTF-8 as \\x and two digits."""
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    return None if value is None else readable(value)
