"""The statements of a unit: the text that is sent, and where it is in its source."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence

from msgspec import Struct

from pubcheck.diagnostics import Span, StatementRef
from pubcheck.postgres.catalog.rows import EMBEDDED, Place
from pubcheck.postgres.tokens import name_end
from pubcheck.source import Source, utf8

Edits = tuple[tuple[int, int, str], ...]


class _Places:
    """The offsets of a statement's edits in the text for the server, and the shift of the text after each.

    Kept for the statement asked for last, which can have thousands of edits and a finding at each.
    """

    def __init__(self) -> None:
        self._known: tuple[Edits, tuple[list[int], list[int]]] = ((), ([], [0]))

    def of(self, edits: Edits) -> tuple[list[int], list[int]]:
        known, places = self._known
        if known is not edits:
            firsts, shifts = [], [0]
            for begin, stop, sent in edits:
                firsts.append(begin - shifts[-1])
                shifts.append(stop - firsts[-1] - len(sent))
            places = (firsts, shifts)
            self._known = (edits, places)
        return places


_PLACES = _Places()


class StatementText(Struct, frozen=True, gc=False):
    """A statement and its place in its source; ``start`` is the offset of its first token in code points.

    ``text`` is what the server gets; ``edits`` are the (start, end, sent) offsets from ``start`` where that has another
    length than the text in the source. A statement inside another one has that one's index and ``embedded``, its
    own number there.
    """

    source: Source
    index: int
    start: int
    text: str
    edits: Edits = ()
    embedded: tuple[int, ...] = ()

    def ref(self) -> StatementRef:
        return StatementRef(self.source, self.index, self.start, self.embedded)

    def offset(self, byte: int, *, end: bool = False) -> int:
        """Return a byte offset in the statement as an offset in its source; ``end``: as that of what ends there."""
        return self.place(utf8(self.text).offset(byte), end=end)

    def place(self, offset: int, *, end: bool = False) -> int:
        """Return an offset in ``text`` as an offset in the source."""
        if not self.edits:
            return self.start + offset
        firsts, shifts = _PLACES.of(self.edits)
        number = (bisect_left if end else bisect_right)(firsts, offset) - 1
        if number >= 0:
            begin, stop, sent = self.edits[number]
            last = firsts[number] + len(sent)
            if offset < last or (end and offset == last):
                return self.start + (stop if end else begin)
        return self.start + offset + shifts[number + 1]

    def position(self, byte: int | None) -> int | None:
        """Return a byte offset as the server's 1-based character position."""
        return None if byte is None else utf8(self.text).offset(byte) + 1

    def span(self, start: int, end: int = 0, message: str = "") -> Span:
        """Return the token or name at a byte offset, or what lies between two."""
        text = utf8(self.text).data
        start = min(start, len(text))
        if end <= start:
            end = name_end(text, start)
        begin = self.offset(start)
        return Span(self.source, begin, max(begin, self.offset(end, end=True)), message)


class Statements:
    """The statements of a unit by source and index; kept as offsets, for a schema can have a hundred thousand."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self.sources = sources
        self._starts = [array("q") for _ in sources]
        self._ends = [array("q") for _ in sources]
        self._long: tuple[tuple[int, int], StatementText] | None = None
        """The long statement asked for last, with its key: one can have thousands of findings."""
        self._edited: dict[tuple[int, int], StatementText] = {}
        """The statements whose text for the server differs from the source."""
        self._described: dict[int, Callable[[int], str]] = {}
        self._inside: list[StatementText] = []
        """Statements inside others; their number modulo ``EMBEDDED`` is their index here."""
        self._numbers: dict[tuple[int, int, tuple[int, ...], int, str], int] = {}

    def replace_sources(self, sources: Sequence[Source], kept: int) -> None:
        """Take other sources from number ``kept`` on, whose statements are still to be put."""
        self.sources = sources
        del self._starts[kept:], self._ends[kept:]
        for _ in sources[kept:]:
            self._starts.append(array("q"))
            self._ends.append(array("q"))

    def __len__(self) -> int:
        return sum(map(len, self._starts))

    def put(self, source: int, index: int, start: int, end: int) -> None:
        """The next statement of a source, or another end for its last one; offsets in the source."""
        starts, ends = self._starts[source], self._ends[source]
        if index == len(starts):
            starts.append(start)
            ends.append(end)
        else:
            starts[index], ends[index] = start, end
            self._long = None

    def keep(self, source: int, statement: StatementText) -> None:
        """A statement that cannot be cut out of its source again."""
        self._edited[source, statement.index] = statement

    def describe(self, source: int, describe: Callable[[int], str]) -> None:
        """Take each line of a listing as a statement, whose SQL ``describe`` returns by the number of the object."""
        listing = self.sources[source].listing
        assert listing is not None
        self._described[source] = describe
        text, starts, ends = self.sources[source].text, self._starts[source], self._ends[source]
        start = 0
        for _ in range(listing.first - 1):
            start = text.index("\n", start) + 1
        for _ in listing.objects:
            end = text.index("\n", start)
            starts.append(start)
            ends.append(end)
            start = end + 1

    def embed(self, source: int, statement: StatementText) -> int:
        """Return the number by which a statement inside another one of the source is to be asked for."""
        key = (source, statement.index, statement.embedded, statement.start, statement.text)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = (statement.index + 1) * EMBEDDED + len(self._inside)
            self._inside.append(statement)
        return number

    def bounds(self, source: int) -> tuple[Sequence[int], Sequence[int]]:
        """Return the offsets in a source at which its statements begin, and those at which they end."""
        return self._starts[source], self._ends[source]

    def at(self, place: Place) -> StatementText:
        """Return the statement in which something was said."""
        return self[place.source, place.statement]

    def span(self, place: Place, message: str = "") -> Span:
        """Return the span of a message, with the message."""
        return self.at(place).span(place.start, place.end, message)

    def __getitem__(self, key: tuple[int, int]) -> StatementText:
        if self._long is not None and self._long[0] == key:
            return self._long[1]
        source, index = key
        if index >= EMBEDDED:
            return self._inside[index % EMBEDDED]
        if key in self._edited:
            return self._edited[key]
        start, end = self._starts[source][index], self._ends[source][index]
        if source in self._described:
            sql = self._described[source](index)
            return StatementText(self.sources[source], index, start, sql, ((0, end - start, sql),))
        statement = StatementText(self.sources[source], index, start, self.sources[source].text[start:end])
        if end - start > _LONG:
            self._long = key, statement
        return statement


_LONG = 4096
"""Characters from which on it takes longer to cut a statement out of its source than to keep it."""
