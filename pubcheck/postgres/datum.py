"""The values of types: input functions read them, functions of SQL work on them, output functions write them.

NULL is None. By type:

- integers, oid, xid, money (in cents), pg_lsn: int; boolean: bool; real and double precision: float
- numeric: Decimal, whose exponent is the display scale
- text, varchar, name, json, jsonpath, xml, citext and similar: str; character: str with its padding
- bytea, uuid, macaddr, "char": bytes; bit strings: a str of 0 and 1
- date, timestamp, timestamptz: days or microseconds since 2000-01-01, or an infinite float; time: microseconds; timetz:
  microseconds in UTC and seconds west; interval: ``Interval``
- inet, cidr: family, network, prefix length, address
- arrays, int2vector, oidvector: ``Array``; ranges: ``Range``; multiranges: a list of them; composites: a tuple
- jsonb: dict, list, str, bool, Decimal and ``JSON_NULL``; enums: the label
- geometric types: tuples of floats; tsvector: its lexemes and their positions; tsquery: a tree

The order of ranges and the calendar are here too, since input, functions and output share them.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from decimal import Context, Decimal
from functools import cmp_to_key
from typing import Any

DAY_LENGTH = 86_400_000_000
"""The length of a day in microseconds."""


class Interval(int):
    """An interval: its parts, and as an integer what the server compares, microseconds with months of 30 days
    (interval_cmp_value).
    """

    months: int
    days: int
    microseconds: int

    def __new__(cls, months: int, days: int, microseconds: int) -> Interval:
        interval = super().__new__(cls, (months * 30 + days) * DAY_LENGTH + microseconds)
        interval.months, interval.days, interval.microseconds = months, days, microseconds
        return interval

    @property
    def parts(self) -> tuple[int, int, int]:
        """Months, days and microseconds."""
        return self.months, self.days, self.microseconds


INFINITE_INTERVAL = Interval((1 << 31) - 1, (1 << 31) - 1, (1 << 63) - 1)
MINUS_INFINITE_INTERVAL = Interval(-(1 << 31), -(1 << 31), -(1 << 63))


class Array:
    """An array: its elements in storage order, the lengths and the lower bounds of its dimensions."""

    __slots__ = ("elements", "lengths", "lowers")

    def __init__(
        self, elements: Sequence[Any], lengths: Sequence[int] | None = None, lowers: Sequence[int] | None = None
    ) -> None:
        self.elements = elements
        self.lengths = tuple(lengths) if lengths is not None else (len(elements),) if elements else ()
        self.lowers = tuple(lowers) if lowers is not None else (1,) * len(self.lengths)


class Range:
    """A range, made canonical; an empty one has no bounds. None is an infinite bound.

    ``lower_in`` and ``upper_in``: whether the bound belongs to it.
    """

    __slots__ = ("empty", "lower", "lower_in", "upper", "upper_in")

    def __init__(
        self, empty: bool, lower: Any = None, upper: Any = None, lower_in: bool = False, upper_in: bool = False
    ) -> None:
        self.empty = empty
        self.lower = None if empty else lower
        self.upper = None if empty else upper
        self.lower_in = lower_in and self.lower is not None
        self.upper_in = upper_in and self.upper is not None


class _JsonNull:
    """null of jsonb, which is not NULL."""

    def __repr__(self) -> str:
        return "null"


JSON_NULL = _JsonNull()

WIDE = Context(prec=300_000, Emax=999_999_999, Emin=-999_999_999, traps=[])
"""Arithmetic of numeric, which never rounds by itself; undefined results are NaN."""
_UNITS = Decimal(1)


def whole_scale(value: Decimal) -> Decimal:
    """A numeric whose exponent says its display scale, which is not negative."""
    if value.is_finite() and value.as_tuple().exponent > 0:  # type: ignore[operator]  # of a finite one it is an int
        return value.quantize(_UNITS, context=WIDE)
    return value


_SINGLE = struct.Struct("<f")


def single(value: float) -> float:
    """The nearest single-precision number; beyond the greatest it is infinite."""
    try:
        return float(_SINGLE.unpack(_SINGLE.pack(value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


Bound = tuple[Any, bool, bool]
Order = Callable[[Any, Any], int]


def low(value: Range) -> Bound:
    return value.lower, True, value.lower_in


def high(value: Range) -> Bound:
    return value.upper, False, value.upper_in


def bound_order(order: Order) -> Callable[[Bound, Bound], int]:
    """range_cmp_bounds."""

    def compare(left: Bound, right: Bound) -> int:
        left_value, is_lower, inside = left
        right_value, other_lower, other_inside = right
        if left_value is None and right_value is None:
            return 0 if is_lower == other_lower else -1 if is_lower else 1
        if left_value is None:
            return -1 if is_lower else 1
        if right_value is None:
            return 1 if other_lower else -1
        sign = order(left_value, right_value)
        if sign:
            return sign
        if not inside and not other_inside:
            return 0 if is_lower == other_lower else 1 if is_lower else -1
        if not inside:
            return 1 if is_lower else -1
        if not other_inside:
            return -1 if other_lower else 1
        return 0

    return compare


def range_order(order: Order) -> Order:
    """range_cmp: an empty range comes before all others."""
    bounds = bound_order(order)

    def compare(left: Range, right: Range) -> int:
        if left.empty or right.empty:
            return int(right.empty) - int(left.empty)
        return bounds(low(left), low(right)) or bounds(high(left), high(right))

    return compare


def multirange_order(order: Order) -> Order:
    """multirange_cmp: range by range, then by their number."""
    member_order = range_order(order)

    def compare(left: list[Range], right: list[Range]) -> int:
        for left_range, right_range in zip(left, right, strict=False):
            sign = member_order(left_range, right_range)
            if sign:
                return sign
        return len(left) - len(right)

    return compare


def normalised(order: Order, ranges: list[Range]) -> list[Range]:
    """multirange_canonicalize: sort the ranges, and merge those that touch."""
    bounds = bound_order(order)
    merged: list[Range] = []
    for current in sorted((current for current in ranges if not current.empty), key=cmp_to_key(range_order(order))):
        last = merged[-1] if merged else None
        if last is not None and (bounds(low(current), high(last)) <= 0 or touch(order, high(last), low(current))):
            if bounds(high(current), high(last)) > 0:
                merged[-1] = Range(False, last.lower, current.upper, last.lower_in, current.upper_in)
        else:
            merged.append(current)
    return merged


def touch(order: Order, upper: Bound, lower: Bound) -> bool:
    """bounds_adjacent, of bounds whose discrete ones are canonical."""
    if upper[0] is None or lower[0] is None:
        return False
    return order(upper[0], lower[0]) == 0 and upper[2] != lower[2]


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
