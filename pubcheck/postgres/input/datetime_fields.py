"""Common parts of date, time and interval input: fields of a text, keywords, errors.

Follows utils/adt/datetime.c (ParseDateTime, datetktbl, deltatktbl, DateTimeParseError).
"""

from __future__ import annotations

import re

from pubcheck.postgres.input import INVALID_SYNTAX, input_error
from pubcheck.postgres.versions import Major
from pubcheck.words import words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from pubcheck.postgres.errors import ServerError


class Fault(Exception):
    """Input that is refused; ``kind`` is one of these constants, ``zone`` the name that no time zone has."""

    BAD_FORMAT = "bad format"
    FIELD_OVERFLOW = "field overflow"
    MONTH_DAY_OVERFLOW = "month or day overflow"
    DISPLACEMENT_OVERFLOW = "displacement overflow"
    BAD_ZONE = "bad zone"

    def __init__(self, kind: str, zone: str = "") -> None:
        super().__init__(kind)
        self.kind = kind
        self.zone = zone


def refusal(fault: Fault, text: str, type_name: str, major: Major) -> ServerError:
    """The server's error for input of a type that was refused (DateTimeParseError)."""
    if fault.kind == Fault.BAD_ZONE:
        return input_error("22023", f'time zone "{fault.zone}" not recognized')
    if fault.kind == Fault.DISPLACEMENT_OVERFLOW:
        return input_error("22009", f'time zone displacement out of range: "{text}"')
    if fault.kind in (Fault.FIELD_OVERFLOW, Fault.MONTH_DAY_OVERFLOW):
        if type_name == "interval":
            return input_error("22015", f'interval field value out of range: "{text}"')
        setting = "DateStyle" if major.settings_in_case else "datestyle"
        hint = f'Perhaps you need a different "{setting}" setting.' if fault.kind == Fault.MONTH_DAY_OVERFLOW else None
        message = 'date/time field value out of range: "{text}"'
        return input_error("22008", message, hint=hint, key="literal-date-out-of-range", text=text)
    return input_error("22007", INVALID_SYNTAX, key="literal-syntax", type=type_name, text=text)


def out_of_range(kind: str, text: str | None = None) -> ServerError:
    """22008 of a whole that is too far away: 'date', 'timestamp', 'interval'."""
    message = f"{kind} out of range" + ("" if text is None else f': "{text}"')
    return input_error("22008", message)


# Kinds of fields. A sign with digits may be a zone or a signed number, a sign with letters is a word like "-infinity".
NUMBER, DATE, TIME, SIGNED, WORD = range(5)

_FIELD = re.compile(
    r"(?P<space>[ \t\n\v\f\r]+)"
    r"|(?P<time>[0-9]+:[0-9:.]*)"
    r"|(?P<date>[0-9]+(?P<d>[-/.])[0-9]+(?P=d)(?:[0-9]|(?P=d))*|[0-9]+[-/][0-9]+)"
    r"|(?P<decimal>[0-9]+\.[0-9]+|\.[0-9]*)"
    r"|(?P<named_month>[0-9]+(?P<e>[-/.])(?:[0-9A-Za-z]|(?P=e))*)"
    r"|(?P<digits_only>[0-9]+)"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<sign>[-+])[ \t\n\v\f\r]*(?:(?P<digits>[0-9][0-9:.\-]*)|(?P<letters>[A-Za-z]+))"
    r"|(?P<other>[!-*,/:-@\[-`{-~])"
)
_ZONE_NAME = re.compile(r"[-+/_.:0-9A-Za-z]*")
_MAX_FIELDS = 25

Fields = list[tuple[int, str]]


