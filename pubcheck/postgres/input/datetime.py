"""Input of date, time, time with time zone, timestamp, timestamp with time zone and interval.

Follows utils/adt/date.c and timestamp.c. Values of one type compare with each other: dates are days, the others
microseconds, since 2000-01-01 where they are points; a time with time zone is a pair; infinities are infinite floats.
A value whose zone is unknown is computed in UTC. Its dependencies are added to ``context.frozen``. In a time of day
words and numbers have other meanings than in a date (DecodeTimeOnly).
"""

from __future__ import annotations

import math
import re

from pubcheck.postgres.datum import (
    DAY_LENGTH,
    POSTGRES_EPOCH,
    UNIX_EPOCH,
    calendar,
    julian_day,
    month_length,
    valid_julian,
)
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import END_DAY, END_TIMESTAMP, FIRST_DAY, FIRST_TIMESTAMP, input_error
from pubcheck.postgres.input.datetime_decode import Moment, now
from pubcheck.postgres.input.datetime_fields import DATE, TIME, Fault, Field, clock, out_of_range, refusal, split

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from pubcheck.postgres.datum import Interval
    from pubcheck.postgres.input import InputContext
    from pubcheck.postgres.input.datetime_decode import Moment

    Value = int | float | tuple[int, int]
    Reader = Callable[[str], tuple[Value, Moment]]

# Sizes of the server's buffers; a text that does not fit is refused.
_ROOM = 129
_TIMESTAMP_ROOM = 153

# The spellings that nearly all literals have. What they do not match is read field by field.
_PLAIN_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})\Z")
_PLAIN_TIMESTAMP = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})"
    r"(?:[ T]([01][0-9]|2[0-3]):([0-5][0-9])(?::([0-5][0-9])(?:\.([0-9]{1,6}))?)?"
    r"(Z|[-+](?:0[0-9]|1[0-5])(?::?[0-5][0-9])?)?)?\Z"
)
_ORDERS = ("MDY", "DMY", "YMD")


def read_date(context: InputContext, text: str, typmod: int = -1) -> int | float:
    """Days. Raises ServerError 22007, 22008, 22009 and 22023, and Unknowable."""
    match = _PLAIN_DATE.match(text)
    if match is not None:
        days = _plain_days(match[1], match[2], match[3])
        if days is not None:
            return days
    value = _in_any_order(context, text, "date", _ROOM, lambda moment: _date(moment, text))
    assert not isinstance(value, tuple)
    return value


def read_timestamp(context: InputContext, text: str, typmod: int = -1) -> int | float:
    """Microseconds; ``typmod`` is a precision. Raises as read_date."""
    return _read_timestamp(context, text, typmod, zoned=False)


def read_timestamptz(context: InputContext, text: str, typmod: int = -1) -> int | float:
    """Microseconds, in UTC; ``typmod`` is a precision. Raises as read_date."""
    return _read_timestamp(context, text, typmod, zoned=True)


def read_time(context: InputContext, text: str, typmod: int = -1) -> int:
    """Microseconds of the day; ``typmod`` is a precision. Raises as read_date."""
    value = _in_any_order(context, text, "time", _ROOM, lambda moment: _rounded(_time(moment), typmod, "time"), True)
    assert isinstance(value, int)
    return value


def read_timetz(context: InputContext, text: str, typmod: int = -1) -> tuple[int, int]:
    """(microseconds of the day in UTC, seconds west); ``typmod`` is a precision. Raises as read_date."""

    def pair(moment: Moment) -> Value:
        if moment.zoneless:
            context.frozen.add("zone")
        time = int(_rounded(_time(moment), typmod, "time"))
        return time - moment.offset * 1_000_000, -moment.offset

    value = _in_any_order(context, text, "time with time zone", _ROOM, pair, True)
    assert isinstance(value, tuple)
    return value


def read_interval(context: InputContext, text: str, typmod: int = -1) -> Interval:
    """``typmod`` holds fields and a precision. Raises ServerError 22007, 22008 and 22015."""
    from pubcheck.postgres.input import intervals

    try:
        return intervals.read(context, text, typmod)
    except Fault as fault:
        raise refusal(fault, text, "interval", context.major) from None


