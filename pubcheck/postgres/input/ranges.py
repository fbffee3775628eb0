"""Input of ranges and multiranges (utils/adt/rangetypes.c, multirangetypes.c)."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.datum import Array, Range, normalised
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input.common import END_DAY, SPACE, input_error
from pubcheck.postgres.input.composite import bounded, malformed
from pubcheck.postgres.input.dispatch import InputContext

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
