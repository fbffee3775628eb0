"""Transactions and their ids, and which row versions a statement sees (access/transam/xact.c, heapam_visibility.c)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

IN_PROGRESS, ABORTED = -1, 0
"""States of a transaction id; a positive number is the place of its commit among all commits."""
FIRST_XID = 731


class Level:
    """A transaction, or a subtransaction, which begins at a savepoint.

    ``xid`` is 0 until it writes. ``kept`` are the ids of subtransactions that were released into it. ``mark`` is where
    the catalog's journal was, ``deferred`` the number of deferred checks that were queued before it.
    """

    __slots__ = ("deferred", "kept", "mark", "name", "timings", "xid")

    def __init__(self, name: str, mark: int, deferred: int = 0, timings: Mapping[str, bool] | None = None) -> None:
        self.name = name
        self.mark = mark
        self.xid = 0
        self.kept: list[int] = []
        self.deferred = deferred
        self.timings: Mapping[str, bool] = timings or {}

    def ids(self) -> list[int]:
        return [self.xid, *self.kept] if self.xid else []


class Transaction:
    """A transaction block of a session, or one statement outside of blocks (``implicit``)."""

    def __init__(self, mark: int, *, implicit: bool) -> None:
        self.levels = [Level("", mark)]
        self.implicit = implicit
        self.failed = False
        """Whether an error ended the current level; then only its end is accepted."""
        self.command = 0
        """The number of the current command, by which it does not see its own changes (cid)."""
        self.ids: set[int] = set()
        """The ids of the transaction and of its live subtransactions."""
        self.isolation = ""
        """"repeatable read" or "serializable"; otherwise each statement has a snapshot of its own."""
        self.horizon: int | None = None
        """The last commit that the snapshot sees, if it is one for the whole transaction."""
        self.deferred: list[tuple[str, Any]] = []
        """Checks of deferred constraints and deferred triggers, by the names of the constraints."""
        self.timings: Mapping[str, bool] = {}
        """By the name of a constraint ("" for all others) whether SET CONSTRAINTS deferred it."""
        self.origin_lsn = self.origin_time = 0
        self.gid: str | None = None
        """The identifier of a prepared transaction that is being ended."""
        self.used_temporary = False
        self.timestamp: int | None = None

    @property
    def top(self) -> int:
        return self.levels[0].xid

    def level_named(self, name: str) -> int | None:
        """The place of the newest savepoint of that name."""
        return next((level for level in range(len(self.levels) - 1, 0, -1) if self.levels[level].name == name), None)


class TransactionIds:
    """The next transaction id and the state of each."""

    def __init__(self) -> None:
        self.next = FIRST_XID
        self.states: dict[int, int] = {}
        self.commits = 0

    def assign(self, transaction: Transaction) -> int:
        """The id of the current level; it and its parents get one at the first write (AssignTransactionId)."""
        xid = transaction.levels[-1].xid
        if xid:
            return xid
        for level in transaction.levels:
            if not level.xid:
                level.xid = xid = self.next
                self.next += 1
                self.states[xid] = IN_PROGRESS
                transaction.ids.add(xid)
        return xid

    def commit(self, ids: list[int]) -> None:
        self.commits += 1
        for xid in ids:
            self.states[xid] = self.commits

    def oldest(self, horizon: int | None) -> int:
        """The oldest id that is in progress, or committed after ``horizon``; the next one if there is none."""
        running = (xid for xid, state in self.states.items() if state == IN_PROGRESS)
        if horizon is not None:
            running = (xid for xid, state in self.states.items() if state == IN_PROGRESS or state > horizon)
        return min(running, default=self.next)

    def abort(self, ids: list[int]) -> None:
        for xid in ids:
            self.states[xid] = ABORTED


class Snapshot:
    """What a statement sees: what was committed before it, and what its transaction's earlier commands did."""

    __slots__ = ("command", "horizon", "ids", "states")

    def __init__(self, states: dict[int, int], transaction: Transaction, horizon: int) -> None:
        self.states = states
        self.ids = transaction.ids
        self.command = transaction.command
        self.horizon = horizon

    def sees(self, version: Any) -> bool:
        """HeapTupleSatisfiesMVCC."""
        states = self.states
        state = states[version.xmin]
        if state == IN_PROGRESS:
            if version.xmin not in self.ids or version.cmin >= self.command:
                return False
        elif not 0 < state <= self.horizon:
            return False
        xmax = version.xmax
        if not xmax:
            return True
        state = states[xmax]
        if state == IN_PROGRESS:
            return xmax not in self.ids or version.cmax >= self.command
        return not 0 < state <= self.horizon
