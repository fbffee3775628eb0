"""Input of types made of others: composite types (rowtypes.c), enums (enum.c), domains (domains.c), ranges
(rangetypes.c) and multiranges (multirangetypes.c).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, INFORMATION_SCHEMA
from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.datum import Array, Range, normalised
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import END_DAY, SPACE, InputContext, input_error


def malformed(kind: str, text: str, detail: str | None) -> ServerError:
    return input_error(
        "22P02", 'malformed {kind} literal: "{text}"', detail, key="literal-malformed", kind=kind, text=text
    )


def read_element(context: InputContext, type_oid: int, text: str | None, typmod: int) -> Any:
    """An element, bound or field; None is NULL, which only a domain may refuse."""
    if text is not None:
        return context.read(type_oid, text, typmod)
    row = context.cache.type(type_oid)
    if row.kind == "d":
        read_domain(context, row, None)
    return None


def bounded(kind: str, text: str, pos: int, ends: str) -> tuple[str | None, int]:
    """A bound or field up to an unquoted end; None where there is nothing (range_parse_bound, record_in)."""
    if text[pos : pos + 1] and text[pos] in ends:
        return None, pos
    characters: list[str] = []
    in_quotes = False
    while True:
        character = text[pos : pos + 1]
        if character and not in_quotes and character in ends:
            return "".join(characters), pos
        pos += 1
        if character == "\\":
            character = text[pos : pos + 1]
            pos += 1
            characters.append(character)
        elif character == '"':
            if in_quotes and text[pos : pos + 1] == '"':
                characters.append(character)
                pos += 1
            else:
                in_quotes = not in_quotes
        else:
            characters.append(character)
        if not character:
            raise malformed(kind, text, "Unexpected end of input.")


# Enums and domains.


def read_enum(context: InputContext, row: Type, text: str) -> str:
    """enum_in. A label cannot be as long as NAMEDATALEN bytes."""
    if text in row.labels:
        if (row.oid, text) in context.cache.session.labels:
            named = context.cache.format_type(row.oid)
            raise input_error(
                "55P04",
                f'unsafe use of new value "{text}" of enum type {named}',
                hint="New enum values must be committed before they can be used.",
            )
        return text
    raise input_error("22P02", f'invalid input value for enum {context.cache.format_type(row.oid)}: "{text}"')


def read_domain(context: InputContext, row: Type, text: str | None) -> Any:
    """domain_in: the base type's input with the domain's typmod, then its constraints, NOT NULL first."""
    base, typmod = context.cache.base_type(row.oid)
    value = None if text is None else context.read(base, text, typmod)
    if value is None and _not_null(context, row):
        raise input_error("23502", f"domain {context.cache.format_type(row.oid)} does not allow null values")
    if row.checked:
        _check(context, row, value)
    return value


_INITDB_CHECKS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "cardinal_number": ("cardinal_number_domain_check", lambda value: value >= 0),
    "yes_or_no": ("yes_or_no_check", lambda value: value in ("YES", "NO")),
}
"""CHECK constraints of information_schema's domains."""


def _check(context: InputContext, row: Type, value: Any) -> None:
    """CHECK constraints, those of the domains below first; the unit's own are not followed."""
    cache, domains = context.cache, [row]
    while domains[-1].kind == "d" and domains[-1].oid >= FIRST_NORMAL_OID:
        domains.append(cache.type(domains[-1].base))
    check = _INITDB_CHECKS.get(domains[-1].name) if domains[-1].namespace == INFORMATION_SCHEMA else None
    if check is not None and value is not None and not check[1](value):
        name = cache.format_type(row.oid)
        raise input_error("23514", f'value for domain {name} violates check constraint "{check[0]}"')
    if any(cache.catalog.has_check(domain.oid) for domain in domains[:-1]) or check is None:
        raise Unknowable(f"whether a value satisfies the CHECK constraints of domain {row.name}")


def _not_null(context: InputContext, row: Type) -> bool:
    while row.kind == "d":
        if row.not_null:
            return True
        row = context.cache.type(row.base)
    return False


# Composite types.


def read_composite(context: InputContext, row: Type, text: str) -> tuple[Any, ...]:
    """record_in."""
    pos = len(text) - len(text.lstrip(SPACE))
    if text[pos : pos + 1] != "(":
        raise malformed("record", text, "Missing left parenthesis.")
    pos += 1
    values: list[Any] = []
    columns = [column for column in context.cache.fields(row.oid) if not column.dropped]
    for number, column in enumerate(columns):
        if number:
            if text[pos : pos + 1] != ",":
                raise malformed("record", text, "Too few columns.")
            pos += 1
        value, pos = bounded("record", text, pos, ",)")
        values.append(read_element(context, column.type, value, column.typmod))
    if text[pos : pos + 1] != ")":
        raise malformed("record", text, "Too many columns.")
    if text[pos + 1 :].strip(SPACE):
        raise malformed("record", text, "Junk after right parenthesis.")
    return tuple(values)


_DISCRETE = {3904: ("integer", 1 << 31), 3926: ("bigint", 1 << 63)}
_DATE_RANGE = 3912


