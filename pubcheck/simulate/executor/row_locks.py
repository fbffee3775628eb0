"""Locks of rows: SELECT ... FOR UPDATE, the checks of foreign keys, updates and deletes (access/heap/heapam.c)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pubcheck.postgres.analysis.namespace_items import Item, Nested
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.heap import ABORTED, IN_PROGRESS, Version
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.server_state import Record

KEY_SHARE, SHARE, NO_KEY_UPDATE, UPDATE = range(4)
"""The strengths of locks. Two of different transactions exclude each other if their sum is 3 or more."""
_STRENGTHS = {
    "LCS_FORKEYSHARE": KEY_SHARE,
    "LCS_FORSHARE": SHARE,
    "LCS_FORNOKEYUPDATE": NO_KEY_UPDATE,
    "LCS_FORUPDATE": UPDATE,
}
_WAITS = "the statement waits for another transaction"


def is_held(session: Backend, version: Version, strength: int) -> bool:
    """Whether another open transaction has a lock of a row that excludes one of this strength."""
    states, own = session.database.xids.states, session.current.ids
    return any(
        held + strength > UPDATE - 1 and xid not in own and states[xid] == IN_PROGRESS
        for xid, held in version.locks.items()
    )


def take(session: Backend, version: Version, strength: int) -> None:
    """Lock a row. Raises NotFollowed where the server waits."""
    if is_held(session, version, strength):
        raise NotFollowed(_WAITS)
    xid = session.xid()
    version.locks[xid] = max(strength, version.locks.get(xid, KEY_SHARE))


def keep(session: Backend, old: Version, new: Version) -> None:
    """The new version of a row has the locks that open transactions had on the old one, the own one's too."""
    states = session.database.xids.states
    new.locks = {xid: held for xid, held in old.locks.items() if states[xid] == IN_PROGRESS}


def xmax_of(session: Backend, version: Version) -> int:
    """The system column xmax of a row that the statement wrote: not 0 if an update found the row locked, as ON CONFLICT
    DO UPDATE does."""
    if version.xmin not in session.current.ids or version.cmin < session.command:
        raise NotFollowed("xmax of a row that the statement did not write")
    return next(iter(version.locks), 0)


class RowMarks:
    """The FOR UPDATE clauses of a query, or others of their kind."""

    def __init__(self, session: Backend, level: Nested) -> None:
        self.session = session
        self._marks: list[tuple[int, Item, int, str]] = []
        for position, item in enumerate(level.entries):
            strength, policy = _mark_of(level.query.locking, item)
            if strength >= 0 and item.relation is not None and item.source is None:
                self._marks.append((position, item, strength, policy))

    def locked(self, row: Sequence[Any]) -> bool:
        """Lock what a row is made of. False where it is skipped because another transaction has a lock of it."""
        for position, item, strength, policy in self._marks:
            version = row[position]
            if not isinstance(version, Version):
                continue  # the other side of an outer join
            stored = version.base or version
            if is_held(self.session, stored, strength):
                if policy == "LockWaitSkip":
                    return False
                if policy == "LockWaitError":
                    assert item.relation is not None
                    name = item.relation.name
                    raise ServerError("55P03", f'could not obtain lock on row in relation "{name}"')
                raise NotFollowed(_WAITS)
            self._lock(stored, strength)
        return True

    def _lock(self, version: Version, strength: int) -> None:
        """heap_lock_tuple, which logs the lock unless the transaction has it already."""
        session = self.session
        state = session.database.xids.states.get(version.xmax, ABORTED) if version.xmax else ABORTED
        if state > 0:
            if session.current.isolation:
                raise ServerError("40001", "could not serialize access due to concurrent update")
            raise NotFollowed("a row that another transaction has just changed")
        own = session.current.ids
        if any(xid in own and held >= strength for xid, held in version.locks.items()):
            return
        take(session, version, strength)
        session.append(Record, 14)


def _mark_of(clauses: list[Node], item: Item) -> tuple[int, str]:
    """The strongest lock that the clauses ask for an entry, -1 for none, and what is done if it cannot be had."""
    strength, policies = -1, set()
    for wrapped in clauses:
        clause = wrapped["LockingClause"]
        names = [relation["RangeVar"]["relname"] for relation in clause.get("lockedRels", ())]
        if not names or item.name in names:
            strength = max(strength, _STRENGTHS[clause["strength"]])
            policies.add(clause.get("waitPolicy", "LockWaitBlock"))
    order = ("LockWaitError", "LockWaitSkip")
    return strength, next((policy for policy in order if policy in policies), "LockWaitBlock")


def locked_rows(marks: RowMarks, rows: Iterator[tuple[Any, ...]], most: int | None) -> Iterator[tuple[Any, ...]]:
    """Lock rows, at most ``most`` of them. Each row ends with the row versions that it was made from."""
    count = 0
    for row in rows:
        if most is not None and count >= most:
            return
        if marks.locked(row[-1]):
            count += 1
            yield row[:-1]
