"""Output of dates, times and timestamps in every DateStyle, and of intervals in every IntervalStyle (utils/adt/date.c,
timestamp.c, datetime.c: EncodeDateOnly, EncodeTimeOnly, EncodeDateTime, EncodeInterval), in the session's time zone
(timezone/pgtz.c, localtime.c).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from pubcheck.postgres.datum import (
    DAY_LENGTH,
    INFINITE_INTERVAL,
    MINUS_INFINITE_INTERVAL,
    POSTGRES_EPOCH,
    Interval,
    calendar,
)
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input import zones
from pubcheck.postgres.output import OutputContext, Sender, TypeOutput, Writer, fixed, packed

_SECOND = 1_000_000
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_STYLES = {"iso": "iso", "sql": "sql", "german": "german"}
_ORDERS = {"ymd": "YMD", "dmy": "DMY", "mdy": "MDY", "us": "MDY"}


class DateStyle(NamedTuple):
    """``style``: iso, sql, german or postgres; ``day_first``: the order is DMY."""

    style: str
    day_first: bool


def date_style(context: OutputContext) -> DateStyle:
    """The DateStyle of the session (check_datestyle); ISO, MDY by default."""
    style, order = "iso", ""
    for word in str(context.setting("datestyle") or "").lower().replace(",", " ").split():
        if word in _STYLES:
            style = _STYLES[word]
            if word == "german" and not order:
                order = "DMY"
        elif word.startswith("postgres"):
            style = "postgres"
        elif word in _ORDERS:
            order = _ORDERS[word]
        elif word.startswith(("euro", "noneuro")):
            order = "DMY" if word.startswith("euro") else "MDY"
    return DateStyle(style, order == "DMY")


def _day(style: DateStyle, year: int, month: int, day: int) -> str:
    """A date by itself, without the era."""
    if style.style == "iso":
        return f"{year:04}-{month:02}-{day:02}"
    mark = {"sql": "/", "german": ".", "postgres": "-"}[style.style]
    first, second = (day, month) if style.day_first or style.style == "german" else (month, day)
    return f"{first:02}{mark}{second:02}{mark}{year:04}"


def _era(year: int) -> tuple[int, str]:
    """The year as it is shown; year 0 is 1 BC."""
    return (year, "") if year > 0 else (1 - year, " BC")


def infinity(value: float) -> str:
    return "infinity" if value > 0 else "-infinity"


_ISO = DateStyle("iso", False)


def _date(style: DateStyle, days: int) -> str:
    year, month, day = calendar(days + POSTGRES_EPOCH)
    year, era = _era(year)
    return _day(style, year, month, day) + era


def iso_date(days: int) -> str:
    """A date under DateStyle ISO."""
    return _date(_ISO, days)


def _date_writer(context: OutputContext, type_oid: int) -> Writer:
    style = date_style(context)

    return lambda value: infinity(value) if isinstance(value, float) else _date(style, value)


def clock_text(time: int) -> str:
    """Hours, minutes and seconds with as many digits as they need."""
    seconds, fraction = divmod(time, _SECOND)
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return f"{text}.{fraction:06}".rstrip("0") if fraction else text


def _offset(east: int) -> str:
    """EncodeTimezone."""
    minutes, seconds = divmod(abs(east), 60)
    hours, minutes = divmod(minutes, 60)
    text = f"{'-' if east < 0 else '+'}{hours:02}"
    if seconds:
        return f"{text}:{minutes:02}:{seconds:02}"
    return f"{text}:{minutes:02}" if minutes else text


_LONGEST_ZONE = 10
"""MAXTZLEN."""


def _moment(style: DateStyle, moment: int, zone: tuple[int, str] | None) -> str:
    """EncodeDateTime of a local time, with its zone's offset and abbreviation."""
    days, time = divmod(moment, DAY_LENGTH)
    year, month, day = calendar(days + POSTGRES_EPOCH)
    year, era = _era(year)
    clock = clock_text(time)
    if style.style == "iso":
        shown = f"{year:04}-{month:02}-{day:02} {clock}"
        return shown + ("" if zone is None else _offset(zone[0])) + era
    if style.style == "postgres":
        date = f"{day:02} {_MONTHS[month - 1]}" if style.day_first else f"{_MONTHS[month - 1]} {day:02}"
        weekday = _DAYS[(days + POSTGRES_EPOCH) % 7]
        shown = f"{weekday} {date} {clock} {year:04}"
    else:
        shown = f"{_day(style, year, month, day)} {clock}"
    if zone is not None:
        offset, abbreviation = zone
        shown += f" {abbreviation[:_LONGEST_ZONE]}" if abbreviation else _offset(offset)
    return shown + era


def iso_timestamp(moment: int) -> str:
    """A timestamp under DateStyle ISO."""
    return _moment(_ISO, moment, None)


def _timestamp_writer(context: OutputContext, type_oid: int) -> Writer:
    style = date_style(context)
    return lambda value: infinity(value) if isinstance(value, float) else _moment(style, value, None)


