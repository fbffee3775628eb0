"""Integers, booleans and types compared like them (int.c, int8.c, bool.c, oid.c, cash.c, pg_lsn.c), and enums, whose
labels compare by their places (enum.c).
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from math import gcd
from typing import Any

from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.compare import order_of, plain_order
from pubcheck.postgres.executor.functions import Call, Function, Maker, division_by_zero, evaluation_error, out_of_range

_BITS = {"2": 16, "4": 32, "8": 64}
_NAMES = {"2": "smallint", "4": "integer", "8": "bigint"}
COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}
FUNCTIONS: dict[str, Function] = {}


def _fitting(size: str) -> Callable[[int], int]:
    """An integer as one of that many bytes, which it must fit in."""
    limit, name = 1 << (_BITS[size] - 1), _NAMES[size]

    def checked(value: int) -> int:
        if not -limit <= value < limit:
            raise out_of_range(name)
        return value

    return checked


def _arithmetic(size: str) -> dict[str, Function]:
    """The functions whose result is an integer of that many bytes."""
    limit, checked = 1 << (_BITS[size] - 1), _fitting(size)

    def divide(left: int, right: int) -> int:
        if right == 0:
            raise division_by_zero()
        quotient = abs(left) // abs(right)
        return checked(quotient if (left < 0) == (right < 0) else -quotient)

    def modulo(left: int, right: int) -> int:
        if right == 0:
            raise division_by_zero()
        remainder = abs(left) % abs(right)
        return -remainder if left < 0 else remainder

    def wrapped(value: int) -> int:
        return (value + limit) % (2 * limit) - limit

    def common_divisor(left: int, right: int) -> int:
        return checked(gcd(left, right))

    def common_multiple(left: int, right: int) -> int:
        if not left or not right:
            return 0
        return checked(abs(left // gcd(left, right) * right))

    bits = _BITS[size]
    # Shifts work on 32 bits and more, by the lowest bits of the distance; int2 drops the bits that do not fit.
    distance = 63 if size == "8" else 31
    type_name = f"int{size}"
    return {
        "pl": lambda left, right: checked(left + right),
        "mi": lambda left, right: checked(left - right),
        "mul": lambda left, right: checked(left * right),
        "div": divide,
        "mod": modulo,
        f"mod({type_name},{type_name})": modulo,
        "um": lambda value: checked(-value),
        "up": lambda value: value,
        "abs": lambda value: checked(abs(value)),
        f"abs({type_name})": lambda value: checked(abs(value)),
        "and": operator.and_,
        "or": operator.or_,
        "xor": operator.xor,
        "not": operator.invert,
        "shl": lambda value, by: wrapped(value << (by & distance)),
        "shr": lambda value, by: value >> (by & distance),
        "larger": max,
        "smaller": min,
        "inc": lambda value: checked(value + 1),
        f"gcd({type_name},{type_name})": common_divisor,
        f"lcm({type_name},{type_name})": common_multiple,
        f"to_hex({type_name})": lambda value: f"{value % (1 << bits):x}",
        f"to_oct({type_name})": lambda value: f"{value % (1 << bits):o}",
        f"to_bin({type_name})": lambda value: f"{value % (1 << bits):b}",
    }


def _integers() -> None:
    for size in "248":
        for name, function in _arithmetic(size).items():
            FUNCTIONS[name if "(" in name else f"int{size}{name}"] = function
    for left, right in ("24", "42", "28", "82", "48", "84"):
        wider = max(left, right)
        for name in ("pl", "mi", "mul", "div"):
            FUNCTIONS[f"int{left}{right}{name}"] = _arithmetic(wider)[name]
    for sizes in ("2", "4", "8", "24", "42", "28", "82", "48", "84"):
        for name, test in COMPARISONS.items():
            FUNCTIONS[f"int{sizes}{name}"] = test
    for prefix in ("bool", "oid", "xid", "cid", "xid8"):
        for name, test in COMPARISONS.items():
            FUNCTIONS[f"{prefix}{name}"] = test
    for prefix in ("cash_", "pg_lsn_"):
        for name, test in COMPARISONS.items():
            FUNCTIONS[f"{prefix}{name}"] = test


def _to_oid(value: int) -> int:
    if not 0 <= value < 1 << 32:
        raise evaluation_error("22003", "OID out of range")
    return value


_integers()


def _checked_money(value: int) -> int:
    if not -(1 << 63) <= value < 1 << 63:
        raise out_of_range("money")
    return value


def _whole_money(value: int) -> int:
    """int8_cash: the value counts whole units of the currency."""
    cents = value * 100
    if not -(1 << 63) <= cents < 1 << 63:
        raise out_of_range("bigint")
    return cents


def _money_over_integer(left: int, right: int) -> int:
    if right == 0:
        raise division_by_zero()
    quotient = abs(left) // abs(right)
    return _checked_money(quotient if (left < 0) == (right < 0) else -quotient)


def _money_ratio(left: int, right: int) -> float:
    if right == 0:
        raise division_by_zero()
    return left / right


for _size in "248":
    FUNCTIONS[f"cash_mul_int{_size}"] = lambda left, right: _checked_money(left * right)
    FUNCTIONS[f"int{_size}_mul_cash"] = lambda left, right: _checked_money(left * right)
    FUNCTIONS[f"cash_div_int{_size}"] = _money_over_integer
    FUNCTIONS[f"money(int{_size})"] = _whole_money
for _kind in ("int4", "int8", "int24", "int42", "int28", "int82", "int48", "int84", "oid"):
    FUNCTIONS[f"bt{_kind}cmp"] = plain_order
_DIGITS = re.compile(r"(FM)?([09]{1,50})")


def _digits(value: int, template: str) -> str | None:
    """to_char() of a number in digits: blanks for leading 9s that it does not fill."""
    if not template:
        return None
    match = _DIGITS.fullmatch(template)
    if match is None or len(str(abs(value))) > len(match[2]):
        raise Unknowable(f'what to_char() makes of "{template[:100]}"')
    zeros = match[2].find("0")
    text = str(abs(value)).zfill(len(match[2]) - zeros if zeros >= 0 else 0)
    text = f"-{text}" if value < 0 else text
    return text if match[1] else text.rjust(len(match[2]) + 1)


FUNCTIONS |= {
    "to_char(int4,text)": _digits,
    "to_char(int8,text)": _digits,
    "int2(int4)": _fitting("2"),
    "int2(int8)": _fitting("2"),
    "int4(int2)": lambda value: value,
    "int4(int8)": _fitting("4"),
    "int8(int2)": lambda value: value,
    "int8(int4)": lambda value: value,
    "int4(bool)": int,
    "bool(int4)": bool,
    "int8(oid)": lambda value: value,
    "oid(int8)": _to_oid,
    "xideq": operator.eq,
    "xidneq": operator.ne,
    "xideqint4": operator.eq,
    "xidneqint4": operator.ne,
    "oidlarger": max,
    "oidsmaller": min,
    "cash_pl": lambda left, right: _checked_money(left + right),
    "cash_mi": lambda left, right: _checked_money(left - right),
    "cash_div_cash": _money_ratio,
    "cash_cmp": plain_order,
    "cashlarger": max,
    "cashsmaller": min,
    "pg_lsn_cmp": plain_order,
    "pg_lsn_larger": max,
    "pg_lsn_smaller": min,
    "booland_statefunc": lambda left, right: left and right,
    "boolor_statefunc": lambda left, right: left or right,
}


def _compared(test: Callable[[int, int], bool]) -> Maker:
    def make(call: Call) -> Function:
        order = order_of(call.context, call.expr.args[0].type)
        return lambda left, right: test(order(left, right), 0)

    return make


def _choice(sign: int) -> Maker:
    def make(call: Call) -> Function:
        order = order_of(call.context, call.expr.args[0].type)
        return lambda left, right: left if order(left, right) * sign > 0 else right

    return make


MAKERS: dict[str, Maker] = {
    **{f"enum_{name}": _compared(test) for name, test in COMPARISONS.items()},
    "enum_cmp": lambda call: order_of(call.context, call.expr.args[0].type),
    "enum_larger": _choice(1),
    "enum_smaller": _choice(-1),
}
