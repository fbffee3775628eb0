"""Timestamps, times and intervals made of numbers, and the time between two timestamps (timestamp.c, date.c)."""

from __future__ import annotations

import math

from pubcheck.postgres.datum import DAY_LENGTH, INFINITE_INTERVAL, MINUS_INFINITE_INTERVAL, Interval, month_length
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.datetime.common import (
    HOUR,
    INFINITIES,
    MINUTE,
    Moment,
    checked,
    interval_range,
    is_infinite,
    parts,
    towards_zero,
)
from pubcheck.postgres.executor.datetime.dates import make_date
from pubcheck.postgres.executor.datetime.intervals import fitting, same_sign
from pubcheck.postgres.executor.datetime.session_zone import zone_of
from pubcheck.postgres.executor.function_lookup import Call, Function, Maker
from pubcheck.postgres.executor.values import evaluation_error


def _make_time(hour: int, minute: int, second: float) -> int:
    valid = 0 <= hour <= 24 and 0 <= minute <= 59 and 0 <= second <= 60
    time = hour * HOUR + minute * MINUTE + round(second * 1e6) if valid else 0
    if not valid or time > DAY_LENGTH:
        shown_second = {math.inf: "Infinity", -math.inf: "-Infinity"}.get(second, f"{second:02g}")
        shown_second = "NaN" if second != second else shown_second
        shown = f"{hour}:{minute:02}:{shown_second}"
        raise evaluation_error("22008", f"time field value out of range: {shown}")
    return time


def _make_timestamp(year: int, month: int, day: int, hour: int, minute: int, second: float) -> int:
    return checked(make_date(year, month, day) * DAY_LENGTH + _make_time(hour, minute, second))


def _make_timestamptz(call: Call) -> Function:
    zone = zone_of(call)
    return lambda *fields: checked(zone().to_utc(_make_timestamp(*fields)))


def _make_interval(
    years: int = 0, months: int = 0, weeks: int = 0, days: int = 0, hours: int = 0, mins: int = 0, secs: float = 0.0
) -> Interval:
    if not math.isfinite(secs):
        raise interval_range()
    if abs(secs) > 1e12 or not all(-(1 << 31) <= part < 1 << 31 for part in (years * 12 + months, weeks * 7 + days)):
        raise Unknowable("an interval of such length")
    return Interval(years * 12 + months, weeks * 7 + days, hours * HOUR + mins * MINUTE + round(secs * 1e6))


# Ages.


def _age(left: int, right: int) -> Interval:
    """timestamp_age: the difference of the fields; missing days are those of the earlier month."""
    sign = -1 if left < right else 1
    (year, month, day, time), (other_year, other_month, other_day, other_time) = parts(left), parts(right)
    months = sign * ((year - other_year) * 12 + month - other_month)
    days, microseconds = sign * (day - other_day), sign * (time - other_time)
    if microseconds < 0:
        microseconds, days = microseconds + DAY_LENGTH, days - 1
    if days < 0:
        days += month_length(year, month) if sign < 0 else month_length(other_year, other_month)
        months -= 1
    return Interval(sign * months, sign * days, sign * microseconds)


def _aging(zoned: bool) -> Maker:
    def make(call: Call) -> Function:
        zone = zone_of(call)

        def age(left: Moment, right: Moment) -> Interval:
            if isinstance(left, float) or isinstance(right, float):
                if not call.context.major.infinite_intervals:
                    raise Unknowable("the age of an infinite timestamp")
                if left == right:
                    raise interval_range()
                return INFINITE_INTERVAL if left > right else MINUS_INFINITE_INTERVAL
            if zoned:
                left, right = zone().to_local(left), zone().to_local(right)
            return _age(left, right)

        return age

    return make


def _binned(call: Call) -> Function:
    """timestamp_bin."""

    def place(stride: Interval, moment: Moment, origin: Moment) -> Moment:
        if isinstance(moment, float):
            return moment
        if isinstance(origin, float):
            raise evaluation_error("22008", "origin out of range")
        if is_infinite(call.context, stride):
            raise evaluation_error("22008", "timestamps cannot be binned into infinite intervals")
        if stride.months:
            raise evaluation_error("0A000", "timestamps cannot be binned into intervals containing months or years")
        length = stride.days * DAY_LENGTH + stride.microseconds
        if length <= 0:
            raise evaluation_error("22008", "stride must be greater than zero")
        if not -(1 << 63) <= moment - origin < 1 << 63:
            raise interval_range()
        return checked(origin + (moment - origin) // length * length)

    return place


def _justify(interval: Interval) -> Interval:
    """interval_justify_interval."""
    if interval in INFINITIES:
        return interval
    more, time = towards_zero(interval.microseconds, DAY_LENGTH)
    more_months, days = towards_zero(interval.days + more, 30)
    months = interval.months + more_months
    if months > 0 and (days < 0 or (days == 0 and time < 0)):
        months, days = months - 1, days + 30
    elif months < 0 and (days > 0 or (days == 0 and time > 0)):
        months, days = months + 1, days - 30
    return fitting(months, *same_sign(days, time, DAY_LENGTH))


MAKERS: dict[str, Maker] = {
    "age(timestamp,timestamp)": _aging(False),
    "age(timestamptz,timestamptz)": _aging(True),
    "date_bin(interval,timestamp,timestamp)": _binned,
    "date_bin(interval,timestamptz,timestamptz)": _binned,
    "make_timestamptz(int4,int4,int4,int4,int4,float8)": _make_timestamptz,
}
FUNCTIONS: dict[str, Function] = {
    "make_time": _make_time,
    "make_timestamp": _make_timestamp,
    "make_interval": _make_interval,
    "justify_interval": _justify,
}
