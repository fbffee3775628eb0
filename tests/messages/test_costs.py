"""What reading and decoding cost: memory does not grow with the stream, and linting loads none of it."""

from __future__ import annotations

import io
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pubcheck.stream import Begin, Commit, Decoder, Insert, Malformed, encode, read

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

TRANSACTION = [encode(Begin(1, 2, 3)), *[encode(Insert(16384, (str(number), "x" * 90))) for number in range(20)]]
TRANSACTION.append(encode(Commit(1, 2, 3)))
FORMS: dict[str, Callable[[bytes], bytes]] = {
    "hex": lambda data: data.hex().encode() + b"\n",
    "copy": lambda data: b"0/1\t3\t\\\\x" + data.hex().encode() + b"\n",
    "jsonl": lambda data: b'{"lsn": "0/1", "xid": 3, "data": "' + data.hex().encode() + b'"}\n',
    "recvlogical": lambda data: data + b"\n",
    "xlogdata": lambda data: b"w" + bytes(24) + data,
    "copydata": lambda data: b"d" + (len(data) + 29).to_bytes(4, "big") + b"w" + bytes(24) + data,
}


class Endless(io.RawIOBase):
    """A pipe that repeats a text a number of times."""

    def __init__(self, text: bytes, times: int) -> None:
        self._pieces: Iterator[bytes] = (text for _ in range(times))
        self._rest = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        self._rest = self._rest or next(self._pieces, b"")
        piece, self._rest = self._rest[: len(view)], self._rest[len(view) :]
        view[: len(piece)] = piece
        return len(piece)


def peak(form: Callable[[bytes], bytes], times: int) -> int:
    """Return the most memory that decoding a stream allocates."""
    stream = io.BufferedReader(Endless(b"".join(map(form, TRANSACTION)), times))
    decoder = Decoder()
    tracemalloc.start()
    try:
        messages = sum(1 for frame in read(stream) if decoder.decode(frame.data) is not None)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        assert messages == times * len(TRANSACTION)


@pytest.mark.usefixtures("each_implementation")
@pytest.mark.parametrize("framing", FORMS)
def test_memory_does_not_grow_with_the_stream(framing: str) -> None:
    peak(FORMS[framing], 2)  # what is loaded once
    short, long = (peak(FORMS[framing], times) for times in (100, 300))
    assert long < short + 200_000


@pytest.mark.parametrize(
    "data",
    [
        b"I\0\0\0\1N\xff\xff" + b"n" * 10,
        b"I\0\0\0\1N\7\xff" + b"t\0\0\0\1a",
        b"T\xff\xff\xff\xff\0" + bytes(8),
        b"R\0\0\0\1a\0b\0d\xff\xff",
        b"I\0\0\0\1N\0\1t\x7f\xff\xff\xff" + b"a",
        b"M\1" + bytes(8) + b"p\0\x7f\xff\xff\xff",
    ],
    ids=repr,
)
@pytest.mark.usefixtures("each_implementation")
def test_a_number_in_a_message_allocates_no_more_than_the_message_explains(data: bytes) -> None:
    decoder = Decoder()
    tracemalloc.start()
    try:
        with pytest.raises(Malformed):
            decoder.decode(data)
        assert tracemalloc.get_traced_memory()[1] < 100_000
    finally:
        tracemalloc.stop()


def test_lint_loads_nothing_of_streams(tmp_path: Path) -> None:
    schema = tmp_path / "schema.sql"
    schema.write_text("CREATE TABLE t (id int PRIMARY KEY);\nCREATE PUBLICATION p FOR TABLE t WHERE (id > 1);\n")
    command = [sys.executable, "-X", "importtime", "-m", "pubcheck", "lint", str(schema)]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stderr
    assert "pubcheck.engine" in loaded
    assert "pubcheck.stream" not in loaded
    assert "pubcheck.cli.decode" not in loaded
