"""Deterministic automata for patterns, as tables that the module in C walks along.

A pattern is one of `re`, of which this knows literals, sets, groups, alternatives and repetitions. It must match a
whole text. Greedy and possessive repetitions count as the same: a possessive one must not take what has to match after
it.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

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
