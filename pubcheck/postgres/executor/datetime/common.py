"""The common parts of functions of dates, times and intervals: their ranges, and the calendar."""

from __future__ import annotations

from pubcheck.postgres.datum import (
    DAY_LENGTH,
    INFINITE_INTERVAL,
    MINUS_INFINITE_INTERVAL,
    POSTGRES_EPOCH,
    Interval,
    calendar,
)
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.executor.function_lookup import Call, Function, Maker
from pubcheck.postgres.executor.values import Context, evaluation_error
from pubcheck.postgres.input.common import END_TIMESTAMP, FIRST_TIMESTAMP

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
