"""The session's time zone: its offset and abbreviation at a moment (timezone/pgtz.c, localtime.c)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input import zones
from pubcheck.postgres.output import OutputContext

Local = tuple[int, str]
"""The offset in seconds east, and the abbreviation."""
_DEFAULT = "UTC"
_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_CYCLE = 146097 * 86400
"""The seconds of 400 years, after which the calendar repeats."""
_FIRST, _LAST = (int((datetime(year, 1, 1, tzinfo=UTC) - _EPOCH).total_seconds()) for year in (2, 9998))
_HOURS = re.compile(r"[-+]?[0-9]+(?:\.[0-9]*)?")
_INTERVAL = re.compile(r"interval\s*'([-+]?)([0-9]+)(?::([0-9]{2}))?'.*", re.IGNORECASE | re.DOTALL)
_POSIX = re.compile(r"(<[A-Za-z0-9+-]{3,}>|[A-Za-z]{3,})([-+]?)([0-9]{1,3})(?::([0-9]{1,2})(?::([0-9]{1,2}))?)?")


def session_zone(context: OutputContext) -> Callable[[int], Local]:
    """Return the local time of the session's TimeZone, by the seconds since 2000 in UTC.

    Raises Unknowable for a zone whose rules are not known.
    """
    setting = context.setting("timezone")
    text = _DEFAULT if setting is None else str(setting).strip().strip("'\"")
    fixed = _fixed(text)
    if fixed is not None:
        return lambda second: fixed
    zone = zones.find(context, text.lower())  # type: ignore[arg-type]  # it asks for the major only
    if zone is None or not zone.name:
        raise Unknowable(f'the rules of the time zone "{text}"')
    return _named(zone.name)


def _fixed(text: str) -> Local | None:
    """A zone with one offset: a number of hours, INTERVAL '...' or a specification of POSIX without summer time."""
    if _HOURS.fullmatch(text):
        east = int(float(text) * 3600)
        return east, _sign(east)
    interval = _INTERVAL.fullmatch(text)
    if interval is not None:
        east = (int(interval[2]) * 60 + int(interval[3] or 0)) * (-60 if interval[1] == "-" else 60)
        return east, _sign(east)
    posix = _POSIX.fullmatch(text)
    if posix is None or posix[1].lower() in ("gmt", "etc"):
        return None
    hours, minutes, seconds = (int(part or 0) for part in posix.groups()[2:])
    west = (hours * 3600 + minutes * 60 + seconds) * (-1 if posix[2] == "-" else 1)
    return -west, posix[1].strip("<>")


def _sign(east: int) -> str:
    """The abbreviation of an offset (pg_tzset_offset)."""
    hours, rest = divmod(abs(east), 3600)
    minutes, seconds = divmod(rest, 60)
    text = f"{'-' if east < 0 else '+'}{hours:02}"
    return text + (f":{minutes:02}" + (f":{seconds:02}" if seconds else "") if rest else "")


def _named(name: str) -> Callable[[int], Local]:
    rules = zones.rules(name)
    if rules is None:
        raise Unknowable(f'the rules of the time zone "{name}"')

    def local(second: int) -> Local:
        if second < _FIRST:
            second = _FIRST
        elif second > _LAST:
            second = _LAST - _CYCLE + (second - _LAST) % _CYCLE
        moment = (_EPOCH + timedelta(seconds=second)).astimezone(rules)
        offset, abbreviation = moment.utcoffset(), moment.tzname()
        assert offset is not None
        return int(offset.total_seconds()), abbreviation or ""

    return local
