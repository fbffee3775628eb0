"""Floating point (float.c): NaN is one value, greater than all others; overflow and underflow are errors."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from typing import Any

from pubcheck.postgres.datum import WIDE, single, whole_scale
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.compare import nan_larger, nan_order, nan_smaller
from pubcheck.postgres.executor.functions import Function, division_by_zero, evaluation_error, out_of_range

FUNCTIONS: dict[str, Function] = {}

NAN_COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": lambda left, right: left == right or (left != left and right != right),
    "ne": lambda left, right: left != right and (left == left or right == right),
    "lt": lambda left, right: left < right or (right != right and left == left),
    "le": lambda left, right: left <= right or right != right,
    "gt": lambda left, right: left > right or (left != left and right == right),
    "ge": lambda left, right: left >= right or left != left,
}
"""Comparisons of floats; NaN != NaN in Python's eyes."""


def overflow() -> Exception:
    return evaluation_error("22003", "value out of range: overflow")


def underflow() -> Exception:
    return evaluation_error("22003", "value out of range: underflow")


def _arithmetic(rounded: Callable[[float], float]) -> dict[str, Function]:
    def add(left: float, right: float) -> float:
        result = rounded(left + right)
        if math.isinf(result) and not math.isinf(left) and not math.isinf(right):
            raise overflow()
        return result

    def subtract(left: float, right: float) -> float:
        return add(left, -right)

    def multiply(left: float, right: float) -> float:
        result = rounded(left * right)
        if math.isinf(result) and not math.isinf(left) and not math.isinf(right):
            raise overflow()
        if result == 0.0 and left != 0.0 and right != 0.0:
            raise underflow()
        return result

    def divide(left: float, right: float) -> float:
        if right == 0.0:
            if left != left:
                return left
            raise division_by_zero()
        result = rounded(left / right)
        if math.isinf(result) and not math.isinf(left):
            raise overflow()
        if result == 0.0 and left != 0.0 and not math.isinf(right):
            raise underflow()
        return result

    return {"pl": add, "mi": subtract, "mul": multiply, "div": divide}


def _is_equal(value: float) -> float:
    return value


def _to_integer(name: str, bits: int) -> Function:
    limit = float(1 << (bits - 1))

    def cast(value: float) -> int:
        if value != value or math.isinf(value):
            raise out_of_range(name)
        whole = round(value)
        if not -limit <= whole < limit:
            raise out_of_range(name)
        return whole

    return cast


def _to_single(value: float) -> float:
    result = single(value)
    if math.isinf(result) and not math.isinf(value):
        raise overflow()
    if result == 0.0 and value != 0.0:
        raise underflow()
    return result


def _integer_to_single(value: int) -> float:
    if abs(value) > 1 << 53:
        raise Unknowable("how a great integer is rounded to a real")
    return single(float(value))


def _to_numeric(digits: int) -> Function:
    def cast(value: float) -> Decimal:
        if value != value or math.isinf(value):
            return Decimal(value)
        return whole_scale(WIDE.create_decimal(f"{value:.{digits}g}"))

    return cast


def _square_root(value: float) -> float:
    if value < 0:
        raise evaluation_error("2201F", "cannot take square root of a negative number")
    return math.sqrt(value)


def _power(base: float, exponent: float) -> float:
    """dpow."""
    if base != base:
        return base if exponent != exponent or exponent != 0.0 else 1.0
    if exponent != exponent:
        return exponent if base != 1.0 else 1.0
    if base == 0.0 and exponent < 0:
        raise evaluation_error("2201F", "zero raised to a negative power is undefined")
    if base < 0 and math.isfinite(exponent) and exponent != math.floor(exponent):
        raise evaluation_error("2201F", "a negative number raised to a non-integer power yields a complex result")
    if math.isinf(base) or math.isinf(exponent):
        return math.pow(base, exponent)
    try:
        result = math.pow(base, exponent)
    except OverflowError:
        raise overflow() from None
    if result == 0.0 and base != 0.0:
        raise underflow()
    return result


def _logarithm(function: Callable[[float], float]) -> Function:
    def log(value: float) -> float:
        if value == 0.0:
            raise evaluation_error("2201E", "cannot take logarithm of zero")
        if value < 0:
            raise evaluation_error("2201E", "cannot take logarithm of a negative number")
        return function(value)

    return log


def _exponential(value: float) -> float:
    if math.isinf(value) or value != value:
        return value if value > 0 or value != value else 0.0
    try:
        result = math.exp(value)
    except OverflowError:
        raise overflow() from None
    if result == 0.0:
        raise underflow()
    return result


def _whole(function: Callable[[float], int]) -> Function:
    """ceil, floor and similar functions, which keep infinities, NaN and the sign of zero."""

    def apply(value: float) -> float:
        return math.copysign(float(function(value)), value) if math.isfinite(value) else value

    return apply


def _sign(value: float) -> float:
    return 1.0 if value > 0 else -1.0 if value < 0 else 0.0


for _prefix, _rounded in (("float4", single), ("float8", _is_equal), ("float48", _is_equal), ("float84", _is_equal)):
    for _name, _function in _arithmetic(_rounded).items():
        FUNCTIONS[_prefix + _name] = _function
    for _name, _test in NAN_COMPARISONS.items():
        FUNCTIONS[_prefix + _name] = _test
    FUNCTIONS[f"bt{_prefix}cmp"] = nan_order
    FUNCTIONS[_prefix + "larger"] = nan_larger
    FUNCTIONS[_prefix + "smaller"] = nan_smaller
    FUNCTIONS[_prefix + "um"] = lambda value: -value
    FUNCTIONS[_prefix + "up"] = _is_equal
    FUNCTIONS[_prefix + "abs"] = abs
for _type in ("float4", "float8"):
    FUNCTIONS |= {
        f"int2({_type})": _to_integer("smallint", 16),
        f"int4({_type})": _to_integer("integer", 32),
        f"int8({_type})": _to_integer("bigint", 64),
        f"abs({_type})": abs,
        f"float8({_type})": _is_equal,
    }
for _type in ("int2", "int4", "int8"):
    FUNCTIONS |= {f"float8({_type})": float, f"float4({_type})": _integer_to_single}
for _names, _function in (
    ("ceil ceiling", _whole(math.ceil)),
    ("floor", _whole(math.floor)),
    ("round dround", _whole(round)),
    ("trunc dtrunc", _whole(math.trunc)),
    ("sqrt dsqrt", _square_root),
    ("power pow dpow", _power),
    ("exp dexp", _exponential),
    ("ln dlog1", _logarithm(math.log)),
    ("log log10 dlog10", _logarithm(math.log10)),
    ("sign", _sign),
    ("degrees", math.degrees),
    ("radians", math.radians),
):
    for _name in _names.split():
        FUNCTIONS[f"{_name}(float8)"] = FUNCTIONS[f"{_name}(float8,float8)"] = _function
FUNCTIONS |= {
    "float4(float8)": _to_single,
    "numeric(float8)": _to_numeric(15),
    "numeric(float4)": _to_numeric(6),
}
