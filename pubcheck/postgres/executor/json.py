"""json and jsonb (jsonfuncs.c, jsonb_op.c, jsonb_util.c, jsonb.c).

A jsonb is its tree: dict, list, str, bool, Decimal and JSON_NULL. A json is its text, of which parts are cut out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from json import decoder
from typing import Any

from pubcheck.postgres.datum import JSON_NULL, Array
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor import numeric
from pubcheck.postgres.executor.compare import json_equal, json_order
from pubcheck.postgres.executor.functions import Call, Function, Maker, evaluation_error
from pubcheck.postgres.executor.integers import COMPARISONS
from pubcheck.postgres.output.strings import jsonb_text

FUNCTIONS: dict[str, Function] = {}
MAKERS: dict[str, Maker] = {}

_INDEX = re.compile(r"[ \t\n\v\f\r]*[+-]?[0-9]+")


# jsonb.


def json_as_text(value: Any) -> str | None:
    """JsonbValueAsText."""
    if value is None or value is JSON_NULL:
        return None
    return value if isinstance(value, str) else jsonb_text(value)


def _field(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def _elements(value: Any) -> list[Any] | None:
    """A scalar is an array of one to the server."""
    if isinstance(value, list):
        return value
    return None if isinstance(value, dict) else [value]


def _element(value: Any, index: int) -> Any:
    elements = _elements(value)
    if elements is None or not -len(elements) <= index < len(elements):
        return None
    return elements[index]


def _path_index(step: str) -> int | None:
    """strtoint of a whole path element."""
    if not _INDEX.fullmatch(step) or len(step) > 20:
        return None
    index = int(step)
    return index if -(1 << 31) <= index < 1 << 31 else None


def _path(value: Any, path: Array) -> Any:
    """get_jsonb_path_all."""
    if None in path.elements:
        return None
    for step in path.elements:
        if isinstance(value, dict):
            if step not in value:
                return None
            value = value[step]
        elif isinstance(value, list):
            index = _path_index(step)
            if index is None or not -len(value) <= index < len(value):
                return None
            value = value[index]
        else:
            return None
    return value


def _contains(value: Any, inner: Any) -> bool:
    """jsonb_contains: an array also contains a scalar that is one of its elements."""
    if isinstance(value, dict) or isinstance(inner, dict):
        return isinstance(value, dict) and isinstance(inner, dict) and _deep(value, inner)
    if isinstance(value, list):
        return _deep(value, inner if isinstance(inner, list) else [inner])
    # A scalar contains itself, but no array.
    return not isinstance(inner, list) and json_equal(value, inner)


def _deep(value: Any, inner: Any) -> bool:
    """JsonbDeepContains, of containers of one kind."""
    if isinstance(inner, dict):
        return all(key in value and _holds(value[key], item) for key, item in inner.items())
    for item in inner:
        if isinstance(item, dict | list):
            if not any(type(candidate) is type(item) and _deep(candidate, item) for candidate in value):
                return False
        elif not any(json_equal(candidate, item) for candidate in value):
            return False
    return True


def _holds(value: Any, inner: Any) -> bool:
    if isinstance(inner, dict | list):
        return type(value) is type(inner) and _deep(value, inner)
    return json_equal(value, inner)


def _exists(value: Any, key: str) -> bool:
    if isinstance(value, dict):
        return key in value
    elements = _elements(value)
    return elements is not None and any(isinstance(element, str) and element == key for element in elements)


def _typeof(value: Any) -> str:
    if value is JSON_NULL:
        return "null"
    for kind, name in ((dict, "object"), (list, "array"), (bool, "boolean"), (str, "string")):
        if isinstance(value, kind):
            return name
    return "number"


def _length(value: Any) -> int:
    if isinstance(value, list):
        return len(value)
    kind = "a non-array" if isinstance(value, dict) else "a scalar"
    raise evaluation_error("22023", f"cannot get array length of {kind}")


def _concatenated(left: Any, right: Any) -> Any:
    """jsonb_concat: objects are merged, all other values are concatenated."""
    if isinstance(left, dict) and isinstance(right, dict):
        return {**left, **right}
    return [*(left if isinstance(left, list) else [left]), *(right if isinstance(right, list) else [right])]


def _without(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return {name: item for name, item in value.items() if name != key}
    if isinstance(value, list):
        return [item for item in value if not (isinstance(item, str) and item == key)]
    raise evaluation_error("22023", "cannot delete from scalar")


def _without_keys(value: Any, keys: Array) -> Any:
    if len(keys.lengths) > 1:
        raise evaluation_error("2202E", "wrong number of array subscripts")
    if not isinstance(value, dict | list):
        raise evaluation_error("22023", "cannot delete from scalar")
    for key in keys.elements:
        if key is not None:
            value = _without(value, key)
    return value


def _without_element(value: Any, position: int) -> Any:
    if isinstance(value, dict):
        raise evaluation_error("22023", "cannot delete from object using integer index")
    if not isinstance(value, list):
        raise evaluation_error("22023", "cannot delete from scalar")
    return [
        element
        for index, element in enumerate(value)
        if index != (position if position >= 0 else position + len(value))
    ]


def _cast(kind: str, type_name: str, convert: Callable[[Any], Any]) -> Maker:
    """jsonb_int4 and similar: only a scalar of the right kind; null may be NULL."""
    words = {"object": "object", "array": "array", "string": "string", "boolean": "boolean", "number": "numeric"}

    def make(call: Call) -> Function:
        def cast(value: Any) -> Any:
            actual = _typeof(value)
            if actual == "null" and call.context.major.jsonb_null_casts:
                return None
            if actual != kind:
                word = words.get(actual, "null")
                raise evaluation_error("22023", f"cannot cast jsonb {word} to type {type_name}")
            return convert(value)

        return cast

    return make


# json.


def _skip(text: str, pos: int) -> int:
    while text[pos : pos + 1] and text[pos] in " \t\n\r":
        pos += 1
    return pos


def _string(text: str, pos: int) -> tuple[str, int]:
    """Return the decoded string whose opening quote is at an offset, and its end."""
    scan: Callable[[str, int, bool], tuple[str, int]] = vars(decoder)["scanstring"]
    decoded, end = scan(text, pos + 1, True)
    if "\0" in decoded:
        raise evaluation_error("22P05", "unsupported Unicode escape sequence", "\\u0000 cannot be converted to text.")
    if any("\ud800" <= char <= "\udfff" for char in decoded):
        raise Unknowable("a document with halves of surrogate pairs")
    return decoded, end


_SCALAR = re.compile(r"[^\s,\]}]+")


def _end(text: str, pos: int) -> int:
    """Return the end of the value that begins at an offset."""
    depth = 0
    while True:
        pos = _skip(text, pos)
        char = text[pos]
        if char == '"':
            match = _QUOTED.match(text, pos)
            assert match is not None
            pos = match.end()
        elif char in "[{":
            depth += 1
            pos += 1
            continue
        elif char in "]}":
            depth -= 1
            pos += 1
        elif char in ",:":
            pos += 1
            continue
        else:
            match = _SCALAR.match(text, pos)
            assert match is not None
            pos = match.end()
        if not depth:
            return pos


_QUOTED = re.compile(r'"(?:[^"\\]++|\\.)*+"', re.DOTALL)


def _members(text: str) -> list[tuple[str, str]] | None:
    """Keys and the texts of their values, of an object."""
    pos = _skip(text, 0)
    if text[pos] != "{":
        return None
    members: list[tuple[str, str]] = []
    pos = _skip(text, pos + 1)
    while text[pos] != "}":
        key, pos = _string(text, pos)
        start = _skip(text, _skip(text, pos) + 1)
        pos = _end(text, start)
        members.append((key, text[start:pos]))
        pos = _skip(text, pos)
        if text[pos] == ",":
            pos = _skip(text, pos + 1)
    return members


def _items(text: str) -> list[str] | None:
    pos = _skip(text, 0)
    if text[pos] != "[":
        return None
    items: list[str] = []
    pos = _skip(text, pos + 1)
    while text[pos] != "]":
        end = _end(text, pos)
        items.append(text[pos:end])
        pos = _skip(text, end)
        if text[pos] == ",":
            pos = _skip(text, pos + 1)
    return items


def _json_field(text: str, key: str) -> str | None:
    result = None
    for name, value in _members(text) or ():
        if name == key:
            result = value
    return result


def _json_element(text: str, index: int) -> str | None:
    items = _items(text)
    return items[index] if items is not None and -len(items) <= index < len(items) else None


def _json_path(text: str, path: Array) -> str | None:
    if None in path.elements:
        return None
    current: str | None = text
    for step in path.elements:
        assert current is not None
        if current.lstrip(" \t\n\r")[:1] == "[":
            index = _path_index(step)
            current = None if index is None else _json_element(current, index)
        else:
            current = _json_field(current, step)
        if current is None:
            return None
    return current


def _json_text(text: str | None) -> str | None:
    if text is None:
        return None
    body = text.strip(" \t\n\r")
    if body == "null":
        return None
    return _string(body, 0)[0] if body.startswith('"') else body


_KINDS = {"{": "object", "[": "array", '"': "string", "t": "boolean", "f": "boolean", "n": "null"}


def _json_typeof(text: str) -> str:
    first = text.lstrip(" \t\n\r")[:1]
    return _KINDS.get(first, "number")


def _json_length(text: str) -> int:
    items = _items(text)
    if items is not None:
        return len(items)
    kind = "a non-array" if _json_typeof(text) == "object" else "a scalar"
    raise evaluation_error("22023", f"cannot get array length of {kind}")


def _ordered(test: Callable[[int, int], bool]) -> Function:
    return lambda left, right: test(json_order(left, right), 0)


def _quantified(every: bool) -> Function:
    def test(value: Any, keys: Array) -> bool:
        names: Sequence[str] = [key for key in keys.elements if key is not None]
        return (all if every else any)(_exists(value, key) for key in names)

    return test


for _type, _name, _convert in (
    ("int2", "smallint", numeric.to_int2),
    ("int4", "integer", numeric.to_int4),
    ("int8", "bigint", numeric.to_int8),
    ("float4", "real", numeric.to_float4),
    ("float8", "double precision", numeric.to_float8),
    ("numeric", "numeric", lambda value: value),
):
    MAKERS[f"{_type}(jsonb)"] = _cast("number", _name, _convert)
MAKERS["bool(jsonb)"] = _cast("boolean", "boolean", lambda value: value)
FUNCTIONS |= {
    "jsonb_object_field": _field,
    "jsonb_object_field_text": lambda value, key: json_as_text(_field(value, key)),
    "jsonb_array_element": _element,
    "jsonb_array_element_text": lambda value, index: json_as_text(_element(value, index)),
    "jsonb_extract_path": _path,
    "jsonb_extract_path_text": lambda value, path: json_as_text(_path(value, path)),
    "jsonb_contains": _contains,
    "jsonb_contained": lambda inner, value: _contains(value, inner),
    "jsonb_exists": _exists,
    "jsonb_exists_any": _quantified(False),
    "jsonb_exists_all": _quantified(True),
    "jsonb_eq": json_equal,
    "jsonb_ne": lambda left, right: not json_equal(left, right),
    **{f"jsonb_{name}": _ordered(COMPARISONS[name]) for name in ("lt", "le", "gt", "ge")},
    "jsonb_cmp": json_order,
    "jsonb_typeof": _typeof,
    "jsonb_array_length": _length,
    "jsonb_concat": _concatenated,
    "jsonb_delete(jsonb,text)": _without,
    "jsonb_delete(jsonb,_text)": _without_keys,
    "jsonb_delete(jsonb,int4)": _without_element,
    "json_object_field": _json_field,
    "json_object_field_text": lambda text, key: _json_text(_json_field(text, key)),
    "json_array_element": _json_element,
    "json_array_element_text": lambda text, index: _json_text(_json_element(text, index)),
    "json_extract_path": _json_path,
    "json_extract_path_text": lambda text, path: _json_text(_json_path(text, path)),
    "json_typeof": _json_typeof,
    "json_array_length": _json_length,
}
