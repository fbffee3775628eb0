"""Questions about the rows of a table: is there one for which these conditions give these answers?

The answer is an assignment of cells to variables, which a search looks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from pubcheck.filter_logic.columns import over_columns
from pubcheck.filter_logic.division import TooLarge
from pubcheck.filter_logic.reading import Reader
from pubcheck.filter_logic.terms import variables_in
from pubcheck.filter_logic.truth import ERROR, FALSE, NULL, TRUE, Condition
from pubcheck.filter_logic.variables import rows_of, values_of
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.compile import Prepared
from pubcheck.postgres.executor.functions import Context
from pubcheck.postgres.primnodes import Expr

_STEPS = 20_000
"""Assignments that are tried at most, partial ones too."""


class OutOfSteps(Exception):
    """There were more assignments than are tried."""


def assignments(sizes: Sequence[int], demands: Sequence[tuple[Condition, int]]) -> Iterator[list[int]]:
    """Yield assignments: the number of a cell for each variable, ``sizes`` being how many it has. Under each of them
    every condition may give one of the answers that are demanded of it, as bits. The list is reused.

    Raises OutOfSteps.
    """
    assignment = [-1] * len(sizes)
    steps = 0

    def possible() -> bool:
        return all(condition(assignment) & allowed for condition, allowed in demands)

    def extended(number: int) -> Iterator[list[int]]:
        nonlocal steps
        if number == len(sizes):
            yield assignment
            return
        for cell in range(sizes[number]):
            steps += 1
            if steps > _STEPS:
                raise OutOfSteps
            assignment[number] = cell
            if possible():
                yield from extended(number + 1)
        assignment[number] = -1

    if possible():
        yield from extended(0)


Row = dict[int, Any]
"""The values of the columns that matter, by attribute number."""


class NoRow(Struct, frozen=True):
    """It is proved that there is no such row."""


class Witness(Struct, frozen=True):
    """A row for which all conditions gave the answers asked for when they were evaluated."""

    row: Row


class Undecided(Struct, frozen=True):
    """Neither was a row found, nor is it proved that there is none."""

    reason: str


Finding = NoRow | Witness | Undecided
_OPEN = Undecided("a part of the filter is not followed")
_GENERATED = Undecided("a generated column is not followed")
_TOO_LARGE = Undecided("the filter has too many parts")
_ASSIGNMENTS = 24
"""Assignments for which rows are tried."""
_VALUES, _ROWS = 24, 200
"""Values of a column, and rows, that are tried for one of them."""


class Rows:
    """The rows of a table: ``columns`` are those of its conditions, whose NOT NULL is kept; ``checks`` are conditions
    that no row of it makes FALSE, as CHECK constraints are, and ``generated`` the expressions of generated columns.

    Conditions are numbered in the order of ``conditions``. Without ``examples`` no row is looked for: there is none, or
    it is not decided.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        conditions: Sequence[Expr],
        context: Context,
        checks: Sequence[Expr] = (),
        generated: Mapping[int, Expr] = MappingProxyType({}),
        *,
        examples: bool = True,
    ) -> None:
        self._examples = examples
        self._failure: Undecided | None = None
        self._conditions: list[Condition] = []
        self._always: list[tuple[Condition, int]] = []
        by_number = {column.number: column for column in columns}
        self._expressions = [over_columns(by_number, condition) for condition in conditions]
        self._checks = [over_columns(by_number, check) for check in checks]
        self._context = context
        values = {number: over_columns(by_number, value) for number, value in generated.items()}
        self._generated = {number: Prepared(value, context) for number, value in values.items()}
        self._reader = reader = Reader(columns, context, samples=examples)
        try:
            self._conditions = [reader.condition(condition) for condition in self._expressions]
            self._always = [(reader.condition(check), TRUE | NULL) for check in self._checks]
            reader.finish()
        except Unknowable as unknown:
            self._failure = Undecided(unknown.reason)
        except ServerError as error:
            self._failure = Undecided(f"it fails: {error.message}")
        except (RecursionError, TooLarge):
            self._failure = _TOO_LARGE
        self._always += [(link, TRUE) for link in reader.links]
        self._prepared: dict[int, Prepared] = {}

    def find(self, *demands: tuple[int, int]) -> Finding:
        """Look for a row: each demand is a condition's number, and the answers wanted of it as bits."""
        if self._failure is not None:
            return self._failure
        wanted = [(self._conditions[number], allowed) for number, allowed in demands]
        variables = self._reader.variables
        sizes = [len(variable.groups) for variable in variables]
        count = 0
        try:
            for assignment in assignments(sizes, [*wanted, *self._always]):
                row = self._confirmed(assignment, demands) if self._examples else None
                if row is not None:
                    return _GENERATED if self._has_generated(row) else Witness(row)
                count += 1
                if count == _ASSIGNMENTS or not self._examples:
                    return _OPEN
        except (OutOfSteps, RecursionError):
            return _TOO_LARGE
        return _OPEN if count else NoRow()

    def _confirmed(self, assignment: list[int], demands: Sequence[tuple[int, int]]) -> Row | None:
        """Return a row within the cells of an assignment, if one gives the answers when it is evaluated."""
        choices = {
            variable.column: values_of(variable, variable.groups[cell], _VALUES)
            for variable, cell in zip(self._reader.variables, assignment, strict=True)
            if variable.column
        }
        for row in rows_of(choices, _ROWS):
            if (
                self._compute(row)
                and all(self._answer(number, row) & allowed for number, allowed in demands)
                and all(
                    self._answer(len(self._expressions) + number, row) & (TRUE | NULL)
                    for number in range(len(self._checks))
                )
            ):
                return row
        return None

    def _compute(self, row: Row) -> bool:
        """Set the generated columns of a row. False if a value cannot be computed."""
        try:
            row.update({number: value(row) for number, value in self._generated.items() if number in row})
        except (ServerError, Unknowable, KeyError):
            return False
        return True

    def _has_generated(self, row: Row) -> bool:
        """Return whether a row has a generated column whose value may not be the one that the server computes."""
        return any(self._reader.columns[number].generated and number not in self._generated for number in row)

    def _answer(self, number: int, row: Row) -> int:
        prepared = self._prepared.get(number)
        if prepared is None:
            expr = [*self._expressions, *self._checks][number]
            prepared = self._prepared[number] = Prepared(expr, self._context)
        try:
            answer = prepared(row)
        except ServerError:
            return ERROR
        except Unknowable:
            return 0
        return NULL if answer is None else TRUE if answer else FALSE


def columns_read(expressions: Sequence[Expr]) -> list[int]:
    """Return the attribute numbers of the columns that some expressions read."""
    return sorted({number for expr in expressions for number in variables_in(expr)})
