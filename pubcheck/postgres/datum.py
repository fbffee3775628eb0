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
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from decimal import Context, Decimal
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
