"""Binary framings. CopyData and COPY's binary format have lengths. XLogData messages one after the other and the
files of pg_recvlogical do not: only decoding a message shows where it ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import BinaryIO

from pubcheck.stream.decode import Decoder, Streaming
from pubcheck.stream.fields import shown
from pubcheck.stream.framing.frame import HEADER, Frame, FramingError, Place, Report, unwrapped
from pubcheck.stream.messages import Malformed

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
