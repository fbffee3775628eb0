"""The variables of a question about rows: columns, other expressions, and answers that only a row can tell; their
division into cells, and the tables of answers by cell.

Each condition gives one answer for all values of a cell.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product
from math import prod
from typing import Any

from msgspec import Struct

from pubcheck.filter_logic import truth
from pubcheck.filter_logic.axes import Axis, Key, Labels, axis_of
from pubcheck.filter_logic.constraints import is_strict, key_of, never_fails, never_null, variables_in
from pubcheck.filter_logic.truth import ERROR, FALSE, NULL, TRUE, Condition
from pubcheck.postgres import input, oids
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.compile import Prepared
from pubcheck.postgres.executor.functions import Context
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


Answer = Callable[..., int]
_MOST_ANSWERS = 100_000
"""Answers of conditions, for each combination of cells of their variables, that are computed at most."""
_SAMPLES = 24
_MOST_LABELS = 100
"""Labels of an enum that are followed at most."""


class TooLarge(Exception):
    """A question with more constants, or conditions on them, than are followed."""


class Division:
    """The variables of conditions over one relation's columns. ``finish`` divides them when all conditions are read."""

    def __init__(self, columns: Sequence[Column], context: Context, *, samples: bool = True) -> None:
        """``samples``: whether values are tried for open answers."""
        self._sampled = samples
        self.columns = {column.number: column for column in columns}
        self.context = context
        self.variables: list[Variable] = []
        self.links: list[Condition] = []
        """Conditions that every row meets, because its variables depend on each other."""
        self._by_key: dict[Any, Variable] = {}
        self._tables: list[tuple[list[Variable], Answer, list[Any]]] = []
        self._open: set[int] = set()
        """The numbers of the columns on which open answers depend."""
        self._expressions: list[Expr] = []
        self._enums: dict[int, Labels | None] = {}
        self._related: list[tuple[Variable, Variable]] = []
        """Variables that are compared, and so are cut at the same keys."""

    # Variables.

    def _is_term(self, term: Expr) -> bool:
        if term.node == "Var":
            return term.value in self.columns
        return bool(variables_in(term)) and all(number in self.columns for number in variables_in(term))

    def _axis(self, term: Expr) -> Axis | None:
        column = self.columns.get(term.value) if term.node == "Var" else None
        typmod = column.typmod if column is not None else term.typmod
        if term.type >= FIRST_NORMAL_OID:
            return self._enum_axis(term.type)
        return axis_of(term.type, typmod)

    def _enum_axis(self, oid: int) -> Axis | None:
        if oid not in self._enums:
            row = self.context.cache.type(oid)
            is_enum = row.kind == "e" and row.seen and 0 < len(row.labels) <= _MOST_LABELS
            self._enums[oid] = Labels(row.labels) if is_enum else None
        return self._enums[oid]

    def _column(self, number: int) -> Variable:
        column = self.columns[number]
        return self._variable(Expr("Var", column.type, typmod=column.typmod, collation=column.collation, value=number))

    def _variable(self, term: Expr) -> Variable:
        key = ("Var", term.value) if term.node == "Var" else key_of(term)
        known = self._by_key.get(key)
        if known is not None:
            return known
        variable = self._variable_of(key, term, self._axis(term), None)
        if term.node != "Var":
            self._link(variable, term)
        return variable

    def _variable_of(self, key: Any, term: Expr | None, axis: Axis | None, cells: list[Cell] | None) -> Variable:
        variable = self._by_key.get(key)
        if variable is None:
            variable = self._by_key[key] = Variable(len(self.variables), term, axis, cells)
            self.variables.append(variable)
        return variable

    def _link(self, variable: Variable, term: Expr) -> None:
        """An expression's value depends on the columns that it reads."""
        numbers = variables_in(term)
        self._open.update(numbers)
        columns = [self._column(number) for number in numbers]
        if len(columns) > 2:
            return
        cache = self.context.cache
        strict, not_null, safe = is_strict(cache, term), never_null(cache, term), never_fails(cache, term)
        prepared = Prepared(term, self.context)
        axis = variable.axis

        def answer(*cells: Cell) -> int:
            *read, result = cells
            if all(cell.single for cell in read):
                row = {number: cell.values[0] for number, cell in zip(numbers, read, strict=True)}
                return TRUE if self._gives(prepared, row, result, axis) else 0
            if strict and any(cell.null for cell in read):
                return TRUE if result.null else 0
            if (result.null and not_null) or (result.answer == ERROR and safe):
                return 0
            return TRUE

        self.links.append(self._tabled([*columns, variable], answer))

    @staticmethod
    def _gives(prepared: Prepared, row: dict[int, Any], result: Cell, axis: Axis | None) -> bool:
        """Return whether the value of an expression in ``row`` may be in the cell ``result``."""
        try:
            value: Any = prepared(row)
        except ServerError:
            return result.answer == ERROR
        except Unknowable:
            return True
        if value is None or result.null:
            return result.null and value is None
        if result.answer:
            return False
        if axis is None:
            return True
        key = axis.key(value)
        if result.exact:
            return bool(result.low == key)
        return (result.low is None or result.low < key) and (result.high is None or key < result.high)

    # Tables.

    def _tabled(self, variables: list[Variable], answer: Answer) -> Condition:
        table: list[Any] = []
        self._tables.append((variables, answer, table))
        return truth.looked_up([variable.number for variable in variables], table)

    def finish(self) -> None:
        """Divide the values of all variables, and compute the tables of all conditions."""
        for _ in self._related:
            for first, second in self._related:
                first.cuts |= second.cuts
                second.cuts |= first.cuts
        for variable in self.variables:
            if variable.cells:
                continue
            assert variable.expr is not None
            if isinstance(variable.axis, Labels):
                variable.cuts.update(variable.axis.keys)
            column = self.columns.get(variable.column)
            if self._sampled and column is not None and (column.number in self._open or variable.axis is None):
                variable.samples = self._samples(column)
            if variable.expr.type == oids.BOOL:
                variable.cells = [Cell([True], low=1, high=1, single=True), Cell([False], low=0, high=0, single=True)]
                if column is None or not column.not_null:
                    variable.cells.append(Cell([None], single=True))
                continue
            variable.divide(nullable=column is None or not column.not_null, failing=column is None)
        work = sum(prod(len(variable.cells) for variable in variables) for variables, *_ in self._tables)
        if work > _MOST_ANSWERS:
            raise TooLarge
        self._group()
        for variables, answer, table in self._tables:
            if variables[0].groups:
                table[:] = filled([variable.groups for variable in variables], answer)

    def _group(self) -> None:
        """Put cells together that no condition tells apart."""
        single: dict[int, list[Answer]] = {variable.number: [] for variable in self.variables}
        shared: set[int] = set()
        for variables, answer, _ in self._tables:
            if len(variables) == 1:
                single[variables[0].number].append(answer)
            else:
                shared.update(variable.number for variable in variables)
        for variable in self.variables:
            if variable.number in shared:
                variable.groups = [[cell] for cell in variable.cells]
                continue
            groups: dict[tuple[int, ...], list[Cell]] = {}
            for cell in variable.cells:
                groups.setdefault(tuple(answer(cell) for answer in single[variable.number]), []).append(cell)
            variable.groups = list(groups.values())

    def _samples(self, column: Column) -> list[Any]:
        # Loaded only for examples: it writes values as well.
        from pubcheck.postgres.executor.sample_values import Hints, texts_for

        hints = Hints(Expr("BoolExpr", oids.BOOL, self._expressions, value="AND"))
        values: list[Any] = []
        try:
            for text in texts_for(column, hints, self.context)[:_SAMPLES]:
                try:
                    values.append(input.read(self.context.inputs, column.type, text, column.typmod))
                except (ServerError, Unknowable):
                    continue
        except Unknowable:
            return []
        return values
