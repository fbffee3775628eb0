"""Positions and times as PostgreSQL shows them."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_LSN = re.compile(r"([0-9A-Fa-f]{1,8})/([0-9A-Fa-f]{1,8})")
_INFINITIES = {2**63 - 1: "infinity", -(2**63): "-infinity"}


def format_lsn(lsn: int) -> str:
    """Return a position as pg_lsn shows it, such as ``0/16B2D48``."""
    return f"{lsn >> 32:X}/{lsn & 0xFFFFFFFF:X}"


def parse_lsn(text: str) -> int:
    """Return the position that a text such as ``0/16B2D48`` names. Raises ValueError."""
    match = _LSN.fullmatch(text)
    if match is None:
        raise ValueError(f"{text!r} is not an LSN such as 0/16B2D48")
    return int(match[1], 16) << 32 | int(match[2], 16)


def lsn_or_none(text: str | None) -> int | None:
    """Return the position that a text names; None without one, and for any other text."""
    try:
        return None if text is None else parse_lsn(text)
    except ValueError:
        return None


def format_time(microseconds: int) -> str:
    """Return a time in microseconds since 2000-01-01 as timestamptz shows it in UTC. Python's calendar ends in the year
    9999; a time outside it is returned as its number."""
    if microseconds in _INFINITIES:
        return _INFINITIES[microseconds]
    try:
        time = _EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return f"{microseconds} microseconds after 2000-01-01"
    fraction = f".{time.microsecond:06}".rstrip("0") if time.microsecond else ""
    return f"{time:%Y-%m-%d %H:%M:%S}{fraction}+00".rjust(4, "0")
