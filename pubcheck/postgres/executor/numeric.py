"""numeric (numeric.c), whose display scale is the negative of a Decimal's exponent and follows from the operands'."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import ROUND_CEILING, ROUND_DOWN, ROUND_FLOOR, ROUND_HALF_UP, Decimal, InvalidOperation
from math import factorial, gcd, isqrt, lcm
from typing import Any

from pubcheck.postgres.datum import WIDE, single
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.compare import nan_larger, nan_order, nan_smaller
from pubcheck.postgres.executor.functions import Call, Function, Maker, division_by_zero, evaluation_error, out_of_range
from pubcheck.postgres.executor.integers import COMPARISONS
from pubcheck.postgres.input.numbers import fit
from pubcheck.postgres.output.numbers import numeric_text
from pubcheck.postgres.versions import Major

FUNCTIONS: dict[str, Function] = {}
MAKERS: dict[str, Maker] = {}

_SIGNIFICANT = 16
"""NUMERIC_MIN_SIG_DIGITS."""
_GREATEST_SCALE = 1000
"""NUMERIC_MAX_DISPLAY_SCALE."""
_GREATEST_WEIGHT = 131072
_GREATEST_STORED_SCALE = 16383
ZERO, ONE = Decimal(0), Decimal(1)


def scale(value: Decimal) -> int:
    """dscale of a finite numeric."""
    return -value.as_tuple().exponent  # type: ignore[operator]  # an int, as it is finite


def _at_scale(value: Decimal, places: int, rounding: str = ROUND_HALF_UP) -> Decimal:
    """Return a finite value with that many digits after the decimal point; its display scale is never negative."""
    result = value.quantize(Decimal((0, (1,), -places)), rounding=rounding, context=WIDE)
    if places < 0:
        result = result.quantize(ONE, context=WIDE)
    return result


def _checked(value: Decimal) -> Decimal:
    """Apply the limits of make_result."""
    if value.is_finite():
        if value and value.adjusted() >= _GREATEST_WEIGHT:
            raise evaluation_error("22003", "value overflows numeric format")
        if scale(value) > _GREATEST_STORED_SCALE:
            return _at_scale(value, _GREATEST_STORED_SCALE)
    return value


def add(left: Decimal, right: Decimal) -> Decimal:
    return _checked(WIDE.add(left, right))


def subtract(left: Decimal, right: Decimal) -> Decimal:
    return _checked(WIDE.subtract(left, right))


_DIGITS = 10_000
"""The limit of a number that is multiplied, divided or raised to a power; larger ones take milliseconds for each row.
"""


def _sized(*values: Decimal) -> None:
    """Raises Unknowable for numbers of too many digits."""
    if any(value.is_finite() and max(value.adjusted(), 0) + scale(value) > _DIGITS for value in values):
        raise Unknowable("a numeric of so many digits")


def _multiply(left: Decimal, right: Decimal) -> Decimal:
    if left.is_finite() and right.is_finite() and left and right:
        if left.adjusted() + right.adjusted() >= _GREATEST_WEIGHT:
            raise evaluation_error("22003", "value overflows numeric format")
        _sized(left, right)
    return _checked(WIDE.multiply(left, right))


def _leading(value: Decimal) -> tuple[int, int]:
    """The weight and the value of the first digit that is not 0, to the base of 10,000."""
    if not value:
        return 0, 0
    place = value.adjusted()
    weight = place // 4
    digits = "".join(map(str, value.as_tuple().digits)).lstrip("0")
    width = place - weight * 4 + 1
    return weight, int(digits[:width].ljust(width, "0"))


def division_scale(left: Decimal, right: Decimal) -> int:
    """select_div_scale: at least 16 significant digits, and no fewer places than an operand has."""
    weight, first = _leading(left)
    other_weight, other_first = _leading(right)
    quotient = weight - other_weight - (1 if first <= other_first else 0)
    return min(max(_SIGNIFICANT - quotient * 4, scale(left), scale(right), 0), _GREATEST_SCALE)


def _quotient(left: Decimal, right: Decimal, places: int, rounded: bool) -> Decimal:
    """Exactly divided, then rounded half away from zero or cut."""
    _sized(left, right)
    shift = places - scale(left) + scale(right)
    numerator, denominator = (abs(int(value.scaleb(scale(value), context=WIDE))) for value in (left, right))
    if shift >= 0:
        numerator *= 10**shift
    else:
        denominator *= 10**-shift
    quotient, rest = divmod(numerator, denominator)
    if rounded and 2 * rest >= denominator:
        quotient += 1
    if left.is_signed() != right.is_signed():
        quotient = -quotient
    return WIDE.scaleb(WIDE.create_decimal(quotient), -places)


def divide(left: Decimal, right: Decimal) -> Decimal:
    if left.is_nan() or right.is_nan():
        return Decimal("NaN")
    if not right:
        raise division_by_zero()
    if left.is_infinite():
        if right.is_infinite():
            return Decimal("NaN")
        return left if right > 0 else left.copy_negate()
    if right.is_infinite():
        return ZERO
    return _checked(_quotient(left, right, division_scale(left, right), rounded=True))


def _divide_whole(left: Decimal, right: Decimal) -> Decimal:
    if not (left.is_finite() and right.is_finite()):
        return divide(left, right)
    if not right:
        raise division_by_zero()
    return _checked(_quotient(left, right, 0, rounded=False))


def _modulo(left: Decimal, right: Decimal) -> Decimal:
    if left.is_nan() or right.is_nan():
        return Decimal("NaN")
    if not right:
        raise division_by_zero()
    if left.is_infinite():
        return Decimal("NaN")
    if right.is_infinite():
        return left
    return WIDE.subtract(left, WIDE.multiply(_quotient(left, right, 0, rounded=False), right))


def _rounded(value: Decimal, places: int, rounding: str = ROUND_HALF_UP) -> Decimal:
    if not value.is_finite():
        return value
    places = max(min(places, _GREATEST_STORED_SCALE), -_GREATEST_WEIGHT)
    if places >= 0 and abs(places) > 2000:
        raise Unknowable("a numeric of more than 2000 places")
    return _checked(_at_scale(value, places, rounding))


def _whole(rounding: str) -> Function:
    return lambda value: _at_scale(value, 0, rounding) if value.is_finite() else value


def _square_root(value: Decimal) -> Decimal:
    if value.is_nan():
        return value
    if value < 0:
        raise evaluation_error("2201F", "cannot take square root of a negative number")
    if value.is_infinite():
        return value
    _sized(value)
    weight = _leading(value)[0] if value else 0
    digits = weight * 4 // 2 + 1 if weight >= 0 else 1 - (1 - weight * 4) // 2
    places = min(max(_SIGNIFICANT - digits, scale(value), 0), _GREATEST_SCALE)
    shifted = int(value.scaleb(scale(value), context=WIDE)) * 4
    power = 2 * places - scale(value)
    doubled = isqrt(shifted * 10**power) if power >= 0 else isqrt(shifted // 10**-power)
    return WIDE.scaleb(WIDE.create_decimal((doubled + 1) // 2), -places)


def _raised(call: Call) -> Function:
    major = call.context.major
    return lambda base, exponent: _power(major, base, exponent)


def _power(major: Major, base: Decimal, exponent: Decimal) -> Decimal:
    """Whole powers of whole numbers; others are approximations of the server's own."""
    if not (base.is_finite() and exponent.is_finite()):
        raise Unknowable("a power of numeric that is not finite")
    if base == 0 and exponent < 0:
        raise evaluation_error("2201F", "zero raised to a negative power is undefined")
    whole = exponent.to_integral_value()
    if exponent != whole:
        if base < 0:
            raise evaluation_error("2201F", "a negative number raised to a non-integer power yields a complex result")
        raise Unknowable("a fractional power of a numeric")
    if exponent < 0 or exponent > 1000 or base != base.to_integral_value():
        raise Unknowable("a power of a numeric")
    if base and base.adjusted() * exponent > _DIGITS:
        raise Unknowable("a power of a numeric")
    value = WIDE.create_decimal(int(base) ** int(exponent))
    # power_var_int shows 16 significant digits or places, and no fewer places than the operands.
    whole_digits = max(value.adjusted(), 0) if major.power_of_significant_digits else 0
    places = max(_SIGNIFICANT - whole_digits, scale(base), scale(exponent), 0)
    return _at_scale(_checked(value), min(places, _GREATEST_SCALE))


