"""Ranges, and the operations of multiranges that work on one range at a time (rangetypes.c, multirangetypes.c).

A bound is (value, whether it is a lower one, whether it belongs to the range); a value of None is infinite.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.datum import Range, bound_order, high, low, multirange_order, range_order, touch
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.compare import order_of
from pubcheck.postgres.executor.functions import Call, Function, Maker, Order, evaluation_error
from pubcheck.postgres.executor.integers import COMPARISONS
from pubcheck.postgres.input.containers import canonical

FUNCTIONS: dict[str, Function] = {}
MAKERS: dict[str, Maker] = {}


class _Operations:
    """The operators of two ranges of a type."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.bounds = bound_order(order)

    def contains_value(self, container: Range, value: Any) -> bool:
        if container.empty:
            return False
        if container.lower is not None:
            sign = self.order(container.lower, value)
            if sign > 0 or (sign == 0 and not container.lower_in):
                return False
        if container.upper is not None:
            sign = self.order(container.upper, value)
            if sign < 0 or (sign == 0 and not container.upper_in):
                return False
        return True

    def contains(self, left: Range, right: Range) -> bool:
        if right.empty:
            return True
        if left.empty:
            return False
        return self.bounds(low(left), low(right)) <= 0 and self.bounds(high(left), high(right)) >= 0

    def overlaps(self, left: Range, right: Range) -> bool:
        if left.empty or right.empty:
            return False
        return self.bounds(low(left), high(right)) <= 0 and self.bounds(low(right), high(left)) <= 0

    def before(self, left: Range, right: Range) -> bool:
        return not (left.empty or right.empty) and self.bounds(high(left), low(right)) < 0

    def not_beyond(self, left: Range, right: Range) -> bool:
        return not (left.empty or right.empty) and self.bounds(high(left), high(right)) <= 0

    def not_short_of(self, left: Range, right: Range) -> bool:
        return not (left.empty or right.empty) and self.bounds(low(left), low(right)) >= 0

    def adjacent(self, left: Range, right: Range) -> bool:
        if left.empty or right.empty:
            return False
        return touch(self.order, high(left), low(right)) or touch(self.order, high(right), low(left))

    def intersection(self, left: Range, right: Range) -> Range:
        if not self.overlaps(left, right):
            return Range(True)
        lower = low(left) if self.bounds(low(left), low(right)) >= 0 else low(right)
        upper = high(left) if self.bounds(high(left), high(right)) <= 0 else high(right)
        return Range(False, lower[0], upper[0], lower[2], upper[2])

    def hull(self, left: Range, right: Range) -> Range:
        if left.empty or right.empty:
            return right if left.empty else left
        lower = low(left) if self.bounds(low(left), low(right)) <= 0 else low(right)
        upper = high(left) if self.bounds(high(left), high(right)) >= 0 else high(right)
        return Range(False, lower[0], upper[0], lower[2], upper[2])

    def union(self, left: Range, right: Range) -> Range:
        if not (left.empty or right.empty or self.overlaps(left, right) or self.adjacent(left, right)):
            raise evaluation_error("22000", "result of range union would not be contiguous")
        return self.hull(left, right)


def _range_type(call: Call) -> Type:
    """The range type that a call works with: that of its first argument that is one."""
    cache = call.context.cache
    for oid in (*(arg.type for arg in call.expr.args), call.expr.type):
        row: Type = cache.type(cache.base_type(oid)[0])
        if row.kind == "r":
            return row
        if row.kind == "m":
            return cache.type(row.base)  # type: ignore[no-any-return]
    raise Unknowable("a range's type")


def _operations(call: Call) -> _Operations:
    row = _range_type(call)
    return _Operations(order_of(call.context, row.base, row.bounds))


def _with(name: str, swapped: bool = False) -> Maker:
    def make(call: Call) -> Function:
        function: Function = getattr(_operations(call), name)
        return (lambda left, right: function(right, left)) if swapped else function

    return make


def _ordered(test: Callable[[int, int], bool], several: bool = False) -> Maker:
    def make(call: Call) -> Function:
        row = _range_type(call)
        order = order_of(call.context, row.base, row.bounds)
        compare = multirange_order(order) if several else range_order(order)
        return lambda left, right: test(compare(left, right), 0)

    return make


