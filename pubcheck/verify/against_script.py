"""A stream against its script, which was run on a simulated server: the messages that are missing, and those that no
statement gives.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from struct import Struct as Layout
from tempfile import SpooledTemporaryFile
from typing import Any
from weakref import finalize

from msgspec import Struct

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.session import Session
from pubcheck.rulebook import finder
from pubcheck.simulate.database import Request, run
from pubcheck.simulate.decoding.slot import Row
from pubcheck.simulate.script import Step
from pubcheck.stream import Decoder
from pubcheck.stream.framing.frame import Frame
from pubcheck.verify.alignment import Difference, Group, Groups, Item, differences
from pubcheck.verify.publisher import Publisher, State
from pubcheck.verify.verifier import StreamFinding, Verifier

_IN_MEMORY = 1 << 22
_head = Layout(">QIQ")
"""The position, the transaction id and the number of bytes of a row."""


class SpooledRows:
    """Rows that are written once, and read in their order."""

    def __init__(self) -> None:
        self._file = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115 -- its owner closes it
        finalize(self, self._file.close)
        self._end = 0

    def extend(self, rows: Iterable[Row]) -> None:
        self._file.seek(self._end)
        for lsn, xid, data in rows:
            self._file.write(_head.pack(lsn, xid, len(data)))
            self._file.write(data)
        self._end = self._file.tell()

    def __iter__(self) -> Iterator[Row]:
        offset = 0
        while offset < self._end:
            self._file.seek(offset)
            lsn, xid, size = _head.unpack(self._file.read(_head.size))
            data = self._file.read(size)
            offset += _head.size + size
            yield lsn, xid, data


class Simulation(Struct, frozen=True):
    """A script that was run. ``rows`` are positions, transaction ids and data of the expected messages; ``ends`` the
    end of the log after each statement, whose lines are ``lines``. ``refusals`` are the errors of statements, with
    their lines; ``error`` is the error at which decoding stops."""

    publisher: Publisher
    rows: Iterable[tuple[int, int, bytes]]
    lines: Sequence[int]
    ends: Sequence[int]
    refusals: Sequence[tuple[int, ServerError]] = ()
    error: ServerError | None = None

    def line_at(self, lsn: int) -> int | None:
        """Return the line of the statement that wrote the record at a position."""
        index = bisect_right(self.ends, lsn)
        return self.lines[index] if index < len(self.lines) else None


def simulate(
    major: int,
    setup: Sequence[Step],
    script: Iterable[Step],
    publications: Sequence[str],
    options: Mapping[str, str],
    settings: Mapping[str, str] = {},
) -> Simulation:
    """Run a schema and a script. ``settings`` are those of the session that reads the slot. Raises NotFollowed."""
    names = tuple(publications)
    own = {name: value for name, value in options.items() if name != "publication_names"}
    result = run(Request(setup, script, names, options=own, settings=settings, in_parts=True), major, SpooledRows())
    states = [State(Session(catalog, complete=True), names) for catalog in result.versions.values()]
    refusals = tuple((step.line, error) for step, error in result.refusals)
    return Simulation(Publisher(states), result.rows, result.lines, result.ends, refusals, result.error)


class ScriptVerifier:
    """Checks the messages of one stream, and at its end compares them with the stream that a script makes."""

    def __init__(self, verifier: Verifier, simulation: Simulation) -> None:
        self._verifier, self._simulation = verifier, simulation
        self._actual = Groups()
        self._expected = Groups()
        self._decoder = Decoder()
        self._rows = enumerate(simulation.rows, 1)
        self._agreed = 0
        """The number of the last message up to which both streams are equal."""
        self._number = 0
        self._reasons: dict[int, str] = {}
        """What is wrong with messages by themselves."""
        self._lines: dict[int, int | None] = {}
        self._missing_items: dict[tuple[Any, ...], Item] = {}

    def check(self, frame: Frame) -> Iterator[StreamFinding]:
        """Yield the findings of the next message."""
        self._number += 1
        for finding in self._verifier.check(frame):
            self._reasons.setdefault(self._number, finding.message)
            yield finding
        self._lines[self._number] = frame.place.line
        if self._verifier.last is not None:
            self._actual.add(self._verifier.last, self._number, frame.lsn)
            self._forget_equal()

    def _forget_equal(self) -> None:
        """Forget the next transactions of both streams while they are equal, so that few are kept."""
        while self._actual.finished and self._next_expected() is not None:
            if self._actual.finished[0].key != self._expected.finished[0].key:
                return
            self._expected.finished.popleft()
            self._agreed = self._actual.finished.popleft().number
        if self._actual.is_empty:
            self._lines = {self._number: self._lines[self._number]}
            self._reasons.clear()

    def _next_expected(self) -> Group | None:
        """The next transaction of the simulated stream."""
        while not self._expected.finished:
            row = next(self._rows, None)
            if row is None:
                return None
            number, (lsn, _, data) = row
            self._expected.add(self._decoder.decode(data), number, lsn)
        return self._expected.finished[0]

    def check_many(self, frames: Iterable[Frame]) -> Iterator[StreamFinding]:
        """Yield the findings of the next messages."""
        for frame in frames:
            yield from self.check(frame)

    @finder("PUB857", "PUB858")
    def end(self) -> Iterator[StreamFinding]:
        """Yield the findings of the end of the capture, and what differs from the script."""
        yield from self._verifier.end()
        for number, (lsn, _, data) in self._rows:
            self._expected.add(self._decoder.decode(data), number, lsn)
        expected, actual = list(self._expected.finished), list(self._actual.finished)
        found = list(differences(expected, actual, self._agreed))
        self._missing_items = {item.key: item for difference in found for item in _items_without(difference)}
        for difference in found:
            yield from self._of(difference)

    def _of(self, difference: Difference) -> Iterator[StreamFinding]:
        expected, actual = difference.expected, difference.actual
        if isinstance(expected, Group):
            for item in expected.items:
                yield self._missing(item, difference.near)
            if not expected.items:
                yield self._finding("PUB857", f"is missing: {_ending(expected)}", difference.near)
        elif isinstance(actual, Group):
            for item in actual.items:
                yield self._unexpected(item)
            if not actual.items:
                yield self._finding("PUB858", f"{_ending(actual)} is not what the script gives", actual.number)
        elif expected is not None and actual is not None:
            text = f"is {actual}, but the script gives {expected}{self._statement(expected)}"
            yield self._finding("PUB858", text, actual.number, actual)
        elif expected is not None:
            yield self._missing(expected, difference.near)
        elif actual is not None:
            yield self._unexpected(actual)

    def _missing(self, item: Item, near: int) -> StreamFinding:
        text = f"is missing: {item}{self._statement(item)}"
        return self._finding("PUB857", text, near, item)

    def _unexpected(self, item: Item) -> StreamFinding:
        reason = self._reasons.get(item.number)
        elsewhere = self._missing_items.get(item.key)
        if reason is not None:
            why = f"it {reason}"
        elif elsewhere is not None:
            why = f"the script gives it in another place or transaction{self._statement(elsewhere)}"
        else:
            why = "no statement of the script gives it"
        return self._finding("PUB858", f"is not expected: {item}; {why}", item.number, item)

    def _statement(self, item: Item) -> str:
        line = None if item.lsn is None else self._simulation.line_at(item.lsn)
        return "" if line is None else f", by the statement in line {line} of the script"

    def _finding(self, rule: str, text: str, number: int, item: Item | None = None) -> StreamFinding:
        return StreamFinding(
            rule=rule,
            message=text,
            number=number,
            line=self._lines.get(number),
            object=None if item is None else item.object,
            operation=None if item is None else item.operation,
        )


def _items_without(difference: Difference) -> Sequence[Item]:
    """Return what the stream lacks at this place."""
    if difference.kind != "missing" or difference.expected is None:
        return ()
    return difference.expected.items if isinstance(difference.expected, Group) else (difference.expected,)


def _ending(group: Group) -> str:
    verb, *gid = group.end
    return f"{verb} {gid[0]!r}" if gid else f"an empty {verb}"


def verify_script(verifier: Verifier, simulation: Simulation, frames: Iterable[Frame]) -> Iterator[StreamFinding]:
    """Yield the findings about a stream, and what differs from the stream that a script makes."""
    checks = ScriptVerifier(verifier, simulation)
    yield from checks.check_many(frames)
    yield from checks.end()