def read_range(context: InputContext, row: Type, text: str, typmod: int = -1) -> Range:
    """range_in: range_parse, the bounds, range_serialize, the canonical function of the built-in ones."""
    pos = len(text) - len(text.lstrip(SPACE))
    if text[pos : pos + 5].lower() == "empty":
        if text[pos + 5 :].strip(SPACE):
            raise malformed("range", text, 'Junk after "empty" key word.')
        return Range(True)
    opening = text[pos : pos + 1]
    if opening not in ("[", "("):
        raise malformed("range", text, "Missing left parenthesis or bracket.")
    lower_text, pos = bounded("range", text, pos + 1, ",)]")
    if text[pos] != ",":
        raise malformed("range", text, "Missing comma after lower bound.")
    upper_text, pos = bounded("range", text, pos + 1, ",)]")
    if text[pos] == ",":
        raise malformed("range", text, "Too many commas.")
    closing = text[pos]
    if text[pos + 1 :].strip(SPACE):
        raise malformed("range", text, "Junk after right parenthesis or bracket.")
    lower = None if lower_text is None else context.read(row.base, lower_text, typmod)
    upper = None if upper_text is None else context.read(row.base, upper_text, typmod)
    if lower is not None and upper is not None:
        order = _order(context, lower, upper, row)
        if order > 0:
            raise input_error("22000", "range lower bound must be less than or equal to range upper bound")
        if order == 0 and (opening, closing) != ("[", "]"):
            return Range(True)
    return canonical(row, lower, upper, opening == "[", closing == "]")


_BYTEWISE = ("C", "POSIX", "ucs_basic")


_WITHOUT_ORDER = (Array, dict, list)


def _order(context: InputContext, left: Any, right: Any, row: Type) -> int:
    """-1, 0 or 1, as the subtype's default btree operator class compares."""
    subtype = context.cache.type(context.cache.base_type(row.base)[0])
    if subtype.kind == "e":
        left, right = subtype.labels.index(left), subtype.labels.index(right)
    if subtype.kind == "c" or isinstance(left, _WITHOUT_ORDER):
        raise Unknowable(f"how {row.name} orders the bounds")
    if isinstance(left, str) or isinstance(right, str):
        plain = f"{left}{right}".isascii() and f"{left}0{right}".isalnum() and f"{left}{right}a".islower()
        # Lower-case letters and digits: all usual collations have them in this order.
        if plain or left == right or (row.bounds and context.cache.collation(row.bounds).name in _BYTEWISE):
            return int((left > right) - (left < right))
        raise Unknowable(f"how the collation of {row.name} orders the bounds")
    for number in (left, right):
        # NaN is greater than any other number (float.c, numeric.c), and one NaN equals the other.
        if number != number:
            return int(left != left) - int(right != right)
    try:
        return int((left > right) - (left < right))
    except TypeError:
        raise Unknowable(f"how {row.name} orders the bounds") from None


def canonical(row: Type, lower: Any, upper: Any, lower_in: bool, upper_in: bool) -> Range:
    """int4range_canonical, int8range_canonical, daterange_canonical: both bounds become [)."""
    discrete = _DISCRETE.get(row.oid)
    if discrete:
        name, limit = discrete
        if lower is not None and not lower_in:
            lower += 1
        if upper is not None and upper_in:
            upper += 1
        if limit in (lower, upper):
            raise input_error("22003", f"{name} out of range")
        empty = lower is not None and lower == upper
        return Range(empty, lower, upper, True)
    if row.oid == _DATE_RANGE:
        lower, low_in = _next_day(lower, not lower_in), lower_in or not isinstance(lower, float)
        upper, up_in = _next_day(upper, upper_in), upper_in and isinstance(upper, float)
        return Range(lower is not None and lower == upper and not (low_in and up_in), lower, upper, low_in, up_in)
    return Range(False, lower, upper, lower_in, upper_in)


def _next_day(day: int | float | None, move: bool) -> int | float | None:
    """Infinite dates stay as they are, and still do not fall together with a bound at infinity."""
    if day is None or not move or isinstance(day, float):
        return day
    if day + 1 >= END_DAY:
        raise input_error("22008", "date out of range")
    return day + 1


def read_multirange(context: InputContext, row: Type, text: str, typmod: int = -1) -> list[Range]:
    """multirange_in: the ranges sorted and merged."""
    range_row = context.cache.type(row.base)
    pos = len(text) - len(text.lstrip(SPACE))
    if text[pos : pos + 1] != "{":
        raise malformed("multirange", text, "Missing left brace.")
    ranges: list[Range] = []
    state, start, seen, pos = "before", 0, False, pos + 1
    while state != "finished":
        character = text[pos : pos + 1]
        if not character:
            raise malformed("multirange", text, "Unexpected end of input.")
        if character in SPACE:
            pos += 1
            continue
        if state == "before":
            if character in "[(":
                start, state = pos, "range"
            elif character == "}" and not seen:
                state = "finished"
            elif text[pos : pos + 5].lower() == "empty":
                seen, state = True, "after"
                pos += 4
            else:
                raise malformed("multirange", text, "Expected range start.")
        elif state == "range":
            if character in "])":
                seen, state = True, "after"
                value = read_range(context, range_row, text[start : pos + 1], typmod)
                if not value.empty:
                    ranges.append(value)
            elif character == '"':
                state = "quoted"
            elif character == "\\":
                state = "escaped"
        elif state == "escaped":
            state = "range"
        elif state == "quoted":
            if character == "\\":
                state = "quoted escaped"
            elif character == '"':
                if text[pos + 1 : pos + 2] == '"':
                    pos += 1
                else:
                    state = "range"
        elif state == "quoted escaped":
            state = "quoted"
        elif character == ",":
            state = "before"
        elif character == "}":
            state = "finished"
        else:
            raise malformed("multirange", text, "Expected comma or end of multirange.")
        pos += 1
    if text[pos:].strip(SPACE):
        raise malformed("multirange", text, "Junk after closing right brace.")
    if len(ranges) < 2:
        return ranges
    return normalised(lambda left, right: _order(context, left, right, range_row), ranges)
