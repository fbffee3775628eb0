"""Dates, timestamps and times: their order, their arithmetic, OVERLAPS (utils/adt/date.c, timestamp.c)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pubcheck.postgres.datum import (
    DAY_LENGTH,
    INFINITE_INTERVAL,
    MINUS_INFINITE_INTERVAL,
    POSTGRES_EPOCH,
    Interval,
    julian_day,
    month_length,
    valid_julian,
)
from pubcheck.postgres.executor.compare import plain_order
from pubcheck.postgres.executor.datetime.intervals import (
    SECOND,
    Moment,
    checked,
    infinite,
    interval_range,
    is_infinite,
    midnight,
    negated,
    parts,
    swapped,
    timestamp_range,
)
from pubcheck.postgres.executor.functions import Call, Context, Function, Maker, evaluation_error
from pubcheck.postgres.executor.integers import COMPARISONS
from pubcheck.postgres.input import END_DAY, END_TIMESTAMP, FIRST_DAY, FIRST_TIMESTAMP


def _mixed(test: Callable[[Any, Any], bool]) -> tuple[Function, Function]:
    """Return the midnight at which a date begins, without a limit."""
    return (lambda date, time: test(date * DAY_LENGTH, time)), (lambda time, date: test(time, date * DAY_LENGTH))


# Dates.


def _date_plus(date: Moment, days: int) -> Moment:
    if infinite(date):
        return date
    day = date + days
    if not FIRST_DAY <= day < END_DAY:
        raise evaluation_error("22008", "date out of range")
    return day


def _date_minus_date(left: Moment, right: Moment) -> Moment:
    if infinite(left) or infinite(right):
        raise evaluation_error("22008", "cannot subtract infinite dates")
    days = left - right
    if not -(1 << 31) <= days < 1 << 31:
        raise evaluation_error("22003", "integer out of range")
    return days


def _day_of(moment: Moment) -> Moment:
    return moment if infinite(moment) else moment // DAY_LENGTH


def _time_of(moment: Moment) -> int | None:
    return None if isinstance(moment, float) else moment % DAY_LENGTH


def _date_at(date: Moment, time: int) -> Moment:
    start = midnight(date)
    return start if isinstance(start, float) else checked(start + time)


def _date_at_timetz(date: Moment, time: tuple[int, int]) -> Moment:
    if isinstance(date, float):
        return date
    moment = date * DAY_LENGTH + time[0]
    if not (FIRST_TIMESTAMP <= moment < END_TIMESTAMP and date * DAY_LENGTH < END_TIMESTAMP):
        raise evaluation_error("22008", "date out of range for timestamp")
    return moment


# Timestamps and intervals.


def plus_months(moment: int, months: int) -> int:
    year, month, day, time = parts(moment)
    years, month0 = divmod(month - 1 + months, 12)
    year, month = year + years, month0 + 1
    if not valid_julian(year, month):
        raise timestamp_range()
    day = min(day, month_length(year, month))
    return checked((julian_day(year, month, day) - POSTGRES_EPOCH) * DAY_LENGTH + time)


def plus(context: Context, moment: Moment, interval: Interval) -> Moment:
    """timestamp_pl_interval."""
    if is_infinite(context, interval):
        positive = interval == INFINITE_INTERVAL
        if isinstance(moment, float) and (moment > 0) != positive:
            raise timestamp_range()
        return math.inf if positive else -math.inf
    if isinstance(moment, float):
        return moment
    if interval.months:
        moment = plus_months(moment, interval.months)
    if interval.days:
        moment = checked(moment + interval.days * DAY_LENGTH)
    return checked(moment + interval.microseconds)


def opposite(context: Context, interval: Interval) -> Interval:
    """The interval that is added where another one is subtracted; its parts have no limits."""
    if is_infinite(context, interval):
        return negated(interval)
    return Interval(-interval.months, -interval.days, -interval.microseconds)


def _minus(context: Context, moment: Moment, interval: Interval) -> Moment:
    return plus(context, moment, opposite(context, interval))


def _adding(operation: Callable[[Context, Moment, Interval], Moment], convert: Callable[[Moment], Moment]) -> Maker:
    return lambda call: lambda moment, interval: operation(call.context, convert(moment), interval)


def _identity(moment: Moment) -> Moment:
    return moment


def _difference(call: Call) -> Function:
    """timestamp_mi: days and the remaining hours."""

    def subtract(left: Moment, right: Moment) -> Interval:
        if isinstance(left, float) or isinstance(right, float):
            if not call.context.major.infinite_intervals:
                raise evaluation_error("22008", "cannot subtract infinite timestamps")
            if left == right:
                raise interval_range()
            positive = left > right
            return INFINITE_INTERVAL if positive else MINUS_INFINITE_INTERVAL
        microseconds = left - right
        if not -(1 << 63) <= microseconds < 1 << 63:
            if call.context.major.timestamp_difference_checked:
                raise interval_range()
            microseconds = (microseconds + (1 << 63)) % (1 << 64) - (1 << 63)  # 15 does not look
        days = abs(microseconds) // DAY_LENGTH
        days = days if microseconds >= 0 else -days
        return Interval(0, days, microseconds - days * DAY_LENGTH)

    return subtract


def _scaled(value: Moment, precision: int) -> Moment:
    """AdjustTimestampForTypmod, AdjustTimeForTypmod."""
    if isinstance(value, float) or precision in (-1, 6):
        return value
    if not 0 <= precision < 6:
        raise evaluation_error("22023", f"timestamp({precision}) precision must be between 0 and 6")
    unit: int = 10 ** (6 - precision)
    magnitude = (abs(value) + unit // 2) // unit * unit
    return magnitude if value >= 0 else -magnitude


# Times.


def _time_plus(sign: int) -> Maker:
    def make(call: Call) -> Function:
        def add(time: int, interval: Interval) -> int:
            if is_infinite(call.context, interval):
                raise evaluation_error("22008", f"cannot {'add' if sign > 0 else 'subtract'} infinite interval to time")
            return (time + sign * interval.microseconds) % DAY_LENGTH

        return add

    return make


def _timetz_plus(sign: int) -> Maker:
    def make(call: Call) -> Function:
        add = _time_plus(sign)(call)

        def add_at_zone(time: tuple[int, int], interval: Interval) -> tuple[int, int]:
            offset = time[1] * SECOND
            return add(time[0] - offset, interval) + offset, time[1]

        return add_at_zone

    return make


# Making.


def make_date(year: int, month: int, day: int) -> int:
    shown = year + 1 if -(1 << 31) < year < 0 else year
    problem = evaluation_error("22008", f"date field value out of range: {shown}-{month:02d}-{day:02d}")
    if year in (0, -(1 << 31)) or not 1 <= month <= 12 or not 1 <= day <= month_length(shown, month):
        raise problem
    if not valid_julian(shown, month):
        raise evaluation_error("22008", f"date out of range: {year}-{month:02d}-{day:02d}")
    return julian_day(shown, month, day) - POSTGRES_EPOCH


# OVERLAPS.


def _overlaps(left_start: Any, left_end: Any, right_start: Any, right_end: Any) -> bool | None:
    """overlaps_timestamp: the ends may be NULL and in any order."""
    left_low, left_high = _in_order(left_start, left_end)
    right_low, right_high = _in_order(right_start, right_end)
    if left_low is None or right_low is None:
        return None
    if left_low == right_low:
        # They begin together; an end that is not known says nothing, as the start already tells.
        return None if left_high is None or right_high is None else True
    if left_low > right_low:
        left_low, left_high, right_low, right_high = right_low, right_high, left_low, left_high
    if left_high is None:
        return None
    if right_low < left_high:
        return True
    return None if right_high is None else False


def _in_order(start: Any, end: Any) -> tuple[Any, Any]:
    """The ends of a period, the lesser first and NULL last."""
    return (end, start) if start is None or (end is not None and start > end) else (start, end)


def _overlapping_lengths(first: bool, second: bool) -> Maker:
    """Return the end of a period; an interval in its place is counted from the start."""

    def make(call: Call) -> Function:
        name = call.context.cache.type(call.expr.args[0].type).name
        add = (_time_plus(1) if name == "time" else MAKERS["timestamp_pl_interval"])(call)

        def test(left_start: Any, left_end: Any, right_start: Any, right_end: Any) -> bool | None:
            if first:
                left_end = None if left_start is None or left_end is None else add(left_start, left_end)
            if second:
                right_end = None if right_start is None or right_end is None else add(right_start, right_end)
            return _overlaps(left_start, left_end, right_start, right_end)

        return test

    return make


_TYPES = ("date", "time", "timetz", "timestamp", "timestamptz")
MAKERS: dict[str, Maker] = {
    "timestamp_mi": _difference,
    "timestamptz_mi": _difference,
    "time_pl_interval": _time_plus(1),
    "time_mi_interval": _time_plus(-1),
    "interval_pl_time": swapped(_time_plus(1)),
    "timetz_pl_interval": _timetz_plus(1),
    "timetz_mi_interval": _timetz_plus(-1),
    "interval_pl_timetz": swapped(_timetz_plus(1)),
}
FUNCTIONS: dict[str, Function] = {
    **{f"{prefix}_{name}": test for prefix in _TYPES for name, test in COMPARISONS.items()},
    "time(time,int4)": lambda time, precision: _scaled(time, precision) if 0 <= precision < 6 else time,
    "timestamp(timestamp,int4)": _scaled,
    "timestamptz(timestamptz,int4)": _scaled,
    "date_pli": _date_plus,
    "integer_pl_date": lambda days, date: _date_plus(date, days),
    "date_mii": lambda date, days: _date_plus(date, -days),
    "date_mi": _date_minus_date,
    "datetime_pl": _date_at,
    "timedate_pl": lambda time, date: _date_at(date, time),
    "datetimetz_pl": _date_at_timetz,
    "timetzdate_pl": lambda time, date: _date_at_timetz(date, time),
    "timestamp(date,time)": _date_at,
    "timestamptz(date,timetz)": _date_at_timetz,
    "timestamp(date)": midnight,
    "date(timestamp)": _day_of,
    "time(timestamp)": _time_of,
    "time(timetz)": lambda time: time[0] - time[1] * SECOND,
    "time_mi_time": lambda left, right: Interval(0, 0, left - right),
    "isfinite(date)": lambda date: not infinite(date),
    "isfinite(timestamp)": lambda moment: not infinite(moment),
    "isfinite(timestamptz)": lambda moment: not infinite(moment),
    "make_date": make_date,
}
for _name, _test in COMPARISONS.items():
    FUNCTIONS[f"date_{_name}_timestamp"], FUNCTIONS[f"timestamp_{_name}_date"] = _mixed(_test)
for _type in _TYPES:
    FUNCTIONS |= {f"{_type}_cmp": plain_order, f"{_type}_larger": max, f"{_type}_smaller": min}
for _type, _convert in (("timestamp", _identity), ("date", midnight)):
    MAKERS[f"{_type}_pl_interval"] = _adding(plus, _convert)
    MAKERS[f"{_type}_mi_interval"] = _adding(_minus, _convert)
    MAKERS[f"interval_pl_{_type}"] = swapped(_adding(plus, _convert))
for _type in ("timestamp", "time"):
    for _first, _second in ((True, True), (True, False), (False, True)):
        _ends = (("interval" if _first else _type), ("interval" if _second else _type))
        MAKERS[f"overlaps({_type},{_ends[0]},{_type},{_ends[1]})"] = _overlapping_lengths(_first, _second)
for _type in ("timestamp", "timestamptz", "time", "timetz"):
    FUNCTIONS[f"overlaps({_type},{_type},{_type},{_type})"] = _overlaps
