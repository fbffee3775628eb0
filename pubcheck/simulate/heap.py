"""Tables in memory: row versions in the order of the heap, and the unique indexes over them; transactions and their
ids, and which row versions a statement sees (access/transam/xact.c, heapam_visibility.c).

The free space map says where rows go that do not fit on the page that a session fills (storage/freespace/freespace.c,
fsmpage.c; access/heap/hio.c: RelationGetBufferForTuple).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping
from itertools import chain
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


_STEP = 32
"""Free space is known in steps of so many bytes."""
_CATEGORIES = 256


class FreeSpaceMap:
    """The free space of pages, as it was when a session left them for another one because a row did not fit."""

    __slots__ = ("_categories", "_counts", "_next")

    def __init__(self) -> None:
        self._categories: list[int] = []
        self._counts = [0] * _CATEGORIES
        self._next = 0
        """Where the next search begins (fp_next_slot)."""

    def record_and_search(self, page: int, free: int, needed: int) -> int | None:
        """Note the free bytes of a page, and return a page that may have ``needed`` ones."""
        self._record(page, min(free // _STEP, _CATEGORIES - 2))
        least = max(1, (needed + _STEP - 1) // _STEP)
        if not any(self._counts[least:]):
            return None
        count = len(self._categories)
        around = chain(range(self._next, count), range(min(self._next, count)))
        place = next(place for place in around if self._categories[place] >= least)
        self._next = place + 1
        return place

    def _record(self, page: int, category: int) -> None:
        while len(self._categories) <= page:
            self._categories.append(0)
            self._counts[0] += 1
        self._counts[self._categories[page]] -= 1
        self._categories[page] = category
        self._counts[category] += 1


Key = tuple[Hashable, ...]
KeyOf = Callable[[Any], Key | None]
"""The key of a row in an index; None if it is not in the index, or NULL keeps it from being a duplicate."""


_PAGE, _ITEM = 8192 - 24, 4
"""Bytes of a page without its header, and of the pointer to a row."""
_LEAST_FREE = 8192 // 10
_CROWDED = 1024
"""Versions of a table before dead ones are looked for."""
"""A page with less room is pruned when it is read."""


class _Pointer:
    """A line pointer without a row (LP_DEAD, LP_REDIRECT)."""


_POINTER = _Pointer()


class Version(dict[int, Any]):
    """A version of a row: values by column number, and the transactions that made and removed it.

    ``external`` are the columns whose values are stored out of line, ``compressed`` those compressed in line, each
    with its stored size. ``successor`` is the version that replaced it. ``place`` is its page and its number there,
    ``root`` the place that indexes have for it, ``table`` the oid of its table. ``locks`` are the locks of transactions
    by their ids. ``base`` is the stored version of one that was converted for a query.
    """

    __slots__ = (
        "base", "cmax", "cmin", "compressed", "external", "locks", "place", "root", "size", "successor", "table",
        "xmax", "xmin",
    )  # fmt: skip

    def __init__(self, values: dict[int, Any], size: int, xmin: int, cmin: int) -> None:
        super().__init__(values)
        self.size = size
        self.xmin, self.cmin = xmin, cmin
        self.xmax = self.cmax = 0
        self.external: dict[int, int] = {}
        self.compressed: dict[int, int] = {}
        self.successor: Version | None = None
        self.base: Version | None = None
        self.locks: dict[int, int] = {}
        self.place = self.root = (0, 0)
        self.table = 0


def _is_dead(version: Version, states: Mapping[int, int], oldest: int) -> bool:
    """Whether a transaction before ``oldest`` removed a version, or an aborted one made it."""
    if states[version.xmin] == ABORTED:
        return True
    return bool(version.xmax) and states[version.xmax] > 0 and version.xmax < oldest


class UniqueIndex:
    """The versions of a table by the key of one unique index. Dead versions stay until they are pruned."""

    __slots__ = ("entries", "key_of")

    def __init__(self, key_of: KeyOf) -> None:
        self.key_of = key_of
        self.entries: dict[Key, Version | list[Version]] = {}

    def add(self, version: Version) -> None:
        key = self.key_of(version)
        if key is None:
            return
        present = self.entries.setdefault(key, version)
        if present is version:
            return
        if isinstance(present, list):
            present.append(version)
        else:
            self.entries[key] = [present, version]

    def at(self, key: Key) -> list[Version]:
        present = self.entries.get(key)
        if present is None:
            return []
        return present if isinstance(present, list) else [present]


class _Page:
    """A page: a line pointer for each of its ``items``, and the bytes that are ``free``.

    An item is a version, ``_POINTER`` where only the line pointer is left, for the indexes, or None for an unused line
    pointer. ``full``: an UPDATE found no room for its new version. ``prunable`` is the oldest transaction that may
    have left something to remove, 0 for none.
    """

    __slots__ = ("free", "full", "items", "prunable")

    def __init__(self) -> None:
        self.free = _PAGE
        self.items: list[Version | _Pointer | None] = []
        self.full = False
        self.prunable = 0

    def fits(self, size: int) -> bool:
        return (size + 7 & ~7) + _ITEM <= self.free

    def add(self, version: Version) -> int:
        """Store a version in the first unused line pointer, or in another one. Return its number."""
        self.free -= version.size + 7 & ~7
        if None in self.items:
            place = self.items.index(None)
            self.items[place] = version
            return place + 1
        self.free -= _ITEM
        self.items.append(version)
        return len(self.items)

    def note_prunable(self, xid: int) -> None:
        if not self.prunable or xid < self.prunable:
            self.prunable = xid

    def prune(self, states: Mapping[int, int], oldest: int) -> None:
        """Remove dead versions if there is little room (heap_page_prune_opt): those that a transaction before
        ``oldest`` removed, or that an aborted one made."""
        if not self.prunable or self.prunable >= oldest or not (self.full or self.free - _ITEM < _LEAST_FREE):
            return
        self.full, self.prunable = False, 0
        for place, version in enumerate(self.items):
            if not isinstance(version, Version):
                continue
            if _is_dead(version, states, oldest):
                self.items[place] = _POINTER if version.root == version.place else None
            elif version.xmax and states[version.xmax]:
                self.note_prunable(version.xmax)
        while self.items and self.items[-1] is None:
            self.items.pop()
        sizes = (item.size + 7 & ~7 for item in self.items if isinstance(item, Version))
        self.free = _PAGE - _ITEM * len(self.items) - sum(sizes)


class Storage:
    """The rows of one table (a relation's file). ``made_by``: the id of the transaction that created the file."""

    __slots__ = ("_crowded_at", "_free_space", "_pages", "_targets", "entries", "indexes", "made_by", "versions")

    def __init__(self, made_by: int = 0) -> None:
        self.versions: list[Version] = []
        """Those that somebody may see or that are in conflict with others, and some dead ones."""
        self.entries = 0
        """The number of versions that were added to the indexes."""
        self._crowded_at = _CROWDED
        self.indexes: dict[int, UniqueIndex] = {}
        self.made_by = made_by
        self._pages: list[_Page] = []
        self._free_space = FreeSpaceMap()
        self._targets: dict[str, int] = {}
        """The page that each session fills."""

    def fits_on_page_of(self, old: Version, size: int) -> bool:
        """Whether a new version has room on the page of the old one."""
        return self._pages[old.place[0] - 1].fits(size)

    def place(self, version: Version, session: str, old: Version | None = None) -> bool:
        """Take the space for a row, on the page of its old version or on another one. Return whether it begins a
        page."""
        page = 0
        if old is not None:
            former = self._pages[old.place[0] - 1]
            former.note_prunable(version.xmin)
            if former.fits(version.size):
                page = old.place[0]
            else:
                former.full = True
        begins = False
        if not page:
            page, begins = self._page_for(version.size, session)
        version.place = version.root = (page, self._pages[page - 1].add(version))
        if old is not None:
            self._pages[page - 1].note_prunable(version.xmin)
        return begins

    def _page_for(self, size: int, session: str) -> tuple[int, bool]:
        """The page with room for a row that the session fills, the free space map names, or that is new."""
        page: int | None = self._targets.get(session, self.pages)
        while page:
            target = self._pages[page - 1]
            if target.fits(size):
                break
            needed = size + 7 & ~7
            place = self._free_space.record_and_search(page - 1, max(target.free - _ITEM, 0), needed)
            page = None if place is None else place + 1
        begins = not page
        if not page:
            self._pages.append(_Page())
            page = self.pages
        self._targets[session] = page
        return page, begins

    def note_deleted(self, old: Version, xid: int) -> None:
        self._pages[old.place[0] - 1].note_prunable(xid)

    def prune(self, version: Version, states: Mapping[int, int], oldest: int) -> None:
        """Prune the page of a version that an index leads to."""
        self._pages[version.place[0] - 1].prune(states, oldest)

    @property
    def pages(self) -> int:
        return len(self._pages)

    def index(self, oid: int, key_of: Callable[[], KeyOf]) -> UniqueIndex:
        """The index of that oid, built over all rows when it is first used."""
        index = self.indexes.get(oid)
        if index is None:
            index = self.indexes[oid] = UniqueIndex(key_of())
            for version in self.versions:
                index.add(version)
        return index

    @property
    def is_crowded(self) -> bool:
        """Whether many of the versions may be dead."""
        return len(self.versions) >= self._crowded_at

    def forget_dead(self, states: Mapping[int, int], oldest: int) -> None:
        """Take versions that nobody sees out of the indexes. The pages keep them until they are pruned."""
        versions, self.versions = self.versions, []
        for version in versions:
            if _is_dead(version, states, oldest):
                version.locks.clear()
            else:
                self.versions.append(version)
        for index in self.indexes.values():
            index.entries = {}  # who reads the former ones goes on with them
            for version in self.versions:
                index.add(version)
        self._crowded_at = max(_CROWDED, 2 * len(self.versions))

    def add(self, version: Version) -> None:
        self.versions.append(version)
        self.entries += 1
        for index in self.indexes.values():
            index.add(version)

    def scan(self, states: Mapping[int, int] | None = None, oldest: int = 0) -> Iterator[Version]:
        """All versions that are there when the scan comes to their page, in the order of pages. With ``states``, pages
        are pruned as they are read."""
        for page in self._pages[:]:
            if states is not None:
                page.prune(states, oldest)
            yield from [item for item in page.items if isinstance(item, Version)]
