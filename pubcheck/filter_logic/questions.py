"""Questions about the rows of a table: is there one for which these conditions give these answers?

And the filters of one table compared: which rows each sends, which both, and which none.

The answer is an assignment of cells to variables, which a search looks for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Any, Literal

from msgspec import Struct

from pubcheck.filter_logic.constraints import bounds_are_followed, columns_of, facts_of, over_columns, variables_in
from pubcheck.filter_logic.division import TooLarge, rows_of, values_of
from pubcheck.filter_logic.reading import Reader
from pubcheck.filter_logic.truth import ERROR, FALSE, NOT_TRUE, NULL, TRUE, Condition
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.compile import Prepared
from pubcheck.postgres.executor.functions import Context
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.session import Session

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


class _Rows:
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


# Filters of one table compared: which rows each sends, which both, and which none.

Kind = Literal["equivalent", "narrower", "wider", "disjoint", "overlapping", "unknown"]


class Coverage(Struct, frozen=True):
    """The rows of a table for which a filter is true, and those for which it is not."""

    true: Finding
    not_true: Finding
    without_constraints: Finding
    """Rows for which it is true if the table's constraints did not matter."""


class Comparison(Struct, frozen=True):
    """Two filters, by their numbers: rows that only one of them sends, and rows that both send."""

    first: int
    second: int
    first_only: Finding
    second_only: Finding
    both: Finding

    @property
    def kind(self) -> Kind:
        """How the rows of the first relate to those of the second, as far as it is proved or shown."""
        first_only, second_only, both = map(type, (self.first_only, self.second_only, self.both))
        if both is NoRow:
            return "disjoint"
        if first_only is second_only is NoRow:
            return "equivalent"
        if first_only is NoRow:
            return "narrower"
        if second_only is NoRow:
            return "wider"
        if first_only is second_only is both is Witness:
            return "overlapping"
        return "unknown"


class Gap(Struct, frozen=True):
    """Rows that no filter is true for. ``nulls`` are columns such that every such row has a NULL in one of them."""

    rows: Finding
    nulls: tuple[str, ...] = ()


class TableFilters:
    """The filters of publications for one table. Without ``examples`` there is only what is proved."""

    def __init__(self, session: Session, relation: Relation, filters: Sequence[Expr], *, examples: bool = True) -> None:
        numbers = columns_read(filters)
        checks, generated = facts_of(session, relation, numbers)
        # Without the bounds of a partition an example row might not be one of its rows.
        examples = examples and bounds_are_followed(session, relation, columns_read([*filters, *checks]))
        self.context = context = Context(parse_state(session, relation).inputs)
        columns = columns_of(session, relation)
        self._count = len(filters)
        self._nullable = [column for column in columns if column.number in numbers and not column.not_null]
        not_null = [_not_null(column) for column in self._nullable]
        self.rows = _Rows(columns, [*filters, *not_null], context, checks, generated, examples=examples)
        self._bare = _Rows(columns, filters, context, examples=examples) if checks else self.rows

    def coverage(self, number: int) -> Coverage:
        true = self.rows.find((number, TRUE))
        return Coverage(
            true,
            self.rows.find((number, NOT_TRUE)),
            self._bare.find((number, TRUE)) if isinstance(true, NoRow) and self._bare is not self.rows else true,
        )

    def comparisons(self) -> list[Comparison]:
        """Compare each filter with each that comes after it."""
        return [self.comparison(first, second) for first, second in combinations(range(self._count), 2)]

    def comparison(self, first: int, second: int) -> Comparison:
        find = self.rows.find
        return Comparison(
            first,
            second,
            find((first, TRUE), (second, NOT_TRUE)),
            find((first, NOT_TRUE), (second, TRUE)),
            find((first, TRUE), (second, TRUE)),
        )

    def gap(self) -> Gap:
        """Look for rows that no filter is true for."""
        uncovered = [(number, NOT_TRUE) for number in range(self._count)]
        rows = self.rows.find(*uncovered)
        if not isinstance(rows, Witness):
            return Gap(rows)
        present = [(self._count + place, TRUE) for place in range(len(self._nullable))]
        if not present or not isinstance(self.rows.find(*uncovered, *present), NoRow):
            return Gap(rows)
        for place, column in enumerate(self._nullable):
            if isinstance(self.rows.find(*uncovered, present[place]), NoRow):
                return Gap(rows, (column.name,))
        return Gap(rows, tuple(column.name for column in self._nullable))


def _not_null(column: Column) -> Expr:
    variable = Expr("Var", column.type, typmod=column.typmod, collation=column.collation, value=column.number)
    return Expr("NullTest", 16, [variable], value="IS_NOT_NULL")
