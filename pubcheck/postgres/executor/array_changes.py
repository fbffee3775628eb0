"""Arrays that are filled, replaced in, measured and cut (arrayfuncs.c, array_userfuncs.c)."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.budget import room
from pubcheck.postgres.datum import Array
from pubcheck.postgres.executor.compare import equality_of
from pubcheck.postgres.executor.function_lookup import Call, Function, Maker
from pubcheck.postgres.executor.values import evaluation_error

_MOST_DIMENSIONS = 6


def _filled(value: Any, lengths: Array | None, lowers: Array | None = None) -> Array:
    if lengths is None:
        raise evaluation_error("22004", "dimension array or low bound array cannot be null")
    if len(lengths.lengths) > 1:
        raise evaluation_error("2202E", "wrong number of array subscripts")
    if None in lengths.elements:
        raise evaluation_error("22004", "dimension values cannot be null")
    if len(lengths.elements) > _MOST_DIMENSIONS:
        count = len(lengths.elements)
        raise evaluation_error("54000", f"number of array dimensions ({count}) exceeds the maximum allowed (6)")
    if lowers is not None:
        if len(lowers.lengths) > 1 or len(lowers.elements) != len(lengths.elements):
            raise evaluation_error("2202E", "wrong number of array subscripts")
        if None in lowers.elements:
            raise evaluation_error("22004", "dimension values cannot be null")
    size = 1
    for length in lengths.elements:
        if length < 0:
            raise evaluation_error("54000", "array size exceeds the maximum allowed (134217727)")
        size *= length
        room(size)
    if not size or not lengths.elements:
        return Array([])
    return Array([value] * size, lengths.elements, None if lowers is None else lowers.elements)


def _filled_from(value: Any, lengths: Array | None, lowers: Array | None) -> Array:
    if lowers is None:
        raise evaluation_error("22004", "dimension array or low bound array cannot be null")
    return _filled(value, lengths, lowers)


def _same(call: Call) -> Function:
    cache = call.context.cache
    equal = equality_of(call.context, cache.element_type(cache.base_type(call.expr.args[0].type)[0]), call.collation)

    def same(left: Any, right: Any) -> bool:
        return left is right if left is None or right is None else equal(left, right)

    return same


def _replaced(call: Call) -> Function:
    same = _same(call)

    def replace(array: Array | None, old: Any, new: Any) -> Array | None:
        if array is None:
            return None
        return Array([new if same(part, old) else part for part in array.elements], array.lengths, array.lowers)

    return replace


def _positions(call: Call) -> Function:
    same = _same(call)

    def find(array: Array | None, value: Any) -> Array | None:
        if array is None:
            return None
        if len(array.lengths) > 1:
            raise evaluation_error("0A000", "searching for elements in multidimensional arrays is not supported")
        lower = array.lowers[0] if array.lowers else 1
        return Array([place for place, part in enumerate(array.elements, lower) if same(part, value)])

    return find


def _dimensions(array: Array) -> str | None:
    bounds = zip(array.lengths, array.lowers, strict=True)
    return "".join(f"[{lower}:{lower + length - 1}]" for length, lower in bounds) or None


def _trimmed(array: Array, count: int) -> Array:
    length = array.lengths[0] if array.lengths else 0
    if not 0 <= count <= length:
        raise evaluation_error("2202E", f"number of elements to trim must be between 0 and {length}")
    if count == length:
        return Array([])
    kept = len(array.elements) // length * (length - count)
    # A slice begins at 1.
    return Array(array.elements[:kept], (length - count, *array.lengths[1:]))


FUNCTIONS: dict[str, Function] = {
    "array_fill(anyelement,_int4)": _filled,
    "array_fill(anyelement,_int4,_int4)": _filled_from,
    "array_dims": _dimensions,
    "trim_array": _trimmed,
}
MAKERS: dict[str, Maker] = {"array_replace": _replaced, "array_positions": _positions}
