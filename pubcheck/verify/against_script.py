"""A stream against its script, which was run on a simulated server: the messages that are missing, and those that no
statement gives. They are compared transaction by transaction, and within these change by change.

Only what reaches a subscriber counts: relations are compared by name, and streamed transactions at their commit,
without what was rolled back. Transaction ids, OIDs, positions and times are those of a server and are not compared.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from struct import Struct as Layout
from tempfile import SpooledTemporaryFile
from typing import Any, Literal
from weakref import finalize

from msgspec import Struct, field

from pubcheck.diagnostics import Operation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.session import Session
from pubcheck.rulebook import finder
from pubcheck.simulate.database import Request, run
from pubcheck.simulate.decoding.slot import Row
from pubcheck.simulate.script import Step
from pubcheck.stream import Decoder
from pubcheck.stream import messages as wire
from pubcheck.stream.framing.rows import Frame
from pubcheck.verify.publisher import FIRST_DESCRIBED_TYPE, Publisher, State
from pubcheck.verify.relations import shown
from pubcheck.verify.rows import Change
from pubcheck.verify.verifier import StreamFinding, Verifier


class Item(Struct, frozen=True):
    """A change that reaches subscribers. ``key`` is equal for equal changes; ``number`` is that of its message, and
    ``lsn`` the position that the slot gave with it."""

    key: tuple[object, ...]
    number: int
    lsn: int | None
    subtransaction: int | None = None
    object: str | None = None
    operation: Operation | None = None

    def __str__(self) -> str:
        return described(self.key)


class Group(Struct):
    """A transaction, or a message outside of transactions: its end, and its changes."""

    end: tuple[object, ...]
    items: list[Item] = field(default_factory=list)
    number: int = 0
    lsn: int | None = None
    has_rolled_back: bool = False
    """Whether a part of it was sent and rolled back. Logical messages of that part bear the id of the whole
    transaction (pgoutput_message), so they cannot be left out."""

    @property
    def key(self) -> tuple[object, ...]:
        return (self.end, *(item.key for item in self.items))


class Groups:
    """Collects the messages of a stream by transaction; ``finished`` are the transactions that have ended."""

    def __init__(self) -> None:
        self.finished: deque[Group] = deque()
        self._names: dict[int, str] = {}
        self._columns: dict[int, tuple[wire.Column, ...]] = {}
        self._open: Group | None = None
        self._streamed: dict[int, Group] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no transaction is open or waits to be compared."""
        return not (self.finished or self._streamed or self._open)

    def add(self, message: wire.AnyMessage, number: int, lsn: int | None) -> None:
        """Take the next message."""
        if isinstance(message, wire.Relation):
            self._names[message.oid] = shown(message.namespace, message.name)
            self._columns[message.oid] = message.columns
        elif isinstance(message, wire.Begin | wire.BeginPrepare):
            self._open = Group(("transaction",))
        elif isinstance(message, wire.StreamStart):
            self._open = self._streamed.setdefault(message.xid, Group(("transaction",)))
        elif isinstance(message, wire.StreamStop):
            self._open = None
        elif isinstance(message, wire.StreamAbort):
            self._abort(message)
        elif isinstance(message, wire.Commit | wire.Prepare):
            self._end(self._open, message, number, lsn)
            self._open = None
        elif isinstance(message, wire.StreamCommit | wire.StreamPrepare):
            self._end(self._streamed.pop(message.xid, None), message, number, lsn)
        elif isinstance(message, wire.CommitPrepared | wire.RollbackPrepared):
            verb = "commit prepared" if isinstance(message, wire.CommitPrepared) else "rollback prepared"
            self.finished.append(Group((verb, message.gid), [], number, lsn))
            if isinstance(message, wire.RollbackPrepared):
                self._undo(message.gid)
        else:
            self._change(message, number, lsn)

    def _abort(self, message: wire.StreamAbort) -> None:
        if message.subxid == message.xid:
            self._streamed.pop(message.xid, None)
        elif message.xid in self._streamed:
            group = self._streamed[message.xid]
            group.items = [item for item in group.items if item.subtransaction != message.subxid]
            group.has_rolled_back = True

    def _undo(self, gid: str) -> None:
        """Take the changes out of a prepared transaction: how many were sent depends on when they were decoded."""
        for group in reversed(self.finished):
            if group.end == ("prepare", gid):
                group.items.clear()
                return

    def _end(self, group: Group | None, message: wire.AnyMessage, number: int, lsn: int | None) -> None:
        if group is None:
            return
        group.number, group.lsn = number, lsn
        if isinstance(message, wire.Prepare | wire.StreamPrepare):
            group.end = ("prepare", message.gid)
        # Prepared and streamed transactions are sent even if they are empty.
        if group.items or group.end != ("transaction",):
            self.finished.append(group)

    def _change(self, message: wire.AnyMessage, number: int, lsn: int | None) -> None:
        item = self._item(message, number, lsn)
        if item is None:
            return
        if isinstance(message, wire.Message) and not message.transactional:
            self.finished.append(Group(("message",), [item], number, lsn))
        elif self._open is not None:
            self._open.items.append(item)

    def _item(self, message: wire.AnyMessage, number: int, lsn: int | None) -> Item | None:
        xid = getattr(message, "xid", None)
        if isinstance(message, wire.Message):
            return Item(("Message", message.prefix, message.content), number, lsn, xid)
        if isinstance(message, wire.Truncate):
            names = tuple(sorted(self._name(oid) for oid in message.relations))
            key = ("Truncate", names, message.cascade, message.restart_identity)
            return Item(key, number, lsn, xid, names[0] if names else None, "truncate")
        if isinstance(message, Change):
            name, columns = self._name(message.relation), self._columns.get(message.relation, ())
            old, new = (_named(columns, getattr(message, side, None)) for side in ("old", "new"))
            kind = type(message).__name__
            return Item((kind, name, old, new), number, lsn, xid, name, _OPERATIONS[kind])
        return None

    def _name(self, oid: int) -> str:
        return self._names.get(oid, f"relation {oid}")


