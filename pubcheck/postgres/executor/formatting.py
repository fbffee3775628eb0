"""Functions that write values of any type into a text by the types' output functions (varlena.c)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from pubcheck.postgres.budget import joined, room
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.functions import Call, Function, Maker, evaluation_error
from pubcheck.postgres.executor.text import FUNCTIONS as TEXT_FUNCTIONS
from pubcheck.postgres.oids import RECORD
from pubcheck.postgres.primnodes import VARIADIC

FUNCTIONS: dict[str, Function] = {}
MAKERS: dict[str, Maker] = {}

Writer = Callable[[Any], str]
_quoted_literal: Callable[[str], str] = TEXT_FUNCTIONS["quote_literal(text)"]
_quoted_identifier: Callable[[str], str] = TEXT_FUNCTIONS["quote_ident"]


def _writer(call: Call, type_oid: int) -> Writer:
    if type_oid == RECORD:
        raise Unknowable("the text of a row of no declared type")
    return call.context.output.writer(type_oid)


def given(call: Call, values: Sequence[Any], first: int) -> list[tuple[int, Any]] | None:
    """The types and values from one argument on; those of an array after VARIADIC, None where that is NULL."""
    types = [argument.type for argument in call.expr.args]
    if call.expr.value != VARIADIC:
        return list(zip(types[first:], values[first:], strict=True))
    if values[-1] is None:
        return None
    cache = call.context.cache
    element = cache.element_type(cache.base_type(types[-1])[0])
    return [(element, value) for value in values[-1].elements]


def _texts(call: Call, pairs: list[tuple[int, Any]]) -> list[str]:
    """The texts of the values that are not NULL."""
    return [_writer(call, type_oid)(value) for type_oid, value in pairs if value is not None]


def _concatenating(call: Call) -> Function:
    def concat(*values: Any) -> str | None:
        pairs = given(call, values, 0)
        return None if pairs is None else joined("", _texts(call, pairs))

    return concat


def _concatenating_with_separator(call: Call) -> Function:
    def concat(separator: str | None, *values: Any) -> str | None:
        if separator is None:
            return None
        pairs = given(call, (separator, *values), 1)
        return None if pairs is None else joined(separator, _texts(call, pairs))

    return concat


# format().

_PLAIN = re.compile(r"%(?:%|(?:([1-9][0-9]{0,3})\$)?(-*)([0-9]{1,5})?([sIL]))")


def _formatting(call: Call) -> Function:
    """text_format; widths that an argument gives and malformed specifiers are not followed."""

    def write(template: str | None, *values: Any) -> str | None:
        if template is None:
            return None
        pairs = given(call, (template, *values), 1) or []
        parts: list[str] = []
        position, used = 0, 0
        while True:
            start = template.find("%", position)
            if start < 0:
                parts.append(template[position:])
                return joined("", parts)
            parts.append(template[position:start])
            match = _PLAIN.match(template, start)
            if match is None:
                raise Unknowable(f'what format() makes of "{template[:100]}"')
            position = match.end()
            if match[4] is None:
                parts.append("%")
                continue
            used = int(match[1]) if match[1] else used + 1
            if used > len(pairs):
                raise evaluation_error("22023", "too few arguments for format()")
            parts.append(_aligned(_specified(call, match[4], *pairs[used - 1]), match[2], match[3]))

    return write


def _specified(call: Call, kind: str, type_oid: int, value: Any) -> str:
    if value is None:
        if kind == "I":
            raise evaluation_error("22004", "null values cannot be formatted as an SQL identifier")
        return "NULL" if kind == "L" else ""
    text = _writer(call, type_oid)(value)
    if kind == "s":
        return text
    return _quoted_identifier(text) if kind == "I" else _quoted_literal(text)


def _aligned(text: str, left: str, width: str | None) -> str:
    if width is None:
        return text
    room(int(width))
    return text.ljust(int(width)) if left else text.rjust(int(width))


# Quotes.


def _quoted_or_null(text: str | None) -> str:
    return "NULL" if text is None else _quoted_literal(text)


# Arrays.


def _array_to_string(call: Call) -> Function:
    cache = call.context.cache
    element = cache.element_type(cache.base_type(call.expr.args[0].type)[0])

    def write(array: Any, separator: str | None, null: str | None = None) -> str | None:
        if array is None or separator is None:
            return None
        if not array.elements:
            return ""
        text = call.context.output.writer(element)
        shown = [null if value is None else text(value) for value in array.elements]
        return joined(separator, [part for part in shown if part is not None])

    return write


FUNCTIONS["quote_nullable(text)"] = _quoted_or_null
MAKERS |= {
    "concat(any)": _concatenating,
    "concat_ws(text,any)": _concatenating_with_separator,
    "format(text,any)": _formatting,
    "format(text)": _formatting,
    "array_to_string(anyarray,text)": _array_to_string,
    "array_to_string(anyarray,text,text)": _array_to_string,
}
