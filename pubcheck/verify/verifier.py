"""Check a stream message by message: nothing is kept of a message except what later ones refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, Protocol

from msgspec import Struct

from pubcheck.diagnostics import Operation, Severity
from pubcheck.postgres.catalog.rows import Relation as Table
from pubcheck.postgres.replication.subscription_set import combine
from pubcheck.rulebook import finder
from pubcheck.stream import Decoder, whole
from pubcheck.stream import messages as wire
from pubcheck.stream.framing.rows import Frame, FramingError
from pubcheck.verify.in_c import InC
from pubcheck.verify.options import Options
from pubcheck.verify.protocol import Order
from pubcheck.verify.publisher import Publisher, Route
from pubcheck.verify.relations import described_types, matching, shown
from pubcheck.verify.rows import Acceptance, AcceptanceOfMany, Change, Problem, RouteCheck, listed
from pubcheck.verify.usual_changes import Form


class StreamFinding(Struct, frozen=True, kw_only=True):
    """What is wrong with a message. ``number`` counts messages from 1, ``kind`` is the message's name in PostgreSQL's
    documentation, ``offset`` the byte of a malformed message. ``object`` is the relation concerned."""

    rule: str
    message: str
    number: int
    kind: str | None = None
    lsn: int | None = None
    xid: int | None = None
    line: int | None = None
    offset: int | None = None
    severity: Severity | None = None
    assumption: str | None = None
    """The fact that this assumes; None if it is certain."""
    object: str | None = None
    operation: Operation | None = None
    publications: tuple[str, ...] = ()
    help: str | None = None


_KINDS: Mapping[type[wire.AnyMessage], str] = {
    wire.BeginPrepare: "Begin Prepare",
    wire.CommitPrepared: "Commit Prepared",
    wire.RollbackPrepared: "Rollback Prepared",
    wire.StreamStart: "Stream Start",
    wire.StreamStop: "Stream Stop",
    wire.StreamCommit: "Stream Commit",
    wire.StreamAbort: "Stream Abort",
    wire.StreamPrepare: "Stream Prepare",
}
_Named = tuple[Problem, "str | None", "Operation | None"]
"""A problem with the relation and the operation that it is about."""
_ROW_CHANGES = (wire.Insert, wire.Update, wire.Delete)
_OPERATIONS: Mapping[type[wire.AnyMessage], Operation] = {
    wire.Insert: "insert",
    wire.Update: "update",
    wire.Delete: "delete",
}
_VERSION_2 = (wire.StreamStart, wire.StreamStop, wire.StreamCommit, wire.StreamAbort)
_VERSION_3 = (wire.BeginPrepare, wire.Prepare, wire.CommitPrepared, wire.RollbackPrepared, wire.StreamPrepare)
_SECOND_VERSION, _THIRD_VERSION = 2, 3


class Checks(Protocol):
    """Takes the messages of a stream."""

    def check_many(self, frames: Iterable[Frame]) -> Iterator[StreamFinding]: ...

    def end(self) -> Iterator[StreamFinding]: ...


class _Described:
    """A relation as the stream has described it, with the checks of the ways in which it may be published."""

    __slots__ = ("_fitting", "acceptances", "acceptances_of_many", "checks", "message", "name", "open")

    def __init__(self, message: wire.Relation, checks: list[RouteCheck], *, is_open: bool) -> None:
        self.message, self.checks, self.open = message, checks, is_open
        self.name = shown(message.namespace, message.name)
        is_full = message.replica_identity == "f"
        self._fitting = fitting = [check for check in checks if len(check.names) == len(message.columns)]
        by_route = [check.acceptances(is_full=is_full) for check in fitting]
        self.acceptances = {
            kind: _any_of([acceptances[kind] for acceptances in by_route if kind in acceptances])
            for kind in _ROW_CHANGES
            if any(kind in acceptances for acceptances in by_route)
        }
        """Functions by kind of change; they return True for changes that are certainly right."""
        self.acceptances_of_many = {kind: _of_each(accepts) for kind, accepts in self.acceptances.items()}
        if len(fitting) == 1:
            self.acceptances_of_many |= fitting[0].acceptances_of_many(by_route[0], is_full=is_full)

    def forms_in_c(self, read: Callable[[Form], Any]) -> Mapping[bytes, Any]:
        """Return the forms of changes that are certainly right, as the module in C reads them."""
        if len(self._fitting) != 1:
            return {}
        return self._fitting[0].forms_in_c(read, self.acceptances, is_full=self.message.replica_identity == "f")


def _any_of(acceptances: Sequence[Acceptance]) -> Acceptance:
    if len(acceptances) == 1:
        return acceptances[0]
    return lambda message: any(accepts(message) for accepts in acceptances)


def _of_each(accepts: Acceptance) -> AcceptanceOfMany:
    return lambda messages: all(map(accepts, messages))


_AT_ONCE = 256
"""The number of messages checked at once. Many of them are alike even if changes of several relations take turns."""
_FEW = 4
"""Fewer messages are checked as fast one by one."""
_MANY_ALIKE = 8
"""Fewer changes of one kind of one relation are checked as fast row by row."""
_FEW_OTHERS = 16
"""If there are more changes that are not certainly right by their forms, the following ones are checked as fast without
C."""
_LONG = 256
"""The messages after which a stream is checked in C: to prepare that takes longer than to check so many."""
_CHANGES = frozenset((b"I", b"U", b"D"))
_STABLE = frozenset((b"B", b"C", *_CHANGES))
"""Letters of messages after which relations are what they were before. They are not sent in streamed blocks without a
transaction ID."""
_head_of = itemgetter(slice(6))


def _some(frames: Iterable[Frame]) -> Iterator[list[Frame]]:
    """Yield the messages of a capture, some at once, and those before a place at which it cannot be read."""
    rest = iter(frames)
    while True:
        some: list[Frame] = []
        try:
            some.extend(islice(rest, _AT_ONCE))
        except FramingError:
            yield some
            raise
        if not some:
            return
        yield some


class Verifier:
    """Checks the messages of one stream, in their order."""

    def __init__(self, publisher: Publisher, options: Options = Options(), locale: str | None = None) -> None:
        self._publisher, self._options, self._locale = publisher, options, locale
        self._publications = publisher.publications
        self._decoder = Decoder(options.streaming)
        self._decode = self._decoder.decode
        self._order = Order(publisher.major, options.origin)
        self._accept_change = self._order.accept_change
        self._at_ends: Mapping[type[wire.AnyMessage], Callable[[Any, int | None, int | None], bool]] = {
            wire.Begin: self._order.accept_begin,
            wire.Commit: self._order.accept_commit,
        }
        self._described: dict[int, _Described] = {}
        self._acceptances: dict[type[wire.AnyMessage], dict[int, Acceptance]] = {kind: {} for kind in _ROW_CHANGES}
        """Those of the described relations, by kind of change and OID."""
        self._by_transaction: dict[int, dict[int, _Described]] = {}
        """Relations that streamed transactions described: the others know them only once these have committed."""
        self._types: dict[int, wire.Type] = {}
        self._new_types: list[int] = []
        self._undescribed: set[int] = set()
        self._route_checks: dict[int, RouteCheck] = {}
        self._number = 0
        self._in_c: InC | None = None
        """None for the first messages of a stream, and without the module in C."""
        self.last: wire.AnyMessage | None = None
        """The last message, unless it was malformed."""

    def check(self, frame: Frame) -> Sequence[StreamFinding]:
        """Return the findings of the next message."""
        self._number += 1
        lsn, xid, data, _ = frame
        try:
            message = self.last = self._decode(data)
        except wire.Malformed as malformed:
            self.last = None
            return [self._malformed(frame, malformed)]
        kind = message.__class__
        acceptances = self._acceptances.get(kind)
        if acceptances is None:
            is_in_place = self._at_ends.get(kind)
            if is_in_place is not None and is_in_place(message, lsn, xid):
                return ()
        elif self._accept_change(message, lsn, xid):  # type: ignore[arg-type]
            accepts = acceptances.get(message.relation) if message.xid is None else self._streamed_acceptance(message)  # type: ignore[union-attr, arg-type]
            if accepts is not None and accepts(message):
                return ()
        return self._findings(frame, message)

    def check_many(self, frames: Iterable[Frame]) -> Iterator[StreamFinding]:
        """Yield the findings of the next messages. They are those of `check`, but take less time, because changes of
        one kind of one relation are checked in C or column by column."""
        for some in _some(frames):
            if self._in_c is not None:
                yield from self._check_in_c(self._in_c, some)
                continue
            yield from self._check_some(some)
            if whole.COMPILED is not None and self._number >= _LONG:
                self._in_c = InC(whole.COMPILED, self._order)
                for oid, relation in self._described.items():
                    self._in_c.describe(oid, relation.forms_in_c(self._in_c.read_form))

    def _check_in_c(self, in_c: InC, frames: list[Frame]) -> Iterator[StreamFinding]:
        """Yield the findings of messages, of which most are certainly right."""
        place = others = 0
        while place < len(frames):
            if not self._decoder.in_block:
                count, is_certain = in_c.take_changes(frames, place)
                if is_certain:
                    self._number += count
                else:
                    yield from self._check_some(frames[place : place + count])
                place += count
                if place == len(frames):
                    break
                if in_c.take_end(frames[place]):
                    self._number += 1
                    place += 1
                    continue
            others += frames[place].data[:1] in _CHANGES
            if others > _FEW_OTHERS or in_c.lacks_form(frames[place].data):
                yield from self._check_some(frames[place:])
                break
            yield from self.check(frames[place])
            place += 1

    def _check_some(self, frames: Sequence[Frame]) -> Iterator[StreamFinding]:
        data = [frame.data for frame in frames]
        heads = list(map(_head_of, data))
        letters = {head[:1] for head in {*heads}}
        if letters <= _STABLE:
            is_bulk = len(frames) >= _FEW and not self._decoder.in_block
            messages = self._certain_messages(list(map(self._decoder.peek, data)), heads) if is_bulk else ()
            if not (messages and letters <= _CHANGES and all(messages) and self._accept_places(frames)):
                yield from self._check_in_turn(frames, messages)
        elif letters & _STABLE:
            for _, part in groupby(frames, lambda frame: frame.data[:1] in _STABLE):
                yield from self._check_some(list(part))
        else:
            for frame in frames:
                yield from self.check(frame)

    def _accept_places(self, frames: Sequence[Frame]) -> bool:
        """Take changes into the state and return True if all are certainly in their places."""
        lsns, xids, _, _ = zip(*frames, strict=True)
        accepted = self._order.accept_changes(lsns, xids)
        self._number += len(frames) if accepted else 0
        return accepted

    def _check_in_turn(
        self, frames: Sequence[Frame], messages: Sequence[wire.AnyMessage | None]
    ) -> Iterator[StreamFinding]:
        """Yield the findings of messages. ``messages`` are those among them that are certainly right, apart from their
        places."""
        one_by_one = iter(frames)
        for message, frame in zip(messages, one_by_one, strict=False):
            if message is None:
                yield from self.check(frame)
                if self._decoder.in_block:
                    break
            else:
                self._number += 1
                accept = self._at_ends.get(message.__class__, self._accept_change)
                if not accept(message, frame.lsn, frame.xid):
                    yield from self._findings(frame, message)
        for frame in one_by_one:
            yield from self.check(frame)

    def _certain_messages(
        self, messages: Sequence[wire.AnyMessage | None], heads: Sequence[bytes]
    ) -> Sequence[wire.AnyMessage | None]:
        """Replace changes that are not certainly right by None, without regard to their places in the stream.

        Changes with equal ``heads`` have the same kind and relation."""
        by_head: dict[bytes, list[Change]] = {}
        for head, message in zip(heads, messages, strict=True):
            if message.__class__ in _ROW_CHANGES:
                by_head.setdefault(head, []).append(message)
        certain = {head: self._certain_changes(alike) for head, alike in by_head.items()}
        if all(certain[head] is alike for head, alike in by_head.items()):
            return messages
        following = {head: iter(alike) for head, alike in certain.items()}
        return [
            next(following[head]) if message.__class__ in _ROW_CHANGES else message
            for head, message in zip(heads, messages, strict=True)
        ]

    def _certain_changes(self, changes: Sequence[Change]) -> Sequence[Change | None]:
        """Do the same for changes of one kind and one relation."""
        if len(changes) >= _MANY_ALIKE:
            described = self._described.get(changes[0].relation)
            accepts = None if described is None else described.acceptances_of_many.get(changes[0].__class__)
            if accepts is not None and accepts(changes):
                return changes
        elif all(map(self._is_right, changes)):
            return changes
        return [change if self._is_right(change) else None for change in changes]

    def _is_right(self, change: Change) -> bool:
        accepts = self._acceptances[change.__class__].get(change.relation)
        return accepts is not None and accepts(change)

    def _findings(self, frame: Frame, message: wire.AnyMessage) -> list[StreamFinding]:
        return [
            self._finding(frame, message, problem, name, operation)
            for problem, name, operation in self._problems(message, frame.lsn, frame.xid)
        ]

    def _streamed_acceptance(self, message: Change) -> Acceptance | None:
        described = self._find(message.relation)
        return None if described is None else described.acceptances.get(message.__class__)

    def _describe(self, described: Mapping[int, _Described]) -> None:
        """Take relations as changes outside streamed blocks know them."""
        self._described.update(described)
        for oid, relation in described.items():
            for kind, acceptances in self._acceptances.items():
                acceptances.pop(oid, None)
                if kind in relation.acceptances:
                    acceptances[oid] = relation.acceptances[kind]
            if self._in_c is not None:
                self._in_c.describe(oid, relation.forms_in_c(self._in_c.read_form))

    @finder("PUB850")
    def _malformed(self, frame: Frame, malformed: wire.Malformed) -> StreamFinding:
        return StreamFinding(
            rule="PUB850",
            message=f"is malformed: {malformed}",
            number=self._number,
            lsn=frame.lsn,
            xid=frame.xid,
            line=frame.place.line,
            offset=malformed.offset,
        )

    def _finding(
        self, frame: Frame, message: wire.AnyMessage, problem: Problem, name: str | None, operation: Operation | None
    ) -> StreamFinding:
        return StreamFinding(
            rule=problem.rule,
            message=problem.text,
            number=self._number,
            kind=kind_of(message),
            lsn=frame.lsn,
            xid=frame.xid,
            line=frame.place.line,
            severity=problem.severity,
            assumption=problem.assumption,
            object=name,
            operation=operation,
            publications=problem.publications,
            help=problem.help or None,
        )

    def end(self) -> Iterator[StreamFinding]:
        """Yield the findings of the end of the capture."""
        for problem in self._order.end():
            yield StreamFinding(rule=problem.rule, message=problem.text, number=self._number, severity=problem.severity)

    def _problems(self, message: wire.AnyMessage, lsn: int | None, xid: int | None) -> Iterator[_Named]:
        for problem in self._of_options(message):
            yield problem, None, None
        for problem in self._order.check(message, lsn, xid):
            yield problem, None, None
        if isinstance(message, Change):
            yield from self._change(message)
        elif isinstance(message, wire.Relation):
            yield from self._relation(message)
        elif isinstance(message, wire.Type):
            self._types[message.oid] = message
            self._new_types.append(message.oid)
        elif isinstance(message, wire.Truncate):
            yield from self._truncate(message)
        elif isinstance(message, wire.StreamCommit | wire.StreamPrepare):
            self._describe(self._by_transaction.pop(message.xid, {}))
        elif isinstance(message, wire.StreamAbort) and message.xid == message.subxid:
            self._by_transaction.pop(message.xid, None)

    # Options.

    @finder("PUB852", "PUB859")
    def _of_options(self, message: wire.AnyMessage) -> Iterator[Problem]:
        options = self._options
        version = options.proto_version
        if version is not None:
            needed = 1
            if isinstance(message, _VERSION_2):
                needed = _SECOND_VERSION
            elif isinstance(message, _VERSION_3):
                needed = _THIRD_VERSION
            if version < needed and not self._is_stray(message):
                if needed == _THIRD_VERSION:
                    text = f"is of protocol version 3, but version {version} was requested"
                    why = "A slot created with two_phase sends prepared transactions whatever version is requested."
                    yield Problem("PUB859", text, why)
                else:
                    yield Problem("PUB852", f"is of protocol version {needed}, but version {version} was requested")
                return
        if options.streaming == "off" and isinstance(message, wire.StreamStart):
            yield Problem("PUB852", "begins a streamed block, but the stream was requested without streaming")
        if isinstance(message, wire.StreamAbort) and options.streaming in ("on", "parallel"):
            long = message.abort_lsn is not None
            if long != (options.streaming == "parallel"):
                has = "has" if long else "lacks"
                yield Problem("PUB852", f"{has} position and time, but streaming = {options.streaming} was requested")
        if options.messages is False and isinstance(message, wire.Message):
            yield Problem("PUB852", "is a logical message, but the stream was requested without messages")
        if options.binary is False and isinstance(message, Change):
            rows = (getattr(message, "new", None), getattr(message, "old", None))
            if any(isinstance(value, bytes) for row in rows if row is not None for value in row):
                yield Problem("PUB852", "has a binary value, but the stream was requested without binary")

    def _is_stray(self, message: wire.AnyMessage) -> bool:
        return isinstance(message, wire.StreamAbort) and message.xid not in self._order.streamed

    # Relations.

    def _relation(self, message: wire.Relation) -> Iterator[_Named]:
        routes, problem = matching(self._publisher, message, self._types, self._publications)
        # Most partitions are alike.
        checks = {check.signature: check for check in map(self._check_of, routes)}
        described = _Described(message, list(checks.values()), is_open=not routes)
        block = self._order.block
        if block is None:
            self._describe({message.oid: described})
        else:
            self._by_transaction.setdefault(block, {})[message.oid] = described
        if problem is not None:
            yield problem, described.name, None
        elif list(described_types(message)) != self._new_types:
            text = "is not preceded by a Type message for each column of a type that is not built in"
            yield Problem("PUB853", text), described.name, None
        self._new_types.clear()

    def _check_of(self, route: Route) -> RouteCheck:
        check = self._route_checks.get(id(route))
        if check is None:
            check = self._route_checks[id(route)] = RouteCheck(
                route, self._locale, only_text=self._options.binary is False
            )
        return check

    def _find(self, oid: int) -> _Described | None:
        block = self._order.block
        if block is not None:
            described = self._by_transaction.get(block, {}).get(oid)
            if described is not None:
                return described
        return self._described.get(oid)

    def _missing(self, oid: int) -> Iterator[_Named]:
        if oid in self._undescribed:
            return
        self._undescribed.add(oid)
        if self._order.continued:
            text = f"is about the relation with OID {oid}, which was described before the capture began: not checked"
            yield Problem("PUB853", text, severity="note"), None, None
        else:
            text = f"is about the relation with OID {oid}, which no Relation message has described"
            yield Problem("PUB853", text), None, None

    # Changes.

    def _change(self, message: Change) -> Iterator[_Named]:
        described = self._find(message.relation)
        if described is None:
            yield from self._missing(message.relation)
            return
        name, operation = described.name, _OPERATIONS[type(message)]
        relation = described.message
        rows = [row for row in (getattr(message, "old", None), getattr(message, "new", None)) if row is not None]
        kind = getattr(message, "old_kind", None)
        for row in rows:
            if len(row) != len(relation.columns):
                text = f"has {len(row)} values, but {name} was described with {len(relation.columns)} columns"
                yield Problem("PUB855", text), name, operation
                return
        if kind is not None and (kind == "O") != (relation.replica_identity == "f"):
            text = f"has an old row of kind {kind}, but {name} has replica identity {relation.replica_identity!r}"
            yield Problem("PUB855", text), name, operation
        if not described.open:
            for problem in self._of_routes(described, message):
                yield problem, name, operation

    @finder("PUB854")
    def _of_routes(self, described: _Described, message: Change) -> list[Problem]:
        """The problems by the route that has the fewest; none if there is a route without any."""
        fewest: list[Problem] | None = None
        for check in described.checks:
            if check.route.published is None:
                continue
            if len(described.message.columns) != len(check.names):
                return []  # reported with the Relation message
            problems = list(check.problems(message))
            if not problems:
                return problems
            if fewest is None or len(problems) < len(fewest):
                fewest = problems
        if fewest is None:
            root = _arrives_as(described.checks[0].route)
            names = self._publications
            text = f"must be sent under {root}, its partitioned table" if root else f"is not sent by {listed(names)}"
            return [Problem("PUB854", text, publications=names)]
        return fewest if all(check.route.certain for check in described.checks) else []

    def _truncate(self, message: wire.Truncate) -> Iterator[_Named]:
        for oid in message.relations:
            described = self._find(oid)
            if described is None:
                yield from self._missing(oid)
            elif not described.open and not any(check.truncates for check in described.checks):
                names = self._publications
                text = f"is not sent for {described.name}: {listed(names)} does not publish truncate of it"
                yield Problem("PUB854", text, publications=names), described.name, "truncate"
        if len(set(message.relations)) != len(message.relations):
            yield Problem("PUB851", "names a relation twice"), None, "truncate"


def kind_of(message: wire.AnyMessage) -> str:
    """Return the name of a message in PostgreSQL's documentation."""
    return _KINDS.get(type(message), type(message).__name__)


def _arrives_as(route: Route) -> str | None:
    """Return the relation under which a partition's changes come, for a route that only describes the partition."""
    state = route.state
    published = combine(state.catalog, state.asked(), route.target.oid)
    if published is None or published.arrives_as == route.target.oid:
        return None
    root: Table = state.catalog.relations[published.arrives_as]
    return shown(state.catalog.namespaces[root.namespace].name, root.name)