def _common(left: Decimal, right: Decimal) -> tuple[int, int, int] | None:
    """Two numbers as integers of one scale, and the scale; None of numbers that are not finite."""
    if not (left.is_finite() and right.is_finite()):
        return None
    _sized(left, right)
    places = max(scale(left), scale(right))
    return int(left.scaleb(places, context=WIDE)), int(right.scaleb(places, context=WIDE)), places


def _greatest_divisor(left: Decimal, right: Decimal) -> Decimal:
    common = _common(left, right)
    return Decimal("NaN") if common is None else Decimal(gcd(*common[:2])).scaleb(-common[2], WIDE)


def _least_multiple(left: Decimal, right: Decimal) -> Decimal:
    common = _common(left, right)
    return Decimal("NaN") if common is None else Decimal(lcm(*common[:2])).scaleb(-common[2], WIDE)


_GREATEST_FACTORIAL = 32177


def _factorial(value: int) -> Decimal:
    if value < 0:
        raise evaluation_error("22003", "factorial of a negative number is undefined")
    if value > _GREATEST_FACTORIAL:
        raise evaluation_error("22003", "value overflows numeric format")
    if value > 1000:
        raise Unknowable("so great a factorial")
    return Decimal(factorial(value))


def _bucket(value: Decimal, first: Decimal, second: Decimal, count: int) -> int:
    """width_bucket()."""
    if count <= 0:
        raise evaluation_error("2201G", "count must be greater than zero")
    if value.is_nan() or first.is_nan() or second.is_nan():
        raise evaluation_error("2201G", "operand, lower bound, and upper bound cannot be NaN")
    if first.is_infinite() or second.is_infinite():
        raise evaluation_error("2201G", "lower and upper bounds must be finite")
    if first == second:
        raise evaluation_error("2201G", "lower bound cannot equal upper bound")
    if first > second:
        value, first, second = -value, -first, -second
    number = 0 if value < first else count + 1
    if first <= value < second:
        _sized(value, first, second)
        places = max(scale(value), scale(first), scale(second))
        distance, width = (int((end - first).scaleb(places, WIDE)) for end in (value, second))
        number = distance * count // width + 1
    if number >= 1 << 31:
        raise out_of_range("integer")
    return number


