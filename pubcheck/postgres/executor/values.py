"""The values that functions work with, converted from the results of the input functions of
``pubcheck.postgres.input``.

Most are the same: int, bool, float, str, bytes, Decimal (its exponent is the display scale), days and microseconds
since 2000 or infinite floats, the tuples of inet and timetz. A range is a ``literals.ranges.Range``, whose bounds are
values of these. Others are made here: a ``real`` is rounded to its precision, an interval keeps its three parts, an
array its dimensions, and of jsonb the tree is kept. NULL is None.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from decimal import Context as DecimalContext
from decimal import Decimal
from typing import Any, NamedTuple

from pubcheck.postgres import oids
from pubcheck.postgres.budget import Budget
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input.common import DAY_LENGTH
from pubcheck.postgres.input.dispatch import InputContext
from pubcheck.postgres.input.ranges import Range


class Context:
    """The environment of an evaluation, besides the row.

    ``inputs`` is the context of reading literals: the major, the system caches, the settings. ``locale`` is the
    database's collation and character classes ("C", "C.UTF-8", "en_US.UTF-8"...), None if it is unknown: results that
    depend on it are Unknowable then. ``budget`` is for all rows together.
    """

    __slots__ = ("budget", "cache", "inputs", "locale", "major")

    def __init__(self, inputs: InputContext, locale: str | None = None, budget: Budget | None = None) -> None:
        self.inputs = inputs
        self.cache = inputs.cache
        self.major = inputs.major
        self.locale = locale
        self.budget = budget or Budget()


def evaluation_error(sqlstate: str, message: str, detail: str | None = None, hint: str | None = None) -> ServerError:
    """An ERROR that is raised for a row, while changes are decoded."""
    return ServerError(sqlstate, message, key="row-error", detail=detail, hint=hint)


def out_of_range(type_name: str, sqlstate: str = "22003") -> ServerError:
    return evaluation_error(sqlstate, f"{type_name} out of range")


def division_by_zero() -> ServerError:
    return evaluation_error("22012", "division by zero")


class Interval(NamedTuple):
    """An interval's parts. Two that are equal to the server need not be equal here: compare their ``span``."""

    months: int
    days: int
    microseconds: int


def span(interval: Interval) -> int:
    """Its length in microseconds, months of 30 days (interval_cmp_value)."""
    return (interval[0] * 30 + interval[1]) * DAY_LENGTH + interval[2]


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


class _JsonNull:
    """null of jsonb, which is not NULL."""

    def __repr__(self) -> str:
        return "null"


JSON_NULL = _JsonNull()

WIDE = DecimalContext(prec=300_000, Emax=999_999_999, Emin=-999_999_999, traps=[])
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


Adopt = Callable[[Any], Any]


def adoption(context: Context, type_oid: int) -> Adopt | None:
    """Return the conversion of an input function's result to a value; None if no conversion is needed.

    Raises Unknowable for types whose values are not supported.
    """
    cache = context.cache
    type_oid, _ = cache.base_type(type_oid)
    if type_oid in _ADOPTIONS:
        return _ADOPTIONS[type_oid]
    if type_oid in _AS_THEY_ARE:
        return None
    row = cache.type(type_oid)
    if row.kind == "r":
        return _range_adoption(adoption(context, row.base))
    if row.kind == "m":
        adopt_bound = _range_adoption(adoption(context, cache.type(row.base).base))
        return lambda ranges: [adopt_bound(item) for item in ranges]
    element = cache.element_type(type_oid)
    if not element:
        raise Unknowable(f"values of type {cache.format_type(type_oid)}")
    inner = adoption(context, element)

    def adopt(values: Any) -> Array:
        if isinstance(values, Array):
            return values
        lengths, lowers = getattr(values, "lengths", None), getattr(values, "lowers", None)
        if inner is None:
            return Array(list(values), lengths, lowers)
        return Array([None if value is None else inner(value) for value in values], lengths, lowers)

    return adopt


def _interval(value: Any) -> Interval:
    if isinstance(value, float):
        return INFINITE_INTERVAL if value > 0 else MINUS_INFINITE_INTERVAL
    if isinstance(value, Interval):
        return value
    return Interval(value.months, value.days, value.microseconds)


def _jsonb(text: Any) -> Any:
    if not isinstance(text, str):
        return text
    import json

    return json_tree(json.loads(text, parse_int=Decimal, parse_float=_json_number))


def _json_number(text: str) -> Decimal:
    return whole_scale(Decimal(text))


def json_tree(value: Any) -> Any:
    """A decoded document with its nulls distinguished from NULL."""
    if value is None:
        return JSON_NULL
    if isinstance(value, dict):
        return {key: json_tree(item) for key, item in value.items()}
    if isinstance(value, list):
        return [json_tree(item) for item in value]
    return value


def _range_adoption(inner: Adopt | None) -> Adopt:
    if inner is None:
        return lambda value: value

    def adopt(value: Any) -> Any:
        lower = None if value.lower is None else inner(value.lower)
        upper = None if value.upper is None else inner(value.upper)
        return Range(value.empty, lower, upper, value.lower_in, value.upper_in)

    return adopt


_ADOPTIONS: dict[int, Adopt] = {
    oids.CHAR: lambda value: value or b"\0",
    oids.FLOAT4: single,
    oids.INTERVAL: _interval,
    oids.JSONB: _jsonb,
    oids.NUMERIC: whole_scale,
}
_AS_THEY_ARE = frozenset(
    (
        oids.BIT, oids.BOOL, oids.BPCHAR, oids.BYTEA, oids.CSTRING, oids.DATE, oids.FLOAT8, oids.INT2, oids.INT4,
        oids.INT8, oids.JSON, oids.NAME, oids.OID, oids.TEXT, oids.TIME, oids.TIMESTAMP, oids.TIMESTAMPTZ, oids.TIMETZ,
        oids.UUID, oids.VARBIT, oids.VARCHAR, oids.XID, oids.CID,
        650, 869,  # cidr, inet
        774, 829,  # macaddr8, macaddr
        790,  # money
        3220,  # pg_lsn
        5069,  # xid8
    )
)  # fmt: skip


Order = Callable[[Any, Any], int]
