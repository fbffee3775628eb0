"""Input of types made of others: arrays (arrayfuncs.c), ranges and multiranges (rangetypes.c, multirangetypes.c),
composite types (rowtypes.c), enums (enum.c) and domains (domains.c).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, INFORMATION_SCHEMA
from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.literals.common import SPACE, InputContext, refused
from pubcheck.postgres.literals.dispatch import read

_GREATEST_DIMENSION = 6
_GREATEST_ARRAY = 134217727
_BOX = 603


def _malformed(kind: str, text: str, detail: str | None) -> ServerError:
    return refused("22P02", f'malformed {kind} literal: "{text}"', detail)


def _element(context: InputContext, type_oid: int, text: str | None, typmod: int) -> Any:
    """An element, bound or field; None is NULL, which only a domain may refuse."""
    if text is not None:
        return read(context, type_oid, text, typmod)
    row = context.cache.type(type_oid)
    if row.kind == "d":
        read_domain(context, row, None)
    return None


# Enums and domains.


def read_enum(context: InputContext, row: Type, text: str) -> int:
    """enum_in; the value is the label's place. A label cannot be as long as NAMEDATALEN bytes."""
    if text in row.labels:
        if (row.oid, text) in context.cache.session.labels:
            named = context.cache.format_type(row.oid)
            raise refused(
                "55P04",
                f'unsafe use of new value "{text}" of enum type {named}',
                hint="New enum values must be committed before they can be used.",
            )
        return row.labels.index(text)
    raise refused("22P02", f'invalid input value for enum {context.cache.format_type(row.oid)}: "{text}"')


def read_domain(context: InputContext, row: Type, text: str | None) -> Any:
    """domain_in: the base type's input with the domain's typmod, then its constraints, NOT NULL first."""
    base, typmod = context.cache.base_type(row.oid)
    value = None if text is None else read(context, base, text, typmod)
    if value is None and _not_null(context, row):
        raise refused("23502", f"domain {context.cache.format_type(row.oid)} does not allow null values")
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
    known = _INITDB_CHECKS.get(domains[-1].name) if domains[-1].namespace == INFORMATION_SCHEMA else None
    if known is not None and value is not None and not known[1](value):
        name = cache.format_type(row.oid)
        raise refused("23514", f'value for domain {name} violates check constraint "{known[0]}"')
    if any(cache.catalog.has_check(domain.oid) for domain in domains[:-1]) or known is None:
        raise Unknowable(f"whether a value satisfies the CHECK constraints of domain {row.name}")


def _not_null(context: InputContext, row: Type) -> bool:
    while row.kind == "d":
        if row.not_null:
            return True
        row = context.cache.type(row.base)
    return False


# Arrays.


def _nulls(context: InputContext) -> bool:
    return str(context.setting("array_nulls")).lower() not in ("off", "false", "no", "0")


class Array(list[Any]):
    """The elements in their order, with the lengths and lower bounds of the dimensions; an empty array has none."""

    __slots__ = ("lengths", "lowers")

    def __init__(self, values: Sequence[Any], lengths: Sequence[int], lowers: Sequence[int]) -> None:
        super().__init__(values)
        self.lengths = tuple(lengths) if values else ()
        self.lowers = tuple(lowers) if values else ()


def read_array(context: InputContext, element: int, text: str, typmod: int = -1) -> Array:
    """array_in."""
    delimiter = ";" if element == _BOX else ","
    reader = _Array17 if context.major >= 17 else _Array15
    return reader(context, element, text, typmod, delimiter).read()


class _Array:
    """What both generations of array_in share. An element's own error comes when the scan meets the element."""

    def __init__(self, context: InputContext, element: int, text: str, typmod: int, delimiter: str) -> None:
        self.context = context
        self.element = element
        self.text = text
        self.typmod = typmod
        self.delimiter = delimiter
        self.values: list[Any] = []

    def malformed(self, detail: str | None) -> NoReturn:
        raise _malformed("array", self.text, detail)

    def add(self, text: str | None) -> None:
        self.values.append(_element(self.context, self.element, text, self.typmod))

    def blanks(self, at: int) -> int:
        while self.text[at : at + 1] and self.text[at] in SPACE:
            at += 1
        return at

    def contents(self, at: int, dimensions: list[int]) -> int:
        """Where the opening brace is."""
        if not dimensions:
            if self.text[at : at + 1] != "{":
                self.malformed('Array value must start with "{" or dimension information.')
            return at
        if self.text[at : at + 1] != "=":
            self.malformed('Missing "=" after array dimensions.')
        at = self.blanks(at + 1)
        if self.text[at : at + 1] != "{":
            self.malformed('Array contents must start with "{".')
        return at