def _timestamptz_writer(context: OutputContext, type_oid: int) -> Writer:

    style, zone = date_style(context), session_zone(context)

    def out(value: int | float) -> str:
        if isinstance(value, float):
            return infinity(value)
        local = zone(value // _SECOND)
        return _moment(style, value + local[0] * _SECOND, local)

    return out


def _sender(layout: str, bits: int) -> Callable[[OutputContext, int], Sender]:
    """Infinities are sent as the greatest and the least number."""
    pack, last = struct.Struct(layout).pack, (1 << (bits - 1)) - 1

    def send(value: int | float) -> bytes:
        if isinstance(value, float):
            return pack(last if value > 0 else -last - 1)
        return pack(value)

    return lambda context, type_oid: send


DATE = TypeOutput(_date_writer, _sender(">i", 32))
TIME = packed(clock_text, ">q")
TIMETZ = fixed(
    lambda value: clock_text(value[0] - value[1] * _SECOND) + _offset(-value[1]),
    lambda value: struct.pack(">qi", value[0] - value[1] * _SECOND, value[1]),
)
TIMESTAMP = TypeOutput(_timestamp_writer, _sender(">q", 64))
TIMESTAMPTZ = TypeOutput(_timestamptz_writer, _sender(">q", 64))


class _Fields(NamedTuple):
    """The fields of an interval; those of the months, and those of the microseconds, have one sign."""

    years: int
    months: int
    days: int
    hours: int
    minutes: int
    seconds: int
    fraction: int

    @property
    def time(self) -> tuple[int, int, int, int]:
        return self.hours, self.minutes, self.seconds, self.fraction


def _fields(interval: Interval) -> _Fields:
    """interval2itm, which divides as C does: towards zero."""
    months, time = abs(interval.months), abs(interval.microseconds)
    sign, time_sign = (-1 if interval.months < 0 else 1), (-1 if interval.microseconds < 0 else 1)
    seconds, fraction = divmod(time, _SECOND)
    return _Fields(
        sign * (months // 12),
        sign * (months % 12),
        interval.days,
        time_sign * (seconds // 3600),
        time_sign * (seconds // 60 % 60),
        time_sign * (seconds % 60),
        time_sign * fraction,
    )


def _seconds(fields: _Fields, padded: bool) -> str:
    """AppendSeconds, of the absolute value."""
    text = f"{abs(fields.seconds):02}" if padded else str(abs(fields.seconds))
    return f"{text}.{abs(fields.fraction):06}".rstrip("0") if fields.fraction else text


def _postgres(fields: _Fields) -> str:
    parts: list[str] = []
    before = False
    for value, unit in ((fields.years, "year"), (fields.months, "mon"), (fields.days, "day")):
        if value:
            parts.append(f"{'+' if before and value > 0 else ''}{value} {unit}{'' if value == 1 else 's'}")
            before = value < 0
    if not parts or any(fields.time):
        sign = "-" if min(fields.time) < 0 else "+" if before else ""
        parts.append(f"{sign}{abs(fields.hours):02}:{abs(fields.minutes):02}:{_seconds(fields, True)}")
    return " ".join(parts)


def _verbose(fields: _Fields) -> str:
    parts: list[str] = []
    before = False
    units = zip(fields[:5], ("year", "mon", "day", "hour", "min"), strict=True)
    for value, unit in units:
        if value:
            if not parts:
                before, value = value < 0, abs(value)
            elif before:
                value = -value
            parts.append(f"{value} {unit}{'' if value == 1 else 's'}")
    if fields.seconds or fields.fraction:
        sign = ""
        if fields.seconds < 0 or (fields.seconds == 0 and fields.fraction < 0):
            if not parts:
                before = True
            elif not before:
                sign = "-"
        elif before:
            sign = "-"
        plural = "" if abs(fields.seconds) == 1 and not fields.fraction else "s"
        parts.append(f"{sign}{_seconds(fields, False)} sec{plural}")
    return f"@ {' '.join(parts) or '0'}{' ago' if before else ''}"


def _iso(fields: _Fields) -> str:
    if not any(fields):
        return "PT0S"
    date = "".join(f"{value}{unit}" for value, unit in zip(fields[:3], "YMD", strict=True) if value)
    time = "".join(f"{value}{unit}" for value, unit in zip(fields[3:5], "HM", strict=True) if value)
    if fields.seconds or fields.fraction:
        sign = "-" if fields.seconds < 0 or fields.fraction < 0 else ""
        time += f"{sign}{_seconds(fields, False)}S"
    return f"P{date}{'T' if time else ''}{time}"


def _sql_standard(fields: _Fields) -> str:
    negative, positive = min(fields) < 0, max(fields) > 0
    if not negative and not positive:
        return "0"
    months, days = any(fields[:2]), any(fields[2:])
    clock = f"{abs(fields.hours)}:{abs(fields.minutes):02}:{_seconds(fields, True)}"
    if (negative and positive) or (months and days):
        signs = ["-" if min(part) < 0 else "+" for part in (fields[:2], fields[2:3], fields.time)]
        date = f"{signs[0]}{abs(fields.years)}-{abs(fields.months)}"
        return f"{date} {signs[1]}{abs(fields.days)} {signs[2]}{clock}"
    sign = "-" if negative else ""
    if months:
        return f"{sign}{abs(fields.years)}-{abs(fields.months)}"
    return f"{sign}{abs(fields.days)} {clock}" if fields.days else sign + clock


_INTERVAL_STYLES = {
    "postgres": _postgres,
    "postgres_verbose": _verbose,
    "iso_8601": _iso,
    "sql_standard": _sql_standard,
}


def _writer(context: OutputContext, type_oid: int) -> Writer:
    write = _INTERVAL_STYLES[str(context.setting("intervalstyle") or "postgres").lower()]

    def out(value: Interval) -> str:
        if context.major.infinite_intervals and value in (INFINITE_INTERVAL, MINUS_INFINITE_INTERVAL):
            return "infinity" if value > 0 else "-infinity"
        return write(_fields(value))

    return out


def _send(value: Interval) -> bytes:
    return struct.pack(">qii", value.microseconds, value.days, value.months)


INTERVAL = TypeOutput(_writer, lambda context, type_oid: _send)


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
