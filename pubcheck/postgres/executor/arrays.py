"""Arrays (arrayfuncs.c, array_userfuncs.c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.budget import room
from pubcheck.postgres.datum import Array
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.compare import array_equal, array_order, equality_of, order_of
from pubcheck.postgres.executor.functions import Call, Function, Maker, Order, evaluation_error
from pubcheck.postgres.executor.integers import COMPARISONS


def _element_type(call: Call) -> int:
    cache = call.context.cache
    oid: int = cache.element_type(cache.base_type(call.expr.args[0].type)[0])
    if not oid:
        raise Unknowable("the elements of an array")
    return oid


def _order(call: Call) -> Order:
    return order_of(call.context, _element_type(call), call.collation)


def _equal(expected: bool) -> Maker:
    def make(call: Call) -> Function:
        equal = array_equal(equality_of(call.context, _element_type(call), call.collation))
        return lambda left, right: equal(left, right) is expected

    return make


def _ordered(test: Callable[[int, int], bool]) -> Maker:
    def make(call: Call) -> Function:
        order = array_order(_order(call))
        return lambda left, right: test(order(left, right), 0)

    return make


def _containing(call: Call) -> Callable[[Array, Array, bool], bool]:
    """array_contain_compare: NULLs equal nothing, dimensions do not count."""
    equal, budget = equality_of(call.context, _element_type(call), call.collation), call.context.budget

    def contain(left: Array, right: Array, every: bool) -> bool:
        """Return whether all (or any) elements of the left are among those of the right."""
        budget.spend(len(left.elements) * len(right.elements))
        right_elements = [right_element for right_element in right.elements if right_element is not None]
        for element in left.elements:
            contained = element is not None and any(equal(element, right_element) for right_element in right_elements)
            if contained is not every:
                return not every
        return every

    return contain


def _contains(call: Call) -> Function:
    contain = _containing(call)
    return lambda left, right: contain(right, left, True)


def _contained(call: Call) -> Function:
    contain = _containing(call)
    return lambda left, right: contain(left, right, True)


def _overlap(call: Call) -> Function:
    contain = _containing(call)
    return lambda left, right: contain(left, right, False)


def _dimension(measure: Callable[[int, int], int]) -> Function:
    def apply(array: Array, dimension: int) -> int | None:
        if not 1 <= dimension <= len(array.lengths):
            return None
        return measure(array.lengths[dimension - 1], array.lowers[dimension - 1])

    return apply


def _position(call: Call) -> Function:
    same = _same(call)

    def find(array: Array | None, value: Any, start: int | None = 1) -> int | None:
        if array is None:
            return None
        if len(array.lengths) > 1:
            raise evaluation_error("0A000", "searching for elements in multidimensional arrays is not supported")
        if not array.elements:
            return None
        if len(call.expr.args) > 2 and start is None:
            raise evaluation_error("22004", "initial position must not be null")
        lower = array.lowers[0]
        for index, element in enumerate(array.elements, lower):
            if len(call.expr.args) > 2 and start is not None and index < start:
                continue
            if same(element, value):
                return index
        return None

    return find


def _removed(call: Call) -> Function:
    same = _same(call)

    def remove(array: Array | None, unwanted: Any) -> Array | None:
        if array is None:
            return None
        if len(array.lengths) > 1:
            raise evaluation_error("0A000", "removing elements from multidimensional arrays is not supported")
        elements = [element for element in array.elements if not same(element, unwanted)]
        return Array(elements, None, array.lowers if elements else None)

    return remove


def _appended(array: Array | None, element: Any) -> Array:
    if array is None or not array.elements:
        return Array([element])
    if len(array.lengths) != 1:
        raise evaluation_error("22000", "argument must be empty or one-dimensional array")
    return Array([*array.elements, element], None, array.lowers)


def _prepended(element: Any, array: Array | None) -> Array:
    if array is None or not array.elements:
        return Array([element])
    if len(array.lengths) != 1:
        raise evaluation_error("22000", "argument must be empty or one-dimensional array")
    return Array([element, *array.elements], None, array.lowers)


def _joined(left: Array | None, right: Array | None) -> Array | None:
    """array_cat."""
    if left is None or right is None:
        return right if left is None else left
    if not right.elements:
        return left
    if not left.elements:
        return right
    if len(left.lengths) != 1 or len(right.lengths) != 1:
        raise Unknowable("the concatenation of arrays of several dimensions")
    return Array([*left.elements, *right.elements], None, left.lowers)


def _counted(nulls: bool) -> Maker:
    """num_nulls and num_nonnulls, VARIADIC or not."""

    def make(call: Call) -> Function:
        cache = call.context.cache
        if len(call.expr.args) == 1 and cache.element_type(cache.base_type(call.expr.args[0].type)[0]):
            raise Unknowable("whether an array is one argument or many")
        return lambda *values: sum((value is None) is nulls for value in values)

    return make


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
    """Return whether two elements are the same; NULLs are."""
    equal = equality_of(call.context, _element_type(call), call.collation)

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
    "array_length": _dimension(lambda length, lower: length),
    "array_lower": _dimension(lambda length, lower: lower),
    "array_upper": _dimension(lambda length, lower: lower + length - 1),
    "array_ndims": lambda array: len(array.lengths) or None,
    "cardinality": lambda array: len(array.elements),
    "array_append": _appended,
    "array_prepend": _prepended,
    "array_cat": _joined,
}
MAKERS: dict[str, Maker] = {
    "array_replace": _replaced,
    "array_positions": _positions,
    "array_eq": _equal(True),
    "array_ne": _equal(False),
    **{f"array_{name}": _ordered(COMPARISONS[name]) for name in ("lt", "le", "gt", "ge")},
    "btarraycmp": lambda call: array_order(_order(call)),
    "arraycontains": _contains,
    "arraycontained": _contained,
    "arrayoverlap": _overlap,
    "array_position": _position,
    "array_remove": _removed,
    "num_nulls": _counted(True),
    "num_nonnulls": _counted(False),
}
