"""Matching of texts in bounded time: a user's pattern must not run for ever.

LIKE goes from one % to the next and never back. A regular expression is followed for all places of the text at once
(the question is only whether anything matches), so that no pattern backtracks.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from msgspec import Struct

from pubcheck.postgres.budget import Budget
from pubcheck.postgres.errors import Unknowable

_LONG = 10_000
"""Characters of a pattern with wildcards that is followed."""


# LIKE.


class _Piece:
    """The characters between two %; _ is any character."""

    def __init__(self, characters: Sequence[str | None]) -> None:
        self.length = len(characters)
        self._any = None in characters
        if self._any:
            if self.length > _LONG:
                raise Unknowable("a pattern of such length")
            regex = "".join("." if char is None else re.escape(char) for char in characters)
            self._search = re.compile(regex, re.DOTALL).search
        self._text = "".join(char or "" for char in characters)

    def find(self, text: str, start: int, end: int, budget: Budget) -> int:
        """Return the first offset in a range at which the piece matches, or -1."""
        if not self._any:
            budget.spend((end - start) >> 4)
            return text.find(self._text, start, end)
        budget.spend(max(0, end - start) * self.length >> 4)
        match = self._search(text, start, end)
        return -1 if match is None else match.start()


@lru_cache(maxsize=64)
def _pieces(pattern: str) -> tuple[_Piece, ...]:
    pieces: list[list[str | None]] = [[]]
    characters = iter(pattern)
    for char in characters:
        if char == "%":
            pieces.append([])
        elif char == "\\":
            escaped = next(characters, None)
            if escaped is None:
                # It is an error only where the match gets so far.
                raise Unknowable("a LIKE pattern that ends with its escape character")
            pieces[-1].append(escaped)
        else:
            pieces[-1].append(None if char == "_" else char)
    return tuple(map(_Piece, pieces))


def like(text: str, pattern: str, budget: Budget) -> bool:
    """Return whether a text is LIKE a pattern, whose escape is the backslash. Raises Unknowable."""
    budget.spend(len(pattern))
    pieces = _pieces(pattern) if len(pattern) <= _LONG else _pieces.__wrapped__(pattern)
    first, last, pos, end = pieces[0], pieces[-1], pieces[0].length, len(text) - pieces[-1].length
    if len(pieces) == 1:
        return len(text) == first.length and first.find(text, 0, pos, budget) == 0
    if pos > end or first.find(text, 0, pos, budget) or last.find(text, end, len(text), budget) < 0:
        return False
    for piece in pieces[1:-1]:
        if piece.length:
            start = piece.find(text, pos, end, budget)
            if start < 0:
                return False
            pos = start + piece.length
    return True


# Regular expressions.


class One(Struct, frozen=True):
    """A character, as a regular expression of Python's for one."""

    pattern: str


class Edge(Struct, frozen=True):
    """The beginning of the text, or its end."""

    end: bool


class Row(Struct, frozen=True):
    """One after the other."""

    parts: tuple[Part, ...]


class Choice(Struct, frozen=True):
    parts: tuple[Part, ...]


class Repeated(Struct, frozen=True):
    """At least ``low`` times, and at most ``high``."""

    part: Part
    low: int
    high: int | None


Part = One | Edge | Row | Choice | Repeated


class Search:
    """A regular expression that is looked for in texts."""

    def __init__(self, part: Part, flags: re.RegexFlag) -> None:
        self._part, self._flags = part, flags
        self._known: dict[str, dict[str, bool]] = {}

    def __call__(self, text: str, budget: Budget) -> bool:
        """Return whether any part of the text matches. Raises Unknowable."""
        return bool(self._ends(self._part, set(range(len(text) + 1)), text, budget))

    def longest(self, text: str, start: int, budget: Budget) -> int | None:
        """Return the end of the longest match that begins at an offset. Raises Unknowable."""
        return max(self._ends(self._part, {start}, text, budget), default=None)

    def _ends(self, part: Part, starts: set[int], text: str, budget: Budget) -> set[int]:
        """Return the ends of the matches that begin at these offsets."""
        if not starts:
            return starts
        budget.spend(16 + 4 * len(starts))
        if isinstance(part, One):
            return self._after(part.pattern, starts, text)
        if isinstance(part, Edge):
            return starts & {len(text) if part.end else 0}
        if isinstance(part, Row):
            for subpart in part.parts:
                starts = self._ends(subpart, starts, text, budget)
            return starts
        if isinstance(part, Choice):
            return set().union(*(self._ends(subpart, starts, text, budget) for subpart in part.parts))
        for _ in range(part.low):
            starts = self._ends(part.part, starts, text, budget)
        ends, new, left = starts, starts, part.high
        while new and (left is None or left > part.low):
            # Only from places that were not reached before.
            new = self._ends(part.part, new, text, budget) - ends
            ends = ends | new
            left = None if left is None else left - 1
            budget.spend(len(ends))
        return ends

    def _after(self, pattern: str, starts: set[int], text: str) -> set[int]:
        answers = self._known.get(pattern)
        if answers is None:
            answers = self._known[pattern] = {}
        end, ends = len(text), set[int]()
        for pos in starts:
            if pos < end:
                char = text[pos]
                takes = answers.get(char)
                if takes is None:
                    takes = answers[char] = re.match(pattern, char, self._flags) is not None
                if takes:
                    ends.add(pos + 1)
        return ends
