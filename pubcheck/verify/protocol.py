"""The order of messages: which may follow which, and the positions and transaction ids that must agree.

Follows logical.c and pgoutput.c: transactions are sent in the order of their commits, each whole, except that large
ones in progress are sent in blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct, field

from pubcheck.postgres.versions import BY_NUMBER
from pubcheck.rulebook import finder
from pubcheck.stream import format_lsn
from pubcheck.stream import messages as wire
from pubcheck.verify.rows import Change, Problem

_CHANGES = (wire.Insert, wire.Update, wire.Delete)
_INSIDE = Change | wire.Truncate | wire.Relation | wire.Type | wire.Origin | wire.Commit | wire.Prepare
"""Messages that come inside a transaction."""
_ENDS = wire.Commit | wire.StreamCommit | wire.Prepare | wire.StreamPrepare | wire.CommitPrepared
_UNKNOWN_TRANSACTION = 0


class Streamed(Struct):
    """A transaction that is sent while it is in progress. ``aborted`` are its subtransactions that were rolled back;
    ``cut_off``: a block of it ends between the description of a relation and its change."""

    aborted: set[int] = field(default_factory=set)
    cut_off: bool = False


class Order:
    """The state of one stream. ``check`` yields the problems of a message and takes it into the state.

    The ``accept`` methods do this faster for messages that are certainly right."""

    def __init__(self, major: int, origin: str | None) -> None:
        """``origin`` is the option of that name."""
        self._features, self._wanted_origin = BY_NUMBER[major], origin
        self.begun: wire.Begin | wire.BeginPrepare | None = None
        """The transaction that is being sent, if it is not streamed."""
        self.inside_unknown = False
        """Whether the capture began inside the transaction that is being sent."""
        self.block: int | None = None
        """The transaction of the open block."""
        self.streamed: dict[int, Streamed] = {}
        self._gids: set[str] = set()
        self.continued = False
        """Whether the capture began later than the stream."""
        self._first = True
        self._previous: type[wire.AnyMessage] | None = None
        self._empty = False
        self._follows_change, self._xid = False, 0
        """Whether the last message was a change of this transaction, which is not streamed."""
        self._described: set[int] = set()
        """The relations described since the last change."""
        self._last_end = 0
        self._late_prepare: tuple[str, Problem] | None = None
        self._last_position = 0
        self._end = 0
        """The position at which the open transaction ends."""

    @property
    def xid(self) -> int | None:
        """The transaction to which the next change belongs; None if it is unknown."""
        return self.block if self.block is not None else self.begun.xid if self.begun is not None else None

    def accept_change(self, message: Change, lsn: int | None, xid: int | None) -> bool:
        """Take a change into the state and return True if it is certainly in its place.

        Fast for a change that follows another one of its transaction.
        """
        if self._follows_change and message.xid is None and (not xid or xid == self._xid):
            if not lsn:
                return True
            if self._last_position <= lsn < self._end:
                self._last_position = lsn
                return True
        return self._accept_after_any(message, lsn, xid)

    def _accept_after_any(self, message: Change, lsn: int | None, xid: int | None) -> bool:
        """Do the same for a change after any message."""
        if self._described:
            return False
        begun = self.begun
        if begun is None or message.xid is not None:
            block = self.block
            if block is None or message.xid is None or message.xid in self.streamed[block].aborted:
                return False
        elif lsn:
            if not self._last_position <= lsn < self._end:
                return False
            self._last_position = lsn
        if begun is not None:
            if xid and xid != begun.xid:
                return False
            self._follows_change, self._xid = message.xid is None, begun.xid
        self._empty = False
        self._previous = message.__class__
        return True

    def accept_changes(self, lsns: Sequence[int | None], xids: Sequence[int | None]) -> bool:
        """Take changes outside streamed blocks into the state and return True if all are certainly in their places.

        They must follow a change of their transaction. If not, return False and change nothing."""
        if not self._follows_change or not {*xids} <= {None, 0, self._xid}:
            return False
        positions = [lsn for lsn in lsns if lsn]
        if positions:
            if not self._last_position <= positions[0] or positions[-1] >= self._end or positions != sorted(positions):
                return False
            self._last_position = positions[-1]
        return True

    def place_of_changes(self) -> tuple[int, int, int] | None:
        """Return the transaction of the next changes outside streamed blocks, the first position at which they are
        certainly in their places, and the position after the last. None if there is no such place."""
        begun = self.begun
        return None if begun is None or self._described else (begun.xid, self._last_position, self._end)

    def take_changes(self, xid: int, position: int) -> None:
        """Take changes that are certainly in their places into the state. ``position`` is that of the last."""
        self._follows_change, self._xid = True, xid
        self._last_position, self._empty, self._previous = position, False, wire.Insert

    def accept_begin(self, message: wire.Begin, lsn: int | None, xid: int | None) -> bool:
        """Take a Begin into the state and return True if it is certainly in its place; otherwise change nothing."""
        if self._first or self.begun is not None or self.block is not None or self.inside_unknown:
            return False
        if self._late_prepare is not None or self._described or message.final_lsn < self._last_end:
            return False
        if xid and xid != message.xid:
            return False
        self.begun, self._empty, self._last_position, self._end = message, True, 0, message.final_lsn
        self._follows_change, self._previous = False, message.__class__
        return True

    def accept_commit(self, message: wire.Commit, lsn: int | None, xid: int | None) -> bool:
        """Take a Commit into the state and return True if it is certainly in its place; otherwise change nothing."""
        begun, position = self.begun, message.commit_lsn
        if begun.__class__ is not wire.Begin or self._empty or self._described or self._late_prepare is not None:
            return False
        if position != begun.final_lsn or message.commit_time != begun.commit_time:
            return False
        if not self._last_end <= position < message.end_lsn or (lsn and lsn != message.end_lsn):
            return False
        self.begun, self.inside_unknown, self._last_end = None, False, message.end_lsn
        self._follows_change, self._previous = False, message.__class__
        return True

    @finder("PUB851")
    def check(self, message: wire.AnyMessage, lsn: int | None, xid: int | None) -> Iterator[Problem]:
        self._follows_change = False
        if self._first:
            self._first = False
            yield from self._begin_of_capture(message)
        if self._late_prepare is not None:
            gid, problem = self._late_prepare
            self._late_prepare = None
            if not (isinstance(message, wire.CommitPrepared) and message.gid == gid):
                yield problem
        kind = type(message)
        if self._described and kind not in _MAY_FOLLOW_A_DESCRIPTION:
            self._described.clear()
            if kind is wire.StreamStop and self.block is not None:
                # Decoding stops wherever it notices that the transaction has been rolled back.
                self.streamed[self.block].cut_off = True
            elif kind is not wire.Prepare:
                yield _state("follows a Relation message, but no change of that table was sent")
        yield from _CHECKS[kind](self, message)
        yield from self._row_of_slot(message, lsn, xid)
        self._previous = kind

    def end(self) -> Iterator[Problem]:
        """Yield the problems of a capture that ends here."""
        if self._late_prepare is not None:
            yield self._late_prepare[1]
        if self.begun is not None or self.inside_unknown:
            yield _cut_off("is the last of the capture, which ends inside a transaction")
        elif self.block is not None:
            yield _cut_off("is the last of the capture, which ends inside a streamed block")

    def _begin_of_capture(self, message: wire.AnyMessage) -> Iterator[Problem]:
        inside = isinstance(message, _INSIDE)
        later = isinstance(message, wire.StreamStop | wire.StreamCommit | wire.StreamPrepare)
        if isinstance(message, wire.StreamAbort) and not self._features.skips_aborted:
            later = True
        if isinstance(message, wire.StreamStart) and not message.first_segment:
            later = True
        if inside or later:
            self.continued = True
            yield _cut_off("is the first of the capture, which begins inside a transaction")
        if isinstance(message, wire.StreamStop) or (inside and getattr(message, "xid", None) is not None):
            self.block = _UNKNOWN_TRANSACTION
            self.streamed[_UNKNOWN_TRANSACTION] = Streamed()
        elif inside:
            self.inside_unknown = True

    # Transactions.

    def _nothing_open(self) -> Iterator[Problem]:
        if self.begun is not None or self.inside_unknown:
            yield _state("comes inside a transaction, whose commit is missing")
        elif self.block is not None:
            yield _state("comes inside a streamed block, whose Stream Stop is missing")
        self.begun, self.block, self.inside_unknown = None, None, False

    def _begin(self, message: wire.Begin) -> Iterator[Problem]:
        yield from self._nothing_open()
        self.begun, self._empty, self._last_position, self._end = message, True, 0, message.final_lsn
        if message.final_lsn < self._last_end:
            yield _order("its commit position", message.final_lsn, self._last_end)

    def _commit(self, message: wire.Commit) -> Iterator[Problem]:
        begun = self.begun
        if isinstance(begun, wire.Begin):
            if message.commit_lsn != begun.final_lsn:
                yield _state(
                    f"commits at {format_lsn(message.commit_lsn)}, but its Begin says {format_lsn(begun.final_lsn)}"
                )
            elif message.commit_time != begun.commit_time:
                yield _state("has another commit time than its Begin")
            if self._empty:
                yield _state("ends a transaction without any change, which is never sent")
        elif begun is not None:
            yield _state("ends a transaction that was to be prepared")
        elif not self.inside_unknown:
            yield _state("ends a transaction, but none has begun")
        self.begun, self.inside_unknown = None, False
        yield from self._ends(message.commit_lsn, message.end_lsn)

    def _ends(self, lsn: int, end_lsn: int) -> Iterator[Problem]:
        """Transactions are sent in the order in which their last records are in the log."""
        if end_lsn <= lsn:
            yield _state(f"ends at {format_lsn(end_lsn)}, before its record begins at {format_lsn(lsn)}")
        elif lsn < self._last_end:
            yield _order("its position", lsn, self._last_end)
        self._last_end = max(self._last_end, end_lsn)

    def _begin_prepare(self, message: wire.BeginPrepare) -> Iterator[Problem]:
        yield from self._nothing_open()
        self.begun, self._empty, self._last_position, self._end = message, False, 0, message.prepare_lsn

    def _prepare(self, message: wire.Prepare) -> Iterator[Problem]:
        begun = self.begun
        if isinstance(begun, wire.BeginPrepare):
            for name in ("prepare_lsn", "end_lsn", "prepare_time", "xid", "gid"):
                if getattr(begun, name) != getattr(message, name):
                    yield _state(f"has another {name} than its Begin Prepare")
                    break
        elif begun is not None:
            yield _state("ends a transaction that was to be committed")
        elif not self.inside_unknown:
            yield _state("ends a prepared transaction, but none has begun")
        self.begun, self.inside_unknown = None, False
        yield from self._prepared(message)

    def _prepared(self, message: wire.Prepare | wire.StreamPrepare) -> Iterator[Problem]:
        if message.gid in self._gids:
            yield _state(f'prepares "{message.gid}", which is prepared already')
        self._gids.add(message.gid)
        if message.prepare_lsn < self._last_end:
            # Prepared before the slot decoded in two phases: then it is sent at its COMMIT PREPARED.
            self._late_prepare = message.gid, _order("its position", message.prepare_lsn, self._last_end)
        else:
            self._last_end = max(self._last_end, message.end_lsn)

    def _commit_prepared(self, message: wire.CommitPrepared) -> Iterator[Problem]:
        yield from self._finishes(message.gid, "commits")
        yield from self._ends(message.commit_lsn, message.end_lsn)

    def _rollback_prepared(self, message: wire.RollbackPrepared) -> Iterator[Problem]:
        yield from self._finishes(message.gid, "rolls back")
        if message.rollback_end_lsn <= self._last_end:
            yield _order("its position", message.rollback_end_lsn, self._last_end)
        self._last_end = max(self._last_end, message.rollback_end_lsn)

    def _finishes(self, gid: str, verb: str) -> Iterator[Problem]:
        yield from self._nothing_open()
        if gid not in self._gids and not self.continued:
            yield self._unknown_gid(f'{verb} "{gid}", which was not prepared')
        self._gids.discard(gid)

    def _unknown_gid(self, text: str) -> Problem:
        if self._wanted_origin == "none":
            why = "With origin = none the server skips the changes of other origins, but not the end of a transaction."
            return Problem("PUB859", text, why)
        if self._previous is None:
            self.continued = True
            return _cut_off(text + " in the capture")
        return _state(text)

    # Streamed transactions.

    def _stream_start(self, message: wire.StreamStart) -> Iterator[Problem]:
        yield from self._nothing_open()
        self.block = message.xid
        known = self.streamed.get(message.xid)
        if known is None:
            self.streamed[message.xid] = Streamed()
            if not message.first_segment and not self.continued:
                yield _state(f"continues transaction {message.xid}, of which no block was sent before")
        elif message.first_segment:
            yield _state(f"begins transaction {message.xid}, of which blocks were sent before")

    def _stream_stop(self, message: wire.StreamStop) -> Iterator[Problem]:
        if self.block is None:
            yield _state("ends a streamed block, but none is open")
        self.block = None

    def _stream_commit(self, message: wire.StreamCommit) -> Iterator[Problem]:
        yield from self._stream_ends(message.xid, "commits")
        yield from self._ends(message.commit_lsn, message.end_lsn)

    def _stream_prepare(self, message: wire.StreamPrepare) -> Iterator[Problem]:
        yield from self._stream_ends(message.xid, "prepares")
        yield from self._prepared(message)

    def _stream_ends(self, xid: int, verb: str) -> Iterator[Problem]:
        yield from self._nothing_open()
        streamed = self.streamed.pop(xid, None)
        if streamed is None:
            if not self.continued:
                yield _state(f"{verb} transaction {xid}, of which no block was sent")
        elif streamed.cut_off and not streamed.aborted:
            yield _state(f"{verb} transaction {xid}, but a change is missing after a Relation message")

    @finder("PUB859")
    def _stream_abort(self, message: wire.StreamAbort) -> Iterator[Problem]:
        yield from self._nothing_open()
        streamed = self.streamed.get(message.xid)
        if streamed is None:
            if self._features.skips_aborted:
                yield Problem(
                    "PUB859",
                    f"aborts transaction {message.xid}, of which no block was sent: PostgreSQL 18 sends this for a "
                    "rolled back transaction that exceeded logical_decoding_work_mem",
                    "Ignore a Stream Abort of a transaction that was not streamed.",
                )
            elif not self.continued:
                yield _state(f"aborts transaction {message.xid}, of which no block was sent")
        elif message.subxid == message.xid:
            del self.streamed[message.xid]
        elif message.subxid in streamed.aborted:
            yield _state(f"aborts subtransaction {message.subxid} again")
        else:
            streamed.aborted.add(message.subxid)

    # Inside transactions.

    def _change(self, message: Change | wire.Truncate) -> Iterator[Problem]:
        yield from self._inside(message)
        self._empty = False
        relations = message.relations if isinstance(message, wire.Truncate) else (message.relation,)
        if self._described and self._described.isdisjoint(relations):
            yield _state("follows the Relation message of another table, but no change of that table was sent")
        self._described.clear()

    def _relation(self, message: wire.Relation) -> Iterator[Problem]:
        yield from self._inside(message)
        if message.oid in self._described:
            yield _state("is sent twice for the same change")
        self._described.add(message.oid)

    def _type(self, message: wire.Type) -> Iterator[Problem]:
        yield from self._inside(message)

    def _inside(self, message: Any) -> Iterator[Problem]:
        if self.block is not None:
            if message.xid is None:
                yield _state("has no transaction id, although it is in a streamed block")
            elif message.xid in self.streamed[self.block].aborted:
                yield _state(f"belongs to subtransaction {message.xid}, which was rolled back")
        elif message.xid is not None:
            yield _state("has a transaction id, although it is not in a streamed block")
        elif self.begun is None and not self.inside_unknown:
            yield _state("comes outside of a transaction")
            self.inside_unknown = True

    def _message(self, message: wire.Message) -> Iterator[Problem]:
        if message.transactional:
            yield from self._inside(message)
            self._empty = False
        elif self.begun is not None or self.block is not None:
            yield _state("is a non-transactional message, but comes inside a transaction")

    def _origin(self, message: wire.Origin) -> Iterator[Problem]:
        if self._previous not in _BEFORE_AN_ORIGIN:
            yield _state("does not follow the begin of a transaction")

    # The position and transaction id that the slot's function or the walsender gives with each message.

    def _row_of_slot(self, message: wire.AnyMessage, lsn: int | None, xid: int | None) -> Iterator[Problem]:
        expected = None
        if isinstance(message, _ENDS):
            expected = message.end_lsn
        elif isinstance(message, wire.RollbackPrepared):
            expected = message.rollback_end_lsn
        elif lsn and self.begun is not None and isinstance(message, Change | wire.Truncate):
            if lsn >= self._end:
                yield _state(f"is at {format_lsn(lsn)}, after the end of its transaction at {format_lsn(self._end)}")
            elif lsn < self._last_position:
                yield _order("its position", lsn, self._last_position)
            self._last_position = lsn
        if lsn and expected is not None and lsn != expected:
            yield _state(f"is at {format_lsn(lsn)}, but ends at {format_lsn(expected)}")
        if xid and self.begun is not None and xid != self.begun.xid:
            yield _state(f"is of transaction {xid}, but comes inside transaction {self.begun.xid}")


def _state(text: str) -> Problem:
    return Problem("PUB851", text)


def _cut_off(text: str) -> Problem:
    return Problem("PUB851", text, severity="note")


def _order(subject: str, lsn: int, last: int) -> Problem:
    return Problem("PUB851", f"is out of order: {subject}, {format_lsn(lsn)}, is before {format_lsn(last)}")


_BEFORE_AN_ORIGIN = (None, wire.Begin, wire.BeginPrepare, wire.StreamStart)
_MAY_FOLLOW_A_DESCRIPTION = frozenset((wire.Relation, wire.Type, wire.Truncate, *_CHANGES))
_CHECKS: Mapping[type[wire.AnyMessage], Callable[[Order, Any], Iterator[Problem]]] = {
    wire.Begin: Order._begin,
    wire.Commit: Order._commit,
    wire.BeginPrepare: Order._begin_prepare,
    wire.Prepare: Order._prepare,
    wire.CommitPrepared: Order._commit_prepared,
    wire.RollbackPrepared: Order._rollback_prepared,
    wire.StreamStart: Order._stream_start,
    wire.StreamStop: Order._stream_stop,
    wire.StreamCommit: Order._stream_commit,
    wire.StreamPrepare: Order._stream_prepare,
    wire.StreamAbort: Order._stream_abort,
    wire.Insert: Order._change,
    wire.Update: Order._change,
    wire.Delete: Order._change,
    wire.Truncate: Order._change,
    wire.Relation: Order._relation,
    wire.Type: Order._type,
    wire.Message: Order._message,
    wire.Origin: Order._origin,
}
