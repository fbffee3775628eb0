"""Timestamps, times and intervals made of numbers, the time between two timestamps (timestamp.c, date.c), and
to_char() (utils/adt/formatting.c): the usual patterns; with any other the text is not known.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import NamedTuple

from pubcheck.postgres.datum import (
    DAY_LENGTH,
    INFINITE_INTERVAL,
    MINUS_INFINITE_INTERVAL,
    Interval,
    julian_day,
    month_length,
)
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.datetime.dates import make_date
from pubcheck.postgres.executor.datetime.fields import iso_week
from pubcheck.postgres.executor.datetime.intervals import (
    HOUR,
    INFINITIES,
    MINUTE,
    SECOND,
    Moment,
    checked,
    fitting,
    interval_range,
    is_infinite,
    parts,
    same_sign,
    towards_zero,
)
from pubcheck.postgres.executor.datetime.zones import zone_of
from pubcheck.postgres.executor.functions import Call, Function, Maker, evaluation_error


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


_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
_NAME_WIDTH = 9


class _Local(NamedTuple):
    """A local time, and what follows from its date."""

    year: int
    month: int
    day: int
    time: int

    @property
    def julian(self) -> int:
        return julian_day(self.year, self.month, self.day)

    @property
    def day_of_year(self) -> int:
        return self.julian - julian_day(self.year, 1, 1) + 1

    @property
    def weekday(self) -> int:
        """0 is Monday."""
        return self.julian % 7

    @property
    def shown_year(self) -> int:
        return self.year if self.year > 0 else 1 - self.year

    @property
    def iso_year(self) -> int:
        year = iso_week(self.year, self.month, self.day)[0]
        return year if year > 0 else 1 - year

    @property
    def hour(self) -> int:
        return self.time // HOUR


_NUMBERS: dict[str, tuple[int, Callable[[_Local], int]]] = {
    "YYYY": (4, lambda local: local.shown_year),
    "YYY": (3, lambda local: local.shown_year % 1000),
    "YY": (2, lambda local: local.shown_year % 100),
    "Y": (1, lambda local: local.shown_year % 10),
    "IYYY": (4, lambda local: local.iso_year),
    "IYY": (3, lambda local: local.iso_year % 1000),
    "IY": (2, lambda local: local.iso_year % 100),
    "MM": (2, lambda local: local.month),
    "DDD": (3, lambda local: local.day_of_year),
    "DD": (2, lambda local: local.day),
    "D": (1, lambda local: (local.weekday + 1) % 7 + 1),
    "IDDD": (3, lambda local: (iso_week(local.year, local.month, local.day)[1] - 1) * 7 + local.weekday + 1),
    "ID": (1, lambda local: local.weekday + 1),
    "HH24": (2, lambda local: local.hour),
    "HH12": (2, lambda local: local.hour % 12 or 12),
    "HH": (2, lambda local: local.hour % 12 or 12),
    "MI": (2, lambda local: local.time // MINUTE % 60),
    "SSSSS": (1, lambda local: local.time // SECOND),
    "SSSS": (1, lambda local: local.time // SECOND),
    "SS": (2, lambda local: local.time // SECOND % 60),
    "MS": (3, lambda local: local.time % SECOND // 1000),
    "US": (6, lambda local: local.time % SECOND),
    "Q": (1, lambda local: (local.month - 1) // 3 + 1),
    "WW": (2, lambda local: (local.day_of_year - 1) // 7 + 1),
    "W": (1, lambda local: (local.day - 1) // 7 + 1),
    "IW": (2, lambda local: iso_week(local.year, local.month, local.day)[1]),
    "J": (1, lambda local: local.julian),
}
"""Patterns of numbers: how many digits they have at least, and their value."""
_KEPT = frozenset(("MS", "US"))
"""Fractions keep their zeros under FM."""
_LONG: dict[str, Callable[[_Local], str]] = {
    "MONTH": lambda local: _MONTHS[local.month - 1],
    "DAY": lambda local: _DAYS[local.weekday],
}
_SHORT: dict[str, Callable[[_Local], str]] = {
    "MON": lambda local: _MONTHS[local.month - 1][:3],
    "DY": lambda local: _DAYS[local.weekday][:3],
    "AM": lambda local: "PM" if local.hour >= 12 else "AM",
    "BC": lambda local: "BC" if local.year <= 0 else "AD",
}
_SHORT |= {"PM": _SHORT["AM"], "AD": _SHORT["BC"]}
_NAMES = {
    variant: name
    for name in (*_LONG, *_SHORT)
    for variant in (name, name.lower(), *((name.capitalize(),) if name not in ("AM", "PM", "BC", "AD") else ()))
}
_WORDS = sorted({*_NUMBERS, *(word.lower() for word in _NUMBERS), *_NAMES}, key=len, reverse=True)
_PART = re.compile(rf'(FM)?({"|".join(_WORDS)})(?!TH|th|SP|,YYY|,yyy)|"([^"\\]*)"|([^A-Za-z"\\]+)')


def _written(template: str, local: _Local) -> str:
    texts, position = [], 0
    while position < len(template):
        match = _PART.match(template, position)
        if match is None:
            raise Unknowable(f'what to_char() makes of "{template[:100]}"')
        position = match.end()
        texts.append(match[3] or match[4] or "" if match[2] is None else _part(match[2], match[1] is not None, local))
    return "".join(texts)


def _part(word: str, filled: bool, local: _Local) -> str:
    number = _NUMBERS.get(word.upper()) if word not in _NAMES else None
    if number is not None:
        width, value = number
        return f"{value(local):0{1 if filled and word.upper() not in _KEPT else width}}"
    name = _NAMES[word]
    text = (_LONG.get(name) or _SHORT[name])(local)
    text = text.lower() if word.islower() else text.upper() if word.isupper() else text
    return text.ljust(_NAME_WIDTH) if name in _LONG and not filled else text


def _writing(zoned: bool) -> Maker:
    def make(call: Call) -> Function:
        zone = zone_of(call)

        def write(moment: Moment, template: str) -> str | None:
            if isinstance(moment, float) or not template:
                return None
            return _written(template, _Local(*parts(zone().to_local(moment) if zoned else moment)))

        return write

    return make


MAKERS |= {
    "to_char(timestamp,text)": _writing(False),
    "to_char(timestamptz,text)": _writing(True),
}