def _read_timestamp(context: InputContext, text: str, typmod: int, zoned: bool) -> int | float:
    match = _PLAIN_TIMESTAMP.match(text)
    if match is not None and (match[8] is not None or not zoned or context.setting("timezone") is None):
        days = _plain_days(match[1], match[2], match[3])
        if days is not None:
            time = (int(match[4] or 0) * 60 + int(match[5] or 0)) * 60 + int(match[6] or 0)
            zone = match[8]
            if zoned and zone is None:
                context.frozen.add("zone")
            elif zoned and zone != "Z":
                digits = zone[1:].replace(":", "")
                offset = int(digits[:2]) * 3600 + int(digits[2:] or 0) * 60
                time += offset if zone[0] == "-" else -offset
            fraction = int((match[7] or "0").ljust(6, "0"))
            return _rounded(days * DAY_LENGTH + time * 1_000_000 + fraction, typmod, "timestamp")

    def timestamp(moment: Moment) -> Value:
        if zoned and moment.zoneless and moment.what == "date":
            context.frozen.add("zone")
        return _rounded(_timestamp(moment, text, zoned), typmod, "timestamp")

    name = "timestamp with time zone" if zoned else "timestamp"
    value = _in_any_order(context, text, name, _TIMESTAMP_ROOM, timestamp)
    assert not isinstance(value, tuple)
    return value


def _plain_days(year_text: str, month_text: str, day_text: str) -> int | None:
    """Days since 2000 of a date in digits; None where it is not one."""
    year, month, day = int(year_text), int(month_text), int(day_text)
    if not (year and 1 <= month <= 12 and 1 <= day <= month_length(year, month)):
        return None
    return julian_day(year, month, day) - POSTGRES_EPOCH


def _in_any_order(
    context: InputContext, text: str, type_name: str, room: int, value_of: Callable[[Moment], Value], time: bool = False
) -> Value:
    """Return the value of a text under the session's DateStyle, or under all styles if the unit does not set it.

    Raises ServerError, and Unknowable if an order other than the server's default accepts a text that the default
    refuses.
    """
    style = context.setting("datestyle") or ""
    # German dates begin with their day, unless an order is set next to it.
    order_set = next((order for order in _ORDERS if order in style), "DMY" if style == "German" else None)
    value, ordered = _in_order(context, text, type_name, room, value_of, order_set or "MDY", time)
    if order_set is None and ordered:
        other_values = [_in_order(context, text, type_name, room, value_of, order, time)[0] for order in ("DMY", "YMD")]
        if isinstance(value, ServerError):
            if not all(isinstance(other_value, ServerError) for other_value in other_values):
                raise Unknowable("the session's DateStyle")
        elif any(other_value != value for other_value in other_values):
            context.frozen.add("datestyle")
    if isinstance(value, ServerError):
        raise value
    return value


def _in_order(
    context: InputContext,
    text: str,
    type_name: str,
    room: int,
    value_of: Callable[[Moment], Value],
    order: str,
    time: bool,
) -> tuple[Value | ServerError, bool]:
    """The value or the error under one order, and whether the order mattered."""
    # Imported here: most literals are plain.
    from pubcheck.postgres.input.datetime_decode import Moment

    moment = TimeOfDay(context, order) if time else Moment(context, order)
    try:
        moment.read(split(text, room))
        value: Value | ServerError = value_of(moment)
    except Fault as fault:
        return refusal(fault, text, type_name, context.major), moment.ordered
    except ServerError as error:
        return error, moment.ordered
    if moment.now:
        context.frozen.add("now")
    return value, moment.ordered


def _date(moment: Moment, text: str) -> Value:
    if moment.what != "date":
        return {"epoch": UNIX_EPOCH, "infinity": math.inf, "-infinity": -math.inf}[moment.what]
    if not valid_julian(moment.year, moment.month):
        raise out_of_range("date", text)
    days = julian_day(moment.year, moment.month, moment.day) - POSTGRES_EPOCH
    if not FIRST_DAY <= days < END_DAY:
        raise out_of_range("date", text)
    return days


