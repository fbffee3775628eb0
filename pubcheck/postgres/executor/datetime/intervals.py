"""Arithmetic of intervals, and their order (utils/adt/timestamp.c); before that, what all functions of dates, times
and intervals share: their ranges, and the calendar.
"""

from __future__ import annotations

import math

from pubcheck.postgres.datum import (
    DAY_LENGTH,
    INFINITE_INTERVAL,
    MINUS_INFINITE_INTERVAL,
    POSTGRES_EPOCH,
    Interval,
    calendar,
)
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.compare import plain_order
from pubcheck.postgres.executor.functions import Call, Context, Function, Maker, division_by_zero, evaluation_error
from pubcheck.postgres.executor.integers import COMPARISONS
from pubcheck.postgres.input import END_TIMESTAMP, FIRST_TIMESTAMP
from pubcheck.postgres.input.intervals import restrict_to_fields

Moment = int | float
"""A date in days or a timestamp in microseconds; infinity is a float."""
SECOND, MINUTE, HOUR = 1_000_000, 60_000_000, 3_600_000_000
INFINITIES = (INFINITE_INTERVAL, MINUS_INFINITE_INTERVAL)


def infinite(value: Moment) -> bool:
    return isinstance(value, float)


def timestamp_range() -> ServerError:
    return evaluation_error("22008", "timestamp out of range")


def interval_range() -> ServerError:
    return evaluation_error("22008", "interval out of range")


def checked(value: int) -> int:
    """A timestamp that is in range. Raises ServerError 22008."""
    if not FIRST_TIMESTAMP <= value < END_TIMESTAMP:
        raise timestamp_range()
    return value


def is_infinite(context: Context, interval: Interval) -> bool:
    return context.major.infinite_intervals and interval in INFINITIES


def midnight(date: Moment) -> Moment:
    """date2timestamp. Raises ServerError 22008."""
    if infinite(date):
        return date
    moment = date * DAY_LENGTH
    if not FIRST_TIMESTAMP <= moment < END_TIMESTAMP:
        raise evaluation_error("22008", "date out of range for timestamp")
    return moment


def parts(moment: int) -> tuple[int, int, int, int]:
    """Year, month, day, and the microseconds since midnight."""
    days, time = divmod(moment, DAY_LENGTH)
    return (*calendar(days + POSTGRES_EPOCH), time)


def towards_zero(value: int, unit: int) -> tuple[int, int]:
    """Quotient and remainder as C has them: both have the sign of the value."""
    count = abs(value) // unit
    count = count if value >= 0 else -count
    return count, value - count * unit


def swapped(maker: Maker) -> Maker:
    """Return the same function with its two arguments swapped."""

    def make(call: Call) -> Function:
        function = maker(call)
        return lambda left, right: function(right, left)

    return make


def negated(interval: Interval) -> Interval:
    if interval == INFINITE_INTERVAL:
        return MINUS_INFINITE_INTERVAL
    if interval == MINUS_INFINITE_INTERVAL:
        return INFINITE_INTERVAL
    return fitting(-interval.months, -interval.days, -interval.microseconds)


def fitting(months: int, days: int, microseconds: int) -> Interval:
    if not (-(1 << 31) <= months < 1 << 31 and -(1 << 31) <= days < 1 << 31):
        raise interval_range()
    if not -(1 << 63) <= microseconds < 1 << 63:
        raise interval_range()
    return Interval(months, days, microseconds)


def _added(sign: int) -> Maker:
    def make(call: Call) -> Function:
        context = call.context

        def add(left: Interval, right: Interval) -> Interval:
            if sign < 0 and is_infinite(context, right):
                right = negated(right)
            if is_infinite(context, left) or is_infinite(context, right):
                if is_infinite(context, left) and is_infinite(context, right) and left != right:
                    raise interval_range()
                return left if is_infinite(context, left) else right
            result = fitting(
                *(left_part + sign * right_part for left_part, right_part in zip(left.parts, right.parts, strict=True))
            )
            if sign < 0 and is_infinite(context, right):
                return result
            if is_infinite(context, result):
                raise interval_range()
            return result

        return add

    return make


