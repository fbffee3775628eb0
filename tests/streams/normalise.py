"""Numbers for what differs between two runs of a server: transaction ids, positions, times, and OIDs.

A stream is a list of (step, lsn, xid, message): step is 0 for SQL functions, xid 0 for walsenders, lsn 0 where XLogData
has none. Positions at which records begin get even numbers in their order; a position at which one ends gets that of
the last begin before it, plus 1.
"""

from __future__ import annotations

import re
import struct
from bisect import bisect_left
from collections.abc import Callable, Iterable
from math import prod
from typing import Any

from pubcheck.stream import Decoder
from pubcheck.stream import messages as wire

FIRST_NORMAL_OID = 16384

Row = tuple[int, int, int, bytes]

_BEGINS = ("final_lsn", "commit_lsn", "prepare_lsn", "lsn")
_ENDS = ("end_lsn", "prepare_end_lsn", "rollback_end_lsn", "abort_lsn")
_TIMES = ("commit_time", "prepare_time", "rollback_time", "abort_time")
_XIDS = ("xid", "subxid")
_AT_ENDS = (
    wire.Commit,
    wire.StreamCommit,
    wire.StreamAbort,
    wire.Prepare,
    wire.CommitPrepared,
    wire.RollbackPrepared,
    wire.StreamPrepare,
)
_DECODED_AT_ENDS = re.compile(
    rb"COMMIT\b|PREPARE TRANSACTION |ROLLBACK PREPARED |committing streamed|aborting streamed|preparing streamed"
)
_DECODED_MESSAGE = re.compile(rb"(?:streaming )?message: ")
_DECODED_START = re.compile(rb"BEGIN\b|opening a streamed block")
_DECODED_XID = re.compile(rb"(?<=TXN )\d+|(?<=^BEGIN )\d+|(?<=^COMMIT )\d+|(?<=, txid )\d+(?=$| \(at)")


class _Numbers:
    """Numbers in the order in which values come."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}

    def __call__(self, value: Any) -> int:
        return self._numbers.setdefault(value, len(self._numbers) + 1)


_OWN_TIMES = range(10_000, 800_000_000_000_000)
"""Times before May 2025 are those that scripts set for transactions of an origin; small numbers are normalised."""


def normalised_pgoutput(rows: Iterable[Row], parallel: bool) -> list[str]:
    """Return each message as a line. Positions and times of an origin stay: the script sets them itself."""
    decoder = Decoder(streaming="parallel" if parallel else "on")
    messages = [(step, lsn, xid, decoder.decode(data)) for step, lsn, xid, data in rows]
    ends = _at_ends([message for *_, message in messages])
    position = _positions(
        [
            *(row[1] for row, is_end in zip(messages, ends, strict=True) if not is_end),
            *(value for *_, message in messages for value in _begins(message)),
        ]
    )
    number, time, oid = _Numbers(), _Numbers(), _Numbers()
    user_types: dict[int, list[bool]] = {}

    def times(value: int) -> int | str:
        return value if value in _OWN_TIMES or not value else f"t{time(value)}"

    def oids(value: int) -> int | str:
        return value if value < FIRST_NORMAL_OID else f"o{oid(value)}"

    lines: list[str] = []
    for (step, lsn, xid, message), is_end in zip(messages, ends, strict=True):
        if isinstance(message, wire.Relation):
            user_types[message.oid] = [column.type_oid >= FIRST_NORMAL_OID for column in message.columns]
        values: dict[str, Any] = {name: getattr(message, name) for name in message.__struct_fields__}
        for name, value in values.items():
            if value is None or (isinstance(message, wire.Origin) and name == "lsn"):
                continue
            if name in _BEGINS:
                values[name] = position(value, end=isinstance(message, wire.Message))
            elif name in _ENDS:
                values[name] = position(value, end=True)
            elif name in _TIMES:
                values[name] = times(value)
            elif name in _XIDS:
                values[name] = f"x{number(value)}"
            elif name == "oid" or (name == "relation" and isinstance(value, int)):
                values[name] = oids(value)
            elif name == "relations":
                values[name] = [oids(item) for item in value]
            elif name == "columns":
                values[name] = [(item.name, oids(item.type_oid), item.type_modifier, item.key) for item in value]
            elif name in ("new", "old"):
                own = user_types.get(getattr(message, "relation", 0), [])
                values[name] = [
                    _nested_oids(item, oids) if isinstance(item, bytes) and place < len(own) and own[place] else item
                    for place, item in enumerate(value)
                ]
        shown = " ".join(f"{name}={value!r}" for name, value in values.items())
        place = position(lsn, end=is_end)
        lines.append(f"{step} {place} x{number(xid) if xid else 0} {type(message).__name__} {shown}")
    return lines


_CHANGES = (wire.Insert, wire.Update, wire.Delete, wire.Truncate, wire.Message)


def _at_ends(messages: list[wire.AnyMessage]) -> list[bool]:
    """Whether a message's position is the end of a record. A logical message has that of its record's end, and so have
    the messages around it that take their position from it."""
    ends: list[bool] = []
    following: wire.AnyMessage | None = None
    for message in reversed(messages):
        if isinstance(message, _CHANGES):
            following = message
        is_start = isinstance(message, wire.Begin | wire.StreamStart | wire.BeginPrepare | wire.Origin)
        ends.append(
            isinstance(message, (*_AT_ENDS, wire.Message)) or (is_start and isinstance(following, wire.Message))
        )
    ends.reverse()
    for number, message in enumerate(messages):
        if isinstance(message, wire.StreamStop) and number:
            ends[number] = ends[number - 1]
    return ends


def _nested_oids(data: bytes, oids: Callable[[int], int | str]) -> Any:
    """A binary array or composite value with its types' OIDs as numbers; any other value as it is."""
    reader = _Binary(data, oids)
    for read in (reader.array, reader.record):
        reader.place = 0
        try:
            value = read()
        except struct.error:
            continue
        if reader.place == len(data):
            return value
    return data


