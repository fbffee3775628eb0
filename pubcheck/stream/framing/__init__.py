"""Captured streams, in the forms in which their users have them.

Of binary framings, CopyData and COPY's binary format have lengths. XLogData messages one after the other and the files
of pg_recvlogical do not: only decoding a message shows where it ends.
"""

from __future__ import annotations

import io
import os
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, BinaryIO

from pubcheck.stream.decode import Decoder, Streaming
from pubcheck.stream.fields import shown
from pubcheck.stream.framing.rows import (
    DIALECTS,
    HEADER,
    Frame,
    FramingError,
    Place,
    Reader,
    Report,
    bytes_of,
    cells_of,
    is_expanded,
    is_header,
    is_noise,
    is_row,
    read_jsonl,
    read_parquet,
    read_rows,
    unwrapped,
)
from pubcheck.stream.messages import Malformed

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_PIECE = 1 << 18
"""Bytes that are read at a time."""

_LONGEST = 1 << 30
"""PostgreSQL allocates no more for one message (MaxAllocSize)."""

COPY_SIGNATURE = b"PGCOPY\n\xff\r\n\0"


class _Exact:
    """Reads exact numbers of bytes, and counts them."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.at = 0

    def take(self, size: int, place: Place) -> bytes:
        """Return ``size`` bytes. Raises FramingError if the stream ends earlier; no more is allocated than it holds."""
        pieces = []
        left = size
        while left and (piece := self._stream.read(min(left, _PIECE))):
            pieces.append(piece)
            left -= len(piece)
        self.at += size - left
        if left:
            raise FramingError(f"expected {size} bytes, got {size - left} and the end", place)
        return b"".join(pieces)

    def number(self, size: int, place: Place) -> int:
        return int.from_bytes(self.take(size, place), "big", signed=True)

    def at_end(self) -> bytes | None:
        """Return the next byte, or None at the end."""
        byte = self._stream.read(1)
        self.at += len(byte)
        return byte or None


def read_copy_data(stream: BinaryIO, report: Report) -> Iterator[Frame]:
    """Yield the payloads of CopyData messages (d, length, bytes), which are XLogData. Other protocol messages are
    skipped."""
    reader = _Exact(stream)
    number = 0
    while (kind := reader.at_end()) is not None:
        place = Place(number + 1, offset=reader.at - 1)
        length = reader.number(4, place)
        if not kind.isalpha() or not 4 <= length <= _LONGEST:
            raise FramingError("expected a CopyData message: d and its length", place)
        content = reader.take(length - 4, place)
        if kind == b"d" and (frame := unwrapped(None, None, content, place)) is not None:
            number += 1
            yield frame


def read_copy_binary(stream: BinaryIO, report: Report) -> Iterator[Frame]:
    """Yield the messages of COPY's binary format, with the columns lsn, xid and data, or data alone."""
    reader = _Exact(stream)
    number = 0
    start = Place(1, offset=0)
    if reader.take(len(COPY_SIGNATURE), start) != COPY_SIGNATURE:
        raise FramingError("expected the signature PGCOPY", start)
    reader.take(4, start)
    reader.take(reader.number(4, start), start)
    while True:
        place = Place(number + 1, offset=reader.at)
        columns = reader.number(2, place)
        if columns == -1:
            return
        if columns not in (1, 3):
            raise FramingError(f"expected the columns lsn, xid and data, got {columns} columns", place)
        cells = [reader.take(max(0, reader.number(4, place)), place) for _ in range(columns)]
        lsn, xid = (int.from_bytes(cell, "big") for cell in cells[:2]) if columns == 3 else (None, None)
        frame = unwrapped(lsn, xid, cells[-1], place)
        if frame is not None:
            number += 1
            yield frame


def read_recvlogical(stream: BinaryIO, report: Report, streaming: Streaming | None) -> Iterator[Frame]:
    """Yield the messages of a file of pg_recvlogical, which writes a newline after each message. Raises FramingError at
    the first one that is malformed: what follows cannot be cut."""
    yield from _cut(stream, streaming, header=0, follower=b"\n", separator=b"\n")


def read_xlog_data(stream: BinaryIO, report: Report, streaming: Streaming | None) -> Iterator[Frame]:
    """Yield the payloads of XLogData messages that follow each other without lengths."""
    yield from _cut(stream, streaming, header=HEADER, follower=b"w", separator=b"")


def _cut(
    stream: BinaryIO, streaming: Streaming | None, *, header: int, follower: bytes, separator: bytes
) -> Iterator[Frame]:
    decoder = Decoder(streaming)
    buffer = b""
    offset = consumed = number = 0
    ended = False
    while True:
        if offset < len(buffer):
            place = Place(number + 1, offset=consumed + offset)
            start = offset + header
            end = None
            if header and buffer[offset : offset + 1] != follower:
                raise FramingError(f"expected XLogData (w), got {shown(buffer[offset : offset + 1])}", place)
            try:
                _, end = decoder.decode_first(buffer, start, follower)
            except Malformed as fault:
                if ended or not fault.truncated:
                    raise FramingError(f"{fault}; without lengths, what follows cannot be read", place) from None
            # At the end of the buffer it is not known yet what follows.
            if end is not None and (ended or end < len(buffer)):
                number += 1
                yield Frame(_lsn(buffer[offset:start]), None, buffer[start:end], place)
                offset = end + len(separator)
                continue
        if ended:
            return
        rest = buffer[offset:]
        more = read_some(stream, max(_PIECE, len(rest)))
        consumed += offset
        offset = 0
        buffer = rest + more
        ended = not more


def _lsn(header: bytes) -> int | None:
    return int.from_bytes(header[1:9], "big") if header else None


