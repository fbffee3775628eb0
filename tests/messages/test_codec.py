"""Decoding and encoding messages."""

from __future__ import annotations

import pytest
from hypothesis import given

from pubcheck.stream import (
    UNCHANGED_TOAST,
    AnyMessage,
    Begin,
    Column,
    Decoder,
    Delete,
    Insert,
    Malformed,
    Message,
    Relation,
    StreamAbort,
    StreamCommit,
    StreamStart,
    StreamStop,
    Truncate,
    Update,
    encode,
    fields,
    format_lsn,
    format_time,
    parse_lsn,
)
from tests.messages import generating

pytestmark = pytest.mark.usefixtures("each_implementation")

START, STOP = encode(StreamStart(7, True)), encode(StreamStop())


@given(generating.changes | generating.others)
def test_every_message_is_decoded_from_its_encoding(message: AnyMessage) -> None:
    assert Decoder().decode(encode(message)) == message


@given(generating.changes_in_block)
def test_inside_a_block_changes_carry_a_transaction_id(message: AnyMessage) -> None:
    decoder = Decoder()
    decoder.decode(START)
    assert decoder.decode(encode(message)) == message


@given(generating.changes | generating.others)
def test_a_message_ends_where_its_bytes_end(message: AnyMessage) -> None:
    long = isinstance(message, StreamAbort) and message.abort_lsn is not None
    data = encode(message)
    decoder = Decoder("parallel" if long else "on")
    assert decoder.decode_first(STOP + data + START, 1) == (message, 1 + len(data))


@given(generating.changes | generating.others)
def test_the_fields_of_a_message_cover_its_bytes(message: AnyMessage) -> None:
    data = encode(message)
    offset = 0
    for field in fields(data):
        assert field.start == offset
        offset = field.end
    assert offset == len(data)


def test_one_message_after_another_is_cut_out_of_bytes_without_lengths() -> None:
    messages: list[AnyMessage] = [Begin(1, 2, 3), Insert(16384, ("a\nb", None)), Delete(16384, ("I",), "K")]
    data = b"\n".join(map(encode, messages)) + b"\n"
    decoder, offset = Decoder(), 0
    decoded: list[AnyMessage] = []
    while offset < len(data):
        message, end = decoder.decode_first(data, offset)
        decoded.append(message)
        assert data[end : end + 1] == b"\n"
        offset = end + 1
    assert decoded == messages


def test_text_that_is_not_utf8_keeps_its_bytes() -> None:
    latin1 = bytes.fromhex("49000040014e000174000000036be474")  # "kät" in LATIN1
    message = Decoder().decode(latin1)
    assert isinstance(message, Insert)
    (text,) = message.new
    assert isinstance(text, str)
    assert text.encode("utf-8", "surrogateescape").decode("latin-1") == "kät"
    assert encode(message) == latin1


def test_a_row_is_named_by_the_last_relation_message() -> None:
    decoder = Decoder()
    decoder.decode(encode(Relation(9, "public", "t", "d", (Column("id", 23, key=True), Column("v", 25)))))
    assert decoder.row(9, ("1", UNCHANGED_TOAST)) == {"id": "1", "v": UNCHANGED_TOAST}
    decoder.decode(encode(Relation(9, "public", "t", "d", (Column("id", 23, key=True),))))
    assert decoder.row(9, ("1",)) == {"id": "1"}
    assert decoder.row(9, ("1", "2")) is None
    assert decoder.row(10, ("1",)) is None


def test_the_length_of_stream_abort_is_that_of_the_option() -> None:
    short, long = encode(StreamAbort(7, 8)), encode(StreamAbort(7, 8, 1, 2))
    assert (len(short), len(long)) == (9, 25)
    assert Decoder().decode(short) == Decoder("on").decode(short) == StreamAbort(7, 8)
    assert Decoder().decode(long) == Decoder("parallel").decode(long) == StreamAbort(7, 8, 1, 2)
    with pytest.raises(Malformed, match=r"^byte 9: expected the end of the message, got 16 more bytes$"):
        Decoder("on").decode(long)
    with pytest.raises(Malformed, match=r"^byte 9: expected LSN of the abort \(8 bytes\), got 0 bytes and the end$"):
        Decoder("parallel").decode(short)


