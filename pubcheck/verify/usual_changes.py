"""Forms of usual changes: the module in C counts the changes that have them, so that Python reads only the others.

A change that has its form is certainly right. A form says no whenever `rows` must decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from pubcheck.stream import Row, Value
from pubcheck.verify.automata import automaton_of
from pubcheck.verify.row_tests import ColumnTest
from pubcheck.verify.usual_texts import MatchesAll

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
