"""A PostgreSQL server in memory: one database of one major, its sessions, and the log that decoding reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.journaled_dict import Heap
from pubcheck.simulate.catalog_copies import CatalogCopies
from pubcheck.simulate.log import CatalogVersion, Log, Record
from pubcheck.simulate.script import statements
from pubcheck.simulate.transactions import TransactionIds

if TYPE_CHECKING:
    from pubcheck.simulate.decoding.slot import PluginFactory, Slot
    from pubcheck.simulate.executor.sequences import SequenceState
    from pubcheck.simulate.heap import Storage
    from pubcheck.simulate.session import ServerSession

__all__ = ["Database"]

R = TypeVar("R", bound=Record)

_FIRST_POSITION = 0x1500028
_RECORD_HEADER = 24
SECOND = 1_000_000
EPOCH = 820_540_800 * SECOND
"""2026-01-01 in microseconds since 2000: the time of the first commit, if no clock is given."""


class Database:
    """A database of one major. ``setup`` is run first, in session "a"; a refused statement raises ServerError.

    ``log`` has the records in their order, ``listeners`` are called with each as it is appended. ``clock`` gives the
    time in microseconds since 2000-01-01; without one, commits have made-up times, and statements that ask for the
    time cannot be followed.
    """

    def __init__(self, major: int, setup: str | Sequence[str] = "", *, clock: Callable[[], int] | None = None) -> None:
        self.major = major
        self.catalog = Catalog(major)
        self.catalog.keeps_definitions = True
        self.clock = clock
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
        self.versions = CatalogCopies(self.catalog, {id(self.storage), id(self.sequences)})
        self.sessions: dict[str, ServerSession] = {}
        self.active: ServerSession | None = None
        self._position = _FIRST_POSITION
        self._ticks = 0
        for text in statements(setup):
            self.session("a").run(text)

    def session(self, name: str = "a") -> ServerSession:
        """The session of that name, which is connected when it is first asked for."""
        from pubcheck.simulate.session import ServerSession

        if name not in self.sessions:
            self.sessions[name] = ServerSession(self, name)
        return self.sessions[name]

    def slot(self, plugin: str | PluginFactory, *, two_phase: bool = False) -> Slot:
        """Create a replication slot at the current end of the log, for pgoutput, test_decoding or a plugin's class."""
        from pubcheck.simulate.decoding.slot import Slot

        return Slot(self, plugin, two_phase=two_phase)

    def activate(self, session: ServerSession) -> None:
        """Let the catalog be as a session sees it: with its own uncommitted definitions, not with those of others."""
        if self.active is session:
            return
        if self.active is not None:
            self.active.park()
        self.active = session
        session.unpark()

    def close(self, session: ServerSession) -> None:
        self.sessions.pop(session.name, None)

    # The log.

    def time(self) -> int:
        """The time of a commit."""
        if self.clock is not None:
            return self.clock()
        self._ticks += 1
        return EPOCH + self._ticks * SECOND

    def append(self, record: type[R], size: int, **fields: Any) -> R:
        """Append a record of about that many bytes of data."""
        start = self._position
        end = start + (_RECORD_HEADER + size + 7 & ~7)
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
