"""A stream against the expected one: transaction by transaction, and within these change by change.

Only what reaches a subscriber counts: relations are compared by name, and streamed transactions at their commit,
without what was rolled back. Transaction ids, OIDs, positions and times are those of a server and are not compared.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, Literal

from msgspec import Struct, field

from pubcheck.diagnostics import Operation
from pubcheck.stream import messages as wire
from pubcheck.verify.publisher import FIRST_DESCRIBED_TYPE
from pubcheck.verify.relations import shown
from pubcheck.verify.rows import Change


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
