"""Filters of one table compared: which rows each sends, which both, and which none."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Literal

from msgspec import Struct

from pubcheck.filter_logic.columns import columns_of
from pubcheck.filter_logic.constraints import bounds_are_followed, facts_of
from pubcheck.filter_logic.questions import Finding, NoRow, Rows, Witness, columns_read
from pubcheck.filter_logic.truth import NOT_TRUE, TRUE
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.executor.functions import Context
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.session import Session

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
        self.rows = Rows(columns, [*filters, *not_null], context, checks, generated, examples=examples)
        self._bare = Rows(columns, filters, context, examples=examples) if checks else self.rows

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
