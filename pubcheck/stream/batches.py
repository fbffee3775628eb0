"""Captured messages decoded in batches into Arrow tables: any batch by itself, given the timelines of its streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import compress, pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from pubcheck.stream.arrow import Changes, Integers, Letters, Messages, cut_changes, readable
from pubcheck.stream.decode import Decoder, Streaming
from pubcheck.stream.encode import encode
from pubcheck.stream.framing.frame import Frame, Place
from pubcheck.stream.lsn import lsn_or_none
from pubcheck.stream.messages import (
    UNCHANGED_TOAST,
    Begin,
    BeginPrepare,
    Delete,
    Insert,
    Malformed,
    Relation,
    StreamStart,
    StreamStop,
    Truncate,
    Update,
    Value,
)
from pubcheck.stream.render.events import Event, Events
from pubcheck.stream.render.jsonl import kind_name, render
from pubcheck.stream.timeline import Timeline

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
