"""Time zones as date and time input knows them: abbreviations, names, POSIX specifications, offsets.

Follows utils/adt/datetime.c (DecodeTimezone, DecodeTimezoneAbbrev), timezone/pgtz.c (pg_tzset) and
timezone/localtime.c (tzparse). Offsets are seconds east of Greenwich.
"""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from functools import cache
from typing import NamedTuple

from pubcheck.postgres.builtins import objects
from pubcheck.postgres.datum import valid_julian
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input.datetime_fields import Fault, leading_integer

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import tzinfo

    from pubcheck.postgres.input import InputContext


class Zone(NamedTuple):
    """A zone: ``offset`` where it is fixed, else None.

    ``name`` is the IANA name, or "" for a POSIX specification with the offsets ``standard`` and ``summer``.
    ``abbreviation`` is the zone's name in the text, in capitals, which may be that of another season than the moment's.
    """

    name: str
    offset: int | None
    standard: int = 0
    summer: int = 0
    abbreviation: str = ""


class Abbreviation(NamedTuple):
    """An abbreviation: of a fixed ``offset``, in summer or not, or of a ``zone`` whose rules decide (DYNTZ)."""

    offset: int
    summer: bool
    zone: str


_MAX_HOUR = 15

# Zones with a single offset, besides Etc/...: only for these the offset is known without a date.
_FIXED = frozenset(("factory", "gmt", "gmt+0", "gmt-0", "gmt0", "greenwich", "uct", "universal", "utc", "zulu"))

# Files that some builds' directories of zones have and others have not.
_OF_SOME_BUILDS = frozenset(("localtime", "posixrules", "us/pacific-new"))

# Abbreviations that zones know and timezonesets/Default does not: 18 asks the session's zone first.
_OF_ZONES = frozenset(
    word
    for line in (
        "addt ahdt ahst apt awdt awt bmt cat cemt cmt cpt cwt chst dmt emt ept ewt ffmt fmt gdt gst hdt hkst",
        "hkwt hmt hpt hwt iddt imt jdt jmt kmt lmt lst mdst mwt nddt nwt nzmt plmt pmmt pmt ppmt ppt qmt rmt",
        "sdmt sjmt smt sst tbmt wemt west wib wit wita wmt yddt ydt ypt yst ywt",
    )
    for word in line.split()
)


@cache
def _load(major: int) -> tuple[dict[str, str], dict[str, Abbreviation]]:
    """A major's zones and abbreviations by their names in lower case."""
    known = objects.zones(major)
    abbreviations = {
        name.lower(): Abbreviation(0, False, row) if isinstance(row, str) else Abbreviation(row[0], bool(row[1]), "")
        for name, row in known.abbreviations.items()
    }
    return {name.lower(): name for name in known.names}, abbreviations


def abbreviation(context: InputContext, word: str) -> Abbreviation | None:
    """Return the zone that a word in lower case abbreviates, or None.

    Raises Unknowable if the session's zone may define it.

    Assumes that timezone_abbreviations is Default.
    """
    result = _load(context.major.number)[1].get(word)
    if result is None and context.major.session_abbreviations:
        session = session_zone(context)
        if session is not None and not session.name:
            may_be_known = word in context.setting("timezone").lower()
        else:
            may_be_known = word in _OF_ZONES and (session is None or session.offset is None)
        if may_be_known:
            raise Unknowable("the session's TimeZone")
    return result


_POSIX_OFFSET = (
    r"(?P<sign{0}>[-+]?)(?P<hours{0}>[0-9]+)"
    r"(?:(?![0-9:])|:(?P<minutes{0}>[0-9]+)(?:(?![0-9:])|:(?P<seconds{0}>[0-9]+)(?![0-9])))"
)
# Compiled when first met, for few filters have one.
_POSIX = (
    # The zone's name and its offset, then perhaps the name of its summer time and that one's offset.
    rf"[^0-9,+-]+{_POSIX_OFFSET.format('')}(?P<summer>[^0-9,+-]+(?:{_POSIX_OFFSET.format(2)})?)?\Z"
)


def find(context: InputContext, name: str) -> Zone | None:
    """Return the zone of a name in lower case, or None (pg_tzset).

    Raises Unknowable for files that only some builds have.
    """
    zones = _load(context.major.number)[0]
    zone_name = zones.get(name)
    if zone_name is not None:
        return Zone(zone_name, _etc_offset(name) if name in _FIXED or name.startswith("etc/") else None)
    if name in _OF_SOME_BUILDS or (name.startswith(("posix/", "right/")) and name[6:] in zones):
        raise Unknowable("the time zones of the server's build")
    match = re.match(_POSIX, name)
    if match is None:
        return None
    for limit, part in ((167, "hours"), (59, "minutes"), (60, "seconds")):
        for group in (part, f"{part}2"):
            if match[group] is not None and int(match[group]) > limit:
                return None
    standard = _posix_offset(match, "")
    if match["summer"] is None:
        return Zone("", standard)
    summer = standard + 3600 if match["hours2"] is None else _posix_offset(match, "2")
    return Zone("", None, standard, summer)