def _to_microsecond(seconds: float) -> float:
    """TSROUND."""
    return round(seconds * 1e6) / 1e6


def _spread(months: float, days: float, time: float) -> Interval:
    """interval_mul and interval_div: the fractions of months and days become days and seconds."""
    for part in (months, days):
        if part != part or not -(2.0**31) <= part < 2.0**31:
            raise interval_range()
    whole_months, whole_days = int(months), int(days)
    rest_days = _to_microsecond((months - whole_months) * 30)
    rest_seconds = _to_microsecond((days - whole_days + rest_days - int(rest_days)) * 86400)
    if abs(rest_seconds) >= 86400:
        more = int(rest_seconds / 86400)
        whole_days += more
        rest_seconds -= more * 86400
    whole_days += int(rest_days)
    microseconds = time + rest_seconds * 1e6
    if microseconds != microseconds or math.isinf(microseconds):
        raise interval_range()
    return fitting(whole_months, whole_days, round(microseconds))


def _multiplied(call: Call) -> Function:
    def multiply(interval: Interval, factor: float) -> Interval:
        if is_infinite(call.context, interval) or not math.isfinite(factor):
            raise Unknowable("the product of what is infinite")
        return _spread(interval.months * factor, interval.days * factor, interval.microseconds * factor)

    return multiply


def _divided(call: Call) -> Function:
    def divide(interval: Interval, divisor: float) -> Interval:
        if divisor == 0.0:
            raise division_by_zero()
        if is_infinite(call.context, interval) or not math.isfinite(divisor):
            raise Unknowable("the quotient of what is infinite")
        return _spread(interval.months / divisor, interval.days / divisor, interval.microseconds / divisor)

    return divide


def _restricted(call: Call) -> Function:
    """interval(interval, int4), as casts call it: the fields and the precision of a type."""

    def restrict(interval: Interval, typmod: int) -> Interval:
        if is_infinite(call.context, interval):
            return interval
        return restrict_to_fields(call.context.inputs, *interval.parts, typmod >> 16 & 0x7FFF, typmod)

    return restrict


def same_sign(whole: int, part: int, unit: int) -> tuple[int, int]:
    """A number of units and a part of one, with the same sign."""
    if whole > 0 and part < 0:
        return whole - 1, part + unit
    return (whole + 1, part - unit) if whole < 0 and part > 0 else (whole, part)


def _justify_hours(interval: Interval) -> Interval:
    if interval in INFINITIES:
        return interval
    more, time = towards_zero(interval.microseconds, DAY_LENGTH)
    return fitting(interval.months, *same_sign(interval.days + more, time, DAY_LENGTH))


def _justify_days(interval: Interval) -> Interval:
    if interval in INFINITIES:
        return interval
    more, days = towards_zero(interval.days, 30)
    return fitting(*same_sign(interval.months + more, days, 30), interval.microseconds)


MAKERS: dict[str, Maker] = {
    "interval(interval,int4)": _restricted,
    "interval_pl": _added(1),
    "interval_mi": _added(-1),
    "interval_mul": _multiplied,
    "mul_d_interval": swapped(_multiplied),
    "interval_div": _divided,
    "isfinite(interval)": lambda call: lambda interval: not is_infinite(call.context, interval),
}
FUNCTIONS: dict[str, Function] = {
    **{f"interval_{name}": test for name, test in COMPARISONS.items()},
    "time(interval)": lambda interval: interval.microseconds % DAY_LENGTH,
    "interval(time)": lambda time: Interval(0, 0, time),
    "interval_cmp": plain_order,
    "interval_larger": lambda left, right: left if left > right else right,
    "interval_smaller": lambda left, right: left if left < right else right,
    "interval_um": negated,
    "justify_hours": _justify_hours,
    "justify_days": _justify_days,
}
