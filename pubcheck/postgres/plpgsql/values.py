"""Values of PL/pgSQL expressions as far as they are known: None is NULL, UNKNOWN what cannot be known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from pubcheck.postgres.budget import LARGEST, joined
from pubcheck.postgres.errors import ServerError


class Unknown:
    """The one value of which nothing is known; it is neither true nor false, and asking is an error."""

    def __bool__(self) -> bool:
        raise TypeError("an unknown value has no truth")

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()

LIMIT = 10_000
"""Rows of a loop, or rounds of it, that are followed."""


class Failed(ServerError):
    """The server raises this where it evaluates the expression."""


Value = Any
"""None, UNKNOWN, bool, int, float, str, list (an array), tuple (a row), dict (a record) or Relid."""


class Relid(Struct, frozen=True):
    """A regclass: the relation's oid and how it prints."""

    oid: int
    text: str


ITEM = 64
"""What an item of an array, a row or a record counts; it is copied and looked at each time."""


def size_of(value: Value) -> int:
    """How large a value is, in characters and items, as far as that is no more than is followed."""
    if isinstance(value, str):
        return len(value)
    size, todo = 0, [value]
    while todo and size <= LARGEST:
        at = todo.pop()
        if isinstance(at, str):
            size += len(at)
        elif isinstance(at, list | tuple | dict):
            size += ITEM * len(at)
            todo.extend(at.values() if isinstance(at, dict) else at)
    return size


def unknown(*values: Value) -> bool:
    """Whether something of a value is unknown."""
    for value in values:
        if value is UNKNOWN:
            return True
        if isinstance(value, list | tuple) and unknown(*value):
            return True
    return False


def text(value: Value, *, cast: bool = True) -> Value:
    """The value as text: as a cast writes it, or (``cast=False``) as its type's output function does."""
    if value is None or value is UNKNOWN or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return ("true" if value else "false") if cast else "t" if value else "f"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Relid):
        return value.text
    if isinstance(value, list) and not unknown(value):
        items = ["NULL" if item is None else _element(text(item, cast=False)) for item in value]
        return "{" + joined(",", items) + "}" if size_of(items) <= LARGEST else UNKNOWN
    return UNKNOWN


def _element(item: str) -> str:
    if item and item.lower() != "null" and not re.search(r'[\s{}",\\]', item):
        return item
    return '"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"'


_ITEM = re.compile(r'\s*(?:"((?:[^"\\]++|\\.)*+)"|([^\s{}",\\][^{}",\\]*))\s*([,}])', re.DOTALL)


