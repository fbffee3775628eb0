"""The order of ranges and multiranges (rangetypes.c: range_cmp, multirangetypes.c: multirange_cmp).

A bound is (value, whether it is a lower one, whether it belongs to the range); a value of None is infinite."""

from __future__ import annotations

from collections.abc import Callable
from functools import cmp_to_key
from typing import Any

from pubcheck.postgres.datum import Range

Bound = tuple[Any, bool, bool]
Order = Callable[[Any, Any], int]


def low(value: Range) -> Bound:
    return value.lower, True, value.lower_in


def high(value: Range) -> Bound:
    return value.upper, False, value.upper_in


def bound_order(order: Order) -> Callable[[Bound, Bound], int]:
    """range_cmp_bounds."""

    def compare(left: Bound, right: Bound) -> int:
        left_value, is_lower, inside = left
        right_value, other_lower, other_inside = right
        if left_value is None and right_value is None:
            return 0 if is_lower == other_lower else -1 if is_lower else 1
        if left_value is None:
            return -1 if is_lower else 1
        if right_value is None:
            return 1 if other_lower else -1
        sign = order(left_value, right_value)
        if sign:
            return sign
        if not inside and not other_inside:
            return 0 if is_lower == other_lower else 1 if is_lower else -1
        if not inside:
            return 1 if is_lower else -1
        if not other_inside:
            return -1 if other_lower else 1
        return 0

    return compare


def range_order(order: Order) -> Order:
    """range_cmp: an empty range comes before all others."""
    bounds = bound_order(order)

    def compare(left: Range, right: Range) -> int:
        if left.empty or right.empty:
            return int(right.empty) - int(left.empty)
        return bounds(low(left), low(right)) or bounds(high(left), high(right))

    return compare


def multirange_order(order: Order) -> Order:
    """multirange_cmp: range by range, then by their number."""
    member_order = range_order(order)

    def compare(left: list[Range], right: list[Range]) -> int:
        for left_range, right_range in zip(left, right, strict=False):
            sign = member_order(left_range, right_range)
            if sign:
                return sign
        return len(left) - len(right)

    return compare


def normalised(order: Order, ranges: list[Range]) -> list[Range]:
    """multirange_canonicalize: sort the ranges, and merge those that touch."""
    bounds = bound_order(order)
    merged: list[Range] = []
    for current in sorted((current for current in ranges if not current.empty), key=cmp_to_key(range_order(order))):
        last = merged[-1] if merged else None
        if last is not None and (bounds(low(current), high(last)) <= 0 or touch(order, high(last), low(current))):
            if bounds(high(current), high(last)) > 0:
                merged[-1] = Range(False, last.lower, current.upper, last.lower_in, current.upper_in)
        else:
            merged.append(current)
    return merged


def touch(order: Order, upper: Bound, lower: Bound) -> bool:
    """bounds_adjacent, of bounds whose discrete ones are canonical."""
    if upper[0] is None or lower[0] is None:
        return False
    return order(upper[0], lower[0]) == 0 and upper[2] != lower[2]