class _Binary:
    def __init__(self, data: bytes, oids: Callable[[int], int | str]) -> None:
        self.data = data
        self.place = 0
        self._oids = oids

    def _int(self) -> int:
        (value,) = struct.unpack_from(">i", self.data, self.place)
        self.place += 4
        return int(value)

    def _value(self) -> Any:
        length = self._int()
        if length < 0:
            return None
        start, self.place = self.place, self.place + length
        return _nested_oids(self.data[start : self.place], self._oids)

    def array(self) -> Any:
        dimensions, flags, element = self._int(), self._int(), self._int()
        if not 0 <= dimensions <= 6 or flags not in (0, 1) or element < FIRST_NORMAL_OID:
            raise struct.error
        bounds = [(self._int(), self._int()) for _ in range(dimensions)]
        count = prod(size for size, _ in bounds) if bounds else 0
        if not 0 <= count <= len(self.data):
            raise struct.error
        return ("array", self._oids(element), bounds, [self._value() for _ in range(count)])

    def record(self) -> Any:
        count = self._int()
        if not 0 < count <= 1600:
            raise struct.error
        return ("record", [(self._oids(self._int()), self._value()) for _ in range(count)])


def _begins(message: Any) -> Iterable[int]:
    if isinstance(message, wire.Origin | wire.Message):
        return
    for name in _BEGINS:
        value = getattr(message, name, None)
        if isinstance(value, int):
            yield value


def _positions(begins: Iterable[int]) -> Callable[..., int | str]:
    ordered = sorted({value for value in begins if value})

    def position(value: int, *, end: bool = False) -> int | str:
        if not value:
            return value
        place = bisect_left(ordered, value)
        return f"p{2 * place - 1}" if end else f"p{2 * place}"

    return position


def normalised_test_decoding(rows: Iterable[Row]) -> list[str]:
    """Return each line of test_decoding with numbers for transaction ids and positions."""
    listed = list(rows)
    ends = _lines_at_ends(listed)
    position = _positions(row[1] for row, is_end in zip(listed, ends, strict=True) if not is_end)
    number = _Numbers()
    lines: list[str] = []
    for (step, lsn, xid, data), is_end in zip(listed, ends, strict=True):
        text = _DECODED_XID.sub(lambda match: b"x%d" % number(int(match[0])), data)
        place = position(lsn, end=is_end)
        shown = text.decode("utf-8", "backslashreplace")
        lines.append(f"{step} {place} x{number(xid) if xid else 0} {shown}")
    return lines


def _lines_at_ends(rows: list[Row]) -> list[bool]:
    """As `_at_ends`, for the lines of test_decoding."""
    ends = [bool(_DECODED_AT_ENDS.match(data) or _DECODED_MESSAGE.match(data)) for *_, data in rows]
    for number in range(len(rows) - 2, -1, -1):
        if _DECODED_START.match(rows[number][3]) and rows[number][1] == rows[number + 1][1]:
            ends[number] = bool(_DECODED_MESSAGE.match(rows[number + 1][3]))
    for number in range(1, len(rows)):
        if rows[number][3].startswith(b"closing a streamed block"):
            ends[number] = ends[number - 1]
    return ends


def without_empty_blocks(rows: list[Row]) -> list[Row]:
    """Leave out blocks without a change; the next block of a transaction is then its first."""
    kept: list[Row] = []
    first: set[int] = set()
    for row in rows:
        data = row[3]
        if data[:1] == b"E" and kept and kept[-1][3][:1] == b"S":
            start = kept.pop()[3]
            if start[5]:
                first.add(int.from_bytes(start[1:5], "big"))
            continue
        if data[:1] == b"S" and int.from_bytes(data[1:5], "big") in first:
            first.discard(int.from_bytes(data[1:5], "big"))
            row = (*row[:3], data[:5] + b"\1")
        kept.append(row)
    return kept
