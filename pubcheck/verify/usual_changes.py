"""Rows and changes that are certainly right. Most are, so that this is asked first; it says no whenever `rows` must
decide. The module in C counts the changes that have a usual form, so that Python reads only the others.

The forms are deterministic automata, as tables that the module in C walks along. They are made of patterns of `re`, of
which this knows literals, sets, groups, alternatives and repetitions. A pattern must match a whole text. Greedy and
possessive repetitions count as the same: a possessive one must not take what has to match after it.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial
from operator import call
from typing import NamedTuple, TypeAlias

from pubcheck.postgres import oids
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.input import InputContext
from pubcheck.stream import UNCHANGED_TOAST, Row, Value
from pubcheck.verify.usual_texts import Matches, MatchesAll, UsualTexts, one_by_one, usual_texts
from pubcheck.verify.values import Check

_ASCII = 128
_ALL = (1 << _ASCII) - 1
_DIGITS = sum(1 << code for code in range(ord("0"), ord("9") + 1))
_token = re.compile(r"\\x(?P<hex>[0-9a-f]{2})|\\(?P<escaped>.)|(?P<plain>.)", re.DOTALL).match
_repetition = re.compile(r"(?:(?P<sign>[*+?])|\{(?P<least>\d+)(?P<comma>,(?P<most>\d*))?\})[+?]?").match
_CONTROLS = {"0": 0, "t": 9, "n": 10, "r": 13}
_MOST_STATES, _LARGEST = 1000, 0xFFFF


class _Unsupported(Exception):
    """The pattern is not one of these, or large."""


class _Chars(NamedTuple):
    codes: int
    """A bit for each ASCII character."""


class _Sequence(NamedTuple):
    parts: Sequence[_Node]


class _Alternatives(NamedTuple):
    parts: Sequence[_Node]


class _Repetition(NamedTuple):
    part: _Node
    least: int
    most: int | None


_Node = _Chars | _Sequence | _Alternatives | _Repetition


class _Parser:
    def __init__(self, pattern: str) -> None:
        self._pattern, self._place = pattern, 0

    def parse(self) -> _Node:
        result = self._alternatives()
        if self._place < len(self._pattern):
            raise _Unsupported
        return result

    def _alternatives(self) -> _Node:
        parts = [self._sequence()]
        while self._take("|"):
            parts.append(self._sequence())
        return _Alternatives(parts)

    def _sequence(self) -> _Node:
        parts = []
        while self._place < len(self._pattern) and self._pattern[self._place] not in "|)":
            parts.append(self._repeated(self._one()))
        return _Sequence(parts)

    def _repeated(self, part: _Node) -> _Node:
        found = _repetition(self._pattern, self._place)
        if found is None:
            return part
        self._place = found.end()
        if found["sign"]:
            least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}[found["sign"]]
        else:
            least = int(found["least"])
            most = least if found["comma"] is None else int(found["most"]) if found["most"] else None
        return _Repetition(part, least, most)

    def _one(self) -> _Node:
        if self._take("(?:"):
            result = self._alternatives()
            if not self._take(")"):
                raise _Unsupported
            return result
        if self._take("["):
            return self._set()
        if self._pattern[self._place] in "(.^$":
            raise _Unsupported
        return _Chars(self._codes())

    def _set(self) -> _Node:
        is_negated, codes = self._take("^"), 0
        while not self._take("]"):
            start = self._codes()
            if self._pattern[self._place] == "-" and self._pattern[self._place + 1] != "]":
                self._place += 1
                end = self._codes()
                # The codes from the one of the start to that of the end.
                start = (end << 1) - start
            codes |= start
        return _Chars(_ALL & ~codes if is_negated else codes)

    def _codes(self) -> int:
        found = _token(self._pattern, self._place)
        if found is None:
            raise _Unsupported
        self._place = found.end()
        character = found["plain"] or found["escaped"]
        if found["hex"]:
            return 1 << int(found["hex"], 16)
        if found["escaped"] == "d":
            return _DIGITS
        if found["escaped"] in _CONTROLS:
            return 1 << _CONTROLS[character]
        if (found["escaped"] and character.isalnum()) or not character.isascii():
            raise _Unsupported
        return 1 << ord(character)

    def _take(self, text: str) -> bool:
        is_next = self._pattern.startswith(text, self._place)
        self._place += len(text) if is_next else 0
        return is_next


class _States:
    """The states of an automaton that is not deterministic yet. Each has a set of characters and the state that follows
    them, or the states that it leads to without a character."""

    END = 0

    def __init__(self) -> None:
        self.moves: list[tuple[int, int]] = [(0, 0)]
        self.same: list[tuple[int, ...]] = [()]

    def before(self, node: _Node, end: int) -> int:
        """Return a state from which what matches leads to another state."""
        match node:
            case _Chars(codes):
                return self._add((codes, end), ())
            case _Sequence(parts):
                for part in reversed(parts):
                    end = self.before(part, end)
                return end
            case _Alternatives(parts):
                return self._add((0, 0), tuple(self.before(part, end) for part in parts))
            case _Repetition(part, least, most):
                if most is None:
                    loop = self._add((0, 0), ())
                    self.same[loop] = (self.before(part, loop), end)
                    start = loop
                else:
                    start = end
                    for _ in range(most - least):
                        start = self._add((0, 0), (self.before(part, start), end))
                for _ in range(least):
                    start = self.before(part, start)
                return start

    def _add(self, move: tuple[int, int], same: tuple[int, ...]) -> int:
        if len(self.moves) >= _MOST_STATES:
            raise _Unsupported
        self.moves.append(move)
        self.same.append(same)
        return len(self.moves) - 1

    def reached(self, states: set[int]) -> frozenset[int]:
        """Return the states with characters, and the end, that some states are or lead to without a character."""
        known, rest = set(states), list(states)
        while rest:
            for state in self.same[rest.pop()]:
                if state not in known:
                    known.add(state)
                    rest.append(state)
        return frozenset(state for state in known if self.moves[state][0] or state == self.END)


@cache
def automaton_of(pattern: str) -> bytes | None:
    """Return the automaton of a pattern, or None if it is unsupported.

    The first 256 bytes are the class of each byte. Numbers of 16 bits follow, as many for each state as there are
    classes: the place of the state after a byte of a class, 0 if no text goes on so. The first state is that from which
    nothing leads anywhere, the second one the start. Class 0 is that of the end, and not 0 where a text may end. Texts
    with other bytes than those of ASCII are not accepted.
    """
    states = _States()
    try:
        start = states.reached({states.before(_Parser(pattern).parse(), _States.END)})
    except _Unsupported:
        return None
    sets = {codes for codes, _ in states.moves if codes}
    kinds: dict[tuple[bool, ...], int] = {}
    class_of = [
        kinds.setdefault(tuple(bool(codes >> byte & 1) for codes in sets), len(kinds) + 1) for byte in range(128)
    ]
    one_of = {number: class_of.index(number) for number in kinds.values()}
    other = len(kinds) + 1
    width = other + 1
    places: dict[frozenset[int], int] = {frozenset(): 0, start: width}
    table = array("H", bytes(2 * width))
    rest = [start]
    while rest:
        state = rest.pop(0)
        row = [int(_States.END in state)] + [0] * other
        for number, byte in one_of.items():
            after = states.reached({end for codes, end in (states.moves[one] for one in state) if codes >> byte & 1})
            if after not in places:
                places[after] = width * len(places)
                rest.append(after)
            row[number] = places[after]
        table.extend(row)
    if len(table) > _LARGEST:
        return None
    return bytes(class_of + [other] * 128) + table.tobytes()


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
