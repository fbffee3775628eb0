"""Values of a stream: whether a text can be a value of its column's type, and the value that a row filter sees."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from typing import Any

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres import input, oids
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import InputContext
from pubcheck.postgres.session.syscache import SysCache
from pubcheck.stream import Value
from pubcheck.verify.usual_texts import UsualText, usual_text

Check = Callable[[str], "str | None"]
"""Returns what is wrong with a text, or None."""

_INTEGERS = {21: 15, oids.INT4: 31, 20: 63}
_OID = 26
_MONEY = 790
_FIXED = frozenset((
    16, 18, 19, 20, 21, 23, 24, 26, 27, 28, 29, 600, 601, 603, 628, 700, 701, 718, 774, 790, 829, 1033, 1082, 1083,
    1114, 1184, 1186, 1266, 2202, 2203, 2204, 2205, 2206, 2950, 3220, 3734, 3769, 4089, 4096, 4191, 5069,
))  # fmt: skip
"""Built-in types of a fixed length (pg_type.typlen), whose values never leave the row."""
_TIMES = frozenset((1082, 1083, 1114, 1184, 1186, 1266))
"""Types whose text depends on DateStyle or IntervalStyle of the session that reads the stream."""
_NOT_CHECKED = frozenset((_MONEY, 24, 2202, 2203, 2204, 2205, 2206, 3734, 3769, 4089, 4096, 4191, 1033))
"""Types whose text depends on other settings, or on objects of the catalog (reg*, aclitem)."""
_ISO = lazy_compile(r"\d{4,}-\d\d-\d\d(?: \d\d:\d\d:\d\d(?:\.\d+)?(?:[+-]\d\d(?::\d\d){0,2})?)?(?: BC)?")
_ROUNDED_UP = "294277-01-01"
"""The day after the last timestamp. A type modifier can round a value up to it, which no input function accepts."""
_INTEGER = re.compile(r"-?\d{1,19}")
_BINARY: dict[int, struct.Struct] = {
    oids.BOOL: struct.Struct(">?"),
    21: struct.Struct(">h"),
    oids.INT4: struct.Struct(">i"),
    20: struct.Struct(">q"),
    _OID: struct.Struct(">I"),
    701: struct.Struct(">d"),
}
_TEXTS = frozenset((oids.TEXT, oids.VARCHAR, oids.BPCHAR))


Reader = Callable[[Any], Any]
"""Reads a value that is not NULL as row filters see it. Raises Unknown."""


class Unknown(Exception):
    """A value that cannot be known from the stream."""


def has_fixed_length(cache: SysCache, column: Column) -> bool:
    """Whether no value of a column is ever stored out of line; False for unknown types."""
    if column.storage == "plain":
        return True
    try:
        oid, _ = cache.base_type(column.type) if column.type else (0, -1)
        return oid in _FIXED or (oid != 0 and cache.type(oid).kind == "e")
    except Unknowable:
        return False


def text_check(inputs: InputContext, column: Column) -> Check | None:
    """Return a check of a column's texts; None if every text, or no text for certain, is a value of its type."""
    try:
        oid, typmod = inputs.cache.base_type(column.type, column.typmod) if column.type else (0, -1)
        kind = inputs.cache.type(oid).kind if oid else ""
    except Unknowable:
        return None
    if oid == oids.BOOL:
        return lambda text: None if text in ("t", "f") else "is not t or f"
    if oid in _INTEGERS:
        return _integer_check(_INTEGERS[oid])
    if oid == oids.VARCHAR:
        return None if typmod < 0 else _length_check(typmod - 4, exact=False)
    if oid == oids.BPCHAR:
        return None if typmod < 0 else _length_check(typmod - 4, exact=True)
    if oid == 0 or oid in (oids.TEXT, 19) or oid in _NOT_CHECKED or kind not in ("b", "e"):
        return None
    check = _input_check(inputs, oid, typmod)
    return _time_check(check) if oid in _TIMES else check


def _input_check(inputs: InputContext, oid: int, typmod: int) -> Check:
    def check(text: str) -> str | None:
        try:
            input.read(inputs, oid, text, typmod)
        except ServerError as error:
            return None if _ROUNDED_UP in text else f"is not valid: {error.message}"
        except (Unknowable, RecursionError):
            pass
        return None

    return check


def _integer_check(bits: int) -> Check:
    bound = 1 << bits

    def check(text: str) -> str | None:
        if _INTEGER.fullmatch(text) is None:
            return "is not an integer"
        return None if -bound <= int(text) < bound else "is out of range"

    return check


def _length_check(length: int, *, exact: bool) -> Check:
    def check(text: str) -> str | None:
        # Where the database's encoding is SQL_ASCII, the length is that in bytes.
        if len(text) == length or (len(text) < length and not (exact and text.isascii())):
            return None
        return f"does not have {length} characters" if exact else f"has more than {length} characters"

    return check


def _time_check(is_valid: Check) -> Check:
    def check(text: str) -> str | None:
        if _ISO.fullmatch(text) is None:
            plausible = any(character.isdigit() for character in text) or text in ("infinity", "-infinity")
            return None if plausible else "is not valid"
        return is_valid(text)

    return check


def value_reader(inputs: InputContext, column: Column) -> Reader:
    """Return a function that reads a column's values as row filters see them."""
    oid, typmod = column.type, column.typmod

    def read(value: Value) -> Any:
        if isinstance(value, bytes):
            return from_binary(oid, value)
        if not isinstance(value, str):
            raise Unknown
        try:
            return input.read(inputs, oid, value, typmod)
        except (ServerError, Unknowable, RecursionError):
            raise Unknown from None

    if oid in _INTEGERS:
        return _integer_reader(_digits(_INTEGERS[oid]), read)
    if oid == oids.TEXT:
        return lambda value: value if value.__class__ is str else read(value)
    usual = usual_text(oid, typmod)
    return read if usual is None else _usual_reader(usual, read)


def _usual_reader(usual: UsualText, read: Reader) -> Reader:
    matches, read_usual = usual

    def read_text(value: Value) -> Any:
        return read_usual(value) if value.__class__ is str and matches(value) else read(value)

    return read_text


def _integer_reader(digits: int, read: Reader) -> Reader:
    def read_digits(value: Value) -> Any:
        if value.__class__ is str and len(value) <= digits and value.isdigit() and value.isascii():
            return int(value)
        return read(value)

    return read_digits


def _digits(bits: int) -> int:
    """Return the largest number of digits such that every integer of that length fits into ``bits`` bits."""
    return len(str(1 << bits)) - 1


def from_binary(oid: int, value: bytes) -> Any:
    """Return the value of a type's send function, for the most common types. Raises Unknown."""
    layout = _BINARY.get(oid)
    if layout is not None and layout.size == len(value):
        return layout.unpack(value)[0]
    if oid in _TEXTS:
        return value.decode("utf-8", "surrogateescape")
    raise Unknown


def binary_fault(oid: int, value: bytes) -> str | None:
    """Return what is wrong with the length of a binary value of a type of fixed length."""
    layout = _BINARY.get(oid)
    if layout is None or layout.size == len(value):
        return None
    return f"has {len(value)} bytes, not {layout.size}"
