"""The constants of partition bounds as comparable values, if they are clear without analysis."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres import oids
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

_LIMITS = {oids.INT2: 1 << 15, oids.INT4: 1 << 31, oids.INT8: 1 << 63}
_NUMBER = lazy_compile(r"[+-]?[0-9]{1,40}")
_UUID = lazy_compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_MOMENT = lazy_compile(
    r"(\d{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31))"
    r"(?:[ T]((?:[01]\d|2[0-3]):[0-5]\d)(?::([0-5]\d(?:\.\d{1,6})?))?(Z|[+-]\d\d(?::?\d\d)?)?)?"
)
"""A day that is in every year's calendar, and perhaps a time with or without its zone."""
INFINITIES = ("-infinity", "infinity")
"""Moments whose texts come before and after those of all other moments."""
_BOOLEANS = {
    **dict.fromkeys(("t", "true", "y", "yes", "on", "1"), True),
    **dict.fromkeys(("f", "false", "n", "no", "off", "0"), False),
}
_ORDERED = frozenset((*_LIMITS, oids.NUMERIC, oids.BOOL, oids.DATE, oids.TIMESTAMP, oids.TIMESTAMPTZ, oids.UUID))
TEXTS = (oids.TEXT, oids.VARCHAR, oids.BPCHAR)
_BY_CODE = (950, 951, 962)
"""The collations C, POSIX and ucs_basic: texts in the order of their characters."""


def is_ordered(column: Column) -> bool:
    """Return whether the order of a column's values is known; texts have the order of their collation."""
    return column.type in _ORDERED or (column.type in TEXTS and column.collation in _BY_CODE)


def read_value(session: Session, column: Column, constant: Node) -> tuple[Any] | None:
    """Return an A_Const as a value of a column, in a tuple of one; None if that cannot be known.

    Moments are texts in the order of time, with "Z" at their end if they have a time zone.
    """
    oid = column.type
    text: str | None = constant.get("sval", {}).get("sval", "") if "sval" in constant else None
    written = str(constant["ival"].get("ival", 0)) if "ival" in constant else constant.get("fval", {}).get("fval")
    if oid in _LIMITS or oid == oids.NUMERIC:
        digits = written or text or ""
        if _NUMBER.fullmatch(digits) is None or abs(int(digits)) >= _LIMITS.get(oid, 1 << 200):
            return None
        return (int(digits),) if oid in _LIMITS or column.typmod < 0 else None
    if oid in TEXTS:
        string = text if text is not None else written
        if string is None or (column.typmod >= 0 and len(string) > column.typmod - 4):
            return None
        return (string.rstrip(" ") if oid == oids.BPCHAR else string,)
    if oid == oids.BOOL:
        string = (text or "").lower()
        truth = constant["boolval"].get("boolval", False) if "boolval" in constant else _BOOLEANS.get(string)
        return (truth,) if truth is not None else None
    if text is None:
        return None
    if oid >= FIRST_NORMAL_OID:
        row = session.catalog.types.get(oid)
        return (text,) if row is not None and text in row.labels else None
    if oid == oids.UUID:
        return (text,) if _UUID.fullmatch(text) else None
    moment = _moment(session, column, text) if oid in (oids.DATE, oids.TIMESTAMP, oids.TIMESTAMPTZ) else None
    return (moment,) if moment is not None else None


_MIDNIGHT = "00:00:00.000000"


def _moment(session: Session, column: Column, text: str) -> str | None:
    if text in INFINITIES:
        return text
    match = _MOMENT.fullmatch(text)
    if match is None:
        return None
    day, minute, second, zone = match.groups()
    if column.type == oids.DATE:
        return day if minute is None else None
    whole, _, part = (second or "00").partition(".")
    if len(part.rstrip("0")) > column.typmod >= 0:
        return None  # it is rounded
    time = f"{minute or '00:00'}:{whole}.{part:0<6}"
    if column.type == oids.TIMESTAMP:
        return f"{day} {time}"
    if zone is None:
        # In the session's time zone, whatever that is: days have the same order in all.
        return f"{day} {time}" if time == _MIDNIGHT and session.setting("timezone") is None else None
    if zone not in ("Z", "+00", "+00:00", "-00"):
        return _in_utc(f"{day} {time}", zone)
    return f"{day} {time}Z"


def _in_utc(moment: str, zone: str) -> str:
    digits = zone[1:].replace(":", "")
    ahead = timedelta(hours=int(digits[:2]), minutes=int(digits[2:] or 0))
    utc = datetime.fromisoformat(moment) + (ahead if zone[0] == "-" else -ahead)
    return f"{utc.isoformat(' ', 'microseconds')}Z"
