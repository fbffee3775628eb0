"""The free space map of a table: where rows go that do not fit on the page that a session fills
(storage/freespace/freespace.c, fsmpage.c; access/heap/hio.c: RelationGetBufferForTuple)."""

from __future__ import annotations

from itertools import chain

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