class _Array17(_Array):
    """array_in as rewritten in 17: one pass over tokens."""

    def read(self) -> Array:
        at, lowers, dimensions = self.dimensions()
        at = self.contents(at, dimensions)
        at, lengths = self.braces(at, dimensions)
        if self.text[at:].strip(SPACE):
            self.malformed("Junk after closing right brace.")
        return Array(self.values, lengths, lowers or [1] * len(lengths))

    def bound(self, at: int) -> tuple[int, int]:
        """ReadDimensionInt: strtol, but no blanks before it."""
        text, end = self.text, at
        if text[at : at + 1] not in ("+", "-") and not "0" <= text[at : at + 1] <= "9":
            return 0, at
        end += text[at] in "+-"
        start = end
        while "0" <= text[end : end + 1] <= "9":
            end += 1
        if end == start:
            return 0, at
        value = int(text[start:end][:400]) * (-1 if text[at] == "-" else 1)
        if not -(1 << 31) <= value < 1 << 31:
            raise refused("54000", "array bound is out of integer range")
        return value, end

    def dimensions(self) -> tuple[int, list[int], list[int]]:
        """ReadArrayDimensions: where it stops, the lower bounds and the lengths."""
        text, at, lowers, found = self.text, 0, list[int](), list[int]()
        while True:
            at = self.blanks(at)
            if text[at : at + 1] != "[":
                return at, lowers, found
            at += 1
            if len(found) >= _GREATEST_DIMENSION:
                raise refused(
                    "54000", f"number of array dimensions exceeds the maximum allowed ({_GREATEST_DIMENSION})"
                )
            upper, end = self.bound(at)
            if end == at:
                self.malformed('"[" must introduce explicitly-specified array dimensions.')
            lower, at = 1, end
            if text[at : at + 1] == ":":
                lower = upper
                upper, end = self.bound(at + 1)
                if end == at + 1:
                    self.malformed("Missing array dimension value.")
                at = end
            if text[at : at + 1] != "]":
                self.malformed('Missing "]" after array dimensions.')
            at += 1
            if upper < lower:
                raise refused("2202E", "upper bound cannot be less than lower bound")
            if upper == (1 << 31) - 1:
                raise refused("54000", f"array upper bound is too large: {upper}")
            if upper - lower + 1 >= 1 << 31:
                raise refused("54000", f"array size exceeds the maximum allowed ({_GREATEST_ARRAY})")
            lowers.append(lower)
            found.append(upper - lower + 1)

    def braces(self, at: int, dimensions: list[int]) -> tuple[int, list[int]]:
        """ReadArrayStr: where the value ends, and the lengths."""
        stated = frozen = bool(dimensions)
        lengths = dimensions + [-1] * (_GREATEST_DIMENSION - len(dimensions))
        depth, level, counts, delimiter_next = len(dimensions), 0, [0] * _GREATEST_DIMENSION, False
        mismatch = (
            "Specified array dimensions do not match array contents."
            if stated
            else "Multidimensional arrays must have sub-arrays with matching dimensions."
        )
        while True:
            token, value, at = self.token(at)
            if token == "{":
                if delimiter_next:
                    self.malformed('Unexpected "{" character.')
                if level >= _GREATEST_DIMENSION:
                    raise refused(
                        "54000", f"number of array dimensions exceeds the maximum allowed ({_GREATEST_DIMENSION})"
                    )
                counts[level] = 0
                level += 1
                if level > depth:
                    if frozen:
                        self.malformed(mismatch)
                    depth = level
            elif token == "}":
                if counts[level - 1] > 0 and not delimiter_next:
                    self.malformed('Unexpected "}" character.')
                level -= 1
                if level > 0:
                    counts[level - 1] += 1
                if lengths[level] < 0:
                    lengths[level] = counts[level]
                elif counts[level] != lengths[level]:
                    self.malformed(mismatch)
                delimiter_next = True
                if level == 0:
                    return at, lengths[:depth]
            elif token == "delimiter":
                if not delimiter_next:
                    self.malformed(f'Unexpected "{self.delimiter}" character.')
                delimiter_next = False
            else:
                if delimiter_next:
                    self.malformed("Unexpected array element.")
                self.add(value)
                frozen = True
                if level != depth:
                    self.malformed(mismatch)
                counts[level - 1] += 1
                delimiter_next = True

    def token(self, at: int) -> tuple[str, str | None, int]:
        """ReadArrayToken: kind, an element's text (None: NULL), and where it ends."""
        text, delimiter = self.text, self.delimiter
        at = self.blanks(at)
        first = text[at : at + 1]
        if first in ("{", "}"):
            return first, None, at + 1
        if first == delimiter:
            return "delimiter", None, at + 1
        if first == '"':
            return self.quoted(at + 1)
        found: list[str] = []
        kept, escapes = 0, False
        while True:
            character = text[at : at + 1]
            if character == "{":
                self.malformed('Unexpected "{" character.')
            if character == '"':
                self.malformed("Incorrectly quoted array element.")
            if character == "\\":
                at += 1
                character = text[at : at + 1]
                escapes = True
                if character:
                    found.append(character)
                    kept = len(found)
                    at += 1
                    continue
            if not character:
                self.malformed("Unexpected end of input.")
            if character in (delimiter, "}"):
                value = "".join(found[:kept])
                if not escapes and value.lower() == "null" and _nulls(self.context):
                    return "element", None, at
                return "element", value, at
            found.append(character)
            if character not in SPACE:
                kept = len(found)
            at += 1

    def quoted(self, at: int) -> tuple[str, str | None, int]:
        text, found = self.text, list[str]()
        while True:
            character = text[at : at + 1]
            if character == '"':
                at = self.blanks(at + 1)
                behind = text[at : at + 1]
                if behind in (self.delimiter, "}", "{"):
                    return "element", "".join(found), at
                self.malformed("Incorrectly quoted array element." if behind else "Unexpected end of input.")
            if character == "\\":
                at += 1
                character = text[at : at + 1]
            if not character:
                self.malformed("Unexpected end of input.")
            found.append(character)
            at += 1


