"""Conditions on the rows of a stream: row filters, and the bounds of the partition under whose name a row comes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, Final, Literal

from pubcheck.postgres.budget import WORK
from pubcheck.postgres.catalog.rows import Column, Filter, Relation
from pubcheck.postgres.ddl.partition_bounds import read_value
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import Context, prepare
from pubcheck.postgres.executor.functions import Step
from pubcheck.postgres.oids import TIMESTAMPTZ
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.session import Session
from pubcheck.stream import UNCHANGED_TOAST, Row, Value
from pubcheck.verify.values import Reader, Unknown

Answer = Literal["true", "false", "null", "unknown"]
RowTest = Callable[[Row], Answer]

_REMEMBERED: Final = 1024
"""Answers of a filter that are kept: its columns often have few different values."""
_UNKNOWN = (Unknown, Unknowable, ServerError, RecursionError)


class RowFilter:
    """The row filter of one publication. It is compiled for the first row."""

    __slots__ = ("_answers", "_budget", "_columns", "_condition", "_context", "_key", "_step")

    def __init__(self, condition: Filter, columns: Mapping[int, tuple[int, Reader]], context: Context) -> None:
        """``columns`` are, by column number, the position in rows and the reader."""
        self._condition, self._context, self._budget = condition, context, context.budget
        self._columns = [(number, *columns[number]) for number in condition.columns if number in columns]
        positions = [position for _, position, _ in self._columns]
        self._key: Callable[[Row], object] = itemgetter(*positions) if positions else lambda row: None
        self._answers: dict[object, Answer] = {}
        self._step: Step | None = None

    def answer(self, row: Row) -> Answer:
        """Return the filter's answer for a row."""
        key = self._key(row)
        answers = self._answers
        answer = answers.get(key)
        if answer is not None:
            return answer
        step = self._step or self._compile()
        self._budget.left = WORK  # each row is an evaluation: a long stream must not use it up
        values = {}
        try:
            for number, position, read in self._columns:
                value = row[position]
                values[number] = None if value is None else read(value)
            result = step(values)
            answer = "true" if result else "null" if result is None else "false"
        except _UNKNOWN:
            answer = "unknown"
        if len(answers) >= _REMEMBERED:
            answers.clear()
        answers[key] = answer
        return answer

    def accepts_all(self, rows: Iterable[Row]) -> bool:
        """Return whether the answer for each of some rows, which are different, is true."""
        step, budget, columns = self._step or self._compile(), self._budget, self._columns
        try:
            if len(columns) == 1:
                # Most filters have one column, and building the values takes as long as a step.
                ((number, position, read),) = columns
                for row in rows:
                    budget.left = WORK
                    value = row[position]
                    if not step({number: None if value is None else read(value)}):
                        return False
                return True
            for row in rows:
                budget.left = WORK
                values = {
                    number: None if (value := row[position]) is None else read(value)
                    for number, position, read in columns
                }
                if not step(values):
                    return False
        except _UNKNOWN:
            return False
        return True

    def _compile(self) -> Step:
        condition = self._condition
        is_frozen = any("now" in causes for _, causes in condition.frozen)
        if not isinstance(condition.expr, Expr) or is_frozen or len(self._columns) != len(condition.columns):
            self._step = _unknown
        else:
            self._step = prepare(condition.expr, self._context).step
        return self._step


def _unknown(values: Mapping[int, Any]) -> bool | None:
    raise Unknown


def any_of(filters: Sequence[RowFilter]) -> RowTest:
    """Return the answer of filters that are ORed; every row passes if there is none."""
    if not filters:
        return lambda row: "true"
    if len(filters) == 1:
        return filters[0].answer

    def answer(row: Row) -> Answer:
        result: Answer = "false"
        for condition in filters:
            answer = condition.answer(row)
            if answer == "true":
                return answer
            if answer == "unknown" or (answer == "null" and result == "false"):
                result = answer
        return result

    return answer


def all_pass(filters: Sequence[RowFilter]) -> Callable[[Iterable[Row]], bool]:
    """Return whether each of some rows certainly passes filters that are ORed."""
    if len(filters) == 1:
        return filters[0].accepts_all
    passes = any_of(filters)
    return lambda rows: {*map(passes, rows)} <= {"true"}


def completed(new: Row, old: Row | None) -> Row:
    """Return a new row with the old row's values in place of values left out as unchanged.

    A value that is NULL in the old row is unknown."""
    if old is None or UNCHANGED_TOAST not in new:
        return new
    values: list[Value] = [
        before if value is UNCHANGED_TOAST and before is not None else value
        for value, before in zip(new, old, strict=True)
    ]
    return tuple(values)


Within = Callable[[Row], bool]
"""Returns whether a row is within a bound; also where that cannot be known."""


def bound_checks(session: Session, table: Relation, names: Sequence[str]) -> list[Within]:
    """Return checks for the bounds of a table and of the partitions above it. ``names`` are the columns of rows."""
    catalog, checks = session.catalog, []
    while table.partition and table.parents:
        parent = catalog.relations[table.parents[0]]
        check = _check(session, table, parent, names)
        if check is not None:
            checks.append(check)
        table = parent
    return checks


def _check(session: Session, table: Relation, parent: Relation, names: Sequence[str]) -> Within | None:
    bound: Any = table.bound
    if bound is None or bound[0] not in "lr" or 0 in parent.partition_key:
        return None
    columns = [parent.columns[number - 1] for number in parent.partition_key]
    # The text of a timestamptz depends on the time zone of the session that reads the stream.
    if any(column.name not in names or column.type == TIMESTAMPTZ for column in columns):
        return None
    keys = [(names.index(column.name), column) for column in columns]
    kind: str = bound[0]
    ends: Any = bound[1:]

    def within(row: Row) -> bool:
        values = [_value(session, column, row[position]) for position, column in keys]
        if None in values:
            return True
        if kind == "l":
            return values[0] is None or values[0][0] in ends[0]
        if any(value is not None and value[0] is None for value in values):
            return False
        key = tuple((0, value[0]) for value in values if value is not None)
        lower, upper = ends
        return bool(lower <= key < upper)

    return within


def _value(session: Session, column: Column, value: Any) -> tuple[Any] | None:
    if value is None:
        return (None,)
    return read_value(session, column, {"sval": {"sval": value}}) if isinstance(value, str) else None
