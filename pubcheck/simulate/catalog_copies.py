"""Copies of the catalog that never change: what the log's records refer to."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.journaled_dict import ABSENT, Heap, Journal, Multimap
from pubcheck.simulate.log import CatalogVersion

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