def split(text: str, room: int) -> Fields:
    """The fields of a text as (kind, text in lower case); punctuation only separates (ParseDateTime).

    ``room`` is the size of the server's buffer, which holds every field and a byte after it. Raises Fault.
    """
    fields: Fields = []
    place, used, end = 0, 0, len(text)
    while place < end:
        match = _FIELD.match(text, place)
        if match is None:
            raise Fault(Fault.BAD_FORMAT)
        group, place = match.lastgroup, match.end()
        if group == "space":
            continue
        if len(fields) == _MAX_FIELDS:
            raise Fault(Fault.BAD_FORMAT)
        if group == "other":
            continue
        kind, value = NUMBER, match[0]
        if group == "time":
            kind = TIME
        elif group == "date":
            kind = DATE
        elif group == "named_month":
            kind, value = DATE, value.lower()
        elif group == "digits":
            kind, value = SIGNED, match["sign"] + match["digits"]
        elif group == "letters":
            kind, value = WORD, match["sign"] + match["letters"].lower()
        elif group == "word":
            kind, value = WORD, value.lower()
            following = text[place : place + 1]
            # A date that begins with its month, or a zone: "jan-1-2024", "America/New_York", "UTC+3".
            if following and (
                following in "-/." or ((following == "+" or "0" <= following <= "9") and value not in KEYWORDS)
            ):
                rest = _ZONE_NAME.match(text, place)
                assert rest is not None  # it matches the empty string
                kind, value, place = DATE, value + rest[0].lower(), rest.end()
        used += len(value) + 1
        if used > room:
            raise Fault(Fault.BAD_FORMAT)
        fields.append((kind, value))
    return fields


_INTEGER = re.compile(r"[-+]?[0-9]+")


def leading_integer(text: str, bits: int = 32, kind: str = Fault.FIELD_OVERFLOW) -> tuple[int, str]:
    """Return the integer at the start of a text, 0 if none, and the rest (strtol). Raises Fault on overflow."""
    match = _INTEGER.match(text)
    if match is None:
        return 0, text
    value = int(match[0]) if match.end() < 30 else 1 << 64
    if not -(1 << (bits - 1)) <= value < 1 << (bits - 1):
        raise Fault(kind)
    return value, text[match.end() :]


_FRACTION = re.compile(r"\.[0-9]*\Z")


def fraction(text: str) -> float:
    """Return the value of ".", ".5". Raises Fault for anything after the digits (ParseFraction)."""
    if not _FRACTION.match(text):
        raise Fault(Fault.BAD_FORMAT)
    return float(text) if len(text) > 1 else 0.0


def microseconds(text: str) -> int:
    """A fraction of a second in whole microseconds, 1,000,000 included."""
    return round(fraction(text) * 1_000_000)


class Field:
    """Bits that say which fields of a date or an interval were seen: a field that was seen before is refused."""

    YEAR, MONTH, DAY, DAY_OF_YEAR, HOUR, MINUTE, SECOND, MILLISECOND, MICROSECOND = (1 << bit for bit in range(9))
    ZONE, SUMMER_ZONE, DYNAMIC_ZONE, SUMMER, MERIDIEM, WEEKDAY, ERA, RESERVED = (1 << bit for bit in range(9, 17))
    WEEK, DECADE, CENTURY, MILLENNIUM = (1 << bit for bit in range(17, 21))
    ALL_SECONDS = SECOND | MILLISECOND | MICROSECOND
    WHOLE_DATE = YEAR | MONTH | DAY
    WHOLE_TIME = HOUR | MINUTE | ALL_SECONDS


