"""What all renderings of a stream need: its messages with what their place in it adds, the transaction and the relation
of a change; and values in binary format as the texts that the server would send, for the usual built-in types."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import TypeAlias
from uuid import UUID

from msgspec import Struct

from pubcheck.stream import messages as wire
from pubcheck.stream.decode import Decoder, Streaming
from pubcheck.stream.framing.rows import Frame
from pubcheck.stream.lsn import format_time

Matcher: TypeAlias = Callable[[wire.Insert | wire.Update | wire.Delete], wire.Relation | None]
"""Returns the relation of a change that the stream has not described, or None."""

TypeNamer: TypeAlias = Callable[[int, int], str | None]
"""Returns the name of a built-in type with its modifier, or None."""


class Event(Struct, frozen=True):
    """A message. ``xid`` is its top-level transaction and ``commit_time`` that of it, as far as they are known.

    ``relations`` describes the relations of a change by OID; one that is unknown is missing.
    """

    frame: Frame
    message: wire.AnyMessage
    xid: int | None
    commit_time: int | None
    relations: Mapping[int, wire.Relation]


class Events:
    """Decodes frames. Raises Malformed like `Decoder.decode`."""

    def __init__(
        self, streaming: Streaming | None = None, match: Matcher | None = None, type_name: TypeNamer | None = None
    ) -> None:
        self._decoder = Decoder(streaming)
        self._match = match
        self._type_name = type_name
        self._types: dict[int, str] = {}
        self._matched: dict[int, wire.Relation | None] = {}
        self._xid: int | None = None
        self._commit_time: int | None = None

    def event(self, frame: Frame) -> Event:
        """Return the event of a frame. Raises Malformed."""
        message = self._decoder.decode(frame.data)
        if isinstance(message, wire.Begin):
            self._xid, self._commit_time = message.xid, message.commit_time
        elif isinstance(message, wire.StreamStart | wire.BeginPrepare):
            self._xid, self._commit_time = message.xid, None
        elif isinstance(message, wire.Type):
            self._types[message.oid] = f"{message.namespace}.{message.name}" if message.namespace else message.name
        xid = self._xid
        if xid is None:
            xid = frame.xid if frame.xid is not None else getattr(message, "xid", None)
        event = Event(frame, message, xid, self._commit_time, self._relations(message))
        if isinstance(message, wire.Commit | wire.Prepare | wire.StreamStop):
            self._xid = self._commit_time = None
        return event

    def type_name(self, oid: int, modifier: int) -> str:
        """Return the name of a type: of one that a Type message described, a built-in one, or else its OID."""
        name = self._types.get(oid)
        if name is None and self._type_name is not None:
            name = self._type_name(oid, modifier)
        return f"type {oid}" if name is None else name

    def _relations(self, message: wire.AnyMessage) -> Mapping[int, wire.Relation]:
        if isinstance(message, wire.Insert | wire.Update | wire.Delete):
            oids: tuple[int, ...] = (message.relation,)
        else:
            oids = getattr(message, "relations", ())
        relations = {oid: relation for oid in oids if (relation := self._decoder.relation(oid)) is not None}
        if not relations and self._match is not None and isinstance(message, wire.Insert | wire.Update | wire.Delete):
            self._matched[message.relation] = self._match(message)
        for oid in oids:
            matched = self._matched.get(oid)
            if matched is not None:
                relations.setdefault(oid, matched)
        return relations


def relation_name(relation: wire.Relation) -> str:
    """Return the name of a relation with its schema."""
    return f"{relation.namespace or 'pg_catalog'}.{relation.name}"


_SIGNS = {0x0000: "", 0x4000: "-"}
_SPECIAL = {0xC000: "NaN", 0xD000: "Infinity", 0xF000: "-Infinity"}
_DAY = 86_400_000_000
_INFINITIES = ("infinity", "-infinity")
_DATE_INFINITIES = {2**31 - 1: "infinity", -(2**31): "-infinity"}


def text_of(value: bytes, type_oid: int) -> str | None:
    """Return the text of a value; None if the type is not one of these, or the bytes are not a value of it."""
    read = _READERS.get(type_oid)
    if read is None:
        return None
    try:
        return read(value)
    except (ValueError, OverflowError, struct.error):
        return None


def _integer(size: int, *, signed: bool) -> Callable[[bytes], str]:
    def read(value: bytes) -> str:
        if len(value) != size:
            raise ValueError
        return str(int.from_bytes(value, "big", signed=signed))

    return read


def _bool(value: bytes) -> str:
    return {b"\0": "f", b"\1": "t"}.get(value) or _invalid()


def _invalid() -> str:
    raise ValueError


def _float8(value: bytes) -> str:
    (number,) = struct.unpack(">d", value)
    if number - number != 0:
        return "NaN" if number != number else "Infinity" if number > 0 else "-Infinity"
    return repr(number).removesuffix(".0")


def _utf8(value: bytes) -> str:
    return value.decode("utf-8", "surrogateescape")


def _jsonb(value: bytes) -> str:
    return _utf8(value[1:]) if value[:1] == b"\1" else _invalid()


def _numeric(value: bytes) -> str:
    """numeric_recv: the number of digits, the weight of the first one, the sign, the scale, digits of base 10000."""
    number, weight, sign, scale = struct.unpack_from(">HhHH", value)
    digits = struct.unpack(f">{number}H", value[8:])
    if sign in _SPECIAL:
        return _SPECIAL[sign]
    if sign not in _SIGNS or not -0x1000 < weight < 0x1000:
        raise ValueError
    whole = "".join(f"{digits[index] if index < number else 0:04}" for index in range(weight + 1)).lstrip("0") or "0"
    before_first = "0000" * max(0, -1 - weight)
    fraction = (before_first + "".join(f"{digit:04}" for digit in digits[max(0, weight + 1) :])).ljust(scale, "0")
    return _SIGNS[sign] + whole + (f".{fraction[:scale]}" if scale else "")


def _date(value: bytes) -> str:
    (days,) = struct.unpack(">i", value)
    return _DATE_INFINITIES.get(days) or (date(2000, 1, 1) + timedelta(days=days)).isoformat()


def _time(value: bytes) -> str:
    (microseconds,) = struct.unpack(">q", value)
    if microseconds == _DAY:
        return "24:00:00"
    return _timestamp(value).removeprefix("2000-01-01 ") if 0 <= microseconds < _DAY else _invalid()


def _timestamp(value: bytes) -> str:
    return _zoned(value).removesuffix("+00")


def _zoned(value: bytes) -> str:
    (microseconds,) = struct.unpack(">q", value)
    text = format_time(microseconds)
    return text if text.endswith("+00") or text in _INFINITIES else _invalid()


_READERS: Mapping[int, Callable[[bytes], str]] = {
    16: _bool,
    17: lambda value: f"\\x{value.hex()}",  # bytea
    19: _utf8,  # name
    20: _integer(8, signed=True),
    21: _integer(2, signed=True),
    23: _integer(4, signed=True),
    25: _utf8,  # text
    26: _integer(4, signed=False),  # oid
    114: _utf8,  # json
    142: _utf8,  # xml
    701: _float8,
    1042: _utf8,  # bpchar
    1043: _utf8,  # varchar
    1082: _date,
    1083: _time,
    1114: _timestamp,
    1184: _zoned,
    1700: _numeric,
    2950: lambda value: str(UUID(bytes=value)),
    3802: _jsonb,
}
"""By the OID of the type."""
