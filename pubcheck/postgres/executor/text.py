"""Texts (varlena.c, varchar.c, oracle_compat.c, like.c, char.c, name.c, formatting.c), and functions that write values
of any type into one by the types' output functions.

A value of type character has its trailing blanks, which do not count where it is compared or becomes a text.
Strings hold characters; where the server counts bytes they are those of UTF-8.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from pubcheck.postgres.budget import joined, replaced, room
from pubcheck.postgres.datum import Array
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.compare import C, lower, text_equality, text_order, title, upper
from pubcheck.postgres.executor.functions import Call, Context, Function, Maker, evaluation_error, overlay, substring
from pubcheck.postgres.executor.patterns import LIKE_MAKERS
from pubcheck.postgres.oids import RECORD
from pubcheck.postgres.output.strings import char_text
from pubcheck.postgres.primnodes import VARIADIC
from pubcheck.postgres.tokens import quote_identifier
from pubcheck.postgres.versions import MAJORS

FUNCTIONS: dict[str, Function] = {}
MAKERS: dict[str, Maker] = {**LIKE_MAKERS}

_GREATEST_LENGTH = 10485760
"""MaxAttrSize, which type modifiers are held to."""
_TESTS: dict[str, Callable[[int, int], bool]] = {
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def encoded(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


# Comparisons.


def _ordering(test: Callable[[int, int], bool], padded: bool, fixed: int | None) -> Maker:
    def make(call: Call) -> Function:
        order = text_order(call.context, call.collation if fixed is None else fixed)
        if padded:
            return lambda left, right: test(order(left.rstrip(" "), right.rstrip(" ")), 0)
        return lambda left, right: test(order(left, right), 0)

    return make


def _choice(sign: int, padded: bool) -> Maker:
    def make(call: Call) -> Function:
        order = text_order(call.context, call.collation)
        if padded:
            return lambda left, right: left if order(left.rstrip(" "), right.rstrip(" ")) * sign >= 0 else right
        return lambda left, right: left if order(left, right) * sign > 0 else right

    return make


def _equal(expected: bool, padded: bool) -> Maker:
    def make(call: Call) -> Function:
        equal = text_equality(call.context, call.collation)
        if equal is operator.eq and not padded:
            return operator.eq if expected else operator.ne
        if padded:
            return lambda left, right: equal(left.rstrip(" "), right.rstrip(" ")) is expected
        return lambda left, right: equal(left, right) is expected

    return make


def _comparisons() -> None:
    for name, padded in (("text", False), ("name", False), ("bpchar", True)):
        MAKERS[f"{name}eq"], MAKERS[f"{name}ne"] = _equal(True, padded), _equal(False, padded)
    for pair in ("texteqname", "nameeqtext"):
        MAKERS[pair], MAKERS[pair.replace("eq", "ne")] = _equal(True, False), _equal(False, False)
    for name, test in _TESTS.items():
        MAKERS[f"text_{name}"] = _ordering(test, False, None)
        MAKERS[f"text{name}name"] = _ordering(test, False, None)
        MAKERS[f"name{name}text"] = _ordering(test, False, None)
        MAKERS[f"name{name}"] = _ordering(test, False, None)
        MAKERS[f"bpchar{name}"] = _ordering(test, True, None)
        MAKERS[f"text_pattern_{name}"] = _ordering(test, False, C)
        MAKERS[f"bpchar_pattern_{name}"] = _ordering(test, True, C)
    for name, every in (("eq", operator.eq), ("ne", operator.ne), *_TESTS.items()):
        FUNCTIONS[f"char{name}"] = every
    MAKERS["text_larger"], MAKERS["text_smaller"] = _choice(1, False), _choice(-1, False)
    MAKERS["bpchar_larger"], MAKERS["bpchar_smaller"] = _choice(1, True), _choice(-1, True)


_comparisons()


# Case.


def _changing(change: Callable[[Context, int, str], str]) -> Maker:
    return lambda call: lambda text: change(call.context, call.collation, text)


MAKERS["lower(text)"] = _changing(lower)
MAKERS["upper(text)"] = _changing(upper)
MAKERS["initcap(text)"] = _changing(title)


# Parts.


def _left(text: str, count: int) -> str:
    return text[:count] if count >= 0 else text[: max(len(text) + count, 0)]


def _right(text: str, count: int) -> str:
    if count == -(1 << 31):
        return text  # there is no such positive number
    return text[max(len(text) - count, 0) :] if count >= 0 else text[-count:]


def _fill(text: str, length: int, fill: str) -> str:
    """Return the characters that lpad and rpad add."""
    missing = max(length, 0) - len(text)
    if missing <= 0 or not fill:
        return ""
    room(missing)
    return (fill * (missing // len(fill) + 1))[:missing]


def _lpad(text: str, length: int, fill: str = " ") -> str:
    return _fill(text, length, fill) + text[: max(length, 0)]


def _rpad(text: str, length: int, fill: str = " ") -> str:
    return text[: max(length, 0)] + _fill(text, length, fill)


def _split_part(text: str, separator: str, number: int) -> str:
    if number == 0:
        raise evaluation_error("22023", "field position must not be zero")
    if not text:
        return ""
    parts = text.split(separator) if separator else [text]
    index = number - 1 if number > 0 else len(parts) + number
    return parts[index] if 0 <= index < len(parts) else ""


def _replace(text: str, old: str, new: str) -> str:
    return replaced(text, old, new) if old and text else text


def _translate(text: str, old: str, new: str) -> str:
    table = {ord(char): (new[index] if index < len(new) else None) for index, char in reversed(list(enumerate(old)))}
    return text.translate(table)


def _repeat(text: str, count: int) -> str:
    room(max(count, 0) * len(text))
    return text * max(count, 0)


def _chr(code: int) -> str:
    if code < 0:
        raise evaluation_error("22023", "character number must be positive")
    if code == 0:
        raise evaluation_error("54000", "null character not permitted")
    if code > 0x10FFFF:
        raise evaluation_error("54000", f"requested character too large for encoding: {code}")
    if 0xD800 <= code <= 0xDFFF:
        raise evaluation_error("54000", f"requested character not valid for encoding: {code}")
    return chr(code)


# Lengths of types.


def _limited(type_name: str, padded: bool) -> Function:
    """varchar(varchar, int4, bool) and bpchar(bpchar, int4, bool): explicit casts cut, others take only blanks."""

    def coerce(text: str, typmod: int, explicit: bool) -> str:
        limit = typmod - 4
        if limit > _GREATEST_LENGTH:
            raise Unknowable("a type of such length")
        if limit < 0:
            return text
        if len(text) <= limit:
            return _padded(text, limit) if padded else text
        if not explicit and text[limit:].strip(" "):
            raise evaluation_error("22001", f"value too long for type {type_name}({limit})")
        return text[:limit]

    return coerce


def _padded(text: str, length: int) -> str:
    room(length)
    return text.ljust(length)


def _name(text: str) -> str:
    return encoded(text)[:63].decode(errors="ignore")


def _to_array(text: str | None, separator: str | None, null: str | None = None) -> Array | None:
    """string_to_array: a NULL separator parts every character, an empty one nothing."""
    if text is None:
        return None
    if not text:
        return Array([])
    parts = list(text) if separator is None else text.split(separator) if separator else [text]
    return Array([None if null is not None and part == null else part for part in parts])


def _quoted_identifier(text: str) -> str:
    texts = {quote_identifier(text, major) for major in MAJORS}
    if len(texts) > 1:
        raise Unknowable("which words the server quotes")  # it is a key word of some versions only
    return texts.pop()


def _char_to_int(value: bytes) -> int:
    return value[0] - 256 if value[0] > 127 else value[0]


def _int_to_char(value: int) -> bytes:
    if not -128 <= value <= 127:
        raise evaluation_error("22003", '"char" out of range')
    return bytes((value % 256,))


def _char_to_character(value: bytes) -> str:
    if not 0 < value[0] < 128:
        raise Unknowable("a character that is half of one, or none")
    return char_text(value)


def _text_to_char(text: str) -> bytes:
    if re.fullmatch(r"\\[0-7]{3}", text):
        return bytes((int(text[1:], 8) & 0xFF,))
    return encoded(text)[:1] or b"\0"


def _trim(strip: Callable[..., str]) -> Function:
    return lambda text, characters=" ": strip(text, characters) if characters else text


def _position(text: str, part: str) -> int:
    return text.find(part) + 1


def _quoted_literal(text: str) -> str:
    return ("E" if "\\" in text else "") + "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"


for _measure in ("length", "char_length", "character_length"):
    FUNCTIONS[f"{_measure}(text)"] = len
    FUNCTIONS[f"{_measure}(bpchar)"] = lambda text: len(text.rstrip(" "))
FUNCTIONS["textlen"] = len
for _names, _strip in (("btrim", str.strip), ("ltrim", str.lstrip), ("rtrim", str.rstrip)):
    FUNCTIONS[f"{_names}(text)"] = FUNCTIONS[f"{_names}(text,text)"] = _trim(_strip)
for _name_of in ("substr", "substring"):
    FUNCTIONS[f"{_name_of}(text,int4)"] = FUNCTIONS[f"{_name_of}(text,int4,int4)"] = substring
FUNCTIONS |= {
    "octet_length(text)": lambda text: len(encoded(text)),
    "octet_length(bpchar)": lambda text: len(encoded(text)),
    "bit_length(text)": lambda text: 8 * len(encoded(text)),
    "left(text,int4)": _left,
    "right(text,int4)": _right,
    "lpad(text,int4)": _lpad,
    "lpad(text,int4,text)": _lpad,
    "rpad(text,int4)": _rpad,
    "rpad(text,int4,text)": _rpad,
    "split_part": _split_part,
    "replace": _replace,
    "translate": _translate,
    "repeat": _repeat,
    "reverse(text)": lambda text: text[::-1],
    "strpos": _position,
    "position(text,text)": _position,
    "starts_with": lambda text, prefix: text.startswith(prefix),
    "ascii": lambda text: ord(text[0]) if text else 0,
    "chr": _chr,
    "textcat": operator.add,
    "overlay(text,text,int4)": overlay,
    "overlay(text,text,int4,int4)": overlay,
    "text(bool)": lambda value: "true" if value else "false",
    "text(bpchar)": lambda text: text.rstrip(" "),
    "text(name)": lambda text: text,
    "text(char)": char_text,
    "bpchar(char)": _char_to_character,
    "bpchar(name)": lambda text: text,
    "varchar(name)": lambda text: text,
    "char(text)": _text_to_char,
    "char(int4)": _int_to_char,
    "int4(char)": _char_to_int,
    "name(text)": _name,
    "name(varchar)": _name,
    "name(bpchar)": lambda text: _name(text.rstrip(" ")),
    "varchar(varchar,int4,bool)": _limited("character varying", False),
    "bpchar(bpchar,int4,bool)": _limited("character", True),
    "string_to_array(text,text)": _to_array,
    "string_to_array(text,text,text)": _to_array,
    "quote_ident": _quoted_identifier,
    "quote_literal(text)": _quoted_literal,
}


Writer = Callable[[Any], str]


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
