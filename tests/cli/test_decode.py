"""`pubcheck decode`: options, exit status, streams, and errors with their places."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pubcheck.stream import Begin, Commit, Delete, Insert, StreamAbort, StreamStart, StreamStop, Truncate, encode
from tests.cli.conftest import Call
from tests.messages.record_framings import FOLDER

SHOP = """\
CREATE TABLE orders (id int PRIMARY KEY, region text, total numeric(10, 2));
CREATE TABLE items (id int PRIMARY KEY, name text);
CREATE TABLE moods (id uuid PRIMARY KEY, mood text);
CREATE PUBLICATION eu FOR TABLE orders, items, moods;
CREATE PUBLICATION us FOR TABLE orders;
"""


def hex_lines(*messages: bytes) -> bytes:
    return b"".join(message.hex().encode() + b"\n" for message in messages)


def test_text_of_a_capture(pubcheck: Call) -> None:
    called = pubcheck("decode", str(FOLDER / "psql-aligned.txt"))
    assert (called.status, called.err) == (0, "")
    assert called.out.splitlines()[1:3] == [
        "0/1753F38   759     RELATION public.notes identity d (id* integer, body text, raw bytea)",
        "0/1753F38   759     INSERT public.notes id=1 body=E'two\\nlines\\n' raw='\\x000a5c'",
    ]


@pytest.mark.parametrize("name", ["psql-aligned.txt", "copy.bin", "recvlogical.bin"])
def test_hex_is_a_capture(pubcheck: Call, name: str) -> None:
    first = pubcheck("decode", "--format", "hex", str(FOLDER / name)).out
    assert pubcheck("decode", "--format", "hex", "-", stdin=first.encode()).out == first
    expected = [line.split("\t")[2] for line in (FOLDER / "expected-hex.hex").read_text().splitlines()]
    assert [line.split("\t")[2] for line in first.splitlines()] == expected


def test_an_output_file(pubcheck: Call) -> None:
    called = pubcheck("decode", "--format", "jsonl", "-o", "out.jsonl", str(FOLDER / "copy.txt"))
    assert (called.status, called.out, called.err) == (0, "", "")
    assert len([json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]) == 31
    called = pubcheck("decode", "-o", "missing/out", str(FOLDER / "copy.txt"))
    assert (called.status, called.err) == (2, "pubcheck: --output: missing/out: No such file or directory\n")


def test_what_cannot_be_read_is_reported_and_the_rest_is_decoded(pubcheck: Call) -> None:
    stdin = hex_lines(encode(Begin(1, 2, 3)), b"I\0", b"X") + b"4g\n" + hex_lines(encode(Commit(1, 2, 3)))
    called = pubcheck("decode", "-", stdin=stdin)
    assert called.status == 1
    assert [line[20:25] for line in called.out.splitlines()] == ["BEGIN", "COMMI"]
    assert called.err.splitlines() == [
        "pubcheck: <stdin>: message 2, line 2: byte 1: expected OID of the relation (4 bytes), got 1 byte and the end",
        "pubcheck: <stdin>: message 3, line 3: byte 0: expected the kind of a message (B, M, C, O, R, Y, I, U, D, T, S,"
        " E, c, A, b, P, K, r or p), got 'X'",
        "pubcheck: <stdin>: message 4, line 4: expected the hex of a message, got '4g'",
    ]


def test_many_errors_are_counted(pubcheck: Call) -> None:
    called = pubcheck("decode", "-", stdin=hex_lines(*[b"I"] * 1234))
    assert called.status == 1
    assert len(called.err.splitlines()) == 101
    assert called.err.endswith("pubcheck: <stdin>: 1,134 more errors are not shown\n")


def test_a_file_without_lengths_ends_at_the_first_malformed_message(pubcheck: Call) -> None:
    content = (FOLDER / "recvlogical.bin").read_bytes()
    Path("cut.bin").write_bytes(content[:500])
    called = pubcheck("decode", "cut.bin")
    assert called.status == 1
    assert len(called.out.splitlines()) == 14
    assert called.err == (
        "pubcheck: cut.bin: message 15, at byte 479: byte 19: expected value of column 2 (4 bytes), got 2 bytes and the"
        " end; without lengths, what follows cannot be read\n"
    )


@pytest.mark.parametrize(
    ("arguments", "stdin", "message"),
    [
        (("-",), b"", "no input: <stdin> holds no message"),
        (("-",), b" lsn | xid | data \n-----+-----+------\n(0 rows)\n\n", "no input: <stdin> holds no message"),
        (("--framing", "recvlogical", "-"), b"", "no input: <stdin> holds no message"),
        (("missing.txt",), b"", "no input: there is no missing.txt"),
        (("--schema", "missing.sql", "-"), b"", "no input: there is no missing.sql"),
    ],
)
def test_no_input(pubcheck: Call, arguments: tuple[str, ...], stdin: bytes, message: str) -> None:
    called = pubcheck("decode", *arguments, stdin=stdin)
    assert (called.status, called.out, called.err) == (2, "", f"pubcheck: {message}\n")


def test_another_file_is_refused(pubcheck: Call) -> None:
    Path("shop.sql").write_text(SHOP)
    called = pubcheck("decode", "shop.sql")
    assert (called.status, called.out) == (2, "")
    assert called.err.startswith("pubcheck: shop.sql: the framing is not recognised: name it, one of psql, csv,")
    assert pubcheck("decode", "--publication", "eu", "shop.sql").status == 2
    assert pubcheck("decode", "--framing", "psq", "shop.sql").status == 2


def test_a_schema_names_the_columns_where_the_capture_begins_in_mid_stream(pubcheck: Call) -> None:
    """The number of columns tells orders from the others, and the first value items from moods."""
    Path("shop.sql").write_text(SHOP)
    stdin = hex_lines(
        encode(Insert(1, ("1", "eu", "2.50"))),
        encode(Delete(2, ("1", None), "K")),
        encode(Insert(3, (None, "x"))),
        encode(Truncate((1,))),
    )
    called = pubcheck("decode", "--schema", "shop.sql", "--publication", "eu", "-", stdin=stdin)
    assert called.status == 0
    assert [line.strip() for line in called.out.splitlines()] == [
        "INSERT public.orders id=1 region='eu' total=2.50",
        "DELETE public.items key(id=1)",
        "INSERT relation 3 (no Relation message seen) $1=NULL $2='x'",
        "TRUNCATE public.orders",
    ]
    assert called.err.splitlines() == [
        "pubcheck: relation 1 is taken for public.orders: no other published table fits its rows",
        "pubcheck: relation 2 is taken for public.items: no other published table fits its rows",
        "pubcheck: relation 3 is unknown: no Relation message was seen, and its rows fit public.items, public.moods",
    ]
    called = pubcheck("decode", "--schema", "shop.sql", "-", stdin=stdin)
    assert called.status == 2
    assert "name the stream's publications with --publication: the schema has eu, us" in called.err


def test_relation_messages_name_more_than_the_schema(pubcheck: Call) -> None:
    Path("shop.sql").write_text(SHOP.replace("region", "area"))
    called = pubcheck("decode", "--schema", "shop.sql", "--publication", "us", str(FOLDER / "copy.txt"))
    assert (called.status, called.err) == (0, "")
    assert "INSERT public.notes id=1 body=" in called.out


def test_an_option_says_how_long_a_stream_abort_is(pubcheck: Call) -> None:
    stdin = hex_lines(encode(StreamStart(7, True)), encode(StreamStop()), encode(StreamAbort(7, 7)))
    assert pubcheck("decode", "--option", "streaming=on", "-", stdin=stdin).status == 0
    assert pubcheck("decode", "--option", "streaming=parallel", "-", stdin=stdin).status == 1
    called = pubcheck("decode", "--option", "streeming=on", "-", stdin=stdin)
    assert called.status == 2
    assert "pgoutput has no option 'streeming'" in called.err