def _timestamp(moment: Moment, text: str, zoned: bool) -> int | float:
    """tm2timestamp."""
    if moment.what != "date":
        return {"epoch": UNIX_EPOCH * DAY_LENGTH, "infinity": math.inf, "-infinity": -math.inf}[moment.what]
    if not valid_julian(moment.year, moment.month):
        raise out_of_range("timestamp", text)
    days = julian_day(moment.year, moment.month, moment.day) - POSTGRES_EPOCH
    time = _time(moment)
    if moment.hour > 99:
        # Up to 15 "h99999999" is an hour; its seconds overflow, and the sum is checked for that.
        seconds = ((time // 1_000_000 + (1 << 31)) & 0xFFFFFFFF) - (1 << 31)
        time = seconds * 1_000_000 + moment.microsecond
        total = days * DAY_LENGTH + time
        if (total < 0 and days > 0) or (total > 0 and days < -1):
            raise out_of_range("timestamp", text)
    value = days * DAY_LENGTH + time - (moment.offset * 1_000_000 if zoned else 0)
    if not FIRST_TIMESTAMP <= value < END_TIMESTAMP:
        raise out_of_range("timestamp", text)
    return value


def _time(moment: Moment) -> int:
    return ((moment.hour * 60 + moment.minute) * 60 + moment.second) * 1_000_000 + moment.microsecond


def _rounded(value: int | float, typmod: int, type_name: str) -> int | float:
    """A value to as many digits of a second as its type keeps (AdjustTimestampForTypmod, AdjustTimeForTypmod)."""
    if typmod == -1 or typmod == 6 or isinstance(value, float):
        return value
    if not 0 <= typmod <= 6:
        if type_name == "time":
            return value
        raise input_error("22023", f"{type_name}({typmod}) precision must be between 0 and 6")
    unit: int = 10 ** (6 - typmod)
    rounded = (abs(value) + unit // 2) // unit * unit
    return rounded if value >= 0 else -rounded


class TimeOfDay(Moment):
    """A time of day; its zone may need a date next to it."""

    def _date_field(self, text: str) -> int:
        fields = self.fields
        if self.index == 0 and len(fields) >= 2 and (fields[-1][0] == DATE or fields[1][0] == TIME):
            return self._delimited_date(text)
        if text[0].isdecimal():
            return self._time_and_displacement(text, self.seen | Field.WHOLE_DATE)
        return self._zone_name(text)

    def _time_field(self, text: str) -> int:
        if self.major.strict_dates:
            if self.pending not in (None, "time"):
                raise Fault(Fault.BAD_FORMAT)
            self.pending = None
        self._set_time(*clock(text))
        return Field.WHOLE_TIME

    def _number_field(self, text: str) -> int:
        if self.pending is not None:
            return self._labelled(text)
        whole, dot, _ = text.partition(".")
        if dot:
            if self.index == 0 and len(self.fields) >= 2 and self.fields[-1][0] == DATE:
                return self._delimited_date(text)
            if len(whole) <= 2:
                raise Fault(Fault.BAD_FORMAT)
            return self._run_together(text, self.seen | Field.WHOLE_DATE)
        if len(text) > 4:
            return self._run_together(text, self.seen | Field.WHOLE_DATE)
        return self._number(text, False, self.seen | Field.WHOLE_DATE)

    def _reserved(self, word: str) -> int:
        if word not in ("now", "allballs"):
            raise Fault(Fault.BAD_FORMAT)
        fields_read = super()._reserved(word)
        return Field.WHOLE_TIME if word == "now" else fields_read

    def _month_name(self, number: int) -> int:
        raise Fault(Fault.BAD_FORMAT)

    def _word(self, text: str) -> int:
        fields_read = super()._word(text)
        if fields_read == Field.WEEKDAY:
            raise Fault(Fault.BAD_FORMAT)
        return fields_read

    def _iso_time(self) -> int:
        return self._expect_time()

    def _finish(self) -> None:
        self._check_date()
        self._apply_meridiem()
        self._check_time()
        if not self._has(Field.WHOLE_TIME):
            raise Fault(Fault.BAD_FORMAT)
        dated, partly = self._has(Field.WHOLE_DATE), bool(self.seen & Field.WHOLE_DATE)
        zone = self.named_zone
        if zone is not None and zone.offset is None and not (self.seen & Field.SUMMER) and not dated:
            raise Fault(Fault.BAD_FORMAT)
        if partly and not dated and (self.dynamic_zone is not None or not self.seen & Field.ZONE):
            raise Fault(Fault.BAD_FORMAT)
        if not dated:
            self.year, self.month, self.day = calendar(now() // DAY_LENGTH)
        self._apply_zone()
