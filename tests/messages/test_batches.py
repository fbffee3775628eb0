"""Batches decoded with numpy, compared with the decoder that reads a stream message by message."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from random import Random
from typing import Any

import pyarrow as pa

from pubcheck.stream import (
    UNCHANGED_TOAST,
    Column,
    Decoder,
    Delete,
    Insert,
    Malformed,
    Relation,
    Row,
    StreamCommit,
    StreamStart,
    StreamStop,
    Update,
    encode,
)
from pubcheck.stream.batches import CAPTURED, DECODED, decode_batch
from pubcheck.stream.render.jsonl import kind_name
from pubcheck.stream.timeline import CONTROL, Timeline
from tests.support.recorded_streams import FOLDER, messages


def decode_in_batches(stream: Sequence[bytes | None], size: int) -> list[dict[str, Any]]:
    """Return the rows of a stream that is cut into batches of this size, in its order."""
    control = [(ordinal, data) for ordinal, data in enumerate(stream) if data and data[0] in CONTROL]
    timeline = Timeline(control)
    rows: list[dict[str, Any]] = []
    for start in range(0, len(stream), size):
        data = stream[start : start + size]
        ordinals = range(start, start + len(data))
        columns = [["s"] * len(data), ordinals, [None] * len(data), [None] * len(data), data]
        batch = pa.RecordBatch.from_arrays(
            [pa.array(values, field.type) for values, field in zip(columns, CAPTURED, strict=True)], schema=CAPTURED
        )
        for decoded in decode_batch(batch, {"s": timeline}):
            decoded.validate(full=True)
            assert decoded.schema == DECODED
            rows += decoded.to_pylist()
    return sorted(rows, key=lambda row: row["ordinal"])


def text(value: str | bytes | None) -> str | None:
    """Binary values are shown as bytea is, and so are bytes that are not UTF-8."""
    if isinstance(value, bytes):
        return f"\\x{value.hex()}"
    return value and "".join(f"\\x{ord(c) - 0xDC00:02x}" if "\udc80" <= c <= "\udcff" else c for c in value)


def values(relation: Relation | None, row: Row, *, key: bool) -> list[tuple[str, Any]]:
    names = [column.name for column in relation.columns] if relation else [str(n) for n in range(1, len(row) + 1)]
    keys = [column.key for column in relation.columns] if relation else [True] * len(row)
    return [
        (name, text(value))
        for name, value, part in zip(names, row, keys, strict=True)
        if value is not UNCHANGED_TOAST and (part or not key)
    ]


def expected(stream: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    """Yield of each change what the decoder says of it."""
    decoder = Decoder()
    for ordinal, data in enumerate(stream):
        message = decoder.decode(data)
        if isinstance(message, Insert | Update | Delete):
            relation = decoder.relation(message.relation)
            old = None if isinstance(message, Insert) else message.old
            new = None if isinstance(message, Delete) else message.new
            old_kind = None if isinstance(message, Insert) else message.old_kind
            yield {
                "ordinal": ordinal,
                "kind": type(message).__name__.lower(),
                "subxid": message.xid,
                "relation": message.relation,
                "namespace": (relation.namespace or "pg_catalog") if relation else None,
                "name": relation.name if relation else None,
                "old_kind": old_kind,
                "old": None if old is None else values(relation, old, key=old_kind == "K"),
                "new": None if new is None else values(relation, new, key=False),
            }


def test_recorded_streams_are_decoded_in_batches_as_message_by_message() -> None:
    compared = 0
    for stream in islice(messages(FOLDER / "live-pgoutput-16.jsonl.gz"), 0, None, 3):
        rows = [row for row in decode_in_batches(stream, 97) if row["kind"] in ("insert", "update", "delete")]
        for row, change in zip(rows, expected(stream), strict=True):
            assert {name: row[name] for name in change} == change
            compared += 1
    assert compared > 5_000


def changed(random: Random, data: bytes) -> bytes:
    """Return a message with one fault, which may leave it a message."""
    place = random.randrange(len(data))
    fault = random.randrange(3)
    if fault == 0:
        return data[:place]
    return data[:place] + (bytes([random.randrange(256)]) if fault == 1 else b"") + data[place + 1 :]


def test_malformed_messages_are_reported_each_by_itself() -> None:
    relation = Relation(1, "public", "t", "d", (Column("id", 23, key=True), Column("v", 25)))
    stream = [
        encode(message)
        for message in (
            relation,
            Insert(1, ("1", "a")),
            Update(1, ("2", None), ("1", None), "K"),
            Delete(1, ("2", None), "K"),
        )
    ]
    random = Random(5)
    for _ in range(300):
        place = random.randrange(1, len(stream))
        data = changed(random, stream[place])
        decoder = Decoder()
        decoder.decode(stream[0])
        rows = decode_in_batches([*stream, data, *stream], 5)
        assert rows[:4] == [row | {"ordinal": row["ordinal"] - 5} for row in rows[5:]]
        try:
            kind, fault = kind_name(decoder.decode(data)), None
        except Malformed as error:
            kind, fault = "malformed", str(error)
        assert (rows[4]["kind"], rows[4]["error"]) == (kind, fault)


def test_a_batch_knows_the_blocks_and_relations_that_began_before_it() -> None:
    before = Relation(1, "public", "t", "d", (Column("id", 23, key=True),))
    after = Relation(1, "public", "t", "d", (*before.columns, Column("v", 25)), xid=9)
    stream = [
        encode(message)
        for message in (
            before,
            StreamStart(9, True),
            after,
            Insert(1, ("1", "a"), 9),
            StreamStop(),
            Insert(1, ("2",)),
            StreamCommit(9, 1, 2, 0),
            Insert(1, ("3", UNCHANGED_TOAST)),
        )
    ]
    for size in (1, 2, 3, 8):
        rows = decode_in_batches(stream, size)
        assert [rows[place]["new"] for place in (3, 5, 7)] == [
            [("id", "1"), ("v", "a")],
            [("id", "2")],
            [("id", "3")],
        ]
        assert rows[7]["unchanged"] == ["v"]
        assert [row["subxid"] for row in rows] == [None, None, 9, 9, None, None, None, None]


def test_a_message_without_data_is_malformed() -> None:
    (row,) = decode_in_batches([None], 1)
    assert (row["kind"], row["error"]) == ("malformed", "no data")
