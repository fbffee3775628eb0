"""Where long values are stored: in line, compressed, or out of line (access/heap/heaptoast.c)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pubcheck.simulate.heap import Version

if TYPE_CHECKING:
    from pubcheck.simulate.executor.tables import Table

THRESHOLD = 2032
"""TOAST_TUPLE_THRESHOLD and TOAST_TUPLE_TARGET."""
CHUNK = 1996
"""TOAST_MAX_CHUNK_SIZE."""


def store(table: Table, version: Version, old: Version | None) -> tuple[int, ...]:
    """Set the size of a new version, and how its long values are stored. Return the lengths of the chunks that are
    written for it."""
    version.size = table.layout.size(version)
    return ()