def _sign(value: Decimal) -> Decimal:
    if value.is_nan():
        return value
    return Decimal((value > 0) - (value < 0))


def _to_integer(name: str, bits: int) -> Function:
    limit = 1 << (bits - 1)

    def cast(value: Decimal) -> int:
        if not value.is_finite():
            kind = "NaN" if value.is_nan() else "infinity"
            raise evaluation_error("0A000", f"cannot convert {kind} to {name}")
        whole = int(value.to_integral_value(rounding=ROUND_HALF_UP, context=WIDE))
        if not -limit <= whole < limit:
            raise out_of_range(name)
        return whole

    return cast


to_int2, to_int4, to_int8 = _to_integer("smallint", 16), _to_integer("integer", 32), _to_integer("bigint", 64)


def _to_float(name: str, rounded: Callable[[float], float]) -> Function:
    def cast(value: Decimal) -> float:
        result = rounded(float(value))
        if value.is_finite() and (math.isinf(result) or (result == 0.0 and value)):
            raise evaluation_error("22003", f'"{numeric_text(value)}" is out of range for type {name}')
        return result

    return cast


to_float8, to_float4 = _to_float("double precision", float), _to_float("real", single)


def _trim_scale(value: Decimal) -> Decimal:
    return _at_scale(value, _min_scale(value) or 0) if value.is_finite() else value


