"""Tables in memory: row versions in the order of the heap, and the unique indexes over them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from typing import Any

Key = tuple[Hashable, ...]
KeyOf = Callable[[Any], Key | None]
"""The key of a row in an index; None if it is not in the index, or NULL keeps it from being a duplicate."""


_PAGE, _ITEM = 8192 - 24, 4
"""Bytes of a page without its header, and of the pointer to a row."""


class Version(dict[int, Any]):
    """A version of a row: values by column number, and the transactions that made and removed it.

    ``external`` are the columns whose values are stored out of line, ``compressed`` those compressed in line, each
    with its stored size. ``successor`` is the version that replaced it. ``place`` is its page and its number there,
    ``root`` the place that indexes have for it, ``table`` the oid of its table.
    """

    __slots__ = (
        "cmax",
        "cmin",
        "compressed",
        "external",
        "place",
        "root",
        "size",
        "successor",
        "table",
        "xmax",
        "xmin",
    )

    def __init__(self, values: dict[int, Any], size: int, xmin: int, cmin: int) -> None:
        super().__init__(values)
        self.size = size
        self.xmin, self.cmin = xmin, cmin
        self.xmax = self.cmax = 0
        self.external: dict[int, int] = {}
        self.compressed: dict[int, int] = {}
        self.successor: Version | None = None
        self.place = self.root = (0, 0)
        self.table = 0


class UniqueIndex:
    """The versions of a table by the key of one unique index; those that nobody sees any more stay until pruned."""

    __slots__ = ("entries", "key_of")

    def __init__(self, key_of: KeyOf) -> None:
        self.key_of = key_of
        self.entries: dict[Key, Version | list[Version]] = {}

    def add(self, key: Key, version: Version) -> None:
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


class Storage:
    """The rows of one table (a relation's file). ``made_by``: the id of the transaction that created the file."""

    __slots__ = ("_free", "_full", "_pruned", "_rows", "indexes", "made_by", "reused", "versions")

    def __init__(self, made_by: int = 0) -> None:
        self.versions: list[Version] = []
        self.indexes: dict[int, UniqueIndex] = {}
        self.made_by = made_by
        self._free = [0]
        self._rows = [0]
        self._full: set[int] = set()
        """Pages on which an UPDATE found no room for its new version."""
        self._pruned: set[int] = set()
        self.reused = False
        """Whether rows may stand where others were before, so that their order is not known."""

    def fits_on_page_of(self, old: Version, size: int) -> bool:
        """Whether a new version has room on the page of the old one."""
        return (size + 7 & ~7) + _ITEM <= self._free[old.place[0]]

    def place(self, version: Version, old: Version | None = None) -> bool:
        """Take the space for a row, on the page of its old version or on the last one. Return whether it begins a
        page."""
        needed = (version.size + 7 & ~7) + _ITEM
        if old is not None and needed > self._free[old.place[0]]:
            self._full.add(old.place[0])
        if self._pruned and (self.pages if old is None else old.place[0]) in self._pruned:
            self.reused = True
        page = old.place[0] if old is not None and needed <= self._free[old.place[0]] else self.pages
        begins = needed > self._free[page]
        if begins:
            self._free.append(_PAGE)
            self._rows.append(0)
            page = self.pages
        self._free[page] -= needed
        self._rows[page] += 1
        version.place = version.root = (page, self._rows[page])
        return begins

    def prune(self, states: dict[int, int]) -> None:
        """Note the pages whose dead versions the server removes when it reads them: nearly full ones
        (heap_page_prune_opt)."""
        nearly_full = {page for page in range(1, len(self._free)) if self._free[page] < _PAGE // 10} | self._full
        if nearly_full - self._pruned:
            for version in self.versions:
                dead = states[version.xmin] == 0 or (version.xmax and states[version.xmax] > 0)
                if dead and version.place[0] in nearly_full:
                    self._pruned.add(version.place[0])

    @property
    def pages(self) -> int:
        return len(self._free) - 1

    def index(self, oid: int, key_of: Callable[[], KeyOf]) -> UniqueIndex:
        """The index of that oid, built over all rows when it is first used."""
        index = self.indexes.get(oid)
        if index is None:
            index = self.indexes[oid] = UniqueIndex(key_of())
            for version in self.versions:
                key = index.key_of(version)
                if key is not None:
                    index.add(key, version)
        return index

    def add(self, version: Version) -> None:
        self.versions.append(version)
        for index in self.indexes.values():
            key = index.key_of(version)
            if key is not None:
                index.add(key, version)

    def scan(self) -> Iterator[Version]:
        """All versions that are there when the scan begins."""
        versions = self.versions
        for at in range(len(versions)):
            yield versions[at]
