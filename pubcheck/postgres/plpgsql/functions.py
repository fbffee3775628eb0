"""Built-in functions that expressions in blocks call, for values as far as they are known, and operators: comparison,
concatenation, arithmetic of integers, and pattern matching.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Protocol

from pubcheck.postgres.budget import Budget, joined, replaced, room
from pubcheck.postgres.catalog import TEMPORARY
from pubcheck.postgres.ddl.object_descriptions import quote
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.plpgsql.values import (
    LIMIT,
    UNKNOWN,
    Failed,
    Scope,
    Value,
    array,
    coerce,
    concatenated,
    has_unknown,
    is_number,
    sql_equal,
    sql_less,
    sql_not,
    text,
)
from pubcheck.postgres.session import Session


class Evaluation(Protocol):
    """The part of the evaluator that functions use."""

    session: Session

    def value(self, node: Node, scope: Scope | None = None) -> Value: ...

    def current_schema(self) -> Value: ...

    def regnamespace(self, value: Value) -> Value: ...

    def to_regclass(self, name: Value) -> Value: ...


_FORMAT = re.compile(r"%(?:%|(?:(\d+)\$)?(-?)(\*(?:\d+\$)?|\d+)?([sIL]))")


def literal(value: str) -> str:
    """Return a text as quote_literal does."""
    quoted = "'" + value.replace("'", "''").replace("\\", "\\\\") + "'"
    return "E" + quoted if "\\" in value else quoted


def _format(self: Evaluation, template: Value, *arguments: Value) -> Value:
    """format() (utils/adt/varlena.c: text_format). Raises Failed 22023, 22004."""
    template = text(template)
    if template is None or template is UNKNOWN:
        return template
    pieces: list[str] = []
    offset, next_one, size = 0, 0, 0
    for match in _FORMAT.finditer(template):
        between = template[offset : match.start()]
        if "%" in between:
            raise _no_specifier(between)
        if (match[3] or "").startswith("*"):
            return UNKNOWN
        pieces.append(between)
        offset = match.end()
        if match[0] == "%%":
            pieces.append("%")
            continue
        number = int(match[1]) - 1 if match[1] else next_one
        next_one = number + 1
        if not 0 <= number < len(arguments):
            raise Failed("22023", "too few arguments for format()")
        string = text(arguments[number], cast=False)
        if string is UNKNOWN:
            return UNKNOWN
        if match[4] == "I":
            if string is None:
                raise Failed("22004", "null values cannot be formatted as an SQL identifier")
            string = quote(self.session, string)
        elif match[4] == "L":
            string = "NULL" if string is None else literal(string)
        string = string or ""
        width = int(match[3] or 0)
        size += max(width, len(string)) + len(between)
        room(size)
        pieces.append(string.ljust(width) if match[2] else string.rjust(width))
    trailing = template[offset:]
    if "%" in trailing:
        raise _no_specifier(trailing)
    return "".join([*pieces, trailing])


def _no_specifier(template: str) -> Failed:
    letter = re.match(r"[\d$*-]*(.?)", template[template.index("%") + 1 :], re.DOTALL)
    hint = 'For a single "%" use "%%".'
    if letter is None or not letter[1]:
        return Failed("22023", "unterminated format() type specifier", hint=hint)
    return Failed("22023", f'unrecognized format() type specifier "{letter[1]}"', hint=hint)


def _texts(function: Callable[..., Value]) -> Callable[..., Value]:
    """A strict function of texts."""

    def call(self: Evaluation, *arguments: Value) -> Value:
        if any(argument is None for argument in arguments):
            return None
        strings = [text(argument) for argument in arguments]
        return UNKNOWN if has_unknown(*strings) else function(*strings)

    return call


def _folded(function: Callable[[str], str]) -> Callable[..., Value]:
    return _texts(lambda string: function(string) if string.isascii() else UNKNOWN)


def _concat(self: Evaluation, *arguments: Value) -> Value:
    strings = [text(argument, cast=False) for argument in arguments if argument is not None]
    return UNKNOWN if has_unknown(*strings) else joined("", strings)


def _concat_ws(self: Evaluation, separator: Value, *arguments: Value) -> Value:
    strings = [text(argument, cast=False) for argument in arguments if argument is not None]
    if separator is None or has_unknown(separator, *strings):
        return separator if separator is None else UNKNOWN
    return joined(str(text(separator)), strings)


def _array_length(self: Evaluation, items: Value, dimension: Value = 1) -> Value:
    items = array(items)
    if not isinstance(items, list) or dimension != 1:
        return items if items is None else UNKNOWN
    return len(items) or None


def _cardinality(self: Evaluation, items: Value) -> Value:
    items = array(items)
    return len(items) if isinstance(items, list) else items if items is None else UNKNOWN


def _array_to_string(self: Evaluation, items: Value, separator: Value, null: Value = None) -> Value:
    items = array(items)
    if items is None or separator is None:
        return None
    if has_unknown(items, separator) or null is not None:
        return UNKNOWN
    return joined(str(separator), [str(text(item, cast=False)) for item in items if item is not None])


def _string_to_array(self: Evaluation, string: Value, separator: Value) -> Value:
    if string is None or separator is None or has_unknown(string, separator):
        return None if string is None else UNKNOWN
    return [] if string == "" else [string] if separator == "" else string.split(separator)


def _append(self: Evaluation, items: Value, item: Value) -> Value:
    elements = [] if items is None else array(items)
    return [*elements, item] if isinstance(elements, list) else UNKNOWN


def _remove(self: Evaluation, items: Value, item: Value) -> Value:
    elements = array(items)
    if not isinstance(elements, list) or has_unknown(elements, item):
        return UNKNOWN
    return [element for element in elements if element != item]


def _split_part(string: str, separator: str, number: str) -> Value:
    position = int(number)
    parts = string.split(separator) if separator else [string]
    return parts[position - 1] if 0 < position <= len(parts) else "" if position > 0 else UNKNOWN


def _padded(left: bool) -> Callable[..., Value]:
    def pad(string: str, size: str, fill: str = " ") -> Value:
        missing = int(size) - len(string)
        if missing <= 0 or not fill:
            return string[: max(0, int(size))]
        room(missing)
        padding = (fill * missing)[:missing]
        return padding + string if left else string + padding

    return _texts(pad)


def _to_regnamespace(self: Evaluation, name: Value) -> Value:
    """The schema of a name; NULL where there certainly is none."""
    return self.regnamespace(name) if name is None or isinstance(name, str) else UNKNOWN


def _substring(string: str, first: str, size: str | None = None) -> Value:
    if not re.fullmatch(r"-?\d+", first):
        return UNKNOWN  # a regular expression
    start = int(first)
    end = len(string) + 1 if size is None else start + int(size)
    if end < start:
        raise Failed("22011", "negative substring length not allowed")
    return string[max(start, 1) - 1 : max(end, 1) - 1]


_PATTERN = re.compile(r"[\\^$.|?*+()\[\]{}]")


def _regexp_replace(string: str, pattern: str, by: str, flags: str = "") -> Value:
    if not pattern or _PATTERN.search(pattern) or "\\" in by or flags not in ("", "g"):
        return UNKNOWN
    return replaced(string, pattern, by, -1 if flags else 1)


def _regexp_split(string: str, pattern: str) -> Value:
    return UNKNOWN if not pattern or _PATTERN.search(pattern) else string.split(pattern)


def _current_setting(self: Evaluation, name: Value, missing_ok: Value = False) -> Value:
    if not isinstance(name, str):
        return UNKNOWN
    name = name.lower()
    if name == "server_version_num":
        # Which minor it is shows in no comparison with the first of a major.
        return str(self.session.catalog.major.number * 10000 + 1)
    return UNKNOWN


def _database(self: Evaluation) -> Value:
    catalog = self.session.catalog
    return catalog.database if catalog.database_known else UNKNOWN


def _temporary_schema(self: Evaluation) -> Value:
    return TEMPORARY if TEMPORARY in self.session.catalog.namespaces else 0 if not self.session.blind else UNKNOWN


def _quote_ident(self: Evaluation, name: Value) -> Value:
    string = text(name)
    return quote(self.session, string) if isinstance(string, str) else string


def _quote_nullable(self: Evaluation, value: Value) -> Value:
    string = text(value, cast=False)
    return "NULL" if string is None else literal(string) if isinstance(string, str) else UNKNOWN


FUNCTIONS: dict[str, Callable[..., Value]] = {
    "array_append": _append,
    "array_cat": lambda self, first, second: concatenated(array(first), array(second)),
    "array_length": _array_length,
    "array_lower": lambda self, items, dimension: _array_length(self, items, dimension) and 1,
    "array_remove": _remove,
    "array_to_string": _array_to_string,
    "array_upper": _array_length,
    "btrim": _texts(lambda string, *more: string.strip(more[0] if more else " ")),
    "cardinality": _cardinality,
    "concat": _concat,
    "concat_ws": _concat_ws,
    "current_database": _database,
    "current_schema": lambda self: self.current_schema(),
    "current_setting": _current_setting,
    "format": _format,
    "initcap": lambda self, string: UNKNOWN,
    "left": _texts(lambda string, number: string[: int(number)]),
    "length": _texts(len),
    "lower": _folded(str.lower),
    "lpad": _padded(True),
    "ltrim": _texts(lambda string, *more: string.lstrip(more[0] if more else " ")),
    "pg_my_temp_schema": _temporary_schema,
    "quote_ident": _quote_ident,
    "quote_literal": _texts(literal),
    "quote_nullable": _quote_nullable,
    "regexp_replace": _texts(_regexp_replace),
    "regexp_split_to_array": _texts(_regexp_split),
    "replace": _texts(lambda string, old, new: replaced(string, old, new) if old else string),
    "right": _texts(lambda string, number: string[-int(number) :] if int(number) > 0 else UNKNOWN),
    "rpad": _padded(False),
    "rtrim": _texts(lambda string, *more: string.rstrip(more[0] if more else " ")),
    "split_part": _texts(_split_part),
    "string_to_array": _string_to_array,
    "substr": _texts(_substring),
    "substring": _texts(_substring),
    "to_regclass": lambda self, string: self.to_regclass(string),
    "to_regnamespace": _to_regnamespace,
    "upper": _folded(str.upper),
}


def set_returning(self: Evaluation, node: Node, scope: Scope | None) -> list[Value] | None:
    """Return the rows of a function that returns a set, as values of one column; None if they are not known."""
    name = names(node["funcname"])[-1]
    arguments = [self.value(item, scope) for item in node.get("args", ())]
    if name == "unnest" and len(arguments) == 1:
        items = array(arguments[0])
        return items if isinstance(items, list) else [] if items is None else None
    if name == "generate_series" and len(arguments) in (2, 3) and all(map(is_number, arguments)):
        first, last, *step = arguments
        by = step[0] if step else 1
        count = (last - first) // by + 1 if by else 0
        return list(range(first, last + (1 if by > 0 else -1), by)) if 0 <= count <= LIMIT else None
    if name in ("string_to_table", "regexp_split_to_table") and len(arguments) == 2:
        if name.startswith("regexp") and _PATTERN.search(str(arguments[1])):
            return None
        items = _string_to_array(self, *arguments)
        return items if isinstance(items, list) else None
    return None


def _divided(left: Value, right: Value) -> Value:
    """Divide and truncate the quotient, as C does. Raises Failed 22012."""
    left, right = coerce(left, "bigint"), coerce(right, "bigint")
    if left is None or right is None:
        return None
    if right == 0 and right is not False:
        raise Failed("22012", "division by zero")
    if not (is_number(left) and is_number(right)):
        return UNKNOWN
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _remainder(left: Value, right: Value) -> Value:
    """Return the remainder, with the sign of the dividend. Raises Failed 22012."""
    quotient = _divided(left, right)
    if not is_number(quotient):
        return quotient
    return coerce(left, "bigint") - quotient * coerce(right, "bigint")


def _arithmetic(apply: Callable[[int, int], int]) -> Callable[[Value, Value], Value]:
    def work(left: Value, right: Value) -> Value:
        left, right = coerce(left, "bigint"), coerce(right, "bigint")
        if left is None or right is None:
            return None
        if not (is_number(left) and is_number(right)):
            return UNKNOWN
        result = apply(left, right)
        return result if -(1 << 63) <= result < 1 << 63 else UNKNOWN

    return work


Matcher = Callable[[Budget, str, str], Value]
"""Whether a text matches a pattern."""


def _like(folding: bool, negative: bool) -> Matcher:
    def test(budget: Budget, left: str, right: str) -> Value:
        from pubcheck.postgres.executor.linear_matching import like

        if folding:
            if not (left.isascii() and right.isascii()):
                return UNKNOWN
            left, right = left.lower(), right.lower()
        return like(left, right, budget) != negative

    return test


def _matches(folding: bool, negative: bool) -> Matcher:
    def test(budget: Budget, left: str, right: str) -> Value:
        from pubcheck.postgres.executor.patterns import search

        return search(right, folding, left, budget) != negative

    return test


OPERATORS: dict[str, Callable[[Value, Value], Value]] = {
    "=": sql_equal,
    "<>": lambda left, right: sql_not(sql_equal(left, right)),
    "<": sql_less,
    ">": lambda left, right: sql_less(right, left),
    "<=": lambda left, right: sql_not(sql_less(right, left)),
    ">=": lambda left, right: sql_not(sql_less(left, right)),
    "||": concatenated,
    "+": _arithmetic(int.__add__),
    "-": _arithmetic(int.__sub__),
    "*": _arithmetic(int.__mul__),
    "/": _divided,
    "%": _remainder,
}
MATCHERS: dict[str, Matcher] = {
    "~~": _like(False, False),
    "!~~": _like(False, True),
    "~~*": _like(True, False),
    "!~~*": _like(True, True),
    "~": _matches(False, False),
    "!~": _matches(False, True),
    "~*": _matches(True, False),
    "!~*": _matches(True, True),
}
