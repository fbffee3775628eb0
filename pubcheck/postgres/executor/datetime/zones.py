"""Time zones: AT TIME ZONE, and date_trunc() in one (utils/adt/timestamp.c)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

from pubcheck.postgres.datum import Interval
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.datetime.common import HOUR, MINUTE, SECOND, Moment, checked, parts, towards_zero
from pubcheck.postgres.executor.datetime.fields import truncated_in
from pubcheck.postgres.executor.function_lookup import Call, Function, Maker
from pubcheck.postgres.executor.values import Context, evaluation_error
from pubcheck.postgres.input.datetime_fields import Fault

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


MAKERS: dict[str, Maker] = {
    "timezone(text,timestamp)": _zoned(_Zone.to_utc),
    "timezone(text,timestamptz)": _zoned(_Zone.to_local),
    "date_trunc(text,timestamptz,text)": _trunc_zoned,
}
FUNCTIONS: dict[str, Function] = {
    "timezone(interval,timestamp)": _shifted(-1),
    "timezone(interval,timestamptz)": _shifted(1),
}
