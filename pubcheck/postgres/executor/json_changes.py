"""jsonb values with a part of them changed (jsonfuncs.c): jsonb_set(), jsonb_insert(), #- and the like."""

from __future__ import annotations

import re
from typing import Any

from pubcheck.postgres.datum import JSON_NULL, Array
from pubcheck.postgres.executor.functions import Function, evaluation_error
from pubcheck.postgres.input.jsonpath_items import escaped
from pubcheck.postgres.output.documents import jsonb_text, key_order

FUNCTIONS: dict[str, Function] = {}

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
