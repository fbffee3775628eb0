"""What every framing gives: the bytes of a message, with its position and transaction where the capture holds them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, NamedTuple, TypeAlias, TypeVar

from msgspec import Struct

from pubcheck.stream.lsn import parse_lsn


class Place(Struct, frozen=True, gc=False):
    """Where a message is in a capture: its number, counted from 1, and its line (counted from 1) or its first byte
    (counted from 0)."""

    number: int
    line: int | None = None
    offset: int | None = None

    def __str__(self) -> str:
        if self.line is not None:
            return f"message {self.number}, line {self.line}"
        if self.offset is not None:
            return f"message {self.number}, at byte {self.offset}"
        return f"message {self.number}"


class Frame(NamedTuple):
    """One message of a capture. ``lsn`` and ``xid`` are those of its row or of XLogData's header, and None where the
    capture has none. A walsender gives LSN 0 to messages that are not the last of a change."""

    lsn: int | None
    xid: int | None
    data: bytes
    place: Place


class FramingError(ValueError):
    """A part of a capture that is not in its framing. ``place`` is None if that is the whole capture."""

    def __init__(self, problem: str, place: Place | None = None) -> None:
        super().__init__(problem if place is None else f"{place}: {problem}")
        self.problem = problem
        self.place = place


Report: TypeAlias = Callable[[FramingError], None]
"""Takes the error of a row that cannot be read; reading goes on if it returns."""

Reader: TypeAlias = Callable[[BinaryIO, Report], Iterator[Frame]]

_WRAPPED = (b"w", b"k")
"""XLogData, and the keepalives between them."""

HEADER = 25
"""Bytes of XLogData before its payload: the letter, the start and the end of the WAL, and the time of sending."""


def unwrapped(lsn: int | None, xid: int | None, data: bytes, place: Place) -> Frame | None:
    """Return the frame of a message that may be wrapped in XLogData; None for a keepalive."""
    if data[:1] in _WRAPPED:
        if data[:1] == b"w" and len(data) >= HEADER:
            return Frame(int.from_bytes(data[1:9], "big"), xid, data[HEADER:], place)
        if data[:1] == b"k" and len(data) == 18:
            return None
    return Frame(lsn, xid, data, place)


T = TypeVar("T")


def frames_of(
    rows: Iterable[tuple[Place, T]], frame_of: Callable[[T, Place], Frame | None], report: Report
) -> Iterator[Frame]:
    """Yield the frames of rows, except for keepalives; a row that ``frame_of`` refuses with ValueError is reported."""
    for place, row in rows:
        try:
            frame = frame_of(row, place)
        except ValueError as error:
            report(FramingError(str(error), place))
            continue
        if frame is not None:
            yield frame


def position(value: object) -> int | None:
    """Return the LSN that a cell of a table holds, as a text or a number. Raises ValueError."""
    if value is None:
        return None
    lsn = value if isinstance(value, int) else parse_lsn(str(value))
    if not 0 <= lsn < 1 << 64:
        raise ValueError(f"{lsn} is not an LSN")
    return lsn


def transaction(value: object) -> int | None:
    """Return the transaction ID that a cell of a table holds. Raises ValueError."""
    if value is None:
        return None
    xid = int(str(value))
    if not 0 <= xid < 1 << 32:
        raise ValueError(f"{xid} is not a transaction ID")
    return xid