def _posix_offset(match: re.Match[str], which: str) -> int:
    """POSIX counts westwards."""
    hours, minutes, seconds = (int(match[f"{part}{which}"] or 0) for part in ("hours", "minutes", "seconds"))
    offset = hours * 3600 + minutes * 60 + seconds
    return offset if match[f"sign{which}"] == "-" else -offset


def named(context: InputContext, name: str) -> Zone:
    """The zone of a name in lower case. Raises Fault if there is none."""
    zone = find(context, name)
    if zone is None:
        raise Fault(Fault.BAD_ZONE, name)
    return zone


def _etc_offset(name: str) -> int:
    match = re.fullmatch(r"(?:etc/)?gmt([-+][0-9]+)", name)
    return -int(match[1]) * 3600 if match else 0


def displacement(text: str) -> int:
    """The offset that a sign and digits say: +5, +0530, -05:30:15. Raises Fault."""
    if text[:1] not in ("+", "-"):
        raise Fault(Fault.BAD_FORMAT)
    minutes = seconds = 0
    hours, rest = leading_integer(text[1:], kind=Fault.DISPLACEMENT_OVERFLOW)
    if rest[:1] == ":":
        minutes, rest = leading_integer(rest[1:], kind=Fault.DISPLACEMENT_OVERFLOW)
        if rest[:1] == ":":
            seconds, rest = leading_integer(rest[1:], kind=Fault.DISPLACEMENT_OVERFLOW)
    elif not rest and len(text) > 3:
        hours, minutes = divmod(hours, 100)
    if not (0 <= hours <= _MAX_HOUR and 0 <= minutes < 60 and 0 <= seconds < 60):
        raise Fault(Fault.DISPLACEMENT_OVERFLOW)
    if rest:
        raise Fault(Fault.BAD_FORMAT)
    offset = hours * 3600 + minutes * 60 + seconds
    return -offset if text[0] == "-" else offset


def session_zone(context: InputContext) -> Zone | None:
    """Return the session's zone as the unit sets TimeZone; None if it does not, or if the setting cannot be read."""
    text = context.setting("timezone")
    if not isinstance(text, str):
        return None
    text = text.strip().lower()
    if re.fullmatch(r"[-+]?[0-9]+(?:\.[0-9]*)?", text):
        return Zone("", int(float(text) * 3600))
    # With <> around its abbreviation a specification says no more: <+03>-3.
    try:
        return find(context, re.sub(r"\A<[^>]*>", "x", text))
    except Unknowable:
        return None


def offset_at(zone: Zone, local: tuple[int, int, int, int, int, int]) -> int:
    """The zone's offset at a local year, month, day, hour, minute and second (DetermineTimeZoneOffset).

    0 where this machine has no rules of the zone: values are only approximate then, verdicts are not touched.
    """
    if zone.offset is not None:
        return zone.offset
    if not valid_julian(local[0], local[1]):
        return 0
    year, month, day, hour, minute, second = local
    # Rules repeat every 400 years; beyond the years of datetime an equivalent year is used.
    year = min(max(year, 1800), 2400) if not 1 < year < 9999 else year
    moment = datetime(year, month, min(day, 28) if month == 2 else day) + timedelta(
        hours=hour, minutes=minute, seconds=second
    )
    if not zone.name:
        shift = timedelta(seconds=zone.summer - zone.standard)
        begins, ends = _sunday(moment.year, 3, 8) + shift, _sunday(moment.year, 11, 1) - shift
        return zone.summer if year >= 1970 and begins <= moment < ends else zone.standard
    zone_rules = rules(zone.name)
    if zone_rules is None:
        return 0
    if zone.abbreviation:
        moment = _in_use(zone_rules, zone.abbreviation, moment)
    # A time skipped by a change gets the offset before it, a time repeated by a change the offset after it.
    offsets = [zone_rules.utcoffset(moment.replace(fold=fold)) for fold in (0, 1)]
    return min(int(offset.total_seconds()) for offset in offsets if offset is not None)


_FIRST_RULES, _LAST_RULES = 1840, 2040
"""Years between which the zones got and changed their abbreviations."""
_PROBED = 60
"""Days; no abbreviation was in use for less."""


def _in_use(zone_rules: tzinfo, abbreviation: str, moment: datetime) -> datetime:
    """The last moment until this one at which a zone used an abbreviation, else the first after it, else this one
    (pg_interpret_timezone_abbrev).
    """
    first, last = datetime(_FIRST_RULES, 1, 1), datetime(_LAST_RULES, 1, 1)
    for start, end, step in ((min(moment, last), first, -_PROBED), (max(moment, first), last, _PROBED)):
        probed = start
        while first <= probed <= last and (probed >= end) is (step < 0):
            if zone_rules.tzname(probed) == abbreviation:
                return probed
            probed += timedelta(days=step)
    return moment


def _sunday(year: int, month: int, day: int) -> datetime:
    """Two o'clock of the first Sunday from a day on: summer times of POSIX change as those of the USA (TZDEFRULES)."""
    first = datetime(year, month, day, 2)
    return first + timedelta(days=(6 - first.weekday()) % 7)


def rules(name: str) -> tzinfo | None:
    """Return this machine's rules of a zone, or None."""
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return None