def _any_range(name: str, swapped: bool = False) -> Maker:
    """Test whether any range of a multirange contains or overlaps a value."""

    def make(call: Call) -> Function:
        operations = _operations(call)
        function: Function = getattr(operations, name)

        def test(ranges: list[Range], operand: Any) -> bool:
            if isinstance(operand, Range) and operand.empty and name == "contains":
                return True
            return any(function(member, operand) for member in ranges)

        return (lambda left, right: test(right, left)) if swapped else test

    return make


def _multirange_contains(swapped: bool) -> Maker:
    def make(call: Call) -> Function:
        operations = _operations(call)

        def test(ranges: list[Range], operands: list[Range]) -> bool:
            return all(any(operations.contains(container, part) for container in ranges) for part in operands)

        return (lambda left, right: test(right, left)) if swapped else test

    return make


def _multiranges_overlap(call: Call) -> Function:
    operations = _operations(call)
    return lambda left, right: any(
        operations.overlaps(left_range, right_range) for left_range in left for right_range in right
    )


_FLAGS = {"[]": (True, True), "[)": (True, False), "(]": (False, True), "()": (False, False)}


def _constructor(call: Call) -> Function:
    row = _range_type(call)
    order = order_of(call.context, row.base, row.bounds)
    three = len(call.expr.args) > 2

    def construct(lower: Any, upper: Any, flags: str | None = "[)") -> Range:
        if three and flags is None:
            raise evaluation_error("22000", "range constructor flags argument must not be null")
        if flags not in _FLAGS:
            raise evaluation_error(
                "42601", "invalid range bound flags", hint='Valid values are "[]", "[)", "(]", and "()".'
            )
        lower_in, upper_in = _FLAGS[flags]
        if lower is not None and upper is not None:
            sign = order(lower, upper)
            if sign > 0:
                raise evaluation_error("22000", "range lower bound must be less than or equal to range upper bound")
            if sign == 0 and not (lower_in and upper_in):
                return Range(True)
        return canonical(row, lower, upper, lower_in, upper_in)

    return construct


def _infinite(side: str) -> Function:
    return lambda value: not value.empty and getattr(value, side) is None


for _name, _test in COMPARISONS.items():
    MAKERS[f"range_{_name}"] = _ordered(_test)
    MAKERS[f"multirange_{_name}"] = _ordered(_test, several=True)
for _name in ("int4range", "int8range", "numrange", "daterange", "tsrange", "tstzrange"):
    MAKERS[_name] = _constructor
MAKERS |= {
    "range_contains_elem": _with("contains_value"),
    "elem_contained_by_range": _with("contains_value", swapped=True),
    "range_contains": _with("contains"),
    "range_contained_by": _with("contains", swapped=True),
    "range_overlaps": _with("overlaps"),
    "range_before": _with("before"),
    "range_after": _with("before", swapped=True),
    "range_overleft": _with("not_beyond"),
    "range_overright": _with("not_short_of"),
    "range_adjacent": _with("adjacent"),
    "range_intersect": _with("intersection"),
    "range_merge(anyrange,anyrange)": _with("hull"),
    "range_union": _with("union"),
    "multirange_contains_elem": _any_range("contains_value"),
    "elem_contained_by_multirange": _any_range("contains_value", swapped=True),
    "multirange_contains_range": _any_range("contains"),
    "range_contained_by_multirange": _any_range("contains", swapped=True),
    "multirange_overlaps_range": _any_range("overlaps"),
    "range_overlaps_multirange": _any_range("overlaps", swapped=True),
    "multirange_contains_multirange": _multirange_contains(False),
    "multirange_contained_by_multirange": _multirange_contains(True),
    "multirange_overlaps_multirange": _multiranges_overlap,
}
FUNCTIONS |= {
    "lower(anyrange)": lambda value: value.lower,
    "upper(anyrange)": lambda value: value.upper,
    "isempty(anyrange)": lambda value: value.empty,
    "isempty(anymultirange)": lambda value: all(item.empty for item in value),
    "lower_inc(anyrange)": lambda value: value.lower_in,
    "upper_inc(anyrange)": lambda value: value.upper_in,
    "lower_inf(anyrange)": _infinite("lower"),
    "upper_inf(anyrange)": _infinite("upper"),
}
