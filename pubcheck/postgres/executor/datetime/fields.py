"""The fields of dates, times and intervals: extract(), date_part() and date_trunc() (utils/adt/timestamp.c, date.c)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, Protocol

from pubcheck.postgres import oids
from pubcheck.postgres.datum import DAY_LENGTH, POSTGRES_EPOCH, UNIX_EPOCH, Interval, calendar, julian_day, valid_julian
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import numeric
from pubcheck.postgres.executor.datetime.intervals import (
    HOUR,
    MINUTE,
    SECOND,
    Moment,
    checked,
    is_infinite,
    midnight,
    parts,
    timestamp_range,
    towards_zero,
)
from pubcheck.postgres.executor.functions import Call, Context, Function, Maker, evaluation_error
from pubcheck.postgres.input.datetime_fields import KEYWORDS, UNITS, WORD_LENGTH


class Zone(Protocol):
    """A time zone, which converts between its local time and UTC."""

    def to_local(self, moment: int) -> int: ...

    def to_utc(self, local: int) -> int: ...


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
        raise evaluation_error("22023", f'unit "{word}" not recognized for type {self.type_name}')

    def required(self, value: Any, name: str) -> Any:
        """The value of a field. Raises ServerError 0A000 for None, a field that the type does not have."""
        if value is None:
            raise self.unsupported(name)
        return value

    def unsupported(self, name: str, detail: str | None = None) -> ServerError:
        return evaluation_error("0A000", f'unit "{name.lower()}" not supported for type {self.type_name}', detail)


TIMESTAMP = _Fields("timestamp without time zone")
TIMESTAMPTZ = _Fields("timestamp with time zone")
_DATE = _Fields("date")
_TIME = _Fields("time without time zone")
TIMETZ = _Fields("time with time zone")
_INTERVAL = _Fields("interval")
FIELDS = {oids.TIMESTAMP: TIMESTAMP, oids.TIMESTAMPTZ: TIMESTAMPTZ, oids.DATE: _DATE}
"""The fields of a type, by its OID."""
_MONOTONIC = frozenset(("year", "decade", "century", "millennium", "julian", "isoyear", "epoch"))
_OSCILLATING = frozenset(
    (
        "microsecond", "millisecond", "second", "minute", "hour", "day", "month", "quarter", "week", "dow", "isodow",
        "doy",
    )
)  # fmt: skip
_OF_ZONE = frozenset(("timezone", "timezone_hour", "timezone_minute"))
OF_TIME = frozenset(("microsecond", "millisecond", "second", "minute", "hour"))


def iso_week(year: int, month: int, day: int) -> tuple[int, int]:
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
    """Return a field of a date; None if dates do not have the field."""
    if field in ("dow", "isodow", "doy"):
        number = julian_day(year, month, day)
        if field == "doy":
            return number - julian_day(year, 1, 1) + 1
        return (number + 1) % 7 if field == "dow" else number % 7 + 1
    if field in ("week", "isoyear"):
        iso_year, week = iso_week(year, month, day)
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
    """Return a field of a time of day, or of an interval's time, whose parts have its sign."""
    sign = -1 if time < 0 else 1
    size = abs(time)
    if field == "hour":
        return sign * (size // HOUR)
    if field == "minute":
        return sign * (size // MINUTE % 60)
    seconds, fraction = (sign * part for part in divmod(size % MINUTE, SECOND))
    if field == "microsecond":
        return seconds * SECOND + fraction
    if field == "second":
        return seconds + fraction / 1e6 if as_float else Decimal(seconds * SECOND + fraction).scaleb(-6)
    if field == "millisecond":
        return seconds * 1e3 + fraction / 1e3 if as_float else Decimal(seconds * SECOND + fraction).scaleb(-3)
    return None


_PLUS, _MINUS = Decimal("Infinity"), Decimal("-Infinity")


def _endless(
    fields: _Fields, name: str, positive: bool, finite: frozenset[str], ever: frozenset[str]
) -> Decimal | None:
    """Return a field of an infinite value: infinite if the field always grows, NULL if it is cyclic."""
    field = fields.named(name)
    if field in ever:
        return _PLUS if positive else _MINUS
    if field not in finite:
        raise fields.unsupported(name)
    return None


def endless(fields: _Fields, name: str, positive: bool, as_float: bool) -> Any:
    """A field of an infinite timestamptz."""
    field = _endless(fields, name, positive, _OSCILLATING | _OF_ZONE, _MONOTONIC)
    return float(field) if as_float and field is not None else field


def date_part_of(fields: _Fields, name: str, local: int, as_float: bool) -> Any:
    """A field of a local time."""
    value = _timestamp_field(fields, name, local, as_float)
    return float(value) if as_float else Decimal(value)


def time_part_of(fields: _Fields, name: str, time: int, as_float: bool) -> Any:
    """A field of a time of day."""
    value = _field_of_time(fields, name, time, as_float)
    return float(value) if as_float else Decimal(value)


def _extract_timestamp(context: Context, name: str, moment: Moment, as_float: bool) -> Any:
    """timestamp_part_common."""
    if isinstance(moment, float):
        return _endless(TIMESTAMP, name, moment > 0, _OSCILLATING | _OF_ZONE, _MONOTONIC)
    return _timestamp_field(TIMESTAMP, name, moment, as_float)


def _timestamp_field(fields: _Fields, name: str, moment: int, as_float: bool) -> Any:
    field = fields.named(name)
    if field == "epoch":
        since = moment - UNIX_EPOCH * DAY_LENGTH
        return since / 1e6 if as_float else Decimal(since).scaleb(-6)
    year, month, day, time = parts(moment)
    if field == "julian":
        number = julian_day(year, month, day)
        if as_float:
            return number + (time // SECOND + time % SECOND / 1e6) / 86400.0
        return numeric.add(Decimal(number), numeric.divide(Decimal(time), Decimal(DAY_LENGTH)))
    value: Any = _date_field(field, year, month, day)
    if value is None:
        value = _time_field(field, time, as_float)
    return fields.required(value, name)


def _extract_date(context: Context, name: str, date: Moment, as_float: bool) -> Any:
    """extract_date."""
    field = _DATE.named(name)
    if field in OF_TIME:
        raise _DATE.unsupported(name)
    if isinstance(date, float):
        return _endless(_DATE, name, date > 0, _OSCILLATING, _MONOTONIC)
    if field == "epoch":
        return (date - UNIX_EPOCH) * 86400
    if field == "julian":
        return date + POSTGRES_EPOCH
    value = _date_field(field, *calendar(date + POSTGRES_EPOCH))
    return _DATE.required(value, name)


def _extract_time(context: Context, name: str, time: int, as_float: bool) -> Any:
    return _field_of_time(_TIME, name, time, as_float)


def _field_of_time(fields: _Fields, name: str, time: int, as_float: bool) -> Any:
    field = fields.named(name)
    if field == "epoch":
        return time / 1e6 if as_float else Decimal(time).scaleb(-6)
    value = _time_field(field, time, as_float)
    return fields.required(value, name)


_INTERVAL_EVER = frozenset(("hour", "day", "year", "decade", "century", "millennium", "epoch"))
_INTERVAL_ROUND = frozenset(("microsecond", "millisecond", "second", "minute", "month", "quarter"))


def _extract_interval(context: Context, name: str, interval: Interval, as_float: bool) -> Any:
    """interval_part_common."""
    weeks = frozenset(("week",)) if context.major.interval_weeks else frozenset[str]()
    if is_infinite(context, interval):
        return _endless(_INTERVAL, name, interval.months > 0, _INTERVAL_ROUND | weeks, _INTERVAL_EVER)
    field = _INTERVAL.named(name)
    years, months = towards_zero(interval.months, 12)
    if field == "epoch":
        # A year is 365.25 days, a month 30.
        if as_float:
            return interval.microseconds / 1e6 + 31557600.0 * years + 2592000.0 * months + 86400.0 * interval.days
        seconds = (years * 1461 * 6 + months * 30 * 24 + interval.days * 24) * 3600
        return Decimal(seconds * SECOND + interval.microseconds).scaleb(-6)
    if field in weeks:
        return towards_zero(interval.days, 7)[0]
    if field == "quarter":
        if context.major.negative_quarters and months < 0:
            return -(-months // 3 + 1)
        return towards_zero(months, 3)[0] + 1
    value: Any = {
        "year": years,
        "month": months,
        "day": interval.days,
        "decade": towards_zero(years, 10)[0],
        "century": towards_zero(years, 100)[0],
        "millennium": towards_zero(years, 1000)[0],
    }.get(field)
    if value is None:
        value = _time_field(field, interval.microseconds, as_float)
    return _INTERVAL.required(value, name)


_Extract = Callable[[Context, str, Any, bool], Any]
"""(context, field, value, whether date_part() asks, which gives a float8)"""


def _extracting(extract: _Extract, as_float: bool) -> Maker:
    def make(call: Call) -> Function:
        def run(name: str, value: Any) -> Any:
            field = extract(call.context, name, value, as_float)
            if field is None:
                return None
            return float(field) if as_float else Decimal(field)

        return run

    return make


def _part_of_date(call: Call) -> Function:
    """date_part() of a date, which is taken for a timestamp even where the field is NULL."""

    def run(name: str | None, date: Moment | None) -> float | None:
        moment = None if date is None else midnight(date)
        field = None if name is None or moment is None else _extract_timestamp(call.context, name, moment, True)
        return None if field is None else float(field)

    return run


# date_trunc.


def truncated(fields: _Fields, name: str, moment: int) -> int:
    """timestamp_trunc of a local time; whether the result is in range is the caller's to check."""
    field = fields.named(name)
    year, month, day, time = parts(moment)
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
        raise timestamp_range()
    return (julian_day(year, month, 1) - POSTGRES_EPOCH) * DAY_LENGTH


_LENGTHS_OF = {
    "microsecond": 1,
    "millisecond": 1000,
    "second": SECOND,
    "minute": MINUTE,
    "hour": HOUR,
    "day": DAY_LENGTH,
}


def truncated_in(zone: Zone, name: str, moment: Moment) -> Moment:
    """timestamptz_trunc_internal; an infinite moment has its field checked."""
    if isinstance(moment, float):
        truncated(TIMESTAMPTZ, name, 0)
        return moment
    local = zone.to_local(moment)
    start = truncated(TIMESTAMPTZ, name, local)
    if TIMESTAMPTZ.named(name) in OF_TIME:
        return checked(moment - (local - start))
    return checked(zone.to_utc(start))


def _trunc(call: Call) -> Function:
    major = call.context.major

    def run(name: str, moment: Moment) -> Moment:
        if isinstance(moment, float):
            if major.infinite_fields_checked:
                truncated(TIMESTAMP, name, 0)
            return moment
        return checked(truncated(TIMESTAMP, name, moment))

    return run


def _trunc_interval(call: Call) -> Function:
    context = call.context

    def run(name: str, interval: Interval) -> Interval:
        if is_infinite(context, interval) and not context.major.infinite_fields_checked:
            return interval
        field = _INTERVAL.named(name)
        years, months = towards_zero(interval.months, 12)
        counted = {"year": 1, "decade": 10, "century": 100, "millennium": 1000}.get(field)
        if counted is not None:
            result = Interval(towards_zero(years, counted)[0] * counted * 12, 0, 0)
        elif field == "quarter":
            result = Interval(years * 12 + towards_zero(months, 3)[0] * 3, 0, 0)
        elif field == "month":
            result = Interval(interval.months, 0, 0)
        elif field == "day":
            result = Interval(interval.months, interval.days, 0)
        elif field in _LENGTHS_OF:
            length = _LENGTHS_OF[field]
            result = Interval(interval.months, interval.days, towards_zero(interval.microseconds, length)[0] * length)
        else:
            detail = "Months usually have fractional weeks." if field == "week" else None
            raise _INTERVAL.unsupported(name, detail)
        return interval if is_infinite(context, interval) else result

    return run


_EXTRACTED: dict[str, _Extract] = {
    "timestamp": _extract_timestamp,
    "date": _extract_date,
    "time": _extract_time,
    "interval": _extract_interval,
}
MAKERS: dict[str, Maker] = {
    **{f"extract(text,{name})": _extracting(extract, False) for name, extract in _EXTRACTED.items()},
    **{f"date_part(text,{name})": _extracting(extract, True) for name, extract in _EXTRACTED.items()},
    "date_part(text,date)": _part_of_date,
    "date_trunc(text,interval)": _trunc_interval,
    "date_trunc(text,timestamp)": _trunc,
}
