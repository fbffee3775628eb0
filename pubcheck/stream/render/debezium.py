"""The envelope of Debezium's PostgreSQL connector, as JSON without its schema: an object for each change.

Values are those of the connector with `decimal.handling.mode=string`. What a stream does not say is null (the time of
a transaction that is still streamed) or empty (the database).
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any

from pubcheck.stream import messages as wire
from pubcheck.stream.render.events import Event, Events, text_of
from pubcheck.stream.render.jsonl import json_line

UNAVAILABLE = "__debezium_unavailable_value"
"""Debezium's placeholder for a value that the server did not send."""

_EPOCH = 946_684_800_000
"""2000-01-01 in milliseconds since 1970-01-01."""

_TIME = re.compile(r"(\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?")
_TIMESTAMP = re.compile(r"(\d{4,6}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d{1,6})?)(?:([-+]\d\d)(?::?(\d\d))?)?")


def render(event: Event, events: Events) -> Iterator[str]:
    """Yield the change events of a message; none for messages that are not changes."""
    message = event.message
    if isinstance(message, wire.Insert | wire.Update | wire.Delete):
        relation = event.relations.get(message.relation)
        before = None if isinstance(message, wire.Insert) or message.old is None else _object(message.old, relation)
        after = None if isinstance(message, wire.Delete) else _object(message.new, relation)
        op = "c" if isinstance(message, wire.Insert) else "u" if isinstance(message, wire.Update) else "d"
        yield json_line({"before": before, "after": after, **_envelope(event, relation, op)})
    elif isinstance(message, wire.Truncate):
        for oid in message.relations:
            yield json_line({"before": None, "after": None, **_envelope(event, event.relations.get(oid), "t")})
    elif isinstance(message, wire.Message):
        content = {"prefix": message.prefix, "content": _base64(message.content)}
        yield json_line({**_envelope(event, None, "m"), "message": content})


def _envelope(event: Event, relation: wire.Relation | None, op: str) -> dict[str, Any]:
    milliseconds = None if event.commit_time is None else _EPOCH + event.commit_time // 1000
    source = {
        "version": "pubcheck",
        "connector": "postgresql",
        "name": "pubcheck",
        "ts_ms": milliseconds,
        "snapshot": "false",
        "db": "",
        "schema": "" if relation is None else relation.namespace or "pg_catalog",
        "table": "" if relation is None else relation.name,
        "txId": event.xid,
        "lsn": event.frame.lsn,
        "xmin": None,
    }
    return {"source": source, "op": op, "ts_ms": milliseconds, "transaction": None}


def _object(row: wire.Row, relation: wire.Relation | None) -> dict[str, Any]:
    if relation is None or len(relation.columns) != len(row):
        return {str(number): _value(value, None) for number, value in enumerate(row, 1)}
    return {column.name: _value(value, column) for column, value in zip(relation.columns, row, strict=True)}


def _value(value: wire.Value, column: wire.Column | None) -> Any:
    if value is None:
        return None
    if value is wire.UNCHANGED_TOAST:
        return UNAVAILABLE
    if isinstance(value, bytes):
        text = None if column is None else text_of(value, column.type_oid)
        if text is None:
            return _base64(value)
        value = text
    convert = None if column is None else _CONVERSIONS.get(column.type_oid)
    if convert is not None:
        try:
            return convert(value)
        except (ValueError, OverflowError):
            return value  # such as infinity, or a date in another style
    return value


def _base64(content: bytes) -> str:
    return b64encode(content).decode()


def _bool(text: str) -> bool:
    return {"t": True, "f": False}[text] if text in ("t", "f") else bool(int(text))


def _float(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise ValueError(text)
    return number


def _bytea(text: str) -> str:
    if not text.startswith("\\x"):
        raise ValueError(text)
    return _base64(bytes.fromhex(text[2:]))


def _days(text: str) -> int:
    return (date.fromisoformat(text) - date(1970, 1, 1)).days


def _microseconds(text: str) -> int:
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(text)
    hours, minutes, seconds = map(int, match.groups()[:3])
    return ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + int((match[4] or "").ljust(6, "0"))


def _timestamp(text: str) -> int:
    match = _TIMESTAMP.fullmatch(text)
    if match is None or match[3] is not None:
        raise ValueError(text)
    return _days(match[1]) * 86_400_000_000 + _microseconds(match[2])


def _zoned(text: str) -> str:
    match = _TIMESTAMP.fullmatch(text)
    if match is None or match[3] is None:
        raise ValueError(text)
    sign = -1 if match[3][0] == "-" else 1
    offset = timedelta(hours=int(match[3]), minutes=sign * int(match[4] or 0))
    microseconds = _days(match[1]) * 86_400_000_000 + _microseconds(match[2])
    time = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=microseconds) - offset
    fraction = f".{time.microsecond:06}" if time.microsecond else ""
    return f"{time:%Y-%m-%dT%H:%M:%S}{fraction}Z"


_CONVERSIONS: Mapping[int, Callable[[str], Any]] = {
    16: _bool,
    17: _bytea,
    20: int,  # int8
    21: int,  # int2
    23: int,  # int4
    26: int,  # oid
    700: _float,
    701: _float,
    1082: _days,  # date: io.debezium.time.Date
    1083: _microseconds,  # time: io.debezium.time.MicroTime
    1114: _timestamp,  # timestamp: io.debezium.time.MicroTimestamp
    1184: _zoned,  # timestamptz: io.debezium.time.ZonedTimestamp
}
"""By the OID of the type."""