_OPERATIONS: dict[str, Operation] = {"Insert": "insert", "Update": "update", "Delete": "delete"}
_Values = tuple[tuple[str, object], ...]


def _named(columns: Sequence[wire.Column], row: wire.Row | None) -> _Values | None:
    if row is None:
        return None
    if len(columns) != len(row):
        return tuple((str(number), value) for number, value in enumerate(row, 1))
    return tuple((column.name, _comparable(column, value)) for column, value in zip(columns, row, strict=True))


def _comparable(column: wire.Column, value: wire.Value) -> object:
    """Binary arrays and composites hold OIDs of types, which are a server's own: only their length is compared."""
    if isinstance(value, bytes) and column.type_oid >= FIRST_DESCRIBED_TYPE:
        return len(value)
    return value


def described(key: tuple[Any, ...]) -> str:
    """Return a change as a message names it."""
    kind = key[0]
    if kind == "Message":
        return f"Message {key[1]!r}"
    if kind == "Truncate":
        return f"Truncate of {', '.join(key[1])}"
    old, new = key[2], key[3]
    parts = [f"old ({_texts(old)})"] if old is not None and new is not None else []
    parts.append(f"({_texts(new if new is not None else old)})")
    return f"{kind} of {key[1]} {' '.join(parts)}"


_LONGEST = 40


def _texts(values: _Values) -> str:
    texts = []
    for name, value in values:
        if value is not None:
            text = "unchanged" if value is wire.UNCHANGED_TOAST else str(value)
            texts.append(f"{name}={text if len(text) <= _LONGEST else text[: _LONGEST - 1] + '…'}")
    return ", ".join(texts)


Kind = Literal["missing", "unexpected", "differs"]


class Difference(Struct, frozen=True):
    """A difference between the streams. ``expected`` is None for what is unexpected, ``actual`` for what is missing; a
    group is a whole transaction."""

    kind: Kind
    expected: Item | Group | None
    actual: Item | Group | None
    near: int
    """The number of the message at which something is missing."""


def differences(expected: Sequence[Group], actual: Sequence[Group], before: int = 0) -> Iterator[Difference]:
    """Yield the differences, in the order of the stream. ``before`` is the number of the message before both."""
    last = 0
    for left, right in _blocks(expected, actual, lambda group: group.key):
        unpaired = list(right)
        for group in left:
            pair = next((other for other in unpaired if other.end == group.end), None)
            if pair is None:
                yield Difference("missing", group, None, last or _number_before(right, actual, before))
            else:
                unpaired.remove(pair)
                yield from _in_transaction(group, pair)
                last = pair.number
        for group in unpaired:
            yield Difference("unexpected", None, group, group.number)
            last = max(last, group.number)


def _number_before(right: Sequence[Group], actual: Sequence[Group], before: int) -> int:
    return right[0].number if right else actual[-1].number if actual else before


def _in_transaction(expected: Group, actual: Group) -> Iterator[Difference]:
    items = actual.items
    if actual.has_rolled_back:
        keys = {item.key for item in expected.items}
        items = [item for item in items if item.key[0] != "Message" or item.key in keys]
    for left, right in _blocks(expected.items, items, lambda item: item.key):
        unpaired = list(right)
        for item in left:
            pair = next((other for other in unpaired if other.key[:2] == item.key[:2]), None)
            if pair is None:
                yield Difference("missing", item, None, right[0].number if right else actual.number)
            else:
                unpaired.remove(pair)
                yield Difference("differs", item, pair, pair.number)
        for item in unpaired:
            yield Difference("unexpected", None, item, item.number)


def _blocks(
    left: Sequence[Any], right: Sequence[Any], key: Callable[[Any], object]
) -> Iterator[tuple[Sequence[Any], Sequence[Any]]]:
    """Yield the parts of two sequences that differ."""
    start = 0
    while start < len(left) and start < len(right) and key(left[start]) == key(right[start]):
        start += 1
    end = 0
    while end < min(len(left), len(right)) - start and key(left[-1 - end]) == key(right[-1 - end]):
        end += 1
    left, right = left[start : len(left) - end], right[start : len(right) - end]
    matcher = SequenceMatcher(None, [key(item) for item in left], [key(item) for item in right], autojunk=False)
    for tag, first, last, begin, stop in matcher.get_opcodes():
        if tag != "equal":
            yield left[first:last], right[begin:stop]


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
