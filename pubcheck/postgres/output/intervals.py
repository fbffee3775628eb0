"""Output of intervals in every IntervalStyle (utils/adt/timestamp.c, datetime.c: EncodeInterval)."""

from __future__ import annotations

import struct
from typing import NamedTuple

from pubcheck.postgres.datum import INFINITE_INTERVAL, MINUS_INFINITE_INTERVAL, Interval
from pubcheck.postgres.output.dispatch import OutputContext, TypeOutput, Writer

_SECOND = 1_000_000


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


_STYLES = {"postgres": _postgres, "postgres_verbose": _verbose, "iso_8601": _iso, "sql_standard": _sql_standard}


def _writer(context: OutputContext, type_oid: int) -> Writer:
    write = _STYLES[str(context.setting("intervalstyle") or "postgres").lower()]

    def out(value: Interval) -> str:
        if context.major.infinite_intervals and value in (INFINITE_INTERVAL, MINUS_INFINITE_INTERVAL):
            return "infinity" if value > 0 else "-infinity"
        return write(_fields(value))

    return out


def _send(value: Interval) -> bytes:
    return struct.pack(">qii", value.microseconds, value.days, value.months)


INTERVAL = TypeOutput(_writer, lambda context, type_oid: _send)
