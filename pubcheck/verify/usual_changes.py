"""Rows and changes that are certainly right. Most are, so that this is asked first; it says no whenever `rows` must
decide. The module in C counts the changes that have a usual form, so that Python reads only the others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import call
from typing import NamedTuple, TypeAlias

from pubcheck.postgres import oids
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input import InputContext
from pubcheck.stream import UNCHANGED_TOAST, Row, Value
from pubcheck.verify.automata import automaton_of
from pubcheck.verify.usual_texts import Matches, MatchesAll, UsualTexts, one_by_one, usual_texts
from pubcheck.verify.values import Check

RowTest = Callable[[Row], bool]
RowsTest = Callable[[Sequence[Row]], bool]
"""Whether all of some rows are certainly right."""
ValuesTest = Callable[[Sequence[Value]], bool]
"""Whether the values of a column in some rows are certainly right."""
_REMEMBERED, _LONGEST_REMEMBERED = 1024, 200


class ColumnTest(NamedTuple):
    """Which values are right at a position in rows: NULL, texts that are certainly right, and those about which a slow
    check says nothing. Every text is right if there is no check."""

    position: int
    may_be_null: bool
    usual: UsualTexts | None = None
    check: Check | None = None


def column_test(
    inputs: InputContext, column: Column, position: int, check: Check | None, *, may_be_null: bool
) -> ColumnTest:
    """Return the test of a column; ``check`` is that of its texts."""
    if check is None:
        return ColumnTest(position, may_be_null)
    try:
        oid, typmod = inputs.cache.base_type(column.type, column.typmod)
    except Unknowable:
        return ColumnTest(position, may_be_null, one_by_one(_remembering(check)), check)
    usual = usual_texts(inputs, oid, typmod)
    if usual is None:
        is_quick = oid in (oids.VARCHAR, oids.BPCHAR)
        usual = one_by_one((lambda text: check(text) is None) if is_quick else _remembering(check))
    return ColumnTest(position, may_be_null, usual, check)


def _remembering(check: Check) -> Matches:
    accepted: set[str] = set()

    def accepts(text: str) -> bool:
        if text in accepted:
            return True
        if check(text) is not None:
            return False
        if len(accepted) >= _REMEMBERED:
            accepted.clear()
        if len(text) <= _LONGEST_REMEMBERED:
            accepted.add(text)
        return True

    return accepts


def row_test(columns: Sequence[ColumnTest], count: int, whole: Sequence[int] = ()) -> RowTest:
    """Return a test of rows of so many columns. No value of ``columns``, nor of those at the positions ``whole``, may
    be an unchanged TOAST value."""
    tests = [
        (column.position, None if column.usual is None else column.usual.one, column.check, column.may_be_null)
        for column in columns
    ]
    tested = {column.position for column in columns}
    others = [position for position in whole if position not in tested]

    def accepts(row: Row) -> bool:
        if len(row) != count:
            return False
        for position, is_certain, check, may_be_null in tests:
            value = row[position]
            if value.__class__ is str:
                if is_certain is not None and not is_certain(value) and (check is None or check(value) is not None):
                    return False
            elif value is not None or not may_be_null:
                return False
        for position in others:  # noqa: SIM110 -- all() costs a generator for each row
            if row[position] is UNCHANGED_TOAST:
                return False
        return True

    return accepts


def are_sent(values: Sequence[Value]) -> bool:
    """Return whether no value is an unchanged TOAST value."""
    return UNCHANGED_TOAST not in values


def are_null(values: Sequence[Value]) -> bool:
    return values.count(None) == len(values)


def rows_test(columns: Sequence[ColumnTest], count: int, others: ValuesTest = are_sent) -> RowsTest:
    """Return a test of many rows of so many columns, without unchanged TOAST values. It reads column by column, which
    takes less time than row by row, and says no more often than `row_test`. The last test of a column counts;
    ``others`` tests the columns that have none."""
    tested = {column.position: partial(_accepts_column, column) for column in columns}
    tests = [tested.get(position, others) for position in range(count)]

    def accepts(rows: Sequence[Row]) -> bool:
        if {*map(len, rows)} != {count}:
            return False
        return all(map(call, tests, zip(*rows, strict=True)))

    return accepts


def _accepts_column(test: ColumnTest, values: Sequence[Value]) -> bool:
    if None in values:
        if not test.may_be_null:
            return False
        values = [value for value in values if value is not None]
    if not {*map(type, values)} <= {str}:
        return False
    return test.usual is None or not values or bool(test.usual.all(values))  # type: ignore[arg-type]


WHOLE, WITH_UNCHANGED, ONLY_KEY = "tn", "tnu", "n"
"""The letters of right values in columns without a test: any values, in a new row of an UPDATE also unchanged TOAST
values, and none next to a key."""


class ColumnForm(NamedTuple):
    """What `_rest.h` calls a column."""

    letters: str
    automaton: bytes | None = None
    others: list[str] | None = None
    values: list[Value] | None = None


class Settler:
    """Decides about the values of some rows that the module in C put into lists."""

    def __init__(
        self,
        others: Sequence[tuple[list[str], MatchesAll]],
        values: Sequence[list[Value]],
        are_right: Callable[[Iterable[Row]], bool] | None,
    ) -> None:
        """``are_right`` tests rows of ``values``; each of ``others`` has its own test."""
        self._others, self._values, self._are_right = others, values, are_right

    def settle(self) -> bool:
        """Return whether all are certainly right, and empty the lists."""
        is_right = all(not texts or bool(are_right(texts)) for texts, are_right in self._others)
        if self._are_right is not None:
            is_right = is_right and self._are_right({*zip(*self._values, strict=True)})
        for values in self._values:
            values.clear()
        for texts, _ in self._others:
            texts.clear()
        return is_right


RowForm: TypeAlias = tuple[tuple[ColumnForm, ...], Settler]
Form: TypeAlias = tuple[RowForm, ...]
Forms: TypeAlias = Mapping[bytes, Form]
"""Forms by the letters of the change and of its first row."""


class RowCondition(NamedTuple):
    """A test of rows of the columns at some positions."""

    positions: Sequence[int]
    are_right: Callable[[Iterable[Row]], bool]


def row_form(columns: Sequence[ColumnTest], count: int, letters: str, condition: RowCondition | None = None) -> RowForm:
    """Return the form of rows of so many columns. The last test of a column counts, and ``letters`` are those of the
    columns without one."""
    tested = {column.position: _column_form(column) for column in columns}
    forms = [tested.get(position, ColumnForm(letters)) for position in range(count)]
    values: list[list[Value]] = []
    for position in condition.positions if condition is not None else ():
        values.append([])
        known = forms[position].letters.replace("u", "")
        forms[position] = forms[position]._replace(letters=known, values=values[-1])
    tests = {column.position: column.usual for column in columns}
    others = [
        (form.others, usual.all)
        for position, form in enumerate(forms)
        if form.others is not None and (usual := tests[position]) is not None
    ]
    return tuple(forms), Settler(others, values, None if condition is None else condition.are_right)


def _column_form(column: ColumnTest) -> ColumnForm:
    letters = "tn" if column.may_be_null else "t"
    usual = column.usual
    if usual is None:
        return ColumnForm(letters)
    automaton = None if usual.pattern is None else automaton_of(usual.pattern)
    is_all = automaton is not None and usual.is_all
    return ColumnForm(letters, automaton, None if is_all else [])
