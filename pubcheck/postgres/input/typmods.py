"""Type modifiers: varchar(3), numeric(5, 2), interval day to second (typenameTypeMod, parser/parse_type.c).

A typmod is the result of its type's typmodin function; -1 means that there is none.
"""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import InputContext
from pubcheck.postgres.input.numbers import read_int4
from pubcheck.postgres.oids import (
    BIT,
    CLOCKS,
    FULL_PRECISION,
    FULL_RANGE,
    HEADER,
    INTERVAL,
    INTERVAL_FIELDS,
    LENGTHS,
    NUMERIC,
    VARBIT,
)
from pubcheck.postgres.parse import Node

_GREATEST_LENGTH = 10485760
_GREATEST_PRECISION, _GREATEST_SCALE = 1000, 1000
_GREATEST_FRACTION = 6
_BIT_LENGTHS = {BIT: "bit", VARBIT: "varbit"}


class _Wrong(Exception):
    """22023 of a typmodin function."""


def typmod_of(cache: Any, type_oid: int, args: list[Node], location: int | None, written: str | None = None) -> int:
    """Return the typmod of a type name with ``args`` in its parentheses; -1 if there are none.

    ``written`` is the name in the server's messages (TypeNameToString), by default the type's own. Raises ServerError
    42601, 22023, 22P02 and 22003 at ``location``, and Unknowable for a type whose typmodin function is unknown.
    """
    if not args:
        return -1
    element = 0 if type_oid in _READERS else cache.element_type(type_oid)
    subject = element or type_oid
    if subject not in _READERS:
        row = cache.type(subject)
        if row.kind == "b" and subject >= 16384:
            raise Unknowable(f"the type modifiers of {row.name}", location)
        name = written or (row.name + "[]" if element else row.name)
        raise _error("42601", f'type modifier is not allowed for type "{name}"', location)
    texts = [_constant(node, location) for node in args]
    context = InputContext(cache.session.catalog.major.number, cache)
    try:
        return _READERS[subject](subject, [read_int4(context, text) for text in texts])
    except _Wrong as wrong:
        raise _error("22023", str(wrong), location) from None
    except ServerError as error:
        raise _error(error.sqlstate, error.message, location) from None


def _error(sqlstate: str, message: str, location: int | None) -> ServerError:
    return ServerError(sqlstate, message, key="expression", location=location)


def _constant(node: Node, location: int | None) -> str:
    """A modifier as text: a number or string, or a name on its own."""
    if "A_Const" in node:
        constant = node["A_Const"]
        if "ival" in constant:
            return str(constant["ival"].get("ival", 0))
        for kind in ("fval", "sval"):
            if kind in constant:
                return str(constant[kind].get(kind, ""))
    elif "ColumnRef" in node:
        fields = node["ColumnRef"]["fields"]
        if len(fields) == 1 and "String" in fields[0]:
            return str(fields[0]["String"]["sval"])
    raise _error("42601", "type modifiers must be simple constants or identifiers", location)


def _length(type_oid: int, modifiers: list[int]) -> int:
    """anychar_typmodin (varchar.c)."""
    return HEADER + _within(LENGTHS[type_oid], modifiers, _GREATEST_LENGTH)


def _bit_length(type_oid: int, modifiers: list[int]) -> int:
    """anybit_typmodin (varbit.c)."""
    return _within(_BIT_LENGTHS[type_oid], modifiers, _GREATEST_LENGTH * 8)


def _within(name: str, modifiers: list[int], greatest: int) -> int:
    if len(modifiers) != 1:
        raise _Wrong("invalid type modifier")
    if modifiers[0] < 1:
        raise _Wrong(f"length for type {name} must be at least 1")
    if modifiers[0] > greatest:
        raise _Wrong(f"length for type {name} cannot exceed {greatest}")
    return modifiers[0]


def _numeric(type_oid: int, modifiers: list[int]) -> int:
    """numerictypmodin (numeric.c)."""
    if len(modifiers) not in (1, 2):
        raise _Wrong("invalid NUMERIC type modifier")
    precision, scale = modifiers if len(modifiers) == 2 else (modifiers[0], 0)
    if not 1 <= precision <= _GREATEST_PRECISION:
        raise _Wrong(f"NUMERIC precision {precision} must be between 1 and {_GREATEST_PRECISION}")
    if not -_GREATEST_SCALE <= scale <= _GREATEST_SCALE:
        raise _Wrong(f"NUMERIC scale {scale} must be between {-_GREATEST_SCALE} and {_GREATEST_SCALE}")
    return (precision << 16 | scale & 0x7FF) + HEADER


def _clock(type_oid: int, modifiers: list[int]) -> int:
    """anytime_typmodin (date.c), anytimestamp_typmodin (timestamp.c). What is too precise is only warned of."""
    if len(modifiers) != 1:
        raise _Wrong("invalid type modifier")
    if modifiers[0] < 0:
        name, zone, _ = CLOCKS[type_oid]
        raise _Wrong(f"{name}({modifiers[0]}){zone} precision must not be negative")
    return min(modifiers[0], _GREATEST_FRACTION)


def _interval(type_oid: int, modifiers: list[int]) -> int:
    """intervaltypmodin (timestamp.c): fields and precision, as the grammar writes them."""
    if modifiers[0] not in INTERVAL_FIELDS or len(modifiers) > 2:
        raise _Wrong("invalid INTERVAL type modifier")
    if len(modifiers) == 1:
        return -1 if modifiers[0] == FULL_RANGE else modifiers[0] << 16 | FULL_PRECISION
    if modifiers[1] < 0:
        raise _Wrong(f"INTERVAL({modifiers[1]}) precision must not be negative")
    return modifiers[0] << 16 | min(modifiers[1], _GREATEST_FRACTION)


_READERS = {
    **dict.fromkeys(LENGTHS, _length),
    **dict.fromkeys(_BIT_LENGTHS, _bit_length),
    **dict.fromkeys(CLOCKS, _clock),
    NUMERIC: _numeric,
    INTERVAL: _interval,
}
