"""The Gregorian calendar as the server counts it, by Julian days (utils/adt/datetime.c)."""

from __future__ import annotations

POSTGRES_EPOCH = 2451545
"""The Julian day of 2000-01-01, from which dates and timestamps count."""
UNIX_EPOCH = -10957
"""1970-01-01, in days since 2000."""
_DAYS = (31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)


def month_length(year: int, month: int) -> int:
    """Return the number of days of a month."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if leap and month == 2 else _DAYS[month - 1]


def julian_day(year: int, month: int, day: int) -> int:
    """The Julian day number of a date of the Gregorian calendar; year 0 is 1 BC (date2j)."""
    if month <= 2:
        year, month = year - 1, month + 12
    return 365 * year + year // 4 - year // 100 + year // 400 + (153 * (month - 3) + 2) // 5 + day + 1721119


def calendar(julian: int) -> tuple[int, int, int]:
    """Year (0 is 1 BC), month and day of a Julian day number (j2date)."""
    era, rest = divmod(julian - 1721120, 146097)
    of_era = (rest - rest // 1460 + rest // 36524 - rest // 146096) // 365
    rest -= 365 * of_era + of_era // 4 - of_era // 100
    month = (5 * rest + 2) // 153
    day = rest - (153 * month + 2) // 5 + 1
    year = era * 400 + of_era
    return (year, month + 3, day) if month < 10 else (year + 1, month - 9, day)


def valid_julian(year: int, month: int) -> bool:
    """IS_VALID_JULIAN: from November 4714 BC to May 5874898."""
    return (-4713, 11) <= (year, month) < (5874898, 6)
