"""timestamptz in the session's TimeZone: conversions, comparisons, arithmetic and fields (utils/adt/timestamp.c)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from pubcheck.postgres.datum import DAY_LENGTH, UNIX_EPOCH, Interval
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.compare import plain_order
from pubcheck.postgres.executor.datetime.common import SECOND, Moment, checked, infinite, is_infinite, midnight, swapped
from pubcheck.postgres.executor.datetime.dates import opposite, plus, plus_months
from pubcheck.postgres.executor.datetime.fields import (
    TIMESTAMPTZ,
    TIMETZ,
    date_part_of,
    endless,
    time_part_of,
    truncated_in,
)
from pubcheck.postgres.executor.function_lookup import Call, Function, Maker
from pubcheck.postgres.executor.integers import COMPARISONS
from pubcheck.postgres.executor.values import Context, evaluation_error
from pubcheck.postgres.input.common import END_TIMESTAMP, FIRST_TIMESTAMP

_DAY = 86400


class SessionZone:
    """The session's zone; seconds are east of UTC."""

    def __init__(self, context: Context) -> None:
        from pubcheck.postgres.output.timezones import session_zone

        self._local = session_zone(context.output)

    def offset(self, moment: int) -> int:
        return self._local(moment // SECOND)[0]

    def to_local(self, moment: int) -> int:
        return moment + self.offset(moment) * SECOND

    def to_utc(self, local: int) -> int:
        """DetermineTimeZoneOffset: a skipped time has the offset before the change, a repeated one that after it."""
        second = local // SECOND
        before, after = self._local(second - _DAY)[0], self._local(second + _DAY)[0]
        if before == after:
            return local - before * SECOND
        valid = [east for east in (before, after) if self._local(second - east)[0] == east]
        return local - (valid[0] if len(valid) == 1 else min(before, after)) * SECOND


def zone_of(call: Call) -> Callable[[], SessionZone]:
    """The zone, found when a function is first called: a row filter may hold the call and not know the zone."""
    known: list[SessionZone] = []

    def zone() -> SessionZone:
        if not known:
            known.append(SessionZone(call.context))
        return known[0]

    return zone


def _local(convert: Callable[[int], Any], of_infinite: Callable[[float], Any]) -> Maker:
    """A conversion of the local time."""

    def make(call: Call) -> Function:
        zone = zone_of(call)
        return lambda moment: of_infinite(moment) if infinite(moment) else convert(zone().to_local(moment))

    return make


def _same(value: Any) -> Any:
    return value


def _to_timetz(call: Call) -> Function:
    zone = zone_of(call)

    def convert(moment: Moment) -> tuple[int, int] | None:
        if isinstance(moment, float):
            return None
        east = zone().offset(moment)
        return (moment + east * SECOND) % DAY_LENGTH - east * SECOND, -east

    return convert


def _utc(local: Callable[..., Moment]) -> Maker:
    """The moment of a local time."""

    def make(call: Call) -> Function:
        zone = zone_of(call)

        def convert(*values: Any) -> Moment:
            moment = local(*values)
            return moment if isinstance(moment, float) else checked(zone().to_utc(moment))

        return convert

    return make


def _date_at(date: Moment, time: int) -> Moment:
    start = midnight(date)
    return start if isinstance(start, float) else start + time


def _compared(test: Callable[[Any, Any], Any], unit: int, first: bool) -> Maker:
    """A comparison with a date or a timestamp, which is ``first``; its moment has no limit."""

    def make(call: Call) -> Function:
        zone = zone_of(call)

        def moment_of(value: Moment) -> Moment:
            return value if isinstance(value, float) else zone().to_utc(value * unit)

        if first:
            return lambda value, moment: test(moment_of(value), moment)
        return lambda moment, value: test(moment, moment_of(value))

    return make


def _plus(zone: Callable[[], SessionZone], context: Context, moment: Moment, interval: Interval) -> Moment:
    """timestamptz_pl_interval: months and days are those of the local calendar."""
    if isinstance(moment, float) or is_infinite(context, interval):
        return plus(context, moment, interval)
    if interval.months:
        moment = checked(zone().to_utc(plus_months(zone().to_local(moment), interval.months)))
    if interval.days:
        moment = checked(zone().to_utc(checked(zone().to_local(moment) + interval.days * DAY_LENGTH)))
    return checked(moment + interval.microseconds)


def _adding(call: Call) -> Function:
    zone = zone_of(call)
    return lambda moment, interval: _plus(zone, call.context, moment, interval)


def _subtracting(call: Call) -> Function:
    add = _adding(call)
    return lambda moment, interval: add(moment, opposite(call.context, interval))


def _truncating(call: Call) -> Function:
    zone = zone_of(call)

    def run(name: str, moment: Moment) -> Moment:
        if isinstance(moment, float) and not call.context.major.infinite_fields_checked:
            return moment
        return truncated_in(zone(), name, moment)

    return run


# Fields.


def _zone_field(field: str, name: str, east: int) -> int | None:
    """A field of the zone; the server reads ten characters of the field's ``name``."""
    if field != "timezone":
        return None
    unit = {"timezone_h": 3600, "timezone_m": 60}.get(name.lower()[:10], 1)
    value = abs(east) // unit % (60 if unit == 60 else 1 << 31)
    return -value if east < 0 else value


def _extracting(as_float: bool) -> Maker:
    def make(call: Call) -> Function:
        zone = zone_of(call)

        def run(name: str, moment: Moment) -> Any:
            if isinstance(moment, float):
                return endless(TIMESTAMPTZ, name, moment > 0, as_float)
            field = TIMESTAMPTZ.named(name)
            value = _zone_field(field, name, zone().offset(moment))
            if value is None:
                local = moment if field == "epoch" else zone().to_local(moment)
                return date_part_of(TIMESTAMPTZ, name, local, as_float)
            return float(value) if as_float else _decimal(value)

        return run

    return make


def _extracting_timetz(as_float: bool) -> Maker:
    def make(call: Call) -> Function:
        def run(name: str, time: tuple[int, int]) -> Any:
            field = TIMETZ.named(name)
            value = _zone_field(field, name, -time[1])
            if value is None:
                return time_part_of(TIMETZ, name, time[0] if field == "epoch" else time[0] - time[1] * SECOND, as_float)
            return float(value) if as_float else _decimal(value)

        return run

    return make


def _decimal(value: int) -> Any:
    from decimal import Decimal

    return Decimal(value)


# Seconds since 1970.


def _to_timestamp(seconds: float) -> Moment:
    if seconds != seconds:
        raise evaluation_error("22008", "timestamp cannot be NaN")
    if math.isinf(seconds):
        return seconds
    moment = float(round((seconds + UNIX_EPOCH * _DAY) * 1e6)) if abs(seconds) < 1e15 else math.inf
    if not FIRST_TIMESTAMP <= moment < END_TIMESTAMP:
        raise evaluation_error("22008", f'timestamp out of range: "{seconds:g}"')
    return int(moment)


def _shifted_timetz(interval: Interval, time: tuple[int, int]) -> tuple[int, int]:
    """timetz_izone."""
    if interval.months or interval.days:
        raise Unknowable("the text of an interval that is not a time zone")
    west = -(abs(interval.microseconds) // SECOND) * (1 if interval.microseconds >= 0 else -1)
    return (time[0] - west * SECOND) % DAY_LENGTH + west * SECOND, west


_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    **COMPARISONS,
    "cmp": plain_order,
}
MAKERS: dict[str, Maker] = {
    "timestamp(timestamptz)": _local(checked, _same),
    "timezone(timestamptz)": _local(checked, _same),
    "date(timestamptz)": _local(lambda local: local // DAY_LENGTH, _same),
    "time(timestamptz)": _local(lambda local: local % DAY_LENGTH, lambda moment: None),
    "timetz(timestamptz)": _to_timetz,
    "timestamptz(timestamp)": _utc(_same),
    "timezone(timestamp)": _utc(_same),
    "timestamptz(date)": _utc(midnight),
    "timestamptz(date,time)": _utc(_date_at),
    "timestamptz_pl_interval": _adding,
    "timestamptz_mi_interval": _subtracting,
    "date_add(timestamptz,interval)": _adding,
    "date_subtract(timestamptz,interval)": _subtracting,
    "interval_pl_timestamptz": swapped(_adding),
    "date_trunc(text,timestamptz)": _truncating,
    "extract(text,timestamptz)": _extracting(False),
    "date_part(text,timestamptz)": _extracting(True),
    "extract(text,timetz)": _extracting_timetz(False),
    "date_part(text,timetz)": _extracting_timetz(True),
}
FUNCTIONS: dict[str, Function] = {
    "to_timestamp(float8)": _to_timestamp,
    "timezone(interval,timetz)": _shifted_timetz,
}
for _name, _test in _ORDER.items():
    for _type, _unit in (("date", DAY_LENGTH), ("timestamp", 1)):
        MAKERS[f"{_type}_{_name}_timestamptz"] = _compared(_test, _unit, True)
        MAKERS[f"timestamptz_{_name}_{_type}"] = _compared(_test, _unit, False)
