"""The variables of a question about rows: columns, other expressions, and answers that only a row can tell.

The values of a variable are divided into cells, so that each condition gives one answer for all values of a cell.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator
from itertools import product
from typing import Any

from msgspec import Struct

from pubcheck.filter_logic.axes import Axis, Key
from pubcheck.filter_logic.truth import ERROR, FALSE, NULL, TRUE
from pubcheck.postgres.primnodes import Expr


class Cell(Struct, eq=False):
    """Some values of a variable. ``exact``: they are equal to each other; ``single``: there is only one.

    ``values`` are some of them, none if none was found. ``low`` and ``high`` are the keys of its ends; both belong to
    it if it is ``exact``, and neither otherwise. ``answer`` is that of an open condition, or the sign of a comparison.
    """

    values: list[Any]
    exact: bool = True
    low: Key | None = None
    high: Key | None = None
    answer: int = 0
    single: bool = False

    @property
    def null(self) -> bool:
        return self.exact and self.values == [None] and not self.answer


class Variable:
    """``expr`` is the expression that it represents, None for an open answer.

    ``cuts`` are the keys at which conditions on it may change their answer. Its ``groups`` of cells, over which a
    search runs, are the cells that no condition tells apart.
    """

    def __init__(self, number: int, expr: Expr | None, axis: Axis | None, cells: list[Cell] | None = None) -> None:
        self.number = number
        self.expr = expr
        self.axis = axis
        self.cuts: set[Key] = set()
        self.cells: list[Cell] = cells or []
        self.groups: list[list[Cell]] = []
        self.samples: list[Any] = []
        """Values that may help an open answer."""

    @property
    def column(self) -> int:
        """The attribute number of a column, 0 for anything else."""
        return self.expr.value if self.expr is not None and self.expr.node == "Var" else 0

    def divide(self, *, nullable: bool, failing: bool) -> None:
        """Make the cells of an expression's values."""
        self.cells = list(self._intervals())
        if nullable:
            self.cells.append(Cell([None], single=True))
        if failing:
            self.cells.append(Cell([], answer=ERROR))

    def _intervals(self) -> Iterator[Cell]:
        axis = self.axis
        if axis is None:
            yield Cell(self.samples, exact=False)
            return
        cuts = sorted(self.cuts)
        extra: dict[int, list[Any]] = {}
        for value in self.samples:
            key = axis.key(value)
            place = bisect_left(cuts, key)
            if place == len(cuts) or cuts[place] != key:
                extra.setdefault(place, []).append(value)
        for place, (low, high) in enumerate(zip([None, *cuts], [*cuts, None], strict=True)):
            values = axis.between(low, high)
            if values is not None:
                yield Cell([*extra.get(place, ()), *values], exact=False, low=low, high=high)
            count = axis.values_at(high) if high is not None else 0
            if count:
                yield Cell([axis.value(high)], low=high, high=high, single=count == 1)


def answers() -> list[Cell]:
    return [Cell([], answer=answer) for answer in (TRUE, FALSE, NULL, ERROR)]


BELOW, EQUAL, ABOVE = 16, 32, 64
"""The signs of a comparison."""


def signs() -> list[Cell]:
    return [Cell([], answer=sign) for sign in (BELOW, EQUAL, ABOVE)]


def possible_signs(left: Cell, right: Cell) -> int:
    """Return the signs that a comparison of values of two cells of the same axis can have, perhaps more."""
    if left.exact and right.exact:
        first: Key = left.low
        return EQUAL if first == right.low else BELOW if first < right.low else ABOVE
    below, above = _less(left.low, right.high), _less(right.low, left.high)
    return (BELOW if below else 0) | (ABOVE if above else 0) | (EQUAL if below and above else 0)


def _less(low: Key | None, high: Key | None) -> bool:
    return low is None or high is None or bool(low < high)


def filled(groups: Iterable[list[list[Cell]]], answer: Any) -> Any:
    """Return the table of a condition: its answers by the group of each of its variables, and in the last place of
    each level those of all groups together."""
    first, *others = groups
    if not others:
        masks = [answer(group[0]) for group in first]
        union = 0
        for mask in masks:
            union |= mask
        return [*masks, union]
    levels = [filled(others, lambda *cells, cell=group[0]: answer(cell, *cells)) for group in first]
    return [*levels, united(levels)]


def united(levels: list[Any]) -> Any:
    """Return the union of tables, place by place."""
    if not levels:
        return 0
    if isinstance(levels[0], list):
        return [united(list(places)) for places in zip(*levels, strict=True)]
    union = 0
    for mask in levels:
        union |= mask
    return union


def values_of(variable: Variable, group: list[Cell], most: int) -> list[Any]:
    """Return some values of a group of cells, of each cell in turn."""
    values: list[Any] = []
    for place in range(most):
        values += [cell.values[place] for cell in group if place < len(cell.values)]
        if len(values) >= most:
            break
    return values[:most]


def rows_of(choices: dict[int, list[Any]], most: int) -> Iterator[dict[int, Any]]:
    """Yield rows of the values that each column may have, ``most`` of them at most."""
    numbers = list(choices)
    for count, values in enumerate(product(*choices.values())):
        if count == most:
            return
        yield dict(zip(numbers, values, strict=True))