def read_some(stream: BinaryIO, size: int) -> bytes:
    """Return what there is, at most ``size`` bytes; nothing only at the end."""
    read = getattr(stream, "read1", stream.read)
    content: bytes = read(size)
    return content


FRAMINGS: Mapping[str, str] = {
    "psql": "a table as psql prints it: aligned, unaligned or expanded",
    "csv": "CSV, as of psql --csv or COPY",
    "copy": "COPY's text format, or psql's with tabs",
    "hex": "one message on each line, in hex",
    "jsonl": "JSON lines",
    "parquet": "a Parquet file",
    "copy-binary": "COPY's binary format",
    "copydata": "CopyData messages of the replication protocol, which hold XLogData",
    "xlogdata": "XLogData messages, one after the other",
    "recvlogical": "a file of pg_recvlogical",
}
"""The framings by name, with what they are."""

_HEAD = 1 << 16
"""Bytes by which a framing is recognised."""

_MAGIC: Mapping[bytes, str] = {b"PAR1": "parquet", COPY_SIGNATURE: "copy-binary"}
_KINDS = frozenset(b"BMCORYIUDTSEcAbPKrp")


def read(
    source: str | os.PathLike[str] | BinaryIO,
    framing: str | None = None,
    *,
    streaming: Streaming | None = None,
    report: Report | None = None,
) -> Iterator[Frame]:
    """Yield the messages of a capture as (lsn, xid, data, place), in their order.

    ``source`` is a file's path, or a stream of bytes. ``framing`` is one of `FRAMINGS`; without it the first bytes
    decide. ``streaming`` is the option of that name that the stream was requested with; it matters where lengths are
    missing. The memory in use does not depend on the length of the stream.

    Raises FramingError where the source is not in its framing. Where the rest can still be read, ``report`` is called
    with the error instead, if it is given. Raises OSError if the file cannot be read.
    """
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as stream:
            yield from read(stream, framing, streaming=streaming, report=report)
        return
    head, rest = _head_of(source)
    if not head:
        return
    framing = framing or recognise(head)
    if framing is None and len(head) < _HEAD and all(map(is_noise, head.decode("utf-8", "replace").splitlines())):
        return  # psql's "(0 rows)"
    if framing is None:
        raise FramingError(f"the framing is not recognised: name it, one of {', '.join(FRAMINGS)}")
    yield from _reader(framing, streaming)(rest, report or _raise)


def _raise(error: FramingError) -> None:
    raise error


def _reader(framing: str, streaming: Streaming | None) -> Reader:
    readers: Mapping[str, Reader] = {
        **{name: partial(read_rows, dialect=dialect) for name, dialect in DIALECTS.items()},
        "jsonl": read_jsonl,
        "parquet": read_parquet,
        "copy-binary": read_copy_binary,
        "copydata": read_copy_data,
        "xlogdata": partial(read_xlog_data, streaming=streaming),
        "recvlogical": partial(read_recvlogical, streaming=streaming),
    }
    if framing not in readers:
        raise FramingError(f"there is no framing {framing!r}; there are {', '.join(readers)}")
    return readers[framing]


def recognise(head: bytes) -> str | None:
    """Return the framing of a capture that begins with these bytes, or None if it is in none."""
    for magic, framing in _MAGIC.items():
        if head.startswith(magic):
            return framing
    if head.startswith((BOM_UTF16_LE, BOM_UTF16_BE)):
        return _text_framing(head.decode("utf-16", "replace"))
    if b"\0" not in head:
        return _text_framing(head.removeprefix(BOM_UTF8).decode("utf-8", "replace"))
    if head[:1] == b"w":
        return "xlogdata"
    if head[:1] in (b"d", b"W") and head[5:6] in (b"w", b"k", b"\0", b""):
        return "copydata"
    return "recvlogical" if head[:1] and head[0] in _KINDS else None


def _text_framing(text: str) -> str | None:
    """Return the framing by the first line that is a row or a header."""
    for line in text.splitlines():
        if line.lstrip()[:1] in ("{", "["):
            return "jsonl"
        if is_noise(line):
            continue
        rows = {name: cells_of(line, dialect) for name, dialect in DIALECTS.items()}
        separated = [name for name, dialect in DIALECTS.items() if _separates(line, dialect.separators)]
        framing = next((name for name in separated if is_row(rows[name])), separated[0] if separated else "hex")
        cells = rows[framing]
        # A line that is longer than these bytes may end in half a byte.
        readable = (
            is_header(cells)
            or is_expanded(cells)
            or any((bytes_of(cell) or bytes_of(cell[:-1])) is not None for cell in cells)
        )
        return framing if readable else None
    return None


def _separates(line: str, separators: str) -> bool:
    return any(separator in line for separator in separators)


class _Rest(io.RawIOBase):
    """A stream after some of its bytes, ``head``, were read."""

    def __init__(self, head: bytes, stream: BinaryIO) -> None:
        self._head = head
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer).cast("B")
        content = self._head[: len(view)] or read_some(self._stream, len(view))
        self._head = self._head[len(view) :]
        view[: len(content)] = content
        return len(content)


def _head_of(stream: BinaryIO) -> tuple[bytes, BinaryIO]:
    """Return the first bytes of a stream, and a stream that begins with them. From a pipe, it waits only for as many
    as it needs."""
    if stream.seekable():
        start = stream.tell()
        head = stream.read(_HEAD)
        stream.seek(start)
        return head, stream
    head = b""
    while len(head) < _HEAD and (piece := read_some(stream, _HEAD)):
        head += piece
        if len(head) >= 32 and (b"\0" in head or recognise(head[: head.rfind(b"\n") + 1]) is not None):
            break
    return head, io.BufferedReader(_Rest(head, stream))