def _min_scale(value: Decimal) -> int | None:
    if not value.is_finite():
        return None
    digits = numeric_text(value).partition(".")[2]
    return len(digits.rstrip("0"))


def _length_coercion(value: Decimal, typmod: int) -> Decimal:
    return fit(value, typmod) if typmod >= 4 else value


def _comparison(test: Callable[[Any, Any], bool]) -> Function:
    """Python refuses to order NaN."""

    def compare(left: Decimal, right: Decimal) -> bool:
        try:
            return test(left, right)
        except InvalidOperation:
            return test(nan_order(left, right), 0)

    return compare


for _name in ("lt", "le", "gt", "ge"):
    FUNCTIONS[f"numeric_{_name}"] = _comparison(COMPARISONS[_name])
for _type in ("int2", "int4", "int8"):
    FUNCTIONS[f"numeric({_type})"] = Decimal
for _name in ("power(numeric,numeric)", "pow(numeric,numeric)", "numeric_power"):
    MAKERS[_name] = _raised
FUNCTIONS |= {
    "gcd(numeric,numeric)": _greatest_divisor,
    "lcm(numeric,numeric)": _least_multiple,
    "factorial(int8)": _factorial,
    "width_bucket(numeric,numeric,numeric,int4)": _bucket,
    "numeric_eq": lambda left, right: left == right or (left != left and right != right),
    "numeric_ne": lambda left, right: left != right and (left == left or right == right),
    "numeric_cmp": nan_order,
    "numeric_add": add,
    "numeric_sub": subtract,
    "numeric_mul": _multiply,
    "numeric_div": divide,
    "numeric_div_trunc": _divide_whole,
    "div(numeric,numeric)": _divide_whole,
    "numeric_mod": _modulo,
    "mod(numeric,numeric)": _modulo,
    "numeric_uminus": lambda value: value.copy_negate() if value else value,
    "numeric_uplus": lambda value: value,
    "numeric_abs": Decimal.copy_abs,
    "abs(numeric)": Decimal.copy_abs,
    "numeric_inc": lambda value: add(value, ONE),
    "numeric_larger": nan_larger,
    "numeric_smaller": nan_smaller,
    "round(numeric)": lambda value: _rounded(value, 0),
    "round(numeric,int4)": _rounded,
    "trunc(numeric)": lambda value: _rounded(value, 0, ROUND_DOWN),
    "trunc(numeric,int4)": lambda value, places: _rounded(value, places, ROUND_DOWN),
    "ceil(numeric)": _whole(ROUND_CEILING),
    "ceiling(numeric)": _whole(ROUND_CEILING),
    "floor(numeric)": _whole(ROUND_FLOOR),
    "sign(numeric)": _sign,
    "sqrt(numeric)": _square_root,
    "numeric_sqrt": _square_root,
    "scale(numeric)": lambda value: scale(value) if value.is_finite() else None,
    "min_scale(numeric)": _min_scale,
    "trim_scale(numeric)": _trim_scale,
    "int2(numeric)": to_int2,
    "int4(numeric)": to_int4,
    "int8(numeric)": to_int8,
    "money(numeric)": lambda value: to_int8(WIDE.multiply(value, Decimal(100))),
    "numeric(money)": lambda cents: Decimal(cents).scaleb(-2, WIDE),
    "float8(numeric)": to_float8,
    "float4(numeric)": to_float4,
    "numeric(numeric,int4)": _length_coercion,
}
