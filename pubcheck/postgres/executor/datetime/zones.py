"""Time zones (utils/adt/timestamp.c): timestamptz in the session's TimeZone, which conversions, comparisons,
arithmetic and fields depend on; AT TIME ZONE, and date_trunc() in a zone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from pubcheck.postgres.datum import DAY_LENGTH, UNIX_EPOCH, Interval
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.compare import plain_order
from pubcheck.postgres.executor.datetime.dates import opposite, plus, plus_months
from pubcheck.postgres.executor.datetime.fields import (
    TIMESTAMPTZ,
    TIMETZ,
    date_part_of,
    endless,
    time_part_of,
    truncated_in,
)
from pubcheck.postgres.executor.datetime.intervals import (
    HOUR,
    MINUTE,
    SECOND,
    Moment,
    checked,
    infinite,
    is_infinite,
    midnight,
    parts,
    swapped,
    towards_zero,
)
from pubcheck.postgres.executor.functions import Call, Context, Function, Maker, evaluation_error
from pubcheck.postgres.executor.integers import COMPARISONS
from pubcheck.postgres.input import END_TIMESTAMP, FIRST_TIMESTAMP
from pubcheck.postgres.input.datetime_fields import Fault

_DAY = 86400


class SessionZone:
    """The session's zone; seconds are east of UTC."""

    def __init__(self, context: Context) -> None:
        from pubcheck.postgres.output.datetime import session_zone

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


_NO_LETTER = ("+", "-", *"0123456789")


class _Zone:
    """A zone by its name: its offset in seconds east at a local time, and at a moment."""

    def __init__(self, context: Context, name: str) -> None:
        from pubcheck.postgres.input import zones

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
            raise evaluation_error("22023", f'time zone "{name}" not recognized') from None
        if self.zone.offset is None and (not self.zone.name or zones.rules(self.zone.name) is None):
            raise Unknowable(f'the rules of the time zone "{name}"')

    def to_utc(self, local: int) -> int:
        zone = self.zone
        if zone.offset is not None:
            return local - zone.offset * SECOND
        year, month, day, time = parts(local)
        if not 1902 <= year <= 2100:
            raise Unknowable("offsets of time zones in the far past and future")
        fields = (year, month, day, time // HOUR, time // MINUTE % 60, time // SECOND % 60)
        return local - self._zones.offset_at(zone, fields) * SECOND

    def to_local(self, moment: int) -> int:
        zone = self.zone
        if zone.offset is not None:
            return moment + zone.offset * SECOND
        from datetime import UTC, datetime, timedelta

        year = parts(moment)[0]
        if not 1902 <= year <= 2100:
            raise Unknowable("offsets of time zones in the far past and future")
        rules = self._zones.rules(zone.name)
        assert rules is not None
        instant = datetime(2000, 1, 1, tzinfo=UTC) + timedelta(seconds=moment // SECOND)
        offset = instant.astimezone(rules).utcoffset()
        assert offset is not None
        return moment + int(offset.total_seconds()) * SECOND


def _zoned(convert: Callable[[_Zone, int], int]) -> Maker:
    """timestamp_zone and timestamptz_zone."""

    def make(call: Call) -> Function:
        zone = cache(partial(_Zone, call.context))

        def run(name: str, moment: Moment) -> Moment:
            return moment if isinstance(moment, float) else checked(convert(zone(name), moment))

        return run

    return make


def _trunc_zoned(call: Call) -> Function:
    """timestamptz_trunc_zone."""
    zone_named = cache(partial(_Zone, call.context))

    def run(name: str, moment: Moment, zone_name: str) -> Moment:
        if isinstance(moment, float) and not call.context.major.infinite_fields_checked:
            return moment
        return truncated_in(zone_named(zone_name), name, moment)

    return run


def _shifted(sign: int) -> Function:
    """timestamp_izone and timestamptz_izone: the zone is an interval."""

    def shift(interval: Interval, moment: Moment) -> Moment:
        if interval.months or interval.days:
            raise Unknowable("the text of an interval that is not a time zone")
        if isinstance(moment, float):
            return moment
        seconds = towards_zero(interval.microseconds, SECOND)[0]
        return checked(moment + sign * seconds * SECOND)

    return shift


MAKERS |= {
    "timezone(text,timestamp)": _zoned(_Zone.to_utc),
    "timezone(text,timestamptz)": _zoned(_Zone.to_local),
    "date_trunc(text,timestamptz,text)": _trunc_zoned,
}
FUNCTIONS |= {
    "timezone(interval,timestamp)": _shifted(-1),
    "timezone(interval,timestamptz)": _shifted(1),
}