_MONTHS = words("january february march april may june july august september october november december")
_WEEKDAYS = words(
    "sun sunday mon monday tue tues tuesday wed wednesday weds thu thur thurs thursday fri friday sat saturday"
)
KEYWORDS: dict[str, tuple[str, Any]] = {
    **{word: ("month", number) for number, name in enumerate(_MONTHS, 1) for word in (name[:3], name)},
    "sept": ("month", 9),
    **dict.fromkeys(_WEEKDAYS, ("weekday", None)),
    "am": ("meridiem", "am"),
    "pm": ("meridiem", "pm"),
    "ad": ("era", False),
    "bc": ("era", True),
    "at": ("ignored", None),
    "on": ("ignored", None),
    "dst": ("summer", 3600),
    "t": ("iso time", "time"),
    "d": ("unit", "day"),
    "h": ("unit", "hour"),
    "m": ("unit", "month"),
    "mm": ("unit", "minute"),
    "s": ("unit", "second"),
    "y": ("unit", "year"),
    "j": ("unit", "julian"),
    "jd": ("unit", "julian"),
    "julian": ("unit", "julian"),
    "dow": ("unit", "dow"),
    "doy": ("unit", "doy"),
    "isodow": ("unit", "isodow"),
    "isoyear": ("unit", "isoyear"),
    **{
        word: ("reserved", word)
        for word in ("now", "today", "tomorrow", "yesterday", "allballs", "epoch", "infinity", "-infinity")
    },
}
"""Words of dates -> (kind, value); "+infinity", which 16 brought, is PLUS_INFINITY."""

PLUS_INFINITY = ("reserved", "infinity")

UNITS: dict[str, str] = {
    word: unit
    for unit, words in {
        "century": "c cent centuries century",
        "day": "d day days",
        "decade": "dec decade decades decs",
        "hour": "h hour hours hr hrs",
        "minute": "m min mins minute minutes",
        "microsecond": "microsecon us usec usecond useconds usecs",
        "millennium": "mil millennia millennium mils",
        "millisecond": "millisecon ms msec msecond mseconds msecs",
        "month": "mon mons month months",
        "quarter": "qtr quarter",
        "second": "s sec second seconds secs",
        "timezone": "timezone timezone_h timezone_m",
        "week": "w week weeks",
        "year": "y year years yr yrs",
    }.items()
    for word in words.split()
}
"""Words of intervals -> unit; the server compares ten characters ("microsecon")."""
WORD_LENGTH = 10


def time_of_day(hour: int, minute: int, second: int, microsecond: int) -> int:
    """Return the time of day in microseconds."""
    return ((hour * 60 + minute) * 60 + second) * 1_000_000 + microsecond


def clock(text: str, minutes_to_seconds: bool = False) -> tuple[int, int, int, int]:
    """Hour, minute, second, microsecond of 12:34, 12:34:56.7, and 34:56.7, which has no hour (DecodeTimeCommon).

    ``minutes_to_seconds``: 34:56 has no hour either. Raises Fault; the hour's range is the caller's to check.
    """
    hour, rest = leading_integer(text, 64)
    if rest[:1] != ":":
        raise Fault(Fault.BAD_FORMAT)
    minute, rest = leading_integer(rest[1:])
    second = microsecond = 0
    shifted = minutes_to_seconds if not rest else rest[0] == "."
    if rest[:1] == ".":
        microsecond = microseconds(rest)
    elif rest[:1] == ":":
        second, rest = leading_integer(rest[1:])
        if rest[:1] == ".":
            microsecond = microseconds(rest)
        elif rest:
            raise Fault(Fault.BAD_FORMAT)
    elif rest:
        raise Fault(Fault.BAD_FORMAT)
    if shifted:
        leading_integer(str(hour))
        hour, minute, second = 0, hour, minute
    if hour < 0 or not 0 <= minute <= 59 or not 0 <= second <= 60:
        raise Fault(Fault.FIELD_OVERFLOW)
    return hour, minute, second, microsecond


DIGITS = re.compile("[0-9]*")
PART = re.compile(r"[^0-9A-Za-z]*([0-9]+|[A-Za-z]+)")


def atoi(text: str) -> int:
    """atoi(): the digits at the beginning as a long of 64 bits, which stops at its last value, cut to 32."""
    digits: str = DIGITS.match(text)[0]  # type: ignore[index]  # it matches the empty string
    value = min(int(digits or 0), (1 << 63) - 1) & 0xFFFFFFFF
    return value - (1 << 32) if value >= 1 << 31 else value
