"""The texts that output functions write for the usual values of common types, recognised and read at once.

Any other text is left to the input functions, which take several times as long.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, NamedTuple

from pubcheck.postgres import oids
from pubcheck.postgres.datum import whole_scale


class UsualText(NamedTuple):
    """A form of texts, each of which is a value, and the function that reads them as the input function does."""

    matches: Callable[[str], object]
    read: Callable[[str], Any]


_DATE = r"[1-9]\d{3}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
_TIMESTAMP = _DATE + r" (?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,6})?"
_FIRST_DAY = date(2000, 1, 1).toordinal()
_EPOCH, _EPOCH_UTC = datetime(2000, 1, 1), datetime(2000, 1, 1, tzinfo=UTC)


def _days(text: str) -> int:
    return date.fromisoformat(text).toordinal() - _FIRST_DAY


def _microseconds(epoch: datetime) -> Callable[[str], int]:
    def read(text: str) -> int:
        since = datetime.fromisoformat(text) - epoch
        return (since.days * 86400 + since.seconds) * 1_000_000 + since.microseconds

    return read


_READERS: dict[int, tuple[str, Callable[[str], Any]]] = {
    oids.BYTEA: (r"\\x(?:[0-9a-f]{2})*", lambda text: bytes.fromhex(text[2:])),
    oids.DATE: (_DATE, _days),
    oids.FLOAT8: (r"-?\d{1,15}(?:\.\d{1,17})?", float),
    oids.NUMERIC: (r"-?\d{1,18}(?:\.\d{1,18})?", lambda text: whole_scale(Decimal(text))),
    oids.TIMESTAMP: (_TIMESTAMP, _microseconds(_EPOCH)),
    oids.TIMESTAMPTZ: (_TIMESTAMP + r"[+-](?:0\d|1[0-4])(?::[0-5]\d)?", _microseconds(_EPOCH_UTC)),
    oids.UUID: (
        "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
        lambda text: bytes.fromhex(text.replace("-", "")),
    ),
}


def usual_text(oid: int, typmod: int) -> UsualText | None:
    """Return the form of the usual texts of a type; None for a type that has none here."""
    pattern, read = _READERS.get(oid, (None, None))
    if oid == oids.NUMERIC:
        pattern = _numeric(typmod)
    elif typmod >= 0:
        return None
    return None if pattern is None or read is None else UsualText(re.compile(pattern, re.ASCII).fullmatch, read)


def _numeric(typmod: int) -> str | None:
    """A text that has as many digits after the point as its type is not rounded."""
    if typmod < 0:
        return _READERS[oids.NUMERIC][0]
    precision, scale = (typmod - 4) >> 16, (typmod - 4) & 0x7FF
    if not 0 <= scale < precision:
        return None
    return rf"-?\d{{1,{precision - scale}}}" + (rf"\.\d{{{scale}}}" if scale else "")
