"""Spark types that hold the values of the server's types, and constants as Spark reads them."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct
from sqlglot import exp

from pubcheck.postgres import oids

Tree = Any
"""A tree of sqlglot's."""


class NotExact(Exception):
    """The filter cannot be written exactly in Spark SQL; the message says why."""


class SparkType(Struct, frozen=True):
    """A type of Spark: its name, and of a decimal the digits in all and after the point. `ANY` is one that nothing is
    asked of but whether it is NULL; UUID is a string in the form that the server prints."""

    name: str
    precision: int = 0
    scale: int = 0

    @property
    def sql(self) -> str:
        if self.name == "DECIMAL":
            return f"DECIMAL({self.precision}, {self.scale})"
        return {"UUID": "STRING"}.get(self.name, self.name)


BOOLEAN, STRING, ANY, _UUID = SparkType("BOOLEAN"), SparkType("STRING"), SparkType("ANY"), SparkType("UUID")
INTEGERS = {oids.INT2: SparkType("SMALLINT"), oids.INT4: SparkType("INT"), oids.INT8: SparkType("BIGINT")}
_FLOATS = {oids.FLOAT4: SparkType("FLOAT"), oids.FLOAT8: SparkType("DOUBLE")}
TYPES: Mapping[int, SparkType] = {
    oids.BOOL: BOOLEAN,
    oids.TEXT: STRING,
    oids.VARCHAR: STRING,
    oids.DATE: SparkType("DATE"),
    oids.TIMESTAMP: SparkType("TIMESTAMP_NTZ"),
    oids.TIMESTAMPTZ: SparkType("TIMESTAMP"),
    oids.UUID: _UUID,
    **INTEGERS,
    **_FLOATS,
}
MOST_DIGITS = 38
"""Digits of a decimal of Spark."""


# Numbers.


def precision_of(typmod: int) -> tuple[int, int]:
    """Precision and scale of a numeric's typmod (make_numeric_typmod in numeric.c)."""
    packed = typmod - 4
    return packed >> 16 & 0xFFFF, ((packed & 0x7FF) ^ 1024) - 1024


def digits_of(value: Decimal) -> tuple[int, int]:
    """Precision and scale that a number needs. Raises NotExact if no Spark decimal holds it."""
    if not value.is_finite():
        raise NotExact(f"{value} is not a Spark decimal")
    scale = max(0, -int(value.as_tuple().exponent))
    whole = len(str(abs(int(value)))) if abs(value) >= 1 else 0
    if scale + whole > MOST_DIGITS:
        raise NotExact(f"a number of {scale + whole} digits does not fit a Spark decimal")
    return max(1, scale + whole), scale


def room_for(kinds: Sequence[SparkType]) -> SparkType | None:
    """Return the decimal type that holds all of these; None if there is none."""
    whole, scale = max(kind.precision - kind.scale for kind in kinds), max(kind.scale for kind in kinds)
    return SparkType("DECIMAL", whole + scale, scale) if whole + scale <= MOST_DIGITS else None


def refuse_uncommon(left: SparkType, right: SparkType) -> None:
    """Raises NotExact unless numbers of both types are compared digit by digit."""
    if left.name != "DECIMAL" or right.name != "DECIMAL":
        raise NotExact("numeric is compared with a number of another kind")
    if room_for([left, right]) is None:
        raise NotExact("the comparison needs more digits than a decimal of Spark has")


def _number(text: str) -> Tree:
    """Write a number; values that Spark does not read as numbers are cast."""
    if text == "-9223372036854775808":
        return exp.cast(exp.Literal.string(text), "BIGINT")
    if text.startswith("-"):
        return exp.Paren(this=exp.Neg(this=exp.Literal.number(text[1:])))
    return exp.Literal.number(text)


def _float(value: float) -> Tree:
    text = "NaN" if math.isnan(value) else repr(value).replace("inf", "Infinity")
    return exp.cast(exp.Literal.string(text), "DOUBLE")


def _single(value: float) -> Tree:
    return exp.cast(_float(value), "FLOAT")  # exact: the value is one of these


# Moments: days and microseconds since 2000.

_EPOCH = datetime.datetime(2000, 1, 1)


def _date(value: float) -> Tree:
    return exp.cast(exp.Literal.string(f"{_moment(value, 'days'):%Y-%m-%d}"), "DATE")


def _timestamp(value: float) -> Tree:
    return exp.cast(exp.Literal.string(f"{_moment(value, 'microseconds'):%Y-%m-%d %H:%M:%S.%f}"), "TIMESTAMPNTZ")


def _timestamptz(value: float) -> Tree:
    return exp.cast(exp.Literal.string(f"{_moment(value, 'microseconds'):%Y-%m-%d %H:%M:%S.%f}+00:00"), "TIMESTAMP")


def _moment(value: float, unit: str) -> datetime.datetime:
    try:
        moment = _EPOCH + datetime.timedelta(**{unit: value})
    except (OverflowError, ValueError):
        raise NotExact("it contains a date that Spark cannot represent") from None
    if moment.year < 1000:
        raise NotExact("it contains a date that Spark cannot represent")
    return moment


def _uuid(value: bytes) -> Tree:
    text = value.hex()
    return exp.Literal.string("-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:])))


_WRITERS: Mapping[int, Callable[[Any], Tree]] = {
    oids.BOOL: lambda value: exp.true() if value else exp.false(),
    oids.TEXT: exp.Literal.string,
    oids.VARCHAR: exp.Literal.string,
    oids.NUMERIC: lambda value: _number(f"{value:f}"),
    oids.FLOAT4: _single,
    oids.FLOAT8: _float,
    oids.DATE: _date,
    oids.TIMESTAMP: _timestamp,
    oids.TIMESTAMPTZ: _timestamptz,
    oids.UUID: _uuid,
}


def written(value: Any, oid: int) -> tuple[Tree, SparkType] | None:
    """A constant of the server's type with that oid, and its type in Spark; None where Spark has no such type.

    Raises NotExact for a value that Spark's type does not have.
    """
    kind = TYPES.get(oid)
    if oid == oids.NUMERIC:
        kind = SparkType("DECIMAL", *((1, 0) if value is None else digits_of(value)))
    if kind is None:
        return None
    if value is None:
        return exp.cast(exp.null(), kind.sql), kind
    write = _WRITERS.get(oid)
    return _number(str(value)) if write is None else write(value), kind
