"""Captured streams in all the forms in which PostgreSQL's programs write them (corpus/streams/framings)."""

from __future__ import annotations

import io
import json
import random
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pubcheck.stream import FRAMINGS, Frame, FramingError, format_lsn, read
from tests.messages.mutate import damaged
from tests.messages.record_framings import FOLDER, PSQL, record
from tests.support.servers import Servers

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

Row = tuple[str | None, str | None, str]


def recorded(name: str, folder: Path = FOLDER) -> list[tuple[str, str, str]]:
    lines = (folder / name).read_text().splitlines()
    return [(lsn, xid, data) for lsn, xid, data in (line.split("\t") for line in lines)]


EXPECTED = recorded("expected-hex.hex")
FRAMING_OF = {
    **{name: "psql" for name in PSQL if name.startswith("psql-")},
    "psql.csv": "csv",
    "psql-escape.csv": "csv",
    "copy-header.csv": "csv",
    "copy.txt": "copy",
    "copy-escape.txt": "copy",
    "psql-tabs.txt": "copy",
    "psql-data.txt": "hex",
    "psql-json.jsonl": "jsonl",
    "copy.bin": "copy-binary",
    "recvlogical.bin": "recvlogical",
}
WITHOUT_POSITIONS = ("psql-data.txt", "recvlogical.bin")


def rows(frames: Iterator[Frame]) -> list[Row]:
    return [
        (None if lsn is None else format_lsn(lsn), None if xid is None else str(xid), data.hex())
        for lsn, xid, data, _ in frames
    ]


def expected(name: str, folder: Path = FOLDER) -> list[Row]:
    messages = recorded("expected-escape.hex" if "escape" in name else "expected-hex.hex", folder)
    return [(None, None, data) if name in WITHOUT_POSITIONS else (lsn, xid, data) for lsn, xid, data in messages]


@pytest.mark.parametrize(
    "text", ["(0 rows)\n\n", " lsn | xid | data \n-----+-----+------\n(0 rows)\n\n", "lsn,xid,data\n", "\n"]
)
def test_a_slot_without_changes_gives_no_message(text: str) -> None:
    """What psql 15 prints with -x, without it, and with --csv."""
    assert list(read(io.BytesIO(text.encode()))) == []


@pytest.mark.parametrize("name", sorted(FRAMING_OF))
def test_a_framing_is_recognised(name: str) -> None:
    assert rows(read(FOLDER / name)) == expected(name)


@pytest.mark.parametrize("name", sorted(FRAMING_OF))
def test_a_framing_may_be_named(name: str) -> None:
    assert rows(read(FOLDER / name, FRAMING_OF[name])) == expected(name)


def test_all_recorded_forms_are_read() -> None:
    assert {*FRAMING_OF, "expected-hex.hex", "expected-escape.hex"} == {path.name for path in FOLDER.iterdir()}


@pytest.mark.server
@pytest.mark.parametrize("major", [15, 16, 17, 18])
def test_the_forms_of_a_server(servers: Servers, tmp_path: Path, major: int) -> None:
    """Without psql and pg_recvlogical, only the messages themselves."""
    programs = shutil.which("psql") is not None and shutil.which("pg_recvlogical") is not None
    record(servers[major], tmp_path, programs=programs)
    assert len(recorded("expected-hex.hex", tmp_path)) == len(EXPECTED)
    for name in FRAMING_OF if programs else ():
        assert rows(read(tmp_path / name)) == expected(name, tmp_path)


