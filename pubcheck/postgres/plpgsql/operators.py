"""Operators on values that blocks use: comparison, concatenation, arithmetic of integers, and pattern matching."""

from __future__ import annotations

from collections.abc import Callable

from pubcheck.postgres.budget import Budget
from pubcheck.postgres.plpgsql.functions import concatenated, is_number
from pubcheck.postgres.plpgsql.values import UNKNOWN, Failed, Value, coerce, sql_equal, sql_less, sql_not


def _divided(left: Value, right: Value) -> Value:
    """Divide and truncate the quotient, as C does. Raises Failed 22012."""
    left, right = coerce(left, "bigint"), coerce(right, "bigint")
    if left is None or right is None:
        return None
    if right == 0 and right is not False:
        raise Failed("22012", "division by zero")
    if not (is_number(left) and is_number(right)):
        return UNKNOWN
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _remainder(left: Value, right: Value) -> Value:
    """Return the remainder, with the sign of the dividend. Raises Failed 22012."""
    quotient = _divided(left, right)
    if not is_number(quotient):
        return quotient
    return coerce(left, "bigint") - quotient * coerce(right, "bigint")


def _arithmetic(apply: Callable[[int, int], int]) -> Callable[[Value, Value], Value]:
    def work(left: Value, right: Value) -> Value:
        left, right = coerce(left, "bigint"), coerce(right, "bigint")
        if left is None or right is None:
            return None
        if not (is_number(left) and is_number(right)):
            return UNKNOWN
        result = apply(left, right)
        return result if -(1 << 63) <= result < 1 << 63 else UNKNOWN

    return work


Matcher = Callable[[Budget, str, str], Value]
"""Whether a text matches a pattern."""


def _like(folding: bool, negative: bool) -> Matcher:
    def test(budget: Budget, left: str, right: str) -> Value:
        from pubcheck.postgres.executor.linear_matching import like

        if folding:
            if not (left.isascii() and right.isascii()):
                return UNKNOWN
            left, right = left.lower(), right.lower()
        return like(left, right, budget) != negative

    return test


def _matches(folding: bool, negative: bool) -> Matcher:
    def test(budget: Budget, left: str, right: str) -> Value:
        from pubcheck.postgres.executor.patterns import search

        return search(right, folding, left, budget) != negative

    return test


OPERATORS: dict[str, Callable[[Value, Value], Value]] = {
    "=": sql_equal,
    "<>": lambda left, right: sql_not(sql_equal(left, right)),
    "<": sql_less,
    ">": lambda left, right: sql_less(right, left),
    "<=": lambda left, right: sql_not(sql_less(right, left)),
    ">=": lambda left, right: sql_not(sql_less(left, right)),
    "||": concatenated,
    "+": _arithmetic(int.__add__),
    "-": _arithmetic(int.__sub__),
    "*": _arithmetic(int.__mul__),
    "/": _divided,
    "%": _remainder,
}
MATCHERS: dict[str, Matcher] = {
    "~~": _like(False, False),
    "!~~": _like(False, True),
    "~~*": _like(True, False),
    "!~~*": _like(True, True),
    "~": _matches(False, False),
    "!~": _matches(False, True),
    "~*": _matches(True, False),
    "!~*": _matches(True, True),
}
