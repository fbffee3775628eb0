"""Batches cut into columns, compared with the decoder that reads a stream message by message."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from random import Random
from typing import Any, Literal
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

from pubcheck.stream import (
    UNCHANGED_TOAST,
    AnyMessage,
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
    batches,
    encode,
    whole,
)
from pubcheck.stream.batches import CAPTURED, DECODED, Changes, Messages, cut_changes, decode_batch
from pubcheck.stream.decode import CONTROL, Timeline
from pubcheck.stream.render.jsonl import kind_name
from tests.messages.in_python import in_python
from tests.messages.mutate import damaged
from tests.support.recorded_streams import FOLDER, messages


def decode_in_batches(stream: Sequence[bytes | None], size: int) -> list[dict[str, Any]]:
    """Return the rows of a stream that is cut into batches of this size, in its order."""
    control = [(ordinal, data) for ordinal, data in enumerate(stream) if data and data[0] in CONTROL]
    timeline = Timeline(control)
    columns = [["s"] * len(stream), range(len(stream)), [None] * len(stream), [None] * len(stream), stream]
    arrays = [pa.array(values, field.type) for values, field in zip(columns, CAPTURED, strict=True)]
    captured = pa.RecordBatch.from_arrays(arrays, schema=CAPTURED)
    rows: list[dict[str, Any]] = []
    for start in range(0, len(stream), size):
        batch = captured.slice(start, size)
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


class Changing:
    """Random changes of a relation, in streamed blocks and outside, with binary values and texts that are not UTF-8."""

    VALUES = (
        None,
        UNCHANGED_TOAST,
        b"\0",
        "",
        "a",
        "abcd",
        "abcdefgh",
        "ä",
        "\udcff",
        "a€" * 9,
        "\U0010ffff",
        "x" * 300,
    )
    WEIGHTS = (3, 1, 1, 3, 9, 9, 9, 3, 1, 3, 3, 3)

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def stream(self, length: int) -> list[bytes | None]:
        columns = tuple(Column(name, 25, key=self.random.random() < 0.5) for name in ("id", "", "naïve")[: self.size()])
        of_blocks = Relation(1, "", "u", "f", columns[:-1], xid=7)
        messages: list[AnyMessage] = [Relation(1, "public", "t", "d", columns), StreamStart(7, True)]
        messages += [of_blocks] * self.random.randrange(2)
        messages += [self.change(columns, 7) for _ in range(length)] + [StreamStop()]
        messages += [self.change(columns, None) for _ in range(length)]
        encoded = [encode(message) for message in messages]
        return [self.damaged(data, encoded) if data[0] in b"IUD" else data for data in encoded]

    def size(self) -> int:
        return self.random.randrange(1, 4)

    def change(self, columns: Sequence[Column], xid: int | None) -> AnyMessage:
        old, new = (tuple(self.random.choices(self.VALUES, self.WEIGHTS, k=len(columns))) for _ in range(2))
        letter: Literal["K", "O"] = self.random.choice(("K", "O"))
        changes = Insert(1, new, xid), Update(1, new, None, None, xid), Update(1, new, old, letter, xid)
        return self.random.choice((*changes, Delete(1, old, letter, xid)))

    def damaged(self, data: bytes, others: Sequence[bytes]) -> bytes | None:
        if self.random.random() < 0.7:
            return data
        return damaged(data, self.random, self.random.choice(others)) if self.random.random() < 0.9 else None


@pytest.mark.parametrize("limit", [batches._LARGEST, 300])
def test_cut_columns_are_those_of_the_decoder(limit: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The decoder, for which no change is plain, says what is expected."""
    monkeypatch.setattr(batches, "_LARGEST", limit)
    cut = Counter[str]()
    for seed in range(20):
        stream = Changing(seed).stream(40)
        size = Random(seed).choice((1, 7, 100))
        with patch.object(batches, "cut_changes", lambda *_, **__: iter(())):
            rows = decode_in_batches(stream, size)
        with counting(cut):
            assert decode_in_batches(stream, size) == rows
            with in_python():
                assert decode_in_batches(stream, size) == rows
    assert len(cut) == 1 + (whole.COMPILED is not None)
    assert len(set(cut.values())) == 1  # each implementation cuts the same messages
    assert min(cut.values()) > 400


@contextmanager
def counting(cut: Counter[str]) -> Iterator[None]:
    """Count the messages that each implementation cuts."""

    def counted(messages: Messages, *arguments: Any, **options: Any) -> Iterator[Changes]:
        for changes in cut_changes(messages, *arguments, **options):
            cut["in Python" if whole.COMPILED is None else "in C"] += len(changes.places)
            yield changes

    with patch.object(batches, "cut_changes", counted):
        yield


@pytest.mark.usefixtures("compiled")
def test_nothing_is_read_outside_of_the_data() -> None:
    assert whole.COMPILED is not None
    cut = whole.COMPILED.cut_changes
    data = encode(Insert(1, ("a",)))
    offsets, place = np.array([0, len(data)]), np.array([0])
    rest = (b"id", np.array([2], np.int32), b"\1", False)
    assert bytes(cut(offsets, data, place, *rest)[1]) == b"I"
    for wrong in ([0, len(data) + 1], [-1, len(data)], [2, 1]):
        with pytest.raises(ValueError, match="not within the data"):
            cut(np.array(wrong), data, place, *rest)
    for wrong in ([1], [-1], [2**62]):
        with pytest.raises(IndexError):
            cut(offsets, data, np.array(wrong), *rest)
    for wrong in ([3], [-1], [0, 1], []):
        with pytest.raises(ValueError, match="names of the columns"):
            cut(offsets, data, place, b"id", np.array(wrong, np.int32), b"\1", False)
    assert len(cut(offsets[:0], b"", place[:0], *rest)[0]) == 0


def test_names_that_are_not_utf_8_are_readable() -> None:
    relation = Relation(1, "\udcfe", "\udcff", "d", (Column("\udc80", 25, key=True),))
    for value in ("a", b"a"):
        *_, row = decode_in_batches([encode(relation), encode(Insert(1, (value,)))], 2)
        assert (row["namespace"], row["name"], row["new"][0][0]) == ("\\xfe", "\\xff", "\\x80")