_NO_LEVEL, _LEVEL_STARTED, _LEVEL_DONE, _LEVEL_DELIMITED, _ELEM_STARTED, _ELEM_DELIMITED, _QUOTED, _QUOTED_DONE = range(
    8
)
_TAKES_ELEMENT = (_LEVEL_STARTED, _ELEM_STARTED, _ELEM_DELIMITED)
_TAKES_ESCAPE = (*_TAKES_ELEMENT, _QUOTED)
_TAKES_QUOTE = (_LEVEL_STARTED, _QUOTED, _ELEM_DELIMITED)
_ENDS_ELEMENT = (_ELEM_STARTED, _QUOTED_DONE, _LEVEL_DONE)


class _Array15(_Array):
    """array_in of 15 and 16: ArrayCount works the dimensions out of the braces, then ReadArrayStr reads."""

    def read(self) -> Array:
        at, lowers, dimensions = self.dimensions()
        at = self.contents(at, dimensions)
        lengths = self.count(at)
        if dimensions:
            if len(lengths) != len(dimensions) or lengths != dimensions:
                self.malformed("Specified array dimensions do not match array contents.")
        else:
            lowers = [1] * len(lengths)
        _check_size(lengths, lowers)
        if all(lengths) and lengths:
            self.elements(at, lengths)
        return Array(self.values, lengths, lowers)

    def bound(self, at: int) -> tuple[int, int]:
        """Digits and signs in any order, then atoi of them."""
        text, end = self.text, at
        while text[end : end + 1] and text[end] in "0123456789+-":
            end += 1
        sign, start = 1, at
        if text[at : at + 1] in ("+", "-"):
            sign, start = (-1 if text[at] == "-" else 1), at + 1
        stop = start
        while stop < end and text[stop] in "0123456789":
            stop += 1
        value = sign * int(text[start:stop][:400] or "0")
        # atoi is strtol cut to 32 bits.
        value = max(-(1 << 63), min(value, (1 << 63) - 1))
        return (value + (1 << 31)) % (1 << 32) - (1 << 31), end

    def dimensions(self) -> tuple[int, list[int], list[int]]:
        text, at, lowers, found = self.text, 0, list[int](), list[int]()
        while True:
            at = self.blanks(at)
            if text[at : at + 1] != "[":
                return at, lowers, found
            at += 1
            if len(found) >= _GREATEST_DIMENSION:
                raise _too_deep(len(found) + 1)
            upper, end = self.bound(at)
            if end == at:
                self.malformed('"[" must introduce explicitly-specified array dimensions.')
            lower, at = 1, end
            if text[at : at + 1] == ":":
                lower = upper
                upper, end = self.bound(at + 1)
                if end == at + 1:
                    self.malformed("Missing array dimension value.")
                at = end
            if text[at : at + 1] != "]":
                self.malformed('Missing "]" after array dimensions.')
            at += 1
            if upper < lower:
                raise refused("2202E", "upper bound cannot be less than lower bound")
            lowers.append(lower)
            found.append((upper - lower + 1 + (1 << 31)) % (1 << 32) - (1 << 31))

    def count(self, start: int) -> list[int]:
        """ArrayCount: the lengths, none for an empty array. Its messages hold the text from the brace on."""
        text, delimiter, at = self.text, self.delimiter, start

        def wrong(detail: str) -> NoReturn:
            raise _malformed("array", text[start:], detail)

        state, level, depth = _NO_LEVEL, 0, 1
        lengths, counts, last = [0] * 7, [1] * 7, [0] * 7
        in_quotes, empty = False, True
        while True:
            if state in (_ELEM_STARTED, _QUOTED):
                empty = False
            character = text[at : at + 1]
            if not character:
                wrong("Unexpected end of input.")
            if character == "\\":
                if state not in _TAKES_ESCAPE:
                    wrong('Unexpected "\\" character.')
                if state != _QUOTED:
                    state = _ELEM_STARTED
                at += 1
                if at == len(text):
                    wrong("Unexpected end of input.")
            elif character == '"':
                if state not in _TAKES_QUOTE:
                    wrong("Unexpected array element.")
                in_quotes = not in_quotes
                state = _QUOTED if in_quotes else _QUOTED_DONE
            elif in_quotes:
                pass
            elif character == "{":
                if state not in (_NO_LEVEL, _LEVEL_STARTED, _LEVEL_DELIMITED):
                    wrong('Unexpected "{" character.')
                state = _LEVEL_STARTED
                if level >= _GREATEST_DIMENSION:
                    raise _too_deep(level + 1)
                lengths[level] = 0
                level += 1
                depth = max(depth, level)
            elif character == "}":
                if state not in _ENDS_ELEMENT and not (level == 1 and state == _LEVEL_STARTED):
                    wrong('Unexpected "}" character.')
                state = _LEVEL_DONE
                level -= 1
                if last[level] not in (0, counts[level]):
                    wrong("Multidimensional arrays must have sub-arrays with matching dimensions.")
                last[level], counts[level] = counts[level], 1
                if level == 0:
                    lengths[depth - 1] += 1
                    break
                lengths[level - 1] += 1
            elif character == delimiter:
                if state not in _ENDS_ELEMENT:
                    wrong(f'Unexpected "{delimiter}" character.')
                state = _LEVEL_DELIMITED if state == _LEVEL_DONE else _ELEM_DELIMITED
                counts[level - 1] += 1
                lengths[depth - 1] += 1
            elif character not in SPACE:
                if state not in _TAKES_ELEMENT:
                    wrong("Unexpected array element.")
                state = _ELEM_STARTED
            at += 1
        if text[at + 1 :].strip(SPACE):
            wrong("Junk after closing right brace.")
        return [] if empty else lengths[:depth]

    def elements(self, at: int, lengths: list[int]) -> None:
        """ReadArrayStr."""
        text, delimiter = self.text, self.delimiter
        depth, level, indexes = len(lengths), 0, [0] * len(lengths)
        products = [1] * depth
        for place in range(depth - 2, -1, -1):
            products[place] = products[place + 1] * lengths[place + 1]
        size = products[0] * lengths[0]
        in_quotes = ended = False
        while not ended:
            found: list[str] = []
            offset, kept, leading, quoting, done = -1, 0, True, False, False
            while not done:
                character = text[at : at + 1]
                at += 1
                if character == "\\":
                    character = text[at : at + 1]
                    at += 1
                    found.append(character)
                    leading, kept, quoting = False, len(found), True
                elif character == '"':
                    in_quotes = not in_quotes
                    if in_quotes:
                        leading = False
                    else:
                        kept = len(found)
                    quoting = True
                elif not character:
                    self.malformed(None)
                elif in_quotes:
                    found.append(character)
                elif character == "{":
                    if level >= depth:
                        self.malformed(None)
                    level += 1
                    indexes[level - 1] = 0
                elif character == "}":
                    if level == 0:
                        self.malformed(None)
                    if offset == -1:
                        offset = sum(index * product for index, product in zip(indexes, products, strict=True))
                    indexes[level - 1] = 0
                    level -= 1
                    if level == 0:
                        ended = done = True
                    else:
                        indexes[level - 1] += 1
                elif character == delimiter:
                    if offset == -1:
                        offset = sum(index * product for index, product in zip(indexes, products, strict=True))
                    done = True
                    indexes[depth - 1] += 1
                elif character in SPACE:
                    if not leading:
                        found.append(character)
                else:
                    found.append(character)
                    leading, kept = False, len(found)
            if not 0 <= offset < size:
                self.malformed(None)
            value = "".join(found[:kept])
            null = not quoting and value.lower() == "null" and _nulls(self.context)
            self.add(None if null else value)


