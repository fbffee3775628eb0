"""The state of a simulated server that its sessions share: the catalog, with copies of it that never change, rows,
transaction ids, and the write-ahead log, as far as logical decoding reads it: the only thing that passes from executor
to decoding.

A record has the id of the transaction that wrote it, which is that of a subtransaction within a savepoint. Ids are
assigned at a transaction's first write, a parent's before its child's (access/transam/xact.c: AssignTransactionId).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from random import Random
from typing import Any, Literal, Protocol, TypeVar

from msgspec import Struct, field

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.journaled_dict import ABSENT, Heap, Journal, Multimap
from pubcheck.postgres.replication.row_changes import UNCHANGED
from pubcheck.postgres.versions import MAJORS
from pubcheck.simulate.heap import Storage, TransactionIds
from pubcheck.simulate.sequence_state import SequenceState

__all__ = ["UNCHANGED"]


class Tuple(Struct, frozen=True, gc=False):
    """A logged row. ``values`` are the executor's values by column number, None for NULL, ``UNCHANGED`` for a value out
    of line that the record leaves out. ``size`` is its length in bytes with the header (HeapTuple's t_len);
    decoding counts its memory by it. ``chunks`` are the lengths of the data in the TOAST chunks that were logged for it
    before it.
    """

    values: Mapping[int, object]
    size: int
    chunks: tuple[int, ...] = ()


class CatalogVersion(Struct, frozen=True, gc=False):
    """The catalog as a record's transaction sees it: its own definitions and those committed so far. Never changes.

    ``number`` counts versions: two records with the same number saw the same catalog.
    """

    number: int
    catalog: Catalog


class Record(Struct, frozen=True, kw_only=True):
    """A record of the log. ``start`` and ``end`` are its positions (LSN) in bytes; those of the next record are higher.

    The rows of a multi-insert (COPY) have the same ``start``. A row's TOAST chunks count as part of its record:
    ``end`` is more than ``start`` and the number of chunks. ``xid`` is the (sub)transaction, 0 for none; ``top`` its
    top-level transaction. ``origin`` is the id of the replication origin of the session that wrote it, 0 for none.

    A plain Record is any other record with a transaction id (nextval, a row of an unpublishable relation).
    """

    start: int
    end: int
    xid: int
    top: int
    origin: int = 0


class RowChange(Record, frozen=True, kw_only=True):
    """INSERT, UPDATE or DELETE of one row. ``old`` is what the replica identity logs: ``logged_change``.

    ``speculative``: INSERT ... ON CONFLICT, whose confirmation is logged too. ``rewrite``: a row of the new heap that
    ALTER TABLE writes, under the table's oid. ``removed_chunks``: the number of TOAST chunks of old values that are
    deleted with it, before an UPDATE and after a DELETE.
    """

    operation: Literal["insert", "update", "delete"]
    relation: int
    version: CatalogVersion
    old: Tuple | None = None
    new: Tuple | None = None
    speculative: bool = False
    rewrite: bool = False
    removed_chunks: int = 0


class Truncation(Record, frozen=True, kw_only=True):
    """TRUNCATE of relations that are logged, including the relations that CASCADE added.

    ``in_place`` are the relations without an index whose file the same transaction created: their definition does not
    change.
    """

    relations: tuple[int, ...]
    cascade: bool
    restart_identity: bool
    version: CatalogVersion
    in_place: frozenset[int] = frozenset()


class LogicalMessage(Record, frozen=True, kw_only=True):
    """pg_logical_emit_message."""

    transactional: bool
    prefix: str
    content: bytes
    version: CatalogVersion


LogEntry = tuple[str, object, object]
"""A row that changed: the catalog's table (an attribute of ``Catalog``), the key, the former row or None."""


def entries_since(catalog: Catalog, mark: int) -> tuple[LogEntry, ...]:
    """Return the rows that changed since a mark of the catalog's journal, in order."""
    names = {id(table): name for name, table in vars(catalog).items()}
    return tuple(
        (names[id(table)], key, None if former is ABSENT else former)
        for table, key, former in catalog.journal.entries[mark:]
        if id(table) in names
    )


class CatalogChange(Record, frozen=True, kw_only=True):
    """The end of a command that changed the catalog: ``entries`` as ``entries_since`` returns them, ``before`` and
    ``after`` it.

    Decoding finds out which cached relations it invalidates. ``statement`` is the parse node's name, ``node`` the
    statement. A statement that changes only what pubcheck's catalog does not keep (ANALYZE) has no entries; if it is
    TRUNCATE, ``new_files`` are the tables that it gives a new file.
    """

    statement: str
    node: Mapping[str, object]
    entries: tuple[LogEntry, ...] = ()
    before: CatalogVersion
    after: CatalogVersion
    new_files: frozenset[int] = frozenset()


class OriginChange(Record, frozen=True, kw_only=True):
    """A replication origin was created under this name, or, without one, dropped."""

    number: int
    name: str | None


class TransactionEnd(Record, frozen=True, kw_only=True):
    """``time`` is in microseconds since 2000-01-01; ``subtransactions`` are the ids of the ones that end with it.

    ``origin_lsn`` and ``origin_time`` are those of pg_replication_origin_xact_setup, 0 if there were none.
    """

    time: int
    subtransactions: tuple[int, ...] = ()
    origin_lsn: int = 0
    origin_time: int = 0
    gid: str | None = None


class Commit(TransactionEnd, frozen=True, kw_only=True):
    """COMMIT; ``gid`` is set for COMMIT PREPARED."""


class Abort(TransactionEnd, frozen=True, kw_only=True):
    """ROLLBACK, of a transaction or (``xid`` is not ``top``) a savepoint; ``gid`` is set for ROLLBACK PREPARED."""


class Prepare(TransactionEnd, frozen=True, kw_only=True):
    """PREPARE TRANSACTION."""

    gid: str


class Log(Struct):
    """All records in order, and the names of the replication origins that exist now, by id."""

    records: list[Record] = field(default_factory=list)
    origins: dict[int, str] = field(default_factory=dict)


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
