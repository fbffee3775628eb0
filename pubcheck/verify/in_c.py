"""Passes over messages that are certainly right, most of them in C: none of those is decoded in Python."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from pubcheck.stream.framing.rows import Frame
from pubcheck.verify.protocol import Order
from pubcheck.verify.usual_changes import Settler

_ROWS_OF_CHANGES = ((b"I", b"N"), (b"U", b"N"), (b"U", b"K"), (b"U", b"O"), (b"D", b"K"), (b"D", b"O"))
"""Letters of changes, and of the first row of each."""
_CHANGES = frozenset(letter for letter, _ in _ROWS_OF_CHANGES)
_HEAD = 6
"""The bytes of a change before its first row: two letters, and the relation's OID between them."""


class InC:
    """Takes messages outside streamed blocks into the state of a stream if they are certainly right."""

    def __init__(self, module: ModuleType, order: Order) -> None:
        self._order, self.read_form = order, module.form
        self._count_usual, self._read = module.count_usual, module.read
        self._forms: dict[bytes, Any] = {}
        """The forms of the described relations, by the first bytes of changes."""
        self._at_ends: Mapping[bytes, Callable[[Any, int | None, int | None], bool]] = {
            b"B": order.accept_begin,
            b"C": order.accept_commit,
        }

    def describe(self, oid: int, forms: Mapping[bytes, Any]) -> None:
        """Take the forms of a relation instead of those that it had."""
        number = oid.to_bytes(4, "big")
        for first, last in _ROWS_OF_CHANGES:
            head = first + number + last
            self._forms.pop(head, None)
            if first + last in forms:
                self._forms[head] = forms[first + last]

    def take_changes(self, frames: list[Frame], start: int) -> tuple[int, bool]:
        """Return the number of changes from a place on that are right by their forms. If what the forms leave to Python
        is right too, take them into the state and return True with the number."""
        where = self._order.place_of_changes()
        if where is None:
            return 0, True
        settlers: list[Settler] = []
        count, position = self._count_usual(frames, start, self._forms, *where, settlers)
        # Each of them has to empty its lists.
        if settlers and not all([settler.settle() for settler in settlers]):  # noqa: C419
            return count, False
        if count:
            self._order.take_changes(where[0], position)
        return count, True

    def take_end(self, frame: Frame) -> bool:
        """Take a Begin or Commit into the state and return True if it is certainly in its place."""
        lsn, xid, data, _ = frame
        accept = self._at_ends.get(data[:1])
        if accept is None:
            return False
        message = self._read(data)
        return message is not None and accept(message, lsn, xid)

    def lacks_form(self, data: bytes) -> bool:
        """Return whether a message is a change without a form. Many of those are checked as fast without C."""
        return data[:1] in _CHANGES and data[:_HEAD] not in self._forms
