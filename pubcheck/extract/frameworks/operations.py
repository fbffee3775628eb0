"""The statements that operations of migrations make, put together with the places that their parts come from."""

from __future__ import annotations

from collections.abc import Iterable

from pubcheck.postgres.tokens import in_quotes, quote_literal
from pubcheck.source import Call

Place = tuple[int, int]


class Unreadable(Exception):
    """An expression says something that is only known when the program runs."""


class Operations:
    """The operations of one file: the ``calls`` that create statements, the (offset, name) of tables that are
    ``doubted``, and the spans of the text that was ``read``."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.doubted: list[tuple[int, str]] = []
        self.read: list[Place] = []

    def doubt(self, offset: int, name: str = "") -> None:
        """A table, or any table, may be changed at an offset."""
        self.doubted.append((offset, name))

    def doubt_type(self, offset: int, name: str) -> None:
        """A type that the statement of a call at an offset names may be missing."""
        # Before the statement: where all names are known otherwise, a missing type would be an error.
        self.doubt(offset - 1, name)


class Sql:
    """A statement that an operation makes: pieces in order, some with the place in the file that they come from."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._pieces: list[tuple[str, Place | None]] = []

    def add(self, text: str, place: Place | None = None) -> Sql:
        self._pieces.append((text, place))
        return self

    def name(self, name: str, place: Place | None = None) -> Sql:
        return self.add(in_quotes(name), place)

    def names(self, names: Iterable[tuple[str, Place | None]]) -> Sql:
        """Names in parentheses."""
        for number, (name, place) in enumerate(names):
            self.add(", " if number else "(").name(name, place)
        return self.add(")")

    def call(self, *, conditional: bool = False) -> Call:
        """Return the statement. A piece keeps its place where it comes after the one before it in the file, too."""
        copied_to, end = self._place
        edits: list[tuple[int, int, str]] = []
        pending = ""
        for text, place in self._pieces:
            if place is None or place[0] < copied_to or place[1] > end:
                pending += text
                continue
            if pending or place[0] > copied_to:
                edits.append((copied_to, place[0], pending))
                pending = ""
            edits.append((*place, text))
            copied_to = place[1]
        if pending or copied_to < end:
            edits.append((copied_to, end, pending))
        return Call(*self._place, tuple(edits), conditional)


def qualified(name: str) -> str:
    """Return a table's name, which may have its schema before it."""
    return ".".join(map(in_quotes, name.split(".")))


def create_enum(name: str, labels: Iterable[str]) -> str:
    """Return the statement that creates an enum if there is none of that name, which is written as SQL."""
    create = f"CREATE TYPE {name} AS ENUM ({', '.join(map(quote_literal, labels))})"
    return f"DO $pubcheck$ BEGIN {create}; EXCEPTION WHEN duplicate_object THEN NULL; END $pubcheck$"