class Pipe(io.RawIOBase):
    """A stream that cannot seek and gives a few bytes at a time."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        piece, self._content = self._content[:7], self._content[7:]
        memoryview(buffer).cast("B")[: len(piece)] = piece
        return len(piece)


def pipe_of(path: Path) -> io.BufferedReader:
    return io.BufferedReader(Pipe(path.read_bytes()))


@pytest.mark.parametrize("name", sorted(FRAMING_OF))
def test_a_pipe_is_read_like_a_file(name: str) -> None:
    pipe = pipe_of(FOLDER / name)
    assert rows(read(pipe)) == expected(name)


DATA = [bytes.fromhex(data) for _, _, data in EXPECTED]
XLOG = [b"w" + (0x1000 + index).to_bytes(8, "big") + bytes(16) + data for index, data in enumerate(DATA)]
POSITIONS: list[Row] = [(format_lsn(0x1000 + index), None, data.hex()) for index, data in enumerate(DATA)]
KEEPALIVE = b"k" + bytes(17)


def copy_data(payload: bytes) -> bytes:
    return b"d" + (len(payload) + 4).to_bytes(4, "big") + payload


@pytest.mark.parametrize(
    ("framing", "content"),
    [
        ("xlogdata", b"".join(XLOG)),
        ("copydata", b"".join(map(copy_data, XLOG))),
        ("copydata", b"W\0\0\0\7\0\0\0" + b"".join(copy_data(KEEPALIVE) + copy_data(payload) for payload in XLOG)),
        ("hex", b"".join(payload.hex().encode() + b"\n" for payload in [*XLOG, KEEPALIVE])),
        ("jsonl", b"".join(json.dumps({"data": payload.hex()}).encode() + b"\n" for payload in XLOG)),
    ],
    ids=["raw", "lengths", "lengths, other messages", "hex", "JSON"],
)
def test_xlogdata_gives_positions(framing: str, content: bytes) -> None:
    assert rows(read(io.BytesIO(content))) == POSITIONS
    assert rows(read(io.BytesIO(content), framing)) == POSITIONS


def test_base64_in_json_lines() -> None:
    """As Spark's to_json writes binary columns."""
    import base64

    lines = [json.dumps([lsn, int(xid), base64.b64encode(bytes.fromhex(data)).decode()]) for lsn, xid, data in EXPECTED]
    assert rows(read(io.BytesIO("\n".join(lines).encode()))) == EXPECTED


