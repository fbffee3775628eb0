"""Tokens of a program, and what its arguments say: for Ruby and for JavaScript alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from pubcheck.extract.frameworks.operations import Place, Unreadable


class Token(Struct, frozen=True, gc=False):
    """``kind``: "word", "label" (of an argument), "name" (a string or a symbol), "number", "list" (of words), "line"
    (the end of one), "unknown" (a string with something put in), or the mark itself. ``value`` is what it says."""

    kind: str
    value: str
    start: int
    end: int

    @property
    def nesting(self) -> int:
        """1 for an opening bracket, -1 for a closing one."""
        return (self.kind in ("(", "[", "{")) - (self.kind in (")", "]", "}"))


class Value(Struct, frozen=True):
    """An argument and its place. ``known`` is a string, a number, True, False, None, a list of values or a dict of
    values by name; with ``known`` left out it is something else."""

    place: Place
    known: object = ...

    def text(self) -> str:
        if not isinstance(self.known, str):
            raise Unreadable
        return self.known

    def texts(self) -> list[Value]:
        """Return the strings of a list, or the one string."""
        values = self.known if isinstance(self.known, list) else [self]
        for value in values:
            value.text()
        return values


def matching(tokens: Sequence[Token], opening: int) -> int:
    """Return the index of the closing bracket, or the end if there is none."""
    depth = 0
    for number in range(opening, len(tokens)):
        depth += tokens[number].nesting
        if depth == 0:
            return number
    return len(tokens)


def split(tokens: Sequence[Token]) -> Iterator[tuple[Token, ...]]:
    """Return the parts between commas, without ends of lines."""
    part: list[Token] = []
    depth = 0
    for token in tokens:
        depth += token.nesting
        if token.kind == "," and depth == 0:
            if part:
                yield tuple(part)
            part = []
        elif token.kind != "line":
            part.append(token)
    if part:
        yield tuple(part)
