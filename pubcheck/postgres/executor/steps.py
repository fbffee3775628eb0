"""Steps of a compiled expression: functions of a row."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pubcheck.postgres.datum import Array
from pubcheck.postgres.executor.functions import Function, evaluation_error

Row = Mapping[int, Any]
"""Attribute number -> the value, None for NULL; it has every column that the filter reads."""
Step = Callable[[Row], Any]


class Constant:
    """A step whose value is known already."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, row: Row) -> Any:
        return self.value


def wrapped(step: Step, low: int) -> Step:
    """Return a step that reads 32 bits as another type, whose least value is ``low``."""

    def run(row: Row) -> Any:
        value = step(row)
        return None if value is None else (value - low) % (1 << 32) + low

    return run


def both(first: Step, second: Step, ending: bool, otherwise: bool | None) -> Step:
    """Return AND or OR of two arguments, the most common form."""

    def run(row: Row) -> bool | None:
        left = first(row)
        if left is ending:
            return bool(ending)
        right = second(row)
        if right is ending:
            return bool(ending)
        return None if left is None or right is None else otherwise

    return run


def applied(function: Function, args: Sequence[Step]) -> Step:
    """Return the call of a strict function: all arguments are evaluated, and it is called if none is NULL."""
    if len(args) == 2:
        left, right = args
        if isinstance(right, Constant):
            fixed = right.value

            def with_constant(row: Row) -> Any:
                value = left(row)
                return None if value is None else function(value, fixed)

            return with_constant

        def binary(row: Row) -> Any:
            first, second = left(row), right(row)
            return None if first is None or second is None else function(first, second)

        return binary
    if len(args) == 1:
        only = args[0]

        def unary(row: Row) -> Any:
            value = only(row)
            return None if value is None else function(value)

        return unary

    def many(row: Row) -> Any:
        values = [arg(row) for arg in args]
        return None if None in values else function(*values)

    return many


def applied_to_nulls(function: Function, args: Sequence[Step]) -> Step:
    """Return the call of a function that is not strict."""
    return lambda row: function(*[arg(row) for arg in args])


def nested(parts: list[Array | None]) -> Array:
    """Return ARRAY[] of arrays (ExecEvalArrayExpr): NULL and empty ones are skipped, the others have one shape."""
    arrays = [part for part in parts if part is not None and part.elements]
    if not arrays:
        return Array([])
    mismatch = evaluation_error("2202E", "multidimensional arrays must have array expressions with matching dimensions")
    shape = arrays[0].lengths, arrays[0].lowers
    if len(arrays) < len(parts) or any((part.lengths, part.lowers) != shape for part in arrays):
        raise mismatch
    if len(arrays[0].lengths) >= 6:
        raise evaluation_error("54000", "number of array dimensions (7) exceeds the maximum allowed (6)")
    elements = [element for part in arrays for element in part.elements]
    return Array(elements, (len(arrays), *arrays[0].lengths), (1, *arrays[0].lowers))
