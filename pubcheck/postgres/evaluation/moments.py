"""Dates, times and intervals (date.c, timestamp.c, datetime.c): days and microseconds since 2000-01-01.

Infinite dates and timestamps are infinite floats. What rests on the session's TimeZone is not immutable, and so in no
filter, but for age() of timestamptz.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.evaluation import decimals
from pubcheck.postgres.evaluation.calls import Call, Function, Maker
from pubcheck.postgres.evaluation.compare import plain_order, span_order
from pubcheck.postgres.evaluation.integers import COMPARISONS
from pubcheck.postgres.evaluation.values import (
    DAY_LENGTH,
    INFINITE_INTERVAL,
    MINUS_INFINITE_INTERVAL,
    Context,
    Interval,
    division_by_zero,
    failed,
    span,
)
from pubcheck.postgres.literals.datetime_fields import (
    KEYWORDS,
    POSTGRES_EPOCH,
    UNITS,
    WORD_LENGTH,
    calendar,
    julian_day,
    valid_julian,
)

FUNCTIONS: dict[str, Function] = {}
MAKERS: dict[str, Maker] = {}

Moment = int | float
_FIRST_DAY, _END_DAY = -2451545, 2147483494 - 2451545
_FIRST, _END = -211813488000000000, 9223371331200000000
_SECOND, _MINUTE, _HOUR = 1_000_000, 60_000_000, 3_600_000_000
_INFINITIES = (INFINITE_INTERVAL, MINUS_INFINITE_INTERVAL)
_LENGTHS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def _infinite(value: Moment) -> bool:
    return isinstance(value, float)


def _timestamp_range() -> ServerError:
    return failed("22008", "timestamp out of range")


def _interval_range() -> ServerError:
    return failed("22008", "interval out of range")


def _date_range() -> ServerError:
    return failed("22008", "date out of range")


def _checked(value: int) -> int:
    if not _FIRST <= value < _END:
        raise _timestamp_range()
    return value


def _is_infinite(context: Context, interval: Interval) -> bool:
    """Intervals have infinities since 17."""
    return context.major >= 17 and interval in _INFINITIES


# Comparisons.

for _name, _test in COMPARISONS.items():
    for _prefix in ("date_", "time_", "timetz_", "timestamp_", "timestamptz_"):
        FUNCTIONS[_prefix + _name] = _test


def _mixed(test: Callable[[Any, Any], bool]) -> tuple[Function, Function]:
    """A date is the midnight it begins with, however far."""
    return (lambda date, time: test(date * DAY_LENGTH, time)), (lambda time, date: test(time, date * DAY_LENGTH))


def _of_spans(test: Callable[[Any, Any], bool]) -> Function:
    return lambda left, right: test(span(left), span(right))


for _name, _test in COMPARISONS.items():
    FUNCTIONS[f"date_{_name}_timestamp"], FUNCTIONS[f"timestamp_{_name}_date"] = _mixed(_test)
    FUNCTIONS[f"interval_{_name}"] = _of_spans(_test)
for _prefix in ("date", "time", "timetz", "timestamp", "timestamptz"):
    FUNCTIONS |= {f"{_prefix}_cmp": plain_order, f"{_prefix}_larger": max, f"{_prefix}_smaller": min}


# Dates.


def _date_plus(date: Moment, days: int) -> Moment:
    if _infinite(date):
        return date
    found = date + days
    if not _FIRST_DAY <= found < _END_DAY:
        raise _date_range()
    return found


def _date_minus_date(left: Moment, right: Moment) -> Moment:
    if _infinite(left) or _infinite(right):
        raise failed("22008", "cannot subtract infinite dates")
    found = left - right
    if not -(1 << 31) <= found < 1 << 31:
        raise failed("22003", "integer out of range")
    return found


def _midnight(date: Moment) -> Moment:
    if _infinite(date):
        return date
    found = date * DAY_LENGTH
    if not _FIRST <= found < _END:
        raise failed("22008", "date out of range for timestamp")
    return found


def _day_of(moment: Moment) -> Moment:
    return moment if _infinite(moment) else moment // DAY_LENGTH


def _time_of(moment: Moment) -> int | None:
    return None if isinstance(moment, float) else moment % DAY_LENGTH


def _date_at(date: Moment, time: int) -> Moment:
    midnight = _midnight(date)
    return midnight if isinstance(midnight, float) else _checked(midnight + time)


def _date_at_timetz(date: Moment, time: tuple[int, int]) -> Moment:
    if isinstance(date, float):
        return date
    found = date * DAY_LENGTH + time[0]
    if not (_FIRST <= found < _END and date * DAY_LENGTH < _END):
        raise failed("22008", "date out of range for timestamp")
    return found


# Timestamps and intervals.


def _parts(moment: int) -> tuple[int, int, int, int]:
    days, time = divmod(moment, DAY_LENGTH)
    return (*calendar(days + POSTGRES_EPOCH), time)


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _month_length(year: int, month: int) -> int:
    return _LENGTHS[month - 1] + (month == 2 and _is_leap(year))


def _plus_months(moment: int, months: int) -> int:
    year, month, day, time = _parts(moment)
    years, month0 = divmod(month - 1 + months, 12)
    year, month = year + years, month0 + 1
    if not valid_julian(year, month):
        raise _timestamp_range()
    day = min(day, _month_length(year, month))
    return _checked((julian_day(year, month, day) - POSTGRES_EPOCH) * DAY_LENGTH + time)


def _plus(context: Context, moment: Moment, interval: Interval) -> Moment:
    """timestamp_pl_interval."""
    if _is_infinite(context, interval):
        positive = interval == INFINITE_INTERVAL
        if isinstance(moment, float) and (moment > 0) != positive:
            raise _timestamp_range()
        return math.inf if positive else -math.inf
    if isinstance(moment, float):
        return moment
    if interval.months:
        moment = _plus_months(moment, interval.months)
    if interval.days:
        moment = _checked(moment + interval.days * DAY_LENGTH)
    return _checked(moment + interval.microseconds)


def _negated(interval: Interval) -> Interval:
    if interval == INFINITE_INTERVAL:
        return MINUS_INFINITE_INTERVAL
    if interval == MINUS_INFINITE_INTERVAL:
        return INFINITE_INTERVAL
    return _fitting(-interval.months, -interval.days, -interval.microseconds)


def _fitting(months: int, days: int, microseconds: int) -> Interval:
    if not (-(1 << 31) <= months < 1 << 31 and -(1 << 31) <= days < 1 << 31):
        raise _interval_range()
    if not -(1 << 63) <= microseconds < 1 << 63:
        raise _interval_range()
    return Interval(months, days, microseconds)


def _minus(context: Context, moment: Moment, interval: Interval) -> Moment:
    if _is_infinite(context, interval):
        return _plus(context, moment, _negated(interval))
    if isinstance(moment, float):
        return moment
    return _plus(context, moment, Interval(-interval.months, -interval.days, -interval.microseconds))


def _adding(operation: Callable[[Context, Moment, Interval], Moment], convert: Callable[[Moment], Moment]) -> Maker:
    return lambda call: lambda moment, interval: operation(call.context, convert(moment), interval)


def _identity(moment: Moment) -> Moment:
    return moment


def _interval_first(convert: Callable[[Moment], Moment]) -> Maker:
    return lambda call: lambda interval, moment: _plus(call.context, convert(moment), interval)


def _difference(call: Call) -> Function:
    """timestamp_mi: days and what is left of the hours."""

    def subtract(left: Moment, right: Moment) -> Interval:
        if isinstance(left, float) or isinstance(right, float):
            if call.context.major < 17:
                raise failed("22008", "cannot subtract infinite timestamps")
            if left == right:
                raise _interval_range()
            positive = left > right
            return INFINITE_INTERVAL if positive else MINUS_INFINITE_INTERVAL
        found = left - right
        if not -(1 << 63) <= found < 1 << 63:
            if call.context.major > 15:
                raise _interval_range()
            found = (found + (1 << 63)) % (1 << 64) - (1 << 63)  # 15 does not look
        days = abs(found) // DAY_LENGTH
        days = days if found >= 0 else -days
        return Interval(0, days, found - days * DAY_LENGTH)

    return subtract


for _type, _convert in (("timestamp", _identity), ("date", _midnight)):
    MAKERS[f"{_type}_pl_interval"] = _adding(_plus, _convert)
    MAKERS[f"{_type}_mi_interval"] = _adding(_minus, _convert)
    MAKERS[f"interval_pl_{_type}"] = _interval_first(_convert)
MAKERS["timestamp_mi"] = MAKERS["timestamptz_mi"] = _difference


def _scaled(value: Moment, precision: int) -> Moment:
    """AdjustTimestampForTypmod, AdjustTimeForTypmod."""
    if isinstance(value, float) or precision in (-1, 6):
        return value
    if not 0 <= precision < 6:
        raise failed("22023", f"timestamp({precision}) precision must be between 0 and 6")
    unit: int = 10 ** (6 - precision)
    found = (abs(value) + unit // 2) // unit * unit
    return found if value >= 0 else -found


# Times.


def _time_plus(sign: int) -> Maker:
    def make(call: Call) -> Function:
        def add(time: int, interval: Interval) -> int:
            if _is_infinite(call.context, interval):
                raise failed("22008", f"cannot {'add' if sign > 0 else 'subtract'} infinite interval to time")
            return (time + sign * interval.microseconds) % DAY_LENGTH

        return add

    return make


def _timetz_plus(sign: int) -> Maker:
    def make(call: Call) -> Function:
        def add(time: tuple[int, int], interval: Interval) -> tuple[int, int]:
            if _is_infinite(call.context, interval):
                raise failed("22008", f"cannot {'add' if sign > 0 else 'subtract'} infinite interval to time")
            local = (time[0] - time[1] * _SECOND + sign * interval.microseconds) % DAY_LENGTH
            return local + time[1] * _SECOND, time[1]

        return add

    return make


# Intervals.


def _added(sign: int) -> Maker:
    def make(call: Call) -> Function:
        context = call.context

        def add(left: Interval, right: Interval) -> Interval:
            if sign < 0 and _is_infinite(context, right):
                right = _negated(right)
            if _is_infinite(context, left) or _is_infinite(context, right):
                if _is_infinite(context, left) and _is_infinite(context, right) and left != right:
                    raise _interval_range()
                return left if _is_infinite(context, left) else right
            found = _fitting(*(one + sign * other for one, other in zip(left, right, strict=True)))
            if sign < 0 and _is_infinite(context, right):
                return found
            if _is_infinite(context, found):
                raise _interval_range()
            return found

        return add

    return make


def _to_microsecond(seconds: float) -> float:
    """TSROUND."""
    return round(seconds * 1e6) / 1e6


def _spread(months: float, days: float, time: float) -> Interval:
    """interval_mul and interval_div: what months and days leave goes down to days and seconds."""
    for part in (months, days):
        if part != part or not -(2.0**31) <= part < 2.0**31:
            raise _interval_range()
    whole_months, whole_days = int(months), int(days)
    rest_days = _to_microsecond((months - whole_months) * 30)
    rest_seconds = _to_microsecond((days - whole_days + rest_days - int(rest_days)) * 86400)
    if abs(rest_seconds) >= 86400:
        more = int(rest_seconds / 86400)
        whole_days += more
        rest_seconds -= more * 86400
    whole_days += int(rest_days)
    found = time + rest_seconds * 1e6
    if found != found or math.isinf(found):
        raise _interval_range()
    return _fitting(whole_months, whole_days, round(found))


def _multiplied(call: Call) -> Function:
    def multiply(interval: Interval, factor: float) -> Interval:
        if _is_infinite(call.context, interval) or not math.isfinite(factor):
            raise Unknowable("the product of what is infinite")
        return _spread(interval.months * factor, interval.days * factor, interval.microseconds * factor)

    return multiply


def _divided(call: Call) -> Function:
    def divide(interval: Interval, divisor: float) -> Interval:
        if divisor == 0.0:
            raise division_by_zero()
        if _is_infinite(call.context, interval) or not math.isfinite(divisor):
            raise Unknowable("the quotient of what is infinite")
        return _spread(interval.months / divisor, interval.days / divisor, interval.microseconds / divisor)

    return divide


def _restricted(call: Call) -> Function:
    """interval(interval, int4), as casts call it: the fields and the precision of a type."""
    from pubcheck.postgres.literals.intervals import restricted

    def restrict(interval: Interval, typmod: int) -> Interval:
        if _is_infinite(call.context, interval):
            return interval
        found = restricted(call.context.inputs, *interval, typmod >> 16 & 0x7FFF, typmod)
        return Interval(found.months, found.days, found.microseconds)

    return restrict


def _swapped(maker: Maker) -> Maker:
    def make(call: Call) -> Function:
        function = maker(call)
        return lambda factor, interval: function(interval, factor)

    return make


def _towards_zero(value: int, unit: int) -> tuple[int, int]:
    count = abs(value) // unit
    count = count if value >= 0 else -count
    return count, value - count * unit


def _justify_hours(interval: Interval) -> Interval:
    if interval in _INFINITIES:
        return interval
    days, time = _towards_zero(interval.microseconds, DAY_LENGTH)
    days += interval.days
    if days > 0 and time < 0:
        days, time = days - 1, time + DAY_LENGTH
    elif days < 0 and time > 0:
        days, time = days + 1, time - DAY_LENGTH
    return _fitting(interval.months, days, time)


def _justify_days(interval: Interval) -> Interval:
    if interval in _INFINITIES:
        return interval
    months, days = _towards_zero(interval.days, 30)
    months += interval.months
    if months > 0 and days < 0:
        months, days = months - 1, days + 30
    elif months < 0 and days > 0:
        months, days = months + 1, days - 30
    return _fitting(months, days, interval.microseconds)


# Fields.


class _Fields:
    """The fields of a type, by the words for them."""

    def __init__(self, type_name: str) -> None:
        self.type_name = type_name

    def named(self, name: str) -> str:
        """The unit that a word names; abbreviations are cut to ten characters, as the server compares them."""
        word = name.lower()
        if not word.isascii() or len(word) > 63:
            raise Unknowable(f'what the field "{name}" means')
        short = word[:WORD_LENGTH]
        if short in UNITS:
            return UNITS[short]
        kind, value = KEYWORDS.get(short, ("", None))
        if kind == "unit" or value == "epoch":
            return str(value)
        if kind == "reserved":
            raise self.unsupported(word)
        raise failed("22023", f'unit "{word}" not recognized for type {self.type_name}')

    def unsupported(self, name: str, detail: str | None = None) -> ServerError:
        return failed("0A000", f'unit "{name.lower()}" not supported for type {self.type_name}', detail)


_TIMESTAMP = _Fields("timestamp without time zone")
_TIMESTAMPTZ = _Fields("timestamp with time zone")
_DATE = _Fields("date")
_TIME = _Fields("time without time zone")
_INTERVAL = _Fields("interval")
_MONOTONIC = frozenset(("year", "decade", "century", "millennium", "julian", "isoyear", "epoch"))
_OSCILLATING = frozenset(
    (
        "microsecond",
        "millisecond",
        "second",
        "minute",
        "hour",
        "day",
        "month",
        "quarter",
        "week",
        "dow",
        "isodow",
        "doy",
    )
)
_OF_TIME = frozenset(("microsecond", "millisecond", "second", "minute", "hour"))


def _iso_week(year: int, month: int, day: int) -> tuple[int, int]:
    """ISO year and week."""
    number = julian_day(year, month, day)
    thursday = number - number % 7 + 3
    iso_year = calendar(thursday)[0]
    first = julian_day(iso_year, 1, 4)
    return iso_year, (number - (first - first % 7)) // 7 + 1


def _shown_year(year: int) -> int:
    """There is no year 0: 1 BC is -1."""
    return year if year > 0 else year - 1


def _century(year: int, length: int) -> int:
    if year > 0:
        return (year + length - 1) // length
    return -((length - 1 - (year - 1)) // length)


def _decade(year: int) -> int:
    return year // 10 if year >= 0 else -((8 - (year - 1)) // 10)


def _date_field(field: str, year: int, month: int, day: int) -> int | None:
    """A field of a date, None of what is no field of dates."""
    if field in ("dow", "isodow", "doy"):
        number = julian_day(year, month, day)
        if field == "doy":
            return number - julian_day(year, 1, 1) + 1
        return (number + 1) % 7 if field == "dow" else number % 7 + 1
    if field in ("week", "isoyear"):
        iso_year, week = _iso_week(year, month, day)
        return week if field == "week" else _shown_year(iso_year)
    return {
        "year": _shown_year(year),
        "month": month,
        "day": day,
        "quarter": (month - 1) // 3 + 1,
        "decade": _decade(year),
        "century": _century(year, 100),
        "millennium": _century(year, 1000),
    }.get(field)


def _time_field(field: str, time: int, as_float: bool) -> int | float | Decimal | None:
    """Of a time of day or of an interval's time, whose parts have its sign."""
    sign = -1 if time < 0 else 1
    size = abs(time)
    if field == "hour":
        return sign * (size // _HOUR)
    if field == "minute":
        return sign * (size // _MINUTE % 60)
    seconds, fraction = (sign * part for part in divmod(size % _MINUTE, _SECOND))
    if field == "microsecond":
        return seconds * _SECOND + fraction
    if field == "second":
        return seconds + fraction / 1e6 if as_float else Decimal(seconds * _SECOND + fraction).scaleb(-6)
    if field == "millisecond":
        return seconds * 1e3 + fraction / 1e3 if as_float else Decimal(seconds * _SECOND + fraction).scaleb(-3)
    return None


_UNIX_EPOCH = -10957 * DAY_LENGTH
_PLUS, _MINUS = Decimal("Infinity"), Decimal("-Infinity")


def _endless(fields: _Fields, name: str, positive: bool, known: frozenset[str], ever: frozenset[str]) -> Decimal | None:
    """A field of what is infinite: infinite if it always grows, NULL if it comes round."""
    field = fields.named(name)
    if field in ever:
        return _PLUS if positive else _MINUS
    if field not in known:
        raise fields.unsupported(name)
    return None


def _extract_timestamp(context: Context, name: str, moment: Moment, as_float: bool) -> Any:
    """timestamp_part_common."""
    if isinstance(moment, float):
        return _endless(_TIMESTAMP, name, moment > 0, _OSCILLATING, _MONOTONIC)
    field = _TIMESTAMP.named(name)
    if field == "epoch":
        since = moment - _UNIX_EPOCH
        return since / 1e6 if as_float else Decimal(since).scaleb(-6)
    year, month, day, time = _parts(moment)
    if field == "julian":
        number = julian_day(year, month, day)
        if as_float:
            return number + (time // _SECOND + time % _SECOND / 1e6) / 86400.0
        return decimals.add(Decimal(number), decimals.divide(Decimal(time), Decimal(DAY_LENGTH)))
    found: Any = _date_field(field, year, month, day)
    if found is None:
        found = _time_field(field, time, as_float)
    if found is None:
        raise _TIMESTAMP.unsupported(name)
    return found


def _extract_date(context: Context, name: str, date: Moment, as_float: bool) -> Any:
    """extract_date."""
    field = _DATE.named(name)
    if field in _OF_TIME:
        raise _DATE.unsupported(name)
    if isinstance(date, float):
        return _endless(_DATE, name, date > 0, _OSCILLATING, _MONOTONIC)
    if field == "epoch":
        return (date - _EPOCH_DAY) * 86400
    if field == "julian":
        return date + POSTGRES_EPOCH
    found = _date_field(field, *calendar(date + POSTGRES_EPOCH))
    if found is None:
        raise _DATE.unsupported(name)
    return found


_EPOCH_DAY = -10957


def _extract_time(context: Context, name: str, time: int, as_float: bool) -> Any:
    field = _TIME.named(name)
    if field == "epoch":
        return time / 1e6 if as_float else Decimal(time).scaleb(-6)
    found = _time_field(field, time, as_float)
    if found is None:
        raise _TIME.unsupported(name)
    return found


_INTERVAL_EVER = frozenset(("hour", "day", "year", "decade", "century", "millennium", "epoch"))
_INTERVAL_ROUND = frozenset(("microsecond", "millisecond", "second", "minute", "month", "quarter"))


def _extract_interval(context: Context, name: str, interval: Interval, as_float: bool) -> Any:
    """interval_part_common."""
    weeks = frozenset(("week",)) if context.major >= 18 else frozenset[str]()
    if _is_infinite(context, interval):
        return _endless(_INTERVAL, name, interval.months > 0, _INTERVAL_ROUND | weeks, _INTERVAL_EVER)
    field = _INTERVAL.named(name)
    years, months = _towards_zero(interval.months, 12)
    if field == "epoch":
        # A year is 365.25 days, a month 30.
        if as_float:
            return interval.microseconds / 1e6 + 31557600.0 * years + 2592000.0 * months + 86400.0 * interval.days
        seconds = (years * 1461 * 6 + months * 30 * 24 + interval.days * 24) * 3600
        return Decimal(seconds * _SECOND + interval.microseconds).scaleb(-6)
    if field in weeks:
        return _towards_zero(interval.days, 7)[0]
    if field == "quarter":
        if context.major >= 18 and months < 0:
            return -(-months // 3 + 1)
        return _towards_zero(months, 3)[0] + 1
    found: Any = {
        "year": years,
        "month": months,
        "day": interval.days,
        "decade": _towards_zero(years, 10)[0],
        "century": _towards_zero(years, 100)[0],
        "millennium": _towards_zero(years, 1000)[0],
    }.get(field)
    if found is None:
        found = _time_field(field, interval.microseconds, as_float)
    if found is None:
        raise _INTERVAL.unsupported(name)
    return found


def _extracting(extract: Callable[[Context, str, Any, bool], Any], as_float: bool) -> Maker:
    def make(call: Call) -> Function:
        def run(name: str, value: Any) -> Any:
            found = extract(call.context, name, value, as_float)
            if found is None:
                return None
            return float(found) if as_float else Decimal(found)

        return run

    return make


for _type, _extract in (
    ("timestamp", _extract_timestamp),
    ("date", _extract_date),
    ("time", _extract_time),
    ("interval", _extract_interval),
):
    MAKERS[f"extract(text,{_type})"] = _extracting(_extract, False)
    MAKERS[f"date_part(text,{_type})"] = _extracting(_extract, True)


def _part_of_date(call: Call) -> Function:
    """date_part() of a date, which is taken for a timestamp even where the field is NULL."""

    def run(name: str | None, date: Moment | None) -> float | None:
        moment = None if date is None else _midnight(date)
        found = None if name is None or moment is None else _extract_timestamp(call.context, name, moment, True)
        return None if found is None else float(found)

    return run


MAKERS["date_part(text,date)"] = _part_of_date


# date_trunc and zones.


def _truncated(fields: _Fields, name: str, moment: int) -> int:
    """timestamp_trunc of a local time; whether the result is in range is the caller's to check."""
    field = fields.named(name)
    year, month, day, time = _parts(moment)
    length = _LENGTHS_OF.get(field)
    if length is not None:
        return moment - time + time // length * length
    if field == "week":
        number = julian_day(year, month, day)
        return (number - number % 7 - POSTGRES_EPOCH) * DAY_LENGTH
    if field == "quarter":
        month = (month - 1) // 3 * 3 + 1
    elif field == "decade":
        year = year // 10 * 10 if year > 0 else -((8 - (year - 1)) // 10) * 10
    elif field in ("century", "millennium"):
        years = 100 if field == "century" else 1000
        year = (year + years - 1) // years * years - years + 1 if year > 0 else _century(year, years) * years + 1
    elif field not in ("year", "month"):
        raise fields.unsupported(name)
    if field not in ("quarter", "month"):
        month = 1
    if not valid_julian(year, month):
        raise _timestamp_range()
    return (julian_day(year, month, 1) - POSTGRES_EPOCH) * DAY_LENGTH


_LENGTHS_OF = {
    "microsecond": 1,
    "millisecond": 1000,
    "second": _SECOND,
    "minute": _MINUTE,
    "hour": _HOUR,
    "day": DAY_LENGTH,
}


def _trunc(call: Call) -> Function:
    major = call.context.major

    def run(name: str, moment: Moment) -> Moment:
        if isinstance(moment, float):
            if major >= 18:
                _truncated(_TIMESTAMP, name, 0)
            return moment
        return _checked(_truncated(_TIMESTAMP, name, moment))

    return run


def _trunc_interval(call: Call) -> Function:
    context = call.context

    def run(name: str, interval: Interval) -> Interval:
        if _is_infinite(context, interval) and context.major < 18:
            return interval
        field = _INTERVAL.named(name)
        years, months = _towards_zero(interval.months, 12)
        counted = {"year": 1, "decade": 10, "century": 100, "millennium": 1000}.get(field)
        if counted is not None:
            found = Interval(_towards_zero(years, counted)[0] * counted * 12, 0, 0)
        elif field == "quarter":
            found = Interval(years * 12 + _towards_zero(months, 3)[0] * 3, 0, 0)
        elif field == "month":
            found = Interval(interval.months, 0, 0)
        elif field == "day":
            found = Interval(interval.months, interval.days, 0)
        elif field in _LENGTHS_OF:
            length = _LENGTHS_OF[field]
            found = Interval(interval.months, interval.days, _towards_zero(interval.microseconds, length)[0] * length)
        else:
            detail = "Months usually have fractional weeks." if field == "week" else None
            raise _INTERVAL.unsupported(name, detail)
        return interval if _is_infinite(context, interval) else found

    return run


_NO_LETTER = ("+", "-", *"0123456789")


class _Zone:
    """A zone by its name: its offset in seconds east at a local time, and at a moment."""

    def __init__(self, context: Context, name: str) -> None:
        from pubcheck.postgres.literals import zones
        from pubcheck.postgres.literals.datetime_fields import Fault

        self._zones = zones
        word = name.lower()
        short = zones.abbreviation(context.inputs, word)
        if short is not None:
            if short.zone:
                raise Unknowable(f'the offset of the abbreviation "{name}"')
            self.zone = zones.Zone("", short.offset)
            return
        try:
            # A specification of POSIX may do without an abbreviation.
            self.zone = zones.named(context.inputs, f"x{word}" if word[:1] in _NO_LETTER else word)
        except Fault:
            raise failed("22023", f'time zone "{name}" not recognized') from None
        if self.zone.offset is None and (not self.zone.name or zones.rules(self.zone.name) is None):
            raise Unknowable(f'the rules of the time zone "{name}"')

    def to_utc(self, local: int) -> int:
        zone = self.zone
        if zone.offset is not None:
            return local - zone.offset * _SECOND
        year, month, day, time = _parts(local)
        if not 1902 <= year <= 2100:
            raise Unknowable("offsets of time zones in the far past and future")
        at = (year, month, day, time // _HOUR, time // _MINUTE % 60, time // _SECOND % 60)
        return local - self._zones.offset_at(zone, at) * _SECOND

    def to_local(self, moment: int) -> int:
        zone = self.zone
        if zone.offset is not None:
            return moment + zone.offset * _SECOND
        from datetime import UTC, datetime, timedelta

        year = _parts(moment)[0]
        if not 1902 <= year <= 2100:
            raise Unknowable("offsets of time zones in the far past and future")
        known = self._zones.rules(zone.name)
        assert known is not None
        at = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=moment // _SECOND)
        offset = at.astimezone(known).utcoffset()
        assert offset is not None
        return moment + int(offset.total_seconds()) * _SECOND


def _zoned(convert: Callable[[_Zone, int], int]) -> Maker:
    def make(call: Call) -> Function:
        known: dict[str, _Zone] = {}

        def run(name: str, moment: Moment) -> Moment:
            if isinstance(moment, float):
                return moment
            zone = known.get(name)
            if zone is None:
                zone = known[name] = _Zone(call.context, name)
            return _checked(convert(zone, moment))

        return run

    return make


def _trunc_zoned(call: Call) -> Function:
    known: dict[str, _Zone] = {}

    def run(name: str, moment: Moment, zone_name: str) -> Moment:
        if isinstance(moment, float) and call.context.major < 18:
            return moment
        zone = known.get(zone_name)
        if zone is None:
            zone = known[zone_name] = _Zone(call.context, zone_name)
        if isinstance(moment, float):
            _truncated(_TIMESTAMPTZ, name, 0)
            return moment
        local = zone.to_local(moment)
        found = _truncated(_TIMESTAMPTZ, name, local)
        if _TIMESTAMPTZ.named(name) in _OF_TIME:
            return _checked(moment - (local - found))
        return _checked(zone.to_utc(found))

    return run


def _shifted(sign: int) -> Function:
    def shift(interval: Interval, moment: Moment) -> Moment:
        if interval.months or interval.days:
            raise Unknowable("the text of an interval that is no time zone")
        if isinstance(moment, float):
            return moment
        seconds = _towards_zero(interval.microseconds, _SECOND)[0]
        return _checked(moment + sign * seconds * _SECOND)

    return shift


# Making.


def _make_date(year: int, month: int, day: int) -> int:
    shown = year + 1 if -(1 << 31) < year < 0 else year
    problem = failed("22008", f"date field value out of range: {shown}-{month:02d}-{day:02d}")
    if year in (0, -(1 << 31)) or not 1 <= month <= 12 or not 1 <= day <= _month_length(shown, month):
        raise problem
    if not valid_julian(shown, month):
        raise failed("22008", f"date out of range: {year}-{month:02d}-{day:02d}")
    return julian_day(shown, month, day) - POSTGRES_EPOCH


def _overlaps(left_start: Any, left_end: Any, right_start: Any, right_end: Any) -> bool | None:
    """overlaps_timestamp: the ends may be NULL and in any order."""
    one, two, three, four = left_start, left_end, right_start, right_end
    if one is None:
        if two is None:
            return None
        one, two = two, None
    elif two is not None and one > two:
        one, two = two, one
    if three is None:
        if four is None:
            return None
        three, four = four, None
    elif four is not None and three > four:
        three, four = four, three
    if one == three:
        # They begin together; an end that is not known says nothing, as the start already tells.
        return None if two is None or four is None else True
    if one > three:
        one, two, three, four = three, four, one, two
    if two is None:
        return None
    if three < two:
        return True
    return None if four is None else False


def _overlapping_lengths(first: bool, second: bool) -> Maker:
    """Where an interval stands for an end it is counted from its start."""

    def make(call: Call) -> Function:
        name = call.context.cache.type(call.expr.args[0].type).name
        add = (_time_plus(1) if name == "time" else MAKERS["timestamp_pl_interval"])(call)

        def test(one: Any, two: Any, three: Any, four: Any) -> bool | None:
            if first:
                two = None if one is None or two is None else add(one, two)
            if second:
                four = None if three is None or four is None else add(three, four)
            return _overlaps(one, two, three, four)

        return test

    return make


for _kind in ("timestamp", "time"):
    for _first, _second in ((True, True), (True, False), (False, True)):
        _ends = (("interval" if _first else _kind), ("interval" if _second else _kind))
        MAKERS[f"overlaps({_kind},{_ends[0]},{_kind},{_ends[1]})"] = _overlapping_lengths(_first, _second)
for _kind in ("timestamp", "timestamptz", "time", "timetz"):
    FUNCTIONS[f"overlaps({_kind},{_kind},{_kind},{_kind})"] = _overlaps

for _kind in ("timestamp", "timestamptz"):
    FUNCTIONS[f"{_kind}({_kind},int4)"] = _scaled
FUNCTIONS["time(time,int4)"] = lambda time, precision: _scaled(time, precision) if 0 <= precision < 6 else time
MAKERS |= {
    "time_pl_interval": _time_plus(1),
    "time_mi_interval": _time_plus(-1),
    "interval_pl_time": _swapped(_time_plus(1)),
    "timetz_pl_interval": _timetz_plus(1),
    "timetz_mi_interval": _timetz_plus(-1),
    "interval_pl_timetz": _swapped(_timetz_plus(1)),
    "interval(interval,int4)": _restricted,
    "interval_pl": _added(1),
    "interval_mi": _added(-1),
    "interval_mul": _multiplied,
    "mul_d_interval": _swapped(_multiplied),
    "interval_div": _divided,
    "timezone(text,timestamp)": _zoned(_Zone.to_utc),
    "timezone(text,timestamptz)": _zoned(_Zone.to_local),
    "date_trunc(text,timestamptz,text)": _trunc_zoned,
    "date_trunc(text,interval)": _trunc_interval,
    "date_trunc(text,timestamp)": _trunc,
    "isfinite(interval)": lambda call: lambda interval: not _is_infinite(call.context, interval),
}
FUNCTIONS |= {
    "timezone(interval,timestamp)": _shifted(-1),
    "timezone(interval,timestamptz)": _shifted(1),
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
    "timestamp(date)": _midnight,
    "date(timestamp)": _day_of,
    "time(timestamp)": _time_of,
    "time(interval)": lambda interval: interval.microseconds % DAY_LENGTH,
    "time(timetz)": lambda time: time[0] - time[1] * _SECOND,
    "interval(time)": lambda time: Interval(0, 0, time),
    "time_mi_time": lambda left, right: Interval(0, 0, left - right),
    "interval_cmp": span_order,
    "interval_larger": lambda left, right: left if span(left) > span(right) else right,
    "interval_smaller": lambda left, right: left if span(left) < span(right) else right,
    "interval_um": _negated,
    "justify_hours": _justify_hours,
    "justify_days": _justify_days,
    "isfinite(date)": lambda date: not _infinite(date),
    "isfinite(timestamp)": lambda moment: not _infinite(moment),
    "isfinite(timestamptz)": lambda moment: not _infinite(moment),
    "make_date": _make_date,
}