@pytest.mark.parametrize(
    ("data", "offset", "expected"),
    [
        ("", 0, "the kind of a message (1 byte)"),
        ("00", 0, "the kind of a message (B, M, C, O, R, Y, I, U, D, T, S, E, c, A, b, P, K, r or p)"),
        ("42000000", 1, "final LSN (8 bytes)"),
        ("43ff" + "00" * 24, 1, "flags (0)"),
        ("4500", 1, "the end of the message"),
        ("4900004001", 5, "the row that follows (1 byte)"),
        ("490000400152", 5, "the row that follows (N)"),
        ("49000040014e0001", 8, "the kind of value of column 1 (1 byte)"),
        ("49000040014e000178", 8, "the kind of value of column 1 (n, t, u or b)"),
        ("49000040014e0001740000", 9, "length of column 1 (4 bytes)"),
        ("49000040014e000174ffffffff31", 13, "value of column 1 (4294967295 bytes)"),
        ("44000040014b0001740040000135", 13, "value of column 1 (4194305 bytes)"),
        ("44000040014b0000740000000135", 8, "the end of the message"),
        ("44000040014b00007400000000", 8, "the end of the message"),
        ("55000040014b0001740040000135", 13, "value of column 1 (4194305 bytes)"),
        ("55000040014b00007400000001354e0000", 8, "the row that follows (N)"),
        ("54ffffffff0000004001", 6, "the OIDs of 4294967295 relations"),
        ("540000000104" + "00004001", 5, "flags (0, 1, 2 or 3)"),
        ("52000040017075626c6963", 5, "namespace (text that ends in a zero byte)"),
        ("52000040010074007a0000", 8, "replica identity (d, n, f or i)"),
        ("5900004001007400ff", 8, "the end of the message"),
    ],
)
def test_malformed_bytes_are_reported_with_offset_and_expectation(data: str, offset: int, expected: str) -> None:
    with pytest.raises(Malformed) as caught:
        Decoder().decode(bytes.fromhex(data))
    assert (caught.value.offset, caught.value.expected) == (offset, expected)


def test_a_message_after_a_malformed_one_is_decoded() -> None:
    decoder = Decoder()
    with pytest.raises(Malformed):
        decoder.decode(b"I")
    assert decoder.decode(encode(Insert(1, ("1",)))) == Insert(1, ("1",))


def test_a_capture_may_begin_inside_a_block_or_lose_a_message_that_ends_it() -> None:
    decoder = Decoder()
    inside, outside = Insert(16384, ("1", None), 7), Insert(16384, ("1", None))
    assert decoder.decode(encode(inside)) == inside
    assert decoder.in_block
    assert decoder.decode(encode(outside)) == outside
    assert not decoder.in_block


@pytest.mark.parametrize(
    "message",
    [
        Insert(-1, ()),
        Insert(2**32, ()),
        Insert(1, (None,) * 70000),
        Insert(1, ("\ud800",)),
        Relation(1, "a\0b", "t", "d", ()),
        Message(True, -1, "p", b""),
        Update(1, (), old=("1",)),
        StreamAbort(1, 2, abort_lsn=3),
        Truncate((2**40,)),
    ],
    ids=repr,
)
def test_a_message_that_the_protocol_cannot_carry_is_a_value_error(message: AnyMessage) -> None:
    with pytest.raises(ValueError, match=r"."):
        encode(message)


def test_positions_are_shown_as_the_server_shows_them() -> None:
    assert format_lsn(0x16B2D48) == "0/16B2D48"
    assert parse_lsn("AB/016B2D48") == 0xAB016B2D48
    for text in ("", "0", "0/", "x/1", "0/123456789", "0/16B2D48 "):
        with pytest.raises(ValueError, match="is not an LSN"):
            parse_lsn(text)


def test_times_are_shown_as_the_server_shows_them() -> None:
    """Each is what `SELECT timestamptz '2000-01-01 00:00+00' + interval '...'` prints with TimeZone UTC."""
    assert format_time(0) == "2000-01-01 00:00:00+00"
    assert format_time(762609600_500000) == "2024-03-01 12:00:00.5+00"
    assert format_time(-1) == "1999-12-31 23:59:59.999999+00"
    assert format_time(2**63 - 1) == "infinity"
    assert format_time(2**62) == "4611686018427387904 microseconds after 2000-01-01"


def test_a_relation_of_a_streamed_transaction_counts_for_others_once_it_is_committed() -> None:
    """The transaction has added a column that others do not see before; its Relation is not sent again after it."""
    before = Relation(1, "public", "t", "d", (Column("id", 23, key=True),))
    after = Relation(1, "public", "t", "d", (*before.columns, Column("v", 25)), xid=7)
    decoder = Decoder()
    for message, known in (
        (before, before),
        (StreamStart(7, True), before),
        (after, after),
        (StreamStop(), before),
        (StreamStart(7, False), after),
        (StreamStop(), before),
        (StreamCommit(7, 1, 2, 0), after),
    ):
        decoder.decode(encode(message))
        assert decoder.relation(1) == known


def test_a_relation_of_a_transaction_that_is_rolled_back_is_forgotten() -> None:
    decoder = Decoder()
    relation = Relation(1, "public", "t", "d", (), xid=8)
    for message in (StreamStart(7, True), relation, StreamStop(), StreamAbort(7, 8), StreamStart(7, False)):
        decoder.decode(encode(message))
    assert decoder.relation(1) == relation
    for message in (StreamStop(), StreamAbort(7, 7), StreamStart(7, True)):
        decoder.decode(encode(message))
    assert decoder.relation(1) is None