def test_parquet(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow.parquet import write_table

    lsns, xids, data = zip(*EXPECTED, strict=True)
    table = pyarrow.table({"slot": ["s"] * len(data), "lsn": lsns, "xid": list(map(int, xids)), "data": DATA})
    write_table(table, tmp_path / "stream.parquet")
    assert rows(read(tmp_path / "stream.parquet")) == EXPECTED
    pipe = pipe_of(tmp_path / "stream.parquet")
    with pytest.raises(FramingError, match="Parquet is read from a file, not from a pipe"):
        list(read(pipe))
    write_table(pyarrow.table({"payload": DATA}), tmp_path / "other.parquet")
    with pytest.raises(FramingError, match='expected a column "data"; there are payload'):
        list(read(tmp_path / "other.parquet"))


@pytest.mark.parametrize("encoding", ["utf-16", "utf-8-sig"])
def test_text_with_a_byte_order_mark(encoding: str) -> None:
    """As PowerShell redirects the output of psql."""
    text = (FOLDER / "psql-aligned.txt").read_text()
    assert rows(read(io.BytesIO(text.replace("\n", "\r\n").encode(encoding)))) == EXPECTED


@pytest.mark.parametrize("framing", ["psql", "copy", "csv"])
def test_a_separator_in_a_message_does_not_decide(framing: str) -> None:
    """The escape format of bytea leaves printable bytes as they are."""
    separator, backslash = {"psql": ("|", "\\"), "copy": ("\t", "\\\\"), "csv": (",", "\\")}[framing]
    message = f"E{backslash}000|;,| {backslash}134x "
    content = f"0/1549E50{separator}843{separator}{message}\n".encode()
    assert rows(read(io.BytesIO(content))) == [("0/1549E50", "843", b"E\0|;,| \\x ".hex())]


def test_a_row_that_cannot_be_read_is_reported_and_the_rest_is_read() -> None:
    lines = (FOLDER / "copy.txt").read_text().splitlines(keepends=True)
    lines[1:1] = ["0/1\t7\t\\\\x420\n", "0/1\t7\tplain text\n"]
    with pytest.raises(FramingError, match=r"^message 2, line 2: expected the hex of a message, got '\\\\x420'$"):
        list(read(io.BytesIO("".join(lines).encode())))
    errors: list[FramingError] = []
    assert rows(read(io.BytesIO("".join(lines).encode()), report=errors.append)) == EXPECTED
    assert [str(error) for error in errors] == [
        "message 2, line 2: expected the hex of a message, got '\\\\x420'",
        "message 3, line 3: expected the hex of a message, got 'plain text'",
    ]


def test_where_a_message_without_a_length_is_malformed_reading_ends() -> None:
    content = b"\n".join([DATA[0], b"B" + bytes(30), DATA[1], b""])
    frames = read(io.BytesIO(content), report=lambda error: None)
    assert next(frames).data == DATA[0]
    with pytest.raises(
        FramingError,
        match=r"^message 2, at byte 22: byte 21: expected 0x0a after the message, got 0x00; without lengths,"
        " what follows cannot be read$",
    ):
        next(frames)


@pytest.mark.parametrize(
    "content",
    [b"CREATE TABLE t (a int, b text);\n", b"hello\n", b"\x7fELF\0\0\0", b"-- a comment\nSELECT 1;\n"],
    ids=repr,
)
def test_another_file_is_not_recognised(content: bytes) -> None:
    with pytest.raises(FramingError, match=f"^the framing is not recognised: name it, one of {', '.join(FRAMINGS)}$"):
        list(read(io.BytesIO(content)))


def test_a_message_longer_than_a_buffer() -> None:
    body = b"\n" * 3_000_000
    message = b"M\1" + bytes(8) + b"p\0" + len(body).to_bytes(4, "big") + body
    content = b"".join(payload + b"\n" for payload in [*DATA, message, *DATA])
    assert [frame.data for frame in read(io.BytesIO(content))] == [*DATA, message, *DATA]


@pytest.mark.parametrize("name", sorted(FRAMING_OF))
def test_a_capture_that_is_cut_short_raises_no_other_exception(name: str) -> None:
    content = (FOLDER / name).read_bytes()
    for end in range(1, len(content), 97):
        try:
            frames = list(read(io.BytesIO(content[:end]), FRAMING_OF[name], report=lambda error: None))
        except FramingError:
            continue
        complete = [frame.data.hex() for frame in frames][:-1]
        assert complete == [data for _, _, data in expected(name)][: len(complete)]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"[" * 100_000, "JSON is nested too deeply"),
        (b'{"data": tru', "JSON is malformed: invalid character (byte 13)"),
        (b'{"lsn": "0/1"}', 'expected an object with the key "data"'),
        (b'{"data": 45}', "expected the data of a message as hex or Base64"),
        (b'{"data": "45", "lsn": -1}', "-1 is not an LSN"),
        (b'{"data": "45", "lsn": "1"}', "'1' is not an LSN such as 0/16B2D48"),
        (b'{"data": "45", "xid": 4294967296}', "4294967296 is not a transaction ID"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_a_line_of_json_that_is_no_row_is_reported(line: bytes, problem: str) -> None:
    errors: list[FramingError] = []
    frames = read(io.BytesIO(line + b'\n{"data": "45"}\n'), "jsonl", report=errors.append)
    assert [frame.data for frame in frames] == [b"E"]
    assert [error.problem for error in errors] == [problem]


def test_a_damaged_capture_raises_no_other_exception(tmp_path: Path) -> None:
    import pyarrow
    from pyarrow.parquet import write_table

    write_table(pyarrow.table({"data": DATA}), tmp_path / "stream.parquet")
    captures = {FOLDER / name: framing for name, framing in FRAMING_OF.items()}
    captures[tmp_path / "stream.parquet"] = "parquet"
    chance = random.Random(0)
    for path, framing in captures.items():
        content = path.read_bytes()
        for _ in range(60):
            data = damaged(content, chance, content)
            try:
                for name in (framing, chance.choice(list(FRAMINGS))):
                    list(read(io.BytesIO(data), name, report=lambda error: None))
            except FramingError:
                continue
