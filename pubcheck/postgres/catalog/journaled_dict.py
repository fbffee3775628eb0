"""Storage of the catalog: dictionaries whose changes can be undone."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

ABSENT: Any = object()


class Journal:
    """Every change since the last ``clear``, newest last, as (dictionary, key, former value)."""

    __slots__ = ("clears", "entries", "meanings", "undone", "undos")

    def __init__(self) -> None:
        self.entries: list[tuple[dict[Any, Any], Any, Any]] = []
        self.undone: list[tuple[dict[Any, Any], Any, Any]] = []
        """The changes that ``undo`` reverted, in the same form, for structures that follow the catalog."""
        self.clears = 0
        """The number of times that the changes were cleared: those before can no longer be undone."""
        self.undos = 0
        """The number of times that changes were undone."""
        self.meanings = 0
        """The number of times that names may have got another meaning."""

    def clear(self) -> None:
        self.entries.clear()
        self.clears += 1

    def mark(self) -> int:
        return len(self.entries)

    def undo(self, mark: int) -> None:
        """Undo all changes made since ``mark``."""
        entries = self.entries
        self.undos += len(entries) > mark
        self.meanings += len(entries) > mark
        while len(entries) > mark:
            heap, key, former = entries.pop()
            self.undone.append((heap, key, heap.get(key)))
            if former is ABSENT:
                dict.__delitem__(heap, key)
            else:
                dict.__setitem__(heap, key, former)


class Heap(dict[K, V]):
    """One system catalog: rows by key, journaled. Change it through ``put`` and ``remove`` only."""

    __slots__ = ("_log", "removals")

    def __init__(self, journal: Journal) -> None:
        super().__init__()
        self._log = journal.entries.append
        self.removals = 0
        """The number of removed rows."""

    def put(self, key: K, row: V) -> None:
        self._log((self, key, self.get(key, ABSENT)))
        self[key] = row

    def remove(self, key: K) -> None:
        former = self.get(key, ABSENT)
        if former is not ABSENT:
            self._log((self, key, former))
            self.removals += 1
            del self[key]


class NameHeap(Heap[K, V]):
    """A system catalog on which the meaning of names depends: types, functions, schemas, settings."""

    __slots__ = ("_journal",)

    def __init__(self, journal: Journal) -> None:
        super().__init__(journal)
        self._journal = journal

    def put(self, key: K, row: V) -> None:
        super().put(key, row)
        self._journal.meanings += 1

    def remove(self, key: K) -> None:
        super().remove(key)
        self._journal.meanings += 1


class Multimap(Generic[K, V]):
    """A secondary index: the set of items under a key, in the order they came; adding and removing is O(1).

    A group of one, as most are, is a tuple: tens of thousands of dictionaries cost time and memory.
    """

    __slots__ = ("_log", "groups", "removals")

    def __init__(self, journal: Journal) -> None:
        self._log = journal.entries.append
        self.removals = 0
        """The number of removed items."""
        self.groups: dict[K, tuple[V] | dict[V, None]] = {}

    def add(self, key: K, item: V) -> None:
        groups, alone = self.groups, (item,)
        group = groups.setdefault(key, alone)
        if group is alone:
            self._log((groups, key, ABSENT))
            return
        if item in group:
            return
        if isinstance(group, tuple):
            groups[key] = {group[0]: None, item: None}
            self._log((groups, key, group))
        else:
            group[item] = None
            self._log((group, item, ABSENT))

    def remove(self, key: K, item: V) -> None:
        groups = self.groups
        group = groups.get(key)
        if group is None or item not in group:
            return
        self.removals += 1
        if isinstance(group, tuple):
            self._log((groups, key, group))
            del groups[key]
        else:
            self._log((group, item, None))
            del group[item]

    def get(self, key: K) -> list[V]:
        """The items under a key; a copy, so that the caller may change the index while it walks."""
        group = self.groups.get(key)
        return list(group) if group else []

    def has(self, key: K) -> bool:
        return bool(self.groups.get(key))

    def keys(self) -> Iterator[K]:
        return (key for key, group in self.groups.items() if group)
