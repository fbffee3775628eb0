"""Intervals out of their fields, and of ISO 8601 durations.

Follows utils/adt/datetime.c (DecodeInterval, DecodeISO8601Interval) and timestamp.c (interval_in,
AdjustIntervalForTypmod).
"""

from __future__ import annotations

import math
import re

from pubcheck.postgres.datum import DAY_LENGTH, INFINITE_INTERVAL, MINUS_INFINITE_INTERVAL, Interval
from pubcheck.postgres.input import input_error
from pubcheck.postgres.input.datetime_fields import (
    KEYWORDS,
    PLUS_INFINITY,
    SIGNED,
    TIME,
    UNITS,
    WORD,
    WORD_LENGTH,
    Fault,
    Field,
    Fields,
    clock,
    fraction,
    leading_integer,
    out_of_range,
    split,
    time_of_day,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pubcheck.postgres.input import InputContext

_SECOND_LENGTH = 1_000_000
_HOUR_LENGTH = 3_600_000_000
_ROOM = 256

# Bits of a type modifier's fields (INTERVAL_MASK).
_MONTHS, _YEARS, _DAYS, _HOURS, _MINUTES, _SECONDS = 1 << 1, 1 << 2, 1 << 3, 1 << 10, 1 << 11, 1 << 12
_FULL_RANGE, _FULL_PRECISION = 0x7FFF, 0xFFFF

# Fields of a type modifier -> (what a bare number counts, which parts are kept).
_TIMES = {
    _YEARS: ("year", "years"),
    _MONTHS: ("month", "months"),
    _YEARS | _MONTHS: ("month", "months"),
    _DAYS: ("day", "days"),
    _HOURS: ("hour", "hours"),
    _DAYS | _HOURS: ("hour", "hours"),
    _MINUTES: ("minute", "minutes"),
    _HOURS | _MINUTES: ("minute", "minutes"),
    _DAYS | _HOURS | _MINUTES: ("minute", "minutes"),
    _SECONDS: ("second", "seconds"),
    _MINUTES | _SECONDS: ("second", "seconds"),
    _HOURS | _MINUTES | _SECONDS: ("second", "seconds"),
    _DAYS | _HOURS | _MINUTES | _SECONDS: ("second", "seconds"),
    _FULL_RANGE: ("second", "seconds"),
}

_OF_TIME = {
    "microsecond": 1, "millisecond": 1000, "second": _SECOND_LENGTH, "minute": 60 * _SECOND_LENGTH, "hour": _HOUR_LENGTH
}  # fmt: skip
_OF_YEARS = {"year": 1, "decade": 10, "century": 100, "millennium": 1000}


class Span:
    """Years, months, days and microseconds as they add up, each within its integer. Raises Fault beyond."""

    def __init__(self) -> None:
        self.years = self.months = self.days = self.microseconds = 0

    def add_time(self, value: int, part: float, length: int) -> None:
        self.microseconds = _within(self.microseconds + _within(value * length, 64), 64)
        self.add_part(part, length)

    def add_part(self, part: float, length: int) -> None:
        """A part of something that is ``length`` microseconds long."""
        exact = part * length
        whole = int(exact)
        rest = exact - whole
        whole += 1 if rest > 0.5 else -1 if rest < -0.5 else 0
        self.microseconds = _within(self.microseconds + whole, 64)

    def add_days(self, value: int, part: float = 0.0, length: int = 1) -> None:
        self.days = _within(self.days + _within(_within(value) * length))
        if length == 1:
            self.add_part(part, DAY_LENGTH)
        else:
            self.add_part_of_days(part, length)

    def add_part_of_days(self, part: float, length: int) -> None:
        exact = part * length
        whole = int(exact)
        self.days = _within(self.days + whole)
        self.add_part(exact - whole, DAY_LENGTH)

    def add_months(self, value: int, part: float = 0.0) -> None:
        self.months = _within(self.months + _within(value))
        self.add_part_of_days(part, 30)

    def add_years(self, value: int, part: float = 0.0, length: int = 1) -> None:
        self.years = _within(self.years + _within(_within(value) * length))
        self.months = _within(self.months + round(part * length * 12))

    def add(self, unit: str, value: int, part: float) -> int:
        """Add an amount of a unit and return the bits of the fields that it fills."""
        bit: int = getattr(Field, unit.upper(), 0)
        if unit in _OF_TIME:
            self.add_time(value, part, _OF_TIME[unit])
            return Field.ALL_SECONDS if unit == "second" and part else bit
        if unit in _OF_YEARS:
            self.add_years(value, part, _OF_YEARS[unit])
        elif unit in ("day", "week"):
            self.add_days(value, part, 7 if unit == "week" else 1)
        elif unit == "month":
            self.add_months(value, part)
        else:
            raise Fault(Fault.BAD_FORMAT)
        return bit

    def negate(self) -> None:
        self.years, self.months, self.days = _within(-self.years), _within(-self.months), _within(-self.days)
        self.microseconds = _within(-self.microseconds, 64)


def _within(value: int, bits: int = 32) -> int:
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise Fault(Fault.FIELD_OVERFLOW)
    return value


def read(context: InputContext, text: str, typmod: int) -> Interval:
    """interval_in. Raises Fault, and ServerError 22008 and 22023."""
    fields_of = typmod >> 16 & _FULL_RANGE if typmod >= 0 else _FULL_RANGE
    span: Span | Interval
    try:
        span = _Reader(context, fields_of).read(split(text, _ROOM))
    except Fault as fault:
        if fault.kind != Fault.BAD_FORMAT:
            raise
        span = _duration(text)
    if not isinstance(span, Span):
        return span
    months = span.years * 12 + span.months
    last = (1 << 31) - 1
    if not -last - 1 <= months <= last:
        raise out_of_range("interval")
    if (
        context.major.infinite_intervals
        and abs(2 * months + 1) == 2 * last + 1
        and abs(2 * span.days + 1) == 2 * last + 1
    ):
        # The extremes of all three parts are the infinities.
        time = span.microseconds
        if (months > 0) == (span.days > 0) and time == ((1 << 63) - 1 if months > 0 else -(1 << 63)):
            raise out_of_range("interval")
    return restrict_to_fields(context, months, span.days, span.microseconds, fields_of, typmod)


def restrict_to_fields(
    context: InputContext, months: int, days: int, time: int, fields_of: int, typmod: int
) -> Interval:
    """Return the interval without the fields that its type does not keep, in microseconds (AdjustIntervalForTypmod)."""
    smallest = _TIMES.get(fields_of, ("", "seconds"))[1]
    if smallest in ("years", "months", "days"):
        time = 0
    if smallest in ("years", "months"):
        days = 0
    if smallest == "years":
        months = int(months / 12) * 12
    length = {"hours": _HOUR_LENGTH, "minutes": 60 * _SECOND_LENGTH}.get(smallest, 1)
    time = abs(time) // length * length * (-1 if time < 0 else 1)
    precision = typmod & _FULL_PRECISION
    if typmod >= 0 and precision != _FULL_PRECISION:
        if precision > 6:
            raise input_error("22023", f"interval({precision}) precision must be between 0 and 6")
        unit = 10 ** (6 - precision)
        rounded = abs(time) + unit // 2
        if context.major.interval_rounding_checked and rounded >= 1 << 63:
            raise out_of_range("interval")
        time = rounded // unit * unit * (-1 if time < 0 else 1)
    return Interval(months, days, time)


class _Reader:
    """Reads fields from the last to the first, because units follow their numbers."""

    def __init__(self, context: InputContext, fields_of: int) -> None:
        self.major = context.major
        self.bare_unit = _TIMES.get(fields_of, ("second", ""))[0]
        self.minutes_to_seconds = fields_of == _MINUTES | _SECONDS
        self.sql_style = context.setting("intervalstyle") == "sql_standard"
        self.span = Span()

    def read(self, fields: Fields) -> Span | Interval:
        """Raises Fault."""
        signs = [text for _, text in fields if text[0] in "+-"]
        # In SQL's style one sign at the very beginning is that of all fields.
        self.all_negative = self.sql_style and bool(fields) and fields[0][1][0] == "-" and len(signs) == 1
        self.unit: str | None = None
        self.unit_open = ago = False
        infinite: Interval | None = None
        seen = 0
        for index in range(len(fields) - 1, -1, -1):
            kind, text = fields[index]
            fields_read = 0
            if kind != WORD:
                fields_read = self._quantity(kind, text)
            else:
                if self.unit_open and self.major.strict_intervals:
                    raise Fault(Fault.BAD_FORMAT)
                word = self._word(text)
                if word == "ignored":
                    self.unit = None
                    continue
                last = index == len(fields) - 1
                if word == "ago":
                    if self.major.strict_intervals and not last:
                        raise Fault(Fault.BAD_FORMAT)
                    ago, self.unit = True, ""
                elif word in ("infinity", "-infinity"):
                    if not last:
                        raise Fault(Fault.BAD_FORMAT)
                    fields_read, self.unit = Field.WHOLE_DATE | Field.WHOLE_TIME, ""
                    infinite = MINUS_INFINITE_INTERVAL if word == "-infinity" else INFINITE_INTERVAL
                else:
                    self.unit, self.unit_open = word, True
            if fields_read & seen:
                raise Fault(Fault.BAD_FORMAT)
            seen |= fields_read
        if not seen or (self.unit_open and self.major.strict_intervals):
            raise Fault(Fault.BAD_FORMAT)
        if ago:
            self.span.negate()
        return infinite or self.span

    def _word(self, text: str) -> str:
        """A unit, "ago", an infinity or "ignored"."""
        if text == "ago":
            return text
        unit = UNITS.get(text[:WORD_LENGTH])
        if unit is not None:
            return unit
        if self.major.infinite_intervals:
            kind, value = PLUS_INFINITY if text == "+infinity" else KEYWORDS.get(text, ("", None))
            if kind == "ignored":
                return kind
            if kind == "unit":
                return str(value)
            if value in ("infinity", "-infinity"):
                return str(value)
        raise Fault(Fault.BAD_FORMAT)

    def _quantity(self, kind: int, text: str) -> int:
        if kind == TIME:
            self._set_clock(text)
            return Field.WHOLE_TIME
        if kind == SIGNED and ":" in text:
            try:
                self._set_clock(text[1:], negative=text[0] == "-")
            except Fault:
                pass  # no clock time; as a number it is refused too
            else:
                return Field.WHOLE_TIME
        if self.unit is None:
            self.unit = self.bare_unit
        value, rest = leading_integer(text, 64)
        part = 0.0
        if rest[:1] == "-":
            # SQL's years and months: 1-2.
            months, junk = leading_integer(rest[1:])
            if not 0 <= months < 12:
                raise Fault(Fault.FIELD_OVERFLOW)
            if junk:
                raise Fault(Fault.BAD_FORMAT)
            self.unit = "month"
            value = _within(_within(value * 12, 64) + (-months if text[0] == "-" else months), 64)
        elif rest[:1] == ".":
            part = fraction(rest)
            if text[0] == "-":
                part = -part
        elif rest:
            raise Fault(Fault.BAD_FORMAT)
        if self.all_negative:
            value, part = -abs(value), -abs(part)
        fields_read = self.span.add(self.unit, value, part)
        if self.unit == "hour":
            self.unit = "day"
        self.unit_open = False
        return fields_read

    def _set_clock(self, text: str, negative: bool = False) -> None:
        """Set the clock time; a bare number before it counts days."""
        time = _within(time_of_day(*clock(text, self.minutes_to_seconds)), 64)
        if negative or self.all_negative:
            time = -time
        self.span.microseconds = time
        self.unit = "day"
        self.unit_open = False


# What strtod() takes: digits with a fraction and an exponent, hexadecimal ones, infinities and not-a-number. Compiled
# when first met.
_DOUBLE = (
    r"-?(?:(?P<hex>0[xX](?:[0-9a-fA-F]+(?:\.[0-9a-fA-F]*)?|\.[0-9a-fA-F]+)(?:[pP][-+]?[0-9]+)?)"
    r"|(?P<decimal>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<odd>[iI][nN][fF](?:[iI][nN][iI][tT][yY])?|[nN][aA][nN](?:\([0-9A-Za-z_]*\))?))"
)
_SMALLEST_NORMAL = 2.2250738585072014e-308


class _Duration:
    """An ISO 8601 duration as it is read from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.place = 1

    def number(self) -> tuple[int, float]:
        """The number at the place: its whole part and the rest. Raises Fault."""
        match = re.compile(_DOUBLE).match(self.text, self.place)
        if match is None or self.peek() in "iInN":
            raise Fault(Fault.BAD_FORMAT)
        self.place = match.end()
        if match["odd"] is not None:
            raise Fault(Fault.FIELD_OVERFLOW)
        try:
            value = float(match[0]) if match["hex"] is None else float.fromhex(match[0])
        except OverflowError:
            raise Fault(Fault.BAD_FORMAT) from None
        mantissa = re.split("[eEpP]" if match["hex"] is None else "[pP]", match[0])[0]
        lost = abs(value) < _SMALLEST_NORMAL and mantissa.strip("-0.xX")
        if math.isinf(value) or lost:
            raise Fault(Fault.BAD_FORMAT)
        if abs(value) > 1e15:
            raise Fault(Fault.FIELD_OVERFLOW)
        whole = math.trunc(value)
        return whole, value - whole

    def peek(self) -> str:
        return self.text[self.place : self.place + 1]

    def next(self) -> str:
        self.place += 1
        return self.text[self.place - 1 : self.place]


def _duration(text: str) -> Span:
    """P1Y2M3DT4H5M6S, P0001-02-03T04:05:06, P00010203T040506. Raises Fault (DecodeISO8601Interval)."""
    if len(text) < 2 or text[0] != "P":
        raise Fault(Fault.BAD_FORMAT)
    span, reading = Span(), _Duration(text)
    in_date, has_field = True, False
    while reading.peek():
        if reading.peek() == "T":
            in_date, has_field = False, False
            reading.next()
            continue
        start = reading.place
        value, part = reading.number()
        width = len(_WIDTH.match(text, start)[1])  # type: ignore[index]  # it matches the empty string
        unit = reading.next()
        if not in_date:
            if _time_part(span, reading, unit, value, part, width, has_field):
                return span
        elif unit in ("Y", "M", "W", "D"):
            span.add({"Y": "year", "M": "month", "W": "week", "D": "day"}[unit], value, part)
        elif unit in ("T", "", "-"):
            if _alternative_date(span, reading, unit, value, part, width, has_field):
                return span
            in_date, has_field = False, False
            continue
        else:
            raise Fault(Fault.BAD_FORMAT)
        has_field = True
    return span


_WIDTH = re.compile(r"-?([0-9]*)")


def _alternative_date(
    span: Span, reading: _Duration, unit: str, value: int, part: float, width: int, has_field: bool
) -> bool:
    """yyyymmdd or yyyy-mm-dd; True at the end of the text, False where a time follows."""
    if unit != "-" and width == 8 and not has_field:
        size, sign = abs(value), -1 if value < 0 else 1
        span.add_years(sign * (size // 10000))
        span.add_months(sign * (size // 100 % 100))
        span.add_days(sign * (size % 100), part)
        return not unit
    if has_field:
        raise Fault(Fault.BAD_FORMAT)
    span.add_years(value, part)
    if unit != "-":
        return not unit
    span.add_months(*reading.number())
    if reading.peek() not in ("", "T"):
        if reading.next() != "-":
            raise Fault(Fault.BAD_FORMAT)
        span.add_days(*reading.number())
    if reading.peek() not in ("", "T"):
        raise Fault(Fault.BAD_FORMAT)
    # A "T" stays: the next turn takes it.
    return not reading.peek()


def _time_part(span: Span, reading: _Duration, unit: str, value: int, part: float, width: int, has_field: bool) -> bool:
    """A number of hours, minutes or seconds, or a whole hhmmss or hh:mm:ss; True at the end of the text."""
    if unit in ("H", "M", "S"):
        span.add({"H": "hour", "M": "minute", "S": "second"}[unit], value, part)
        return False
    if unit not in ("", ":"):
        raise Fault(Fault.BAD_FORMAT)
    if not unit and width == 6 and not has_field:
        size, sign = abs(value), -1 if value < 0 else 1
        span.add_time(sign * (size // 10000), 0, _HOUR_LENGTH)
        span.add_time(sign * (size // 100 % 100), 0, 60 * _SECOND_LENGTH)
        span.add_time(sign * (size % 100), 0, _SECOND_LENGTH)
        span.add_part(part, 1)
        return True
    if has_field:
        raise Fault(Fault.BAD_FORMAT)
    span.add_time(value, part, _HOUR_LENGTH)
    for length, more in ((60 * _SECOND_LENGTH, True), (_SECOND_LENGTH, False)):
        if not unit:
            break
        value, part = reading.number()
        span.add_time(value, part, length)
        unit = reading.next() if reading.peek() else ""
        if unit and not (more and unit == ":"):
            raise Fault(Fault.BAD_FORMAT)
    return True
