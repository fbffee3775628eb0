"""Values of PL/pgSQL expressions and rows of queries: None is NULL, UNKNOWN what cannot be known."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from msgspec import Struct

from pubcheck.postgres.budget import LARGEST, joined
from pubcheck.postgres.errors import ServerError


class Unknown:
    """The one value of which nothing is known.

    It is neither true nor false, and using it as a truth value is an error.
    """

    def __bool__(self) -> bool:
        raise TypeError("an unknown value has no truth")

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN: Final = Unknown()

LIMIT = 10_000
"""Rows of a loop, or rounds of it, that are followed."""


class Failed(ServerError):
    """The error that the server raises when it evaluates the expression."""


Value = Any
"""None, UNKNOWN, bool, int, float, str, list (an array), tuple (a row), dict (a record) or Relid."""


class Relid(Struct, frozen=True):
    """A regclass: the relation's oid and how it prints."""

    oid: int
    text: str


ITEM = 64
"""The cost of an item of an array, a row or a record, which is copied each time."""


def size_of(value: Value) -> int:
    """Return the size of a value, in characters and items, up to the limit that is followed."""
    if isinstance(value, str):
        return len(value)
    size, todo = 0, [value]
    while todo and size <= LARGEST:
        item = todo.pop()
        if isinstance(item, str):
            size += len(item)
        elif isinstance(item, list | tuple | dict):
            size += ITEM * len(item)
            todo.extend(item.values() if isinstance(item, dict) else item)
    return size


def has_unknown(*values: Value) -> bool:
    """Return whether any part of the values is unknown."""
    for value in values:
        if value is UNKNOWN:
            return True
        if isinstance(value, list | tuple) and has_unknown(*value):
            return True
    return False


def text(value: Value, *, cast: bool = True) -> Value:
    """Return the value as text: as a cast writes it, or (``cast=False``) as its type's output function does."""
    if value is None or value is UNKNOWN or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return ("true" if value else "false") if cast else "t" if value else "f"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Relid):
        return value.text
    if isinstance(value, list) and not has_unknown(value):
        from pubcheck.postgres.output.containers import quoted_element

        items = ["NULL" if item is None else quoted_element(text(item, cast=False)) for item in value]
        return "{" + joined(",", items) + "}" if size_of(items) <= LARGEST else UNKNOWN
    return UNKNOWN


_ITEM = re.compile(r'\s*(?:"((?:[^"\\]++|\\.)*+)"|([^\s{}",\\][^{}",\\]*))\s*([,}])', re.DOTALL)


def array(value: Value) -> Value:
    """Return a one-dimensional array from its literal; UNKNOWN for other shapes."""
    if value is None or value is UNKNOWN or isinstance(value, list):
        return value
    if not isinstance(value, str):
        return UNKNOWN
    literal = value.strip()
    if not literal.startswith("{"):
        return UNKNOWN
    if re.fullmatch(r"\{\s*\}", literal):
        return []
    items: list[Value] = []
    offset = 1
    while True:
        match = _ITEM.match(literal, offset)
        if match is None:
            return UNKNOWN
        quoted, bare, after = match.groups()
        if quoted is not None:
            items.append(re.sub(r"\\(.)", r"\1", quoted, flags=re.DOTALL))
        else:
            bare = bare.rstrip()
            items.append(None if bare.lower() == "null" else bare)
        offset = match.end()
        if after == "}":
            return items if offset == len(literal) else UNKNOWN


_TRUE = ("t", "tr", "tru", "true", "y", "ye", "yes", "on", "1")
_FALSE = ("f", "fa", "fal", "fals", "false", "n", "no", "of", "off", "0")
_INTEGERS = frozenset(("int", "integer", "int2", "int4", "int8", "smallint", "bigint", "oid"))
_INTEGER = re.compile(r"\s*[-+]?\d{1,40}\s*", re.ASCII)
_TEXTS = frozenset(("text", "varchar", "character varying", "name", "bpchar", "char", "character", "citext"))


def coerce(value: Value, type_name: str) -> Value:
    """Return the value as one of a type, by the type's name as written; UNKNOWN if the type is not followed."""
    name = re.sub(r"\(.*?\)|^pg_catalog\.", "", type_name.strip().strip('"').lower()).strip()
    if value is None or value is UNKNOWN:
        return value
    if name.endswith("[]") or (name.startswith("_") and len(name) > 1):
        items = array(value)
        element = name[:-2] if name.endswith("[]") else name[1:]
        return [coerce(item, element) for item in items] if isinstance(items, list) else items
    if name in _TEXTS:
        string = text(value)
        if isinstance(string, str) and "(" in type_name:
            return UNKNOWN
        return string[:63] if name == "name" and isinstance(string, str) and string.isascii() else string
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
            string = value.strip().lower()
            return True if string in _TRUE else False if string in _FALSE else UNKNOWN
        return value if isinstance(value, bool) else bool(value) if isinstance(value, int) else UNKNOWN
    if name in ("regclass",):
        return value if isinstance(value, Relid) else UNKNOWN
    if name == "record" or isinstance(value, dict | tuple):
        return value
    return UNKNOWN


def _joined(left: Value, right: Value, *, decides: bool) -> Value:
    """Return the result of AND, which FALSE decides, or of OR, which TRUE decides."""
    if left is decides or right is decides:
        return decides
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    return None if left is None or right is None else not decides