def _too_deep(depth: int) -> ServerError:
    return refused("54000", f"number of array dimensions ({depth}) exceeds the maximum allowed ({_GREATEST_DIMENSION})")


def _check_size(lengths: list[int], lowers: list[int]) -> None:
    """ArrayGetNItems and ArrayCheckBounds (arrayutils.c)."""
    too_big = refused("54000", f"array size exceeds the maximum allowed ({_GREATEST_ARRAY})")
    size = 1
    for length in lengths:
        if length < 0:
            raise too_big
        if length == 0:
            return
        size *= length
        if size >= 1 << 31:
            raise too_big
    if size > _GREATEST_ARRAY:
        raise too_big
    for length, lower in zip(lengths, lowers, strict=True):
        if lower + length >= 1 << 31:
            raise refused("54000", f"array lower bound is too large: {lower}")


# Ranges.


class Range:
    """A range as it was written, made canonical; an empty one has no bounds. None stands for an infinite bound.

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


def _bounded(kind: str, text: str, at: int, ends: str) -> tuple[str | None, int]:
    """A bound or field up to an unquoted end; None where there is nothing (range_parse_bound, record_in)."""
    if text[at : at + 1] and text[at] in ends:
        return None, at
    found: list[str] = []
    in_quotes = False
    while True:
        character = text[at : at + 1]
        if character and not in_quotes and character in ends:
            return "".join(found), at
        at += 1
        if character == "\\":
            character = text[at : at + 1]
            at += 1
            found.append(character)
        elif character == '"':
            if in_quotes and text[at : at + 1] == '"':
                found.append(character)
                at += 1
            else:
                in_quotes = not in_quotes
        else:
            found.append(character)
        if not character:
            raise _malformed(kind, text, "Unexpected end of input.")


_DISCRETE = {3904: ("integer", 1 << 31), 3926: ("bigint", 1 << 63)}
_DATE_RANGE = 3912
_END_DAY = 2147483494 - 2451545
"""The first day that a date cannot hold, in days since 2000."""


def read_range(context: InputContext, row: Type, text: str, typmod: int = -1) -> Range:
    """range_in: range_parse, the bounds, range_serialize, the canonical function of the built-in ones."""
    at = len(text) - len(text.lstrip(SPACE))
    if text[at : at + 5].lower() == "empty":
        if text[at + 5 :].strip(SPACE):
            raise _malformed("range", text, 'Junk after "empty" key word.')
        return Range(True)
    opening = text[at : at + 1]
    if opening not in ("[", "("):
        raise _malformed("range", text, "Missing left parenthesis or bracket.")
    lower_text, at = _bounded("range", text, at + 1, ",)]")
    if text[at] != ",":
        raise _malformed("range", text, "Missing comma after lower bound.")
    upper_text, at = _bounded("range", text, at + 1, ",)]")
    if text[at] == ",":
        raise _malformed("range", text, "Too many commas.")
    closing = text[at]
    if text[at + 1 :].strip(SPACE):
        raise _malformed("range", text, "Junk after right parenthesis or bracket.")
    lower = None if lower_text is None else read(context, row.base, lower_text, typmod)
    upper = None if upper_text is None else read(context, row.base, upper_text, typmod)
    if lower is not None and upper is not None:
        order = _order(context, lower, upper, row)
        if order > 0:
            raise refused("22000", "range lower bound must be less than or equal to range upper bound")
        if order == 0 and (opening, closing) != ("[", "]"):
            return Range(True)
    return canonical(row, lower, upper, opening == "[", closing == "]")


_BYTEWISE = ("C", "POSIX", "ucs_basic")


def _order(context: InputContext, left: Any, right: Any, row: Type) -> int:
    """-1, 0 or 1, as the subtype's default btree operator class compares."""
    if isinstance(left, str) or isinstance(right, str):
        plain = f"{left}{right}".isascii() and f"{left}0{right}".isalnum() and f"{left}{right}a".islower()
        # Lower-case letters and digits: every collation that is not made for it has them in this order.
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
            raise refused("22003", f"{name} out of range")
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
    if day + 1 >= _END_DAY:
        raise refused("22008", "date out of range")
    return day + 1


