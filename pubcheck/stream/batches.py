"""Captured messages decoded in batches into Arrow tables: any batch by itself, given the timelines of its streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import compress, pairwise

import numpy as np
import pyarrow as pa

from pubcheck.stream.arrow import CHANGES, Changes, Integers, Messages, maps, split_changes, unchanged
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

_KIND_NAMES = pa.array(["insert", "update", "delete"])
_KIND_NUMBERS = np.zeros(256, np.int8)
_KIND_NUMBERS[list(b"IUD")] = range(3)
_STOP = encode(StreamStop())
_CARRIED = ("slot", "ordinal", "lsn", "xid")


def decode_batch(
    captured: pa.RecordBatch, timelines: Mapping[str, Timeline], streaming: Streaming | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield a row of the schema `DECODED` for each message of the schema `CAPTURED`, not in their order.

    ``timelines`` are those of the slots. A message without data is malformed.
    """
    slots = captured.column("slot").dictionary_encode()
    names = slots.dictionary.to_pylist()
    if len(names) > 1:
        numbers = slots.indices.to_numpy()
        order = np.argsort(numbers, kind="stable")
        captured = captured.take(pa.array(order))
        bounds = np.searchsorted(numbers[order], np.arange(len(names) + 1)).tolist()
    else:
        bounds = [0, captured.num_rows]
    for slot, (start, end) in zip(names, pairwise(bounds), strict=True):
        yield from _Batch(captured.slice(start, end - start), timelines.get(slot) or Timeline(()), streaming).decoded()


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
        self._messages = Messages(captured.column("data").fill_null(b""))
        self._tops = timeline.transactions(self._ordinals)
        self._decoder = Decoder(streaming)
        self._events = Events(streaming)

    def decoded(self) -> Iterator[pa.RecordBatch]:
        messages = self._messages
        changes = np.nonzero(np.isin(messages.kinds(), list(CHANGES)))[0]
        tops = self._tops[changes]
        oids = messages.int32(messages.starts[changes] + 1 + 4 * (tops >= 0))
        left = np.ones(self._captured.num_rows, np.bool_)
        for (oid, top), chosen in _grouped(changes, oids, tops):
            descriptions, versions = self._timeline.relations(oid, top, self._ordinals[chosen])
            for version in range(max(int(versions.min()), 0), int(versions.max()) + 1):
                of_version = chosen[versions == version]
                if not len(of_version):
                    continue
                rows, plain = self._changes(of_version, descriptions[version])
                left[plain] = False
                yield from rows
        if left.any():
            rest = pa.array(np.nonzero(left)[0])
            rows = [captured.take(rest) for captured in map(self._captured.column, CAPTURED.names)]
            tops = self._tops[left].tolist()
            yield pa.RecordBatch.from_pylist(
                [self._message(*row) for row in zip(*(values.to_pylist() for values in rows), tops, strict=True)],
                DECODED,
            )

    def _changes(self, chosen: Integers, relation: Relation) -> tuple[list[pa.RecordBatch], Integers]:
        """Return the plain ones among these changes of a relation as rows, and their numbers."""
        changes = split_changes(self._messages, chosen, len(relation.columns), self._tops[chosen] >= 0)
        letters = np.where(changes.has_old, np.where(changes.whole, ord("O"), ord("K")), 0)
        try:
            rows = [
                self._rows(chosen[some], relation, changes.select(some), chr(letter) if letter else None)
                for letter in (0, ord("K"), ord("O"))
                if (some := changes.plain & (letters == letter)).any()
            ]
        except pa.ArrowInvalid:  # a text is not UTF-8
            return [], chosen[:0]
        return rows, chosen[changes.plain]

    def _rows(self, chosen: Integers, relation: Relation, changes: Changes, old_kind: str | None) -> pa.RecordBatch:
        """Return changes that all have the same kind of old row."""
        messages, count = self._messages, len(chosen)
        names = [column.name for column in relation.columns]
        key = [number for number, column in enumerate(relation.columns) if column.key or old_kind == "O"]
        starts = messages.starts[chosen]
        carried = self._captured if count == self._captured.num_rows else self._captured.take(pa.array(chosen))
        return pa.RecordBatch.from_arrays(
            [
                *map(carried.column, _CARRIED),
                _KIND_NAMES.take(pa.array(_KIND_NUMBERS[messages.letters(starts)])),
                pa.array(messages.int32(starts + 1), mask=self._tops[chosen] < 0),
                pa.repeat(pa.scalar(relation.oid, pa.int64()), count),
                pa.repeat(pa.scalar(relation.namespace or "pg_catalog", pa.string()), count),
                pa.repeat(pa.scalar(relation.name, pa.string()), count),
                pa.repeat(pa.scalar(old_kind, pa.string()), count),
                maps(messages, changes.old.columns(key), [names[number] for number in key], changes.has_old),
                maps(messages, changes.new, names, changes.has_new),
                unchanged(changes.new, names, changes.has_new),
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


def _change(message: Insert | Update | Delete, relation: Relation | None) -> dict[str, object]:
    """Return the columns of a change. ``relation`` is None if the stream has not described the relation."""
    old, old_kind = (None, None) if isinstance(message, Insert) else (message.old, message.old_kind)
    new = None if isinstance(message, Delete) else message.new
    count = len(new or old or ())
    if relation is not None and len(relation.columns) == count:
        names = [column.name for column in relation.columns]
        key = [column.key or old_kind == "O" for column in relation.columns]
    else:
        names, key = [str(number) for number in range(1, count + 1)], [True] * count
    return {
        "relation": message.relation,
        "namespace": None if relation is None else relation.namespace or "pg_catalog",
        "name": None if relation is None else relation.name,
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
    return (
        value
        if not isinstance(value, str)
        else value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    )