sql_and, sql_or = partial(_joined, decides=False), partial(_joined, decides=True)


def sql_not(value: Value) -> Value:
    """Return the result of NOT."""
    return value if value is None or value is UNKNOWN else not value


def sql_equal(left: Value, right: Value) -> Value:
    """Return the result of ``=``, where a literal of unknown type gets the type of the other value."""
    if left is None or right is None:
        return None
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        if len(left) != len(right):
            return False
        result: Value = True
        for mine, theirs in zip(left, right, strict=True):
            result = sql_and(result, True if mine is None and theirs is None else sql_equal(mine, theirs) or False)
        return result
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    pair = _alike(left, right)
    return UNKNOWN if pair is None else bool(pair[0] == pair[1])


def sql_less(left: Value, right: Value) -> Value:
    """Return the result of ``<``; for texts only where every collation agrees."""
    if left is None or right is None:
        return None
    if left is UNKNOWN or right is UNKNOWN:
        return UNKNOWN
    pair = _alike(left, right)
    if pair is None or isinstance(pair[0], str | list | tuple):
        return UNKNOWN
    return bool(pair[0] < pair[1])


def _alike(left: Value, right: Value) -> tuple[Value, Value] | None:
    """Both as values of one type, None where that is not known here."""
    if isinstance(left, Relid):
        left = left.oid if isinstance(right, int | Relid) else left.text
    if isinstance(right, Relid):
        right = right.oid if isinstance(left, int) else right.text
    if type(left) is type(right):
        return left, right
    if isinstance(left, str) and isinstance(right, bool):
        left = coerce(left, "boolean")
    elif isinstance(right, str) and isinstance(left, bool):
        right = coerce(right, "boolean")
    elif isinstance(left, str) and isinstance(right, int):
        left = coerce(left, "bigint")
    elif isinstance(right, str) and isinstance(left, int):
        right = coerce(right, "bigint")
    elif isinstance(left, str) and isinstance(right, list):
        left = array(left)
    elif isinstance(right, str) and isinstance(left, list):
        right = array(right)
    elif not (isinstance(left, int | float) and isinstance(right, int | float)):
        return None
    return None if has_unknown(left, right) else (left, right)


MISSING: Final = object()
"""The result of looking up a name that is not a variable."""


def is_number(value: Value) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def concatenated(left: Value, right: Value) -> Value:
    if left is None or right is None:
        return None if not isinstance(left, list) and not isinstance(right, list) else left if right is None else right
    if isinstance(left, list) or isinstance(right, list):
        first, second = _items(left), _items(right)
        return first + second if isinstance(first, list) and isinstance(second, list) else UNKNOWN
    first, second = text(left), text(right)
    return first + second if isinstance(first, str) and isinstance(second, str) else UNKNOWN


def _items(value: Value) -> Value:
    """Return the items that one side of an array concatenation adds: those of an array, or one element."""
    return array(value) if isinstance(value, list) or (isinstance(value, str) and value[:1] == "{") else [value]


class Scope(Struct):
    """The rows that are available in a query: by alias, the columns (None if unknown) and the row."""

    tables: dict[str, tuple[tuple[str, ...] | None, Mapping[str, Value]]]
    outer: Scope | None = None


SeenRow = tuple[tuple[Value, ...], bool]
"""The values of a row, and whether it is surely there."""


class Rows(Struct):
    """The result of a query: its columns, its rows with whether each is certain, and whether there may be others."""

    columns: tuple[str, ...]
    rows: list[SeenRow]
    open: bool = False

    @property
    def known(self) -> bool:
        """Whether these rows are the complete result."""
        return not self.open and all(sure for _, sure in self.rows)

    def exists(self) -> Value:
        if any(sure for _, sure in self.rows):
            return True
        return UNKNOWN if self.open or self.rows else False

    def scalar(self) -> Value:
        """Return the value of the query as an expression."""
        if not self.known or len(self.rows) > 1:
            return UNKNOWN
        return self.rows[0][0][0] if self.rows else None

    def column(self) -> list[Value]:
        return [values[0] for values, _ in self.rows]


UNKNOWN_ROWS = Rows((), [], open=True)


def sortable(key: tuple[Value, ...]) -> bool:
    """Return whether values have the same order as in Python under any collation.

    Numbers have, and names in lower case of one kind.
    """
    return all(
        (isinstance(value, int) and not isinstance(value, bool))
        or (isinstance(value, str) and value.isascii() and value.isalnum() and value == value.lower())
        for value in key
    )


def distinct_rows(rows: list[SeenRow]) -> list[SeenRow] | None:
    """Return the rows without duplicates; None if it is not known which are equal.

    A row is certain if one of its duplicates is.
    """
    distinct: dict[Value, SeenRow] = {}
    for row, sure in rows:
        if has_unknown(*row) or any(isinstance(value, dict) for value in row):
            return None
        key = hashable(row)
        distinct[key] = row, sure or (key in distinct and distinct[key][1])
    return list(distinct.values())


def hashable(value: Value) -> Value:
    """Return a row or value with tuples instead of arrays."""
    return tuple(map(hashable, value)) if isinstance(value, list | tuple) else value
