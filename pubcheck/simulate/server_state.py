"""The state of a simulated server that its sessions share: the catalog, with copies of it that never change, rows,
transaction ids, the log."""

from __future__ import annotations

import copy
from collections.abc import Callable
from random import Random
from typing import Any, Protocol, TypeVar

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.journaled_dict import ABSENT, Heap, Journal, Multimap
from pubcheck.postgres.versions import MAJORS
from pubcheck.simulate.heap import Storage, TransactionIds
from pubcheck.simulate.log import CatalogVersion, Log, Record
from pubcheck.simulate.sequence_state import SequenceState

Entry = tuple[dict[Any, Any], Any, Any]


class CatalogCopies:
    """Versions of a catalog. One copy serves until something is changed; settings and ``apart`` (the ids of other
    dictionaries in the same journal) are not part of a version.
    """

    def __init__(self, catalog: Catalog, apart: set[int]) -> None:
        self._catalog = catalog
        self._apart = {*apart, id(catalog.settings), id(catalog.gone)}
        self._seen = (0, 0)
        self._number = 0
        self._current: CatalogVersion | None = None

    def is_definition(self, entry: Entry) -> bool:
        """Whether an entry of the journal changes the catalog proper."""
        return id(entry[0]) not in self._apart

    def current(self) -> CatalogVersion:
        journal = self._catalog.journal
        state = (len(journal.entries), journal.undos)
        if self._current is not None and state == self._seen:
            return self._current
        unchanged = (
            self._current is not None
            and state[1] == self._seen[1]
            and state[0] > self._seen[0]
            and not any(map(self.is_definition, journal.entries[self._seen[0] :]))
        )
        self._seen = state
        if not unchanged or self._current is None:
            self._number += 1
            self._current = CatalogVersion(self._number, frozen_copy(self._catalog))
        return self._current

    def journal_cleared(self) -> None:
        """Note that the journal was emptied, while the catalog stayed as it is."""
        self.current()
        self._catalog.journal.clear()
        self._seen = (0, self._catalog.journal.undos)

    def note_change(self) -> None:
        """Note that the catalog was changed without the journal."""
        self._current = None


def frozen_copy(catalog: Catalog) -> Catalog:
    """A copy that shares the rows, which are immutable."""
    clone: Any = copy.copy(catalog)
    journal = Journal()
    for name, value in vars(catalog).items():
        if isinstance(value, Heap):
            heap: Heap[Any, Any] = Heap(journal)
            dict.update(heap, value)
            setattr(clone, name, heap)
        elif isinstance(value, Multimap):
            multimap: Multimap[Any, Any] = Multimap(journal)
            multimap.groups = {
                key: dict(group) if type(group) is dict else group for key, group in value.groups.items()
            }
            setattr(clone, name, multimap)
    clone.journal = journal
    result: Catalog = clone
    return result


Parked = list[tuple[dict[Any, Any], Any, Any, Any]]


def park(catalog: Catalog) -> Parked:
    """Undo all changes in the journal, and return what ``unpark`` restores them from."""
    parked: Parked = []
    entries = catalog.journal.entries
    while entries:
        heap, key, former = entries[-1]
        now = dict.get(heap, key, ABSENT)
        catalog.journal.undo(len(entries) - 1)
        parked.append((heap, key, former, now))
    catalog.journal.undone.clear()
    parked.reverse()
    return parked


def unpark(catalog: Catalog, parked: Parked, put: Callable[[Entry], None]) -> None:
    for heap, key, former, now in parked:
        if now is ABSENT:
            dict.pop(heap, key, None)
        else:
            dict.__setitem__(heap, key, now)
        put((heap, key, former))


R = TypeVar("R", bound=Record)

_FIRST_POSITION = 0x1500028
_RECORD_HEADER = 24
SECOND = 1_000_000
EPOCH = 820_540_800 * SECOND
"""2026-01-01 in microseconds since 2000: the time of the first commit, if no clock is given."""


class Connection(Protocol):
    """What the server needs of a session."""

    name: str
    origin: int

    def park(self) -> None:
        """Undo uncommitted definitions, so that another session can run."""

    def unpark(self) -> None:
        """Restore them."""

    @property
    def has_uncommitted_definitions(self) -> bool:
        """Whether ``park`` undid some."""
        ...


class ServerState:
    """One database of one major, without the means to connect to it: see ``Database``."""

    def __init__(self, major: int, clock: Callable[[], int] | None, seed: int | None = None) -> None:
        if major not in MAJORS:
            raise ValueError(f"PostgreSQL {major} is not one of the supported versions: {MAJORS}")
        self.major = major
        self.catalog = Catalog(major)
        self.catalog.keeps_definitions = True
        self.clock = clock
        self.random = None if seed is None else Random(seed)
        """Makes up the values of random() and its like."""
        self.log = Log()
        self.listeners: list[Callable[[Record], None]] = []
        self.xids = TransactionIds()
        self.logged: set[int] = set()
        """The transaction ids that the log has."""
        journal = self.catalog.journal
        self.storage: Heap[int, Storage] = Heap(journal)
        """The rows of each table; TRUNCATE and rewrites give it another one."""
        self.sequences: Heap[int, SequenceState] = Heap(journal)
        """The state of each sequence; a restart gives it another one."""
        self.prepared: dict[str, Any] = {}
        self.advisory_locks: list[Any] = []
        self.versions = CatalogCopies(self.catalog, {id(self.storage), id(self.sequences)})
        self.sessions: dict[str, Any] = {}
        self.active: Connection | None = None
        self._position = _FIRST_POSITION
        self._ticks = 0

    def activate(self, session: Connection) -> None:
        """Make the catalog what a session sees: with its own uncommitted definitions, without those of others."""
        if self.active is session:
            return
        if self.active is not None:
            self.active.park()
        self.active = session
        session.unpark()

    def close(self, session: Connection) -> None:
        self.sessions.pop(session.name, None)

    # The log.

    def time(self) -> int:
        """The time of a commit."""
        if self.clock is not None:
            return self.clock()
        self._ticks += 1
        return EPOCH + self._ticks * SECOND

    def append(self, record: type[R], size: int, *, joined: bool = False, **fields: Any) -> R:
        """Append a record of about that many bytes of data. ``joined``: it is part of the record before it."""
        start = self.log.records[-1].start if joined else self._position
        end = self._position + (_RECORD_HEADER + size + 7 & ~7)
        self._position = end
        entry = record(start=start, end=end, **fields)
        self.log.records.append(entry)
        self.logged.add(entry.xid)
        for listener in self.listeners:
            listener(entry)
        return entry

    @property
    def position(self) -> int:
        """The end of the log."""
        return self._position

    def version(self) -> CatalogVersion:
        """The catalog as the active session sees it."""
        return self.versions.current()
