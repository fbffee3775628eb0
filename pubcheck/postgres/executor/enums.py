"""Enums (enum.c), whose labels compare by their places."""

from __future__ import annotations

from collections.abc import Callable

from pubcheck.postgres.executor.compare import order_of
from pubcheck.postgres.executor.function_lookup import Call, Function, Maker
from pubcheck.postgres.executor.integers import COMPARISONS


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