def read_multirange(context: InputContext, row: Type, text: str, typmod: int = -1) -> list[Range]:
    """multirange_in: the ranges in their order, as written."""
    range_row = context.cache.type(row.base)
    at = len(text) - len(text.lstrip(SPACE))
    if text[at : at + 1] != "{":
        raise _malformed("multirange", text, "Missing left brace.")
    found: list[Range] = []
    state, start, seen, at = "before", 0, False, at + 1
    while state != "finished":
        character = text[at : at + 1]
        if not character:
            raise _malformed("multirange", text, "Unexpected end of input.")
        if character in SPACE:
            at += 1
            continue
        if state == "before":
            if character in "[(":
                start, state = at, "range"
            elif character == "}" and not seen:
                state = "finished"
            elif text[at : at + 5].lower() == "empty":
                seen, state = True, "after"
                at += 4
            else:
                raise _malformed("multirange", text, "Expected range start.")
        elif state == "range":
            if character in "])":
                seen, state = True, "after"
                value = read_range(context, range_row, text[start : at + 1], typmod)
                if not value.empty:
                    found.append(value)
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
                if text[at + 1 : at + 2] == '"':
                    at += 1
                else:
                    state = "range"
        elif state == "quoted escaped":
            state = "quoted"
        elif character == ",":
            state = "before"
        elif character == "}":
            state = "finished"
        else:
            raise _malformed("multirange", text, "Expected comma or end of multirange.")
        at += 1
    if text[at:].strip(SPACE):
        raise _malformed("multirange", text, "Junk after closing right brace.")
    return found


# Composite types.


def read_composite(context: InputContext, row: Type, text: str) -> tuple[Any, ...]:
    """record_in."""
    at = len(text) - len(text.lstrip(SPACE))
    if text[at : at + 1] != "(":
        raise _malformed("record", text, "Missing left parenthesis.")
    at += 1
    values: list[Any] = []
    columns = [column for column in context.cache.fields(row.oid) if not column.dropped]
    for number, column in enumerate(columns):
        if number:
            if text[at : at + 1] != ",":
                raise _malformed("record", text, "Too few columns.")
            at += 1
        value, at = _bounded("record", text, at, ",)")
        values.append(_element(context, column.type, value, column.typmod))
    if text[at : at + 1] != ")":
        raise _malformed("record", text, "Too many columns.")
    if text[at + 1 :].strip(SPACE):
        raise _malformed("record", text, "Junk after right parenthesis.")
    return tuple(values)
