"""The changes of a transaction and its subtransactions in the order of the log (reorderbuffer.c: ReorderBufferIterTXN;
lib/binaryheap.c).

The position of a logical message is the end of its record, where the next record begins: if that is one of another
subtransaction, which one comes first depends on the heap that the server keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol, TypeVar


class _Positioned(Protocol):
    lsn: int


C = TypeVar("C", bound=_Positioned)


def merged(lists: Sequence[Sequence[C]]) -> Iterator[C]:
    """Yield the changes of several transactions, each of which is in order: the top-level transaction's first."""
    heap = [(changes, 0) for changes in lists if changes]
    for place in range((len(heap) - 2) // 2, -1, -1):
        _sift_down(heap, place)
    while heap:
        changes, place = heap[0]
        yield changes[place]
        if place + 1 < len(changes):
            heap[0] = (changes, place + 1)
        else:
            last = heap.pop()
            if not heap:
                return
            heap[0] = last
        _sift_down(heap, 0)


def _sift_down(heap: list[tuple[Sequence[C], int]], place: int) -> None:
    entry = heap[place]
    position = _position(entry)
    while True:
        child = 2 * place + 1
        if child >= len(heap):
            break
        if child + 1 < len(heap) and _position(heap[child]) > _position(heap[child + 1]):
            child += 1
        if position <= _position(heap[child]):
            break
        heap[place] = heap[child]
        place = child
    heap[place] = entry


def _position(entry: tuple[Sequence[C], int]) -> int:
    changes, place = entry
    return changes[place].lsn
