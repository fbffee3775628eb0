"""json and jsonb made of values of other types (json.c, jsonb.c), as by to_jsonb() and json_build_object(), and jsonb
values with a part of them changed (jsonfuncs.c), as by jsonb_set(), jsonb_insert() and #-.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from pubcheck.postgres import input
from pubcheck.postgres.budget import joined
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.datum import JSON_NULL, Array
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.functions import Call, Context, Function, Maker, evaluation_error
from pubcheck.postgres.executor.text import given
from pubcheck.postgres.input.jsonpath_items import escaped
from pubcheck.postgres.oids import BOOL, DATE, JSON, JSONB, NUMERIC, RECORD, TIMESTAMP, TIMESTAMPTZ
from pubcheck.postgres.output.datetime import infinity, iso_date, iso_timestamp
from pubcheck.postgres.output.strings import jsonb_text, key_order
from pubcheck.postgres.primnodes import Expr

FUNCTIONS: dict[str, Function] = {}
MAKERS: dict[str, Maker] = {}

_NUMBERS = frozenset((20, 21, 23, 700, 701, NUMERIC))
_DATES = frozenset((DATE, TIMESTAMP, TIMESTAMPTZ))
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_SECOND = 1_000_000


class _Documents:
    """The documents of one major and session."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.cache = context.cache

    # Both.

    def scalar(self, type_oid: int, value: Any) -> str:
        """Return the text of a value that is not a document."""
        if type_oid == BOOL:
            return "true" if value else "false"
        if type_oid in _DATES:
            return self.moment(type_oid, value)
        return self.context.output.writer(type_oid)(value)

    def moment(self, type_oid: int, value: Any) -> str:
        """JsonEncodeDateTime: ISO 8601 whatever DateStyle is."""
        if isinstance(value, float):
            return infinity(value)
        if type_oid == DATE:
            return iso_date(value)
        east = 0
        if type_oid == TIMESTAMPTZ:
            from pubcheck.postgres.output.datetime import session_zone

            east = session_zone(self.context.output)(value // _SECOND)[0]
        text, era, _ = iso_timestamp(value + east * _SECOND).replace(" ", "T", 1).partition(" BC")
        if type_oid == TIMESTAMPTZ:
            minutes, seconds = divmod(abs(east), 60)
            text += f"{'-' if east < 0 else '+'}{minutes // 60:02}:{minutes % 60:02}" + (
                f":{seconds:02}" if seconds else ""
            )
        return text + era

    def fields(self, type_oid: int, expr: Expr | None) -> list[tuple[str, int]] | None:
        """Names and types of a composite's fields; None of another type."""
        if type_oid == RECORD:
            item = expr.value[1] if expr is not None and expr.node == "Var" and type(expr.value) is tuple else None
            if item is not None and item.columns is not None:
                return [(column.name, column.type) for column in item.columns]
            if expr is None or expr.node != "RowExpr":
                raise Unknowable("the fields of a row of no declared type")
            return [(f"f{number}", field.type) for number, field in enumerate(expr.args, 1)]
        if self.cache.type(type_oid).kind != "c":
            return None
        return [(column.name, column.type) for column in self.cache.fields(type_oid) if not column.dropped]

    def kind(self, type_oid: int) -> tuple[int, int]:
        """The type under a domain, and that of its elements if it is an array's."""
        base = self.cache.base_type(type_oid)[0]
        if base >= FIRST_NORMAL_OID and self.cache.type(base).kind == "b" and not self.cache.element_type(base):
            raise Unknowable("a document of a type that may have a cast to json")
        return base, 0 if base in (22, 30) else self.cache.element_type(base)

    def key(self, type_oid: int, value: Any) -> str:
        base, element = self.kind(type_oid)
        if element or base in (JSON, JSONB, RECORD) or self.cache.type(base).kind == "c":
            raise evaluation_error("22023", "key value must be scalar, not array, composite, or json")
        return self.scalar(base, value)

    # json.

    def text(self, type_oid: int, value: Any, expr: Expr | None = None, pretty: bool = False) -> str:
        """datum_to_json."""
        if value is None:
            return "null"
        base, element = self.kind(type_oid)
        if element:
            return self.array_text(element, value, ",\n " if pretty else ",")
        fields = self.fields(base, expr)
        if fields is not None:
            inner = expr.args if expr is not None and expr.node == "RowExpr" else [None] * len(fields)
            separator = ",\n " if pretty else ","
            parts = [
                f"{escaped(name)}:{self.text(of, part, argument)}"
                for (name, of), part, argument in zip(fields, value, inner, strict=True)
            ]
            return "{" + joined(separator, parts) + "}"
        if base == JSON:
            return str(value)
        if base == JSONB:
            return jsonb_text(value)
        text = self.scalar(base, value)
        plain = base == BOOL or (base in _NUMBERS and _NUMBER.fullmatch(text))
        return text if plain else escaped(text)

    def array_text(self, element: int, array: Array, separator: str) -> str:
        texts = [self.text(element, value) for value in array.elements]
        if not texts:
            return "[]"
        for length in reversed(array.lengths[1:]):
            texts = [f"[{joined(',', texts[start : start + length])}]" for start in range(0, len(texts), length)]
        return f"[{joined(separator, texts)}]"

    # jsonb.

    def tree(self, type_oid: int, value: Any, expr: Expr | None = None) -> Any:
        """datum_to_jsonb."""
        if value is None:
            return JSON_NULL
        base, element = self.kind(type_oid)
        if element:
            return self.array_tree(element, value)
        fields = self.fields(base, expr)
        if fields is not None:
            inner = expr.args if expr is not None and expr.node == "RowExpr" else [None] * len(fields)
            return {
                name: self.tree(of, part, argument)
                for (name, of), part, argument in zip(fields, value, inner, strict=True)
            }
        if base == JSON:
            return input.read(self.context.inputs, JSONB, value, -1)
        if base in (JSONB, BOOL):
            return value
        text = self.scalar(base, value)
        if base in _NUMBERS and _NUMBER.fullmatch(text):
            return input.read(self.context.inputs, NUMERIC, text, -1)
        return text

    def array_tree(self, element: int, array: Array) -> list[Any]:
        values = [self.tree(element, value) for value in array.elements]
        for length in reversed(array.lengths[1:]):
            values = [values[start : start + length] for start in range(0, len(values), length)]
        return values


def _even(pairs: Sequence[Any]) -> None:
    if len(pairs) % 2:
        raise evaluation_error("22023", "argument list must have even number of elements")


_Pair = tuple[int, Any, Expr | None]


def _arguments(call: Call, values: Sequence[Any]) -> list[_Pair] | None:
    """Types, values and expressions."""
    pairs = given(call, values, 0)
    if pairs is None:
        return None
    expressions = call.expr.args if len(call.expr.args) == len(pairs) else [None] * len(pairs)
    return [(type_oid, value, expr) for (type_oid, value), expr in zip(pairs, expressions, strict=True)]


def _members(call: Call, arguments: list[_Pair]) -> Iterator[tuple[str, _Pair]]:
    _even(arguments)
    documents = _Documents(call.context)
    binary = call.proc.name.startswith("jsonb")
    for number in range(0, len(arguments), 2):
        type_oid, value, _ = arguments[number]
        if value is None:
            if binary:
                raise evaluation_error("22023", f"argument {number + 1}: key must not be null")
            if call.context.major.null_key_sqlstate:
                raise evaluation_error("22004", "null value not allowed for object key")
            raise evaluation_error("22023", f"argument {number + 1} cannot be null")
        yield documents.key(type_oid, value), arguments[number + 1]


def _objects(call: Call) -> Function:
    documents = _Documents(call.context)
    binary = call.proc.name.startswith("jsonb")

    def build(*values: Any) -> Any:
        arguments = _arguments(call, values)
        if arguments is None:
            return None
        members = _members(call, arguments)
        if binary:
            return {key: documents.tree(*argument) for key, argument in members}
        return "{" + joined(", ", [f"{escaped(key)} : {documents.text(*argument)}" for key, argument in members]) + "}"

    return build


def _arrays(call: Call) -> Function:
    documents = _Documents(call.context)
    binary = call.proc.name.startswith("jsonb")

    def build(*values: Any) -> Any:
        arguments = _arguments(call, values)
        if arguments is None:
            return None
        if binary:
            return [documents.tree(*argument) for argument in arguments]
        return f"[{joined(', ', [documents.text(*argument) for argument in arguments])}]"

    return build


def _to_json(call: Call) -> Function:
    argument = call.expr.args[0]
    return lambda value, pretty=False: _Documents(call.context).text(argument.type, value, argument, pretty)


def _to_jsonb(call: Call) -> Function:
    argument = call.expr.args[0]
    return lambda value: _Documents(call.context).tree(argument.type, value, argument)


# Objects of arrays of texts.


def _pairs_of(array: Array) -> list[tuple[Any, Any]]:
    if len(array.lengths) > 2:
        raise evaluation_error("2202E", "wrong number of array subscripts")
    if len(array.lengths) == 2 and array.lengths[1] != 2:
        raise evaluation_error("2202E", "array must have two columns")
    if len(array.elements) % 2:
        raise evaluation_error("2202E", "array must have even number of elements")
    return list(zip(array.elements[::2], array.elements[1::2], strict=True))


def _pairs_of_two(keys: Array, values: Array) -> list[tuple[Any, Any]]:
    if len(keys.lengths) > 1 or len(keys.lengths) != len(values.lengths):
        raise evaluation_error("2202E", "wrong number of array subscripts")
    if len(keys.elements) != len(values.elements):
        raise evaluation_error("2202E", "mismatched array dimensions")
    return list(zip(keys.elements, values.elements, strict=True))


def _of_texts(pairs_of: Callable[..., list[tuple[Any, Any]]], binary: bool) -> Function:
    def build(*arrays: Array) -> Any:
        pairs = pairs_of(*arrays)
        if any(key is None for key, _ in pairs):
            raise evaluation_error("22004", "null value not allowed for object key")
        if binary:
            return {key: JSON_NULL if value is None else value for key, value in pairs}
        texts = [f"{escaped(key)} : {'null' if value is None else escaped(value)}" for key, value in pairs]
        return "{" + joined(", ", texts) + "}"

    return build


for _type in ("json", "jsonb"):
    MAKERS[f"{_type}_build_object"] = _objects
    MAKERS[f"{_type}_build_array"] = _arrays
    FUNCTIONS[f"{_type}_object(_text)"] = _of_texts(_pairs_of, _type == "jsonb")
    FUNCTIONS[f"{_type}_object(_text,_text)"] = _of_texts(_pairs_of_two, _type == "jsonb")
MAKERS |= {
    "to_json": _to_json,
    "to_jsonb": _to_jsonb,
    "array_to_json": _to_json,
    "row_to_json": _to_json,
}


_CREATE, _REPLACE, _BEFORE, _AFTER, _DELETE = "create", "replace", "before", "after", "delete"
_ADDING = frozenset((_CREATE, _BEFORE, _AFTER))
_INTEGER = re.compile(r"[ \t\n\v\f\r]*[+-]?[0-9]+")
_BEFORE_ALL = -1


class _Change:
    """setPath: one operation at one path."""

    def __init__(self, path: list[str | None], new: Any, operation: str) -> None:
        self.path, self.new, self.operation = path, new, operation
        self.last = len(path) - 1

    def apply(self, value: Any, level: int = 0) -> Any:
        step = self.path[level]
        if step is None:
            raise evaluation_error("22004", f"path element at position {level + 1} is null")
        if isinstance(value, dict):
            return self.in_object(value, step, level)
        return self.in_array(value, step, level) if isinstance(value, list) else value

    def in_object(self, value: dict[str, Any], step: str, level: int) -> dict[str, Any]:
        if level < self.last:
            return {**value, step: self.apply(value[step], level + 1)} if step in value else value
        if step not in value:
            return {**value, step: self.new} if self.operation in _ADDING else value
        if self.operation in (_BEFORE, _AFTER):
            raise evaluation_error("22023", "cannot replace existing key")
        if self.operation == _DELETE:
            return {key: part for key, part in value.items() if key != step}
        return {**value, step: self.new}

    def in_array(self, value: list[Any], step: str, level: int) -> list[Any]:
        index = self.place(value, step, level)
        adding = self.operation in _ADDING and level == self.last
        if index == _BEFORE_ALL or not value:
            return [self.new, *value] if adding else value
        if index >= len(value):
            return [*value, self.new] if adding else value
        if level < self.last:
            return [*value[:index], self.apply(value[index], level + 1), *value[index + 1 :]]
        replacement = {
            _BEFORE: [self.new, value[index]],
            _AFTER: [value[index], self.new],
            _DELETE: [],
        }.get(self.operation, [self.new])
        return [*value[:index], *replacement, *value[index + 1 :]]

    def place(self, value: list[Any], step: str, level: int) -> int:
        index = int(step) if _INTEGER.fullmatch(step) else None
        if index is None or not -(1 << 31) <= index < 1 << 31:
            raise evaluation_error("22P02", f'path element at position {level + 1} is not an integer: "{step}"')
        if index < 0:
            return index + len(value) if -index <= len(value) else _BEFORE_ALL
        return index


def _changed(value: Any, path: Array, new: Any, operation: str) -> Any:
    if len(path.lengths) > 1:
        raise evaluation_error("2202E", "wrong number of array subscripts")
    if not isinstance(value, dict | list):
        verb = "delete path" if operation == _DELETE else "set path"
        raise evaluation_error("22023", f"cannot {verb} in scalar")
    if not path.elements or (not value and operation in (_REPLACE, _DELETE)):
        return value
    return _Change(list(path.elements), new, operation).apply(value)


def _set(value: Any, path: Array, new: Any, create: bool = True) -> Any:
    return _changed(value, path, new, _CREATE if create else _REPLACE)


def _set_lax(
    value: Any, path: Array | None, new: Any, create: bool | None = True, treatment: str | None = "use_json_null"
) -> Any:
    if value is None or path is None or create is None:
        return None
    if treatment not in ("raise_exception", "use_json_null", "delete_key", "return_target"):
        text = "null_value_treatment must be "
        raise evaluation_error("22023", text + '"delete_key", "return_target", "use_json_null", or "raise_exception"')
    if new is not None:
        return _set(value, path, new, create)
    if treatment == "raise_exception":
        raise evaluation_error("22004", "JSON value must not be null")
    if treatment == "return_target":
        return value
    if treatment == "delete_key":
        return _changed(value, path, None, _DELETE)
    return _set(value, path, JSON_NULL, create)


def _inserted(value: Any, path: Array, new: Any, after: bool = False) -> Any:
    return _changed(value, path, new, _AFTER if after else _BEFORE)


def _without_nulls(value: Any, in_arrays: bool = False) -> Any:
    if isinstance(value, dict):
        return {key: _without_nulls(part, in_arrays) for key, part in value.items() if part is not JSON_NULL}
    if isinstance(value, list):
        return [_without_nulls(part, in_arrays) for part in value if not (in_arrays and part is JSON_NULL)]
    return value


def _pretty(value: Any, depth: int = 0) -> str:
    """jsonb_pretty: four blanks a level."""
    if not isinstance(value, dict | list):
        return jsonb_text(value)
    indent = "\n" + "    " * (depth + 1)
    if isinstance(value, dict):
        parts = [f"{escaped(key)}: {_pretty(value[key], depth + 1)}" for key in sorted(value, key=key_order)]
        opening, closing = "{}"
    else:
        parts = [_pretty(part, depth + 1) for part in value]
        opening, closing = "[]"
    body = ",".join(indent + part for part in parts)
    return f"{opening}{body}\n{'    ' * depth}{closing}"


FUNCTIONS |= {
    "jsonb_set": _set,
    "jsonb_set_lax": _set_lax,
    "jsonb_insert": _inserted,
    "jsonb_delete_path": lambda value, path: _changed(value, path, None, _DELETE),
    "jsonb_strip_nulls": _without_nulls,
    "jsonb_pretty": _pretty,
}
