"""Messages decoded as an iterable are those that are decoded one by one."""

from __future__ import annotations

import pytest

from pubcheck.stream import (
    AnyMessage,
    Begin,
    Column,
    Decoder,
    Insert,
    Malformed,
    Relation,
    StreamStart,
    StreamStop,
    encode,
)

pytestmark = pytest.mark.usefixtures("each_implementation")


def test_a_relation_is_known_after_its_message_was_yielded() -> None:
    messages = [
        message
        for name in ("first", "second")
        for message in (Relation(1, "public", "t", "d", (Column(name, 25),)), Insert(1, ("1",)), Insert(1, ("2",)))
    ]
    decoder = Decoder()
    names = [
        [*(decoder.row(1, message.new) or ())]
        for message in decoder.decode_many(map(encode, messages))
        if isinstance(message, Insert)
    ]
    assert names == [["first"]] * 2 + [["second"]] * 2


def test_a_malformed_message_is_yielded_in_its_place() -> None:
    messages: list[AnyMessage] = [
        Begin(1, 2, 3),
        Insert(1, ("1",)),
        StreamStart(7, True),
        Insert(1, (None,), 7),
        StreamStop(),
    ]
    data = [encode(message) for message in messages]
    decoder = Decoder()
    first, malformed, *rest, unknown = decoder.decode_many([data[0], data[1][:-1], *data[1:], b""])
    assert [first, *rest] == messages
    assert isinstance(malformed, Malformed)
    assert str(malformed).startswith("byte 13: expected value of column 1 (1 byte)")
    assert isinstance(unknown, Malformed)
    assert not decoder.in_block


def test_a_message_may_be_seen_before_it_is_decoded() -> None:
    decoder = Decoder()
    start, inside = encode(StreamStart(7, True)), encode(Insert(1, ("1",), 7))
    assert decoder.peek(start) == StreamStart(7, True)
    assert not decoder.in_block
    assert decoder.peek(inside) is None
    decoder.decode(start)
    assert decoder.peek(inside) == Insert(1, ("1",), 7)
    assert decoder.peek(b"") is None