def array(value: Value) -> Value:
    """A one-dimensional array out of its literal; UNKNOWN for other shapes."""
    if value is None or value is UNKNOWN or isinstance(value, list):
        return value
    if not isinstance(value, str):
        return UNKNOWN
    said = value.strip()
    if not said.startswith("{"):
        return UNKNOWN
    if re.fullmatch(r"\{\s*\}", said):
        return []
    found: list[Value] = []
    at = 1
    while True:
        match = _ITEM.match(said, at)
        if match is None:
            return UNKNOWN
        quoted, bare, after = match.groups()
        if quoted is not None:
            found.append(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
        else:
            bare = bare.rstrip()
            found.append(None if bare.lower() == "null" else bare)
        at = match.end()
        if after == "}":
            return found if at == len(said) else UNKNOWN


_TRUE = ("t", "tr", "tru", "true", "y", "ye", "yes", "on", "1")
_FALSE = ("f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0")
_INTEGERS = frozenset(("int", "integer", "int2", "int4", "int8", "smallint", "bigint", "oid"))
_INTEGER = re.compile(r"\s*[-+]?\d{1,40}\s*", re.ASCII)
_TEXTS = frozenset(("text", "varchar", "character varying", "name", "bpchar", "char", "character", "citext"))


def coerced(value: Value, type_name: str) -> Value:
    """The value as one of a type, by the type's name as it is written; UNKNOWN where the type is not followed."""
    name = re.sub(r"\(.*?\)|^pg_catalog\.", "", type_name.strip().strip('"').lower()).strip()
    if value is None or value is UNKNOWN:
        return value
    if name.endswith("[]") or (name.startswith("_") and len(name) > 1):
        items = array(value)
        element = name[:-2] if name.endswith("[]") else name[1:]
        return [coerced(item, element) for item in items] if isinstance(items, list) else items
    if name in _TEXTS:
        said = text(value)
        if isinstance(said, str) and "(" in type_name:
            return UNKNOWN
        return said[:63] if name == "name" and isinstance(said, str) and said.isascii() else said
    if name in _INTEGERS:
        if isinstance(value, Relid):
            return value.oid
        if isinstance(value, bool):
            return int(value)
        if isinstance(value, str):
            return int(value) if _INTEGER.fullmatch(value) else UNKNOWN
        return value if isinstance(value, int) else UNKNOWN
    if name in ("bool", "boolean"):
        if isinstance(value, str):
            said = value.strip().lower()
            return True if said in _TRUE else False if said in _FALSE else UNKNOWN
        return value if isinstance(value, bool) else bool(value) if isinstance(value, int) else UNKNOWN
    if name in ("regclass",):
        return value if isinstance(value, Relid) else UNKNOWN
    if name == "record" or isinstance(value, dict | tuple):
        return value
    return UNKNOWN


def both(one: Value, other: Value) -> Value:
    """AND."""
    if one is False or other is False:
        return False
    if one is UNKNOWN or other is UNKNOWN:
        return UNKNOWN
    return None if one is None or other is None else True


def either(one: Value, other: Value) -> Value:
    """OR."""
    if one is True or other is True:
        return True
    if one is UNKNOWN or other is UNKNOWN:
        return UNKNOWN
    return None if one is None or other is None else False


def negated(value: Value) -> Value:
    """NOT."""
    return value if value is None or value is UNKNOWN else not value


def equal(one: Value, other: Value) -> Value:
    """``=``, where a literal of unknown type gets the type of the other value."""
    if one is None or other is None:
        return None
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        if len(one) != len(other):
            return False
        found: Value = True
        for mine, theirs in zip(one, other, strict=True):
            found = both(found, True if mine is None and theirs is None else equal(mine, theirs) or False)
        return found
    if one is UNKNOWN or other is UNKNOWN:
        return UNKNOWN
    pair = _alike(one, other)
    return UNKNOWN if pair is None else bool(pair[0] == pair[1])


def less(one: Value, other: Value) -> Value:
    """``<``; of texts, whose order is the collation's, only what any order says."""
    if one is None or other is None:
        return None
    if one is UNKNOWN or other is UNKNOWN:
        return UNKNOWN
    pair = _alike(one, other)
    if pair is None or isinstance(pair[0], str | list | tuple):
        return UNKNOWN
    return bool(pair[0] < pair[1])


def _alike(one: Value, other: Value) -> tuple[Value, Value] | None:
    """Both as values of one type, None where that is not known here."""
    if isinstance(one, Relid):
        one = one.oid if isinstance(other, int | Relid) else one.text
    if isinstance(other, Relid):
        other = other.oid if isinstance(one, int) else other.text
    if type(one) is type(other):
        return one, other
    if isinstance(one, str) and isinstance(other, bool):
        one = coerced(one, "boolean")
    elif isinstance(other, str) and isinstance(one, bool):
        other = coerced(other, "boolean")
    elif isinstance(one, str) and isinstance(other, int):
        one = coerced(one, "bigint")
    elif isinstance(other, str) and isinstance(one, int):
        other = coerced(other, "bigint")
    elif isinstance(one, str) and isinstance(other, list):
        one = array(one)
    elif isinstance(other, str) and isinstance(one, list):
        other = array(other)
    elif not (isinstance(one, int | float) and isinstance(other, int | float)):
        return None
    return None if unknown(one, other) else (one, other)


MISSING: Final = object()
"""The result of looking up a name that is not a variable."""


class Scope(Struct):
    """The rows that are available in a query: by alias, the columns (None where they are not known) and the row."""

    tables: dict[str, tuple[tuple[str, ...] | None, Mapping[str, Value]]]
    outer: Scope | None = None
