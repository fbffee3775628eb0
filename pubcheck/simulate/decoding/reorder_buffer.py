"""Changes wait in transactions until they commit, are prepared or take up too much memory (reorderbuffer.c).

Those of a transaction and its subtransactions are decoded in the order of the log (ReorderBufferIterTXN;
lib/binaryheap.c). The position of a logical message is the end of its record, where the next record begins: if that is
one of another subtransaction, which one comes first depends on the heap that the server keeps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal, Protocol, TypeVar

from msgspec import Struct

from pubcheck.postgres.versions import Major
from pubcheck.simulate.decoding.invalidations import Invalidation
from pubcheck.simulate.server_state import LogicalMessage, RowChange, Truncation


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


Action = Literal["row", "toast", "speculative", "confirm", "truncate", "message", "invalidation", "catalog"]

_CHANGE, _TUPLE, _OID, _MESSAGE = 80, 24, 4, 16
"""Bytes: sizeof(ReorderBufferChange), HeapTupleData, Oid, two Sizes."""
_CATALOG_CHANGE = 95
"""Bytes of a change of a system catalog, with its share of the command's invalidations; measured."""
_DISTRIBUTED, _MESSAGES = 264, 26
"""Bytes of the snapshot and the invalidations that another transaction's commit adds: together, and for each of its
changes of system catalogs; measured."""
_CHUNK = 24 + 12
"""Bytes of a TOAST chunk besides its data: the header of the tuple, chunk_id, chunk_seq, and the value's length."""


class Queued(Struct, gc=False):
    """A change that waits. ``toast_of`` is the table in whose TOAST table the change is, 0 for none."""

    action: Action
    lsn: int
    txn: BufferedTransaction
    origin_id: int
    size: int
    content: RowChange | Truncation | LogicalMessage | Invalidation | None = None
    toast_of: int = 0


class BufferedTransaction:
    """A transaction or subtransaction (ReorderBufferTXN)."""

    def __init__(self, xid: int, first_lsn: int) -> None:
        self.xid = xid
        self.first_lsn = first_lsn
        self.final_lsn = 0
        self.end_lsn = 0
        self.commit_time = 0
        self.origin_id = 0
        self.origin_lsn = 0
        self.gid: str | None = None
        self.parent: BufferedTransaction | None = None
        self.subtransactions: list[BufferedTransaction] = []
        self.changes: list[Queued] = []
        self.size = 0
        self.has_snapshot = False
        self.is_streamed = False
        self.is_prepared = False
        self.is_aborted = False
        self.is_serialized = False
        self.has_streamable_change = False
        self.has_partial_change = False
        self.catalog_changes = 0
        self.invalidations: list[Invalidation] = []
        self.distributed: list[Invalidation] = []
        """The invalidations of other transactions that committed meanwhile."""
        self.output_plugin_private: object = None

    @property
    def toplevel(self) -> BufferedTransaction:
        return self if self.parent is None else self.parent

    @property
    def total_size(self) -> int:
        return self.size + sum(child.size for child in self.subtransactions)

    @property
    def all_invalidations(self) -> list[Invalidation]:
        return [*self.invalidations, *self.distributed]

    def family(self) -> list[BufferedTransaction]:
        return [self, *self.subtransactions]


class Memory(Struct):
    """When changes are streamed or written to disk. ``limit`` is logical_decoding_work_mem in bytes; ``immediate``:
    debug_logical_replication_streaming."""

    limit: int = 64 * 1024 * 1024
    immediate: bool = False


class ReorderBuffer:
    """The transactions that are not finished.

    ``stream`` passes the changes of a transaction to the plugin as a block; ``can_stream``: the plugin and its options
    allow that. ``is_aborted`` says whether the log already has a transaction's end and it is an abort;
    ``checks_status``: the buffer itself asks that before it streams or writes to disk (18). Before 18, a transaction
    that was found to be aborted is streamed again for the changes of its subtransactions.
    """

    def __init__(
        self,
        memory: Memory,
        can_stream: bool,
        stream: Callable[[BufferedTransaction], None],
        is_aborted: Callable[[int], bool],
        checks_status: bool,
        features: Major,
    ) -> None:
        self._features = features
        self._memory = memory
        self._can_stream = can_stream
        self._stream = stream
        self._is_aborted = is_aborted
        self._checks_status = checks_status
        self.size = 0
        self.transactions: dict[int, BufferedTransaction] = {}

    # Transactions.

    def transaction(self, xid: int, top: int, lsn: int) -> BufferedTransaction:
        """Return a transaction, as a child of ``top``; it is created on first use (ReorderBufferAssignChild)."""
        txn = self.transactions.get(xid)
        if txn is not None:
            return txn
        txn = self.transactions[xid] = BufferedTransaction(xid, lsn)
        if top != xid:
            txn.parent = self.transaction(top, top, lsn)
            txn.parent.subtransactions.append(txn)
        return txn

    def forget(self, txn: BufferedTransaction) -> None:
        """Remove a transaction with its subtransactions (ReorderBufferCleanupTXN)."""
        for member in txn.family():
            self.discard(member)
            self.transactions.pop(member.xid, None)
        if txn.parent is not None and txn in txn.parent.subtransactions:
            txn.parent.subtransactions.remove(txn)

    def discard(self, txn: BufferedTransaction) -> None:
        """Drop the changes of one (sub)transaction."""
        self.size -= txn.size
        txn.size = 0
        txn.changes = []
        txn.is_serialized = False

    def truncate(self, txn: BufferedTransaction, *, is_streamed: bool = True) -> None:
        """Drop what was passed on; the transaction counts as streamed (ReorderBufferTruncateTXN).

        Without ``is_streamed``, subtransactions still count as streamed: a bug of 18.4, which then sends
        Stream Abort messages for them.
        """
        for member in txn.family():
            if not txn.is_prepared and (is_streamed if member is txn else member.changes):
                member.is_streamed = True
            self.discard(member)

    def merged(self, txn: BufferedTransaction) -> list[Queued]:
        """Return the changes of a transaction and its subtransactions in the log's order (ReorderBufferIterTXN)."""
        if not txn.subtransactions:
            return txn.changes
        return list(merged([member.changes for member in txn.family()]))

    # Changes.

    def queue_row(self, txn: BufferedTransaction, record: RowChange) -> None:
        """Queue a row, the TOAST chunks that were logged before it, and the confirmation of a speculative one."""
        lsn = record.start
        chunks = record.new.chunks if record.new is not None else ()
        for chunk in chunks:
            txn.toplevel.has_streamable_change = True
            size = _CHANGE + _TUPLE + _CHUNK + chunk
            self._queue(Queued("toast", lsn, txn, record.origin, size, toast_of=record.relation))
            lsn += 1
        txn.toplevel.has_streamable_change = True
        if record.operation == "update":
            lsn = self._queue_removed_chunks(txn, record, lsn)
        size = _CHANGE + sum(_TUPLE + row.size for row in (record.old, record.new) if row is not None)
        if record.speculative:
            self._queue(Queued("speculative", lsn, txn, record.origin, size))
            self._queue(Queued("confirm", lsn + 1, txn, record.origin, _CHANGE, content=record))
        else:
            self._queue(Queued("row", lsn, txn, record.origin, size, content=record))
        if record.operation == "delete":
            self._queue_removed_chunks(txn, record, lsn + 1)

    def _queue_removed_chunks(self, txn: BufferedTransaction, record: RowChange, lsn: int) -> int:
        """Queue the deletion of old TOAST chunks, which plugins do not get. Return the next position."""
        for _ in range(record.removed_chunks):
            self._queue(Queued("catalog", lsn, txn, record.origin, _CHANGE, toast_of=record.relation))
            lsn += 1
        return lsn

    def queue_truncation(self, txn: BufferedTransaction, record: Truncation) -> None:
        size = _CHANGE + _OID * len(record.relations)
        txn.toplevel.has_streamable_change = True
        self._queue(Queued("truncate", record.start, txn, record.origin, size, content=record))

    def queue_message(self, txn: BufferedTransaction, record: LogicalMessage) -> None:
        size = _CHANGE + len(record.prefix.encode()) + 1 + len(record.content) + _MESSAGE
        txn.toplevel.has_streamable_change = True
        self._queue(Queued("message", record.end, txn, 0, size, content=record))  # it has no origin

    def queue_catalog_changes(self, txn: BufferedTransaction, lsn: int, count: int, *, streamable: bool = True) -> None:
        """Queue what a command writes into system catalogs. Plugins never get it, but it takes up memory.

        ``count`` is about the number of changes, of which some are short and some carry invalidations. Without
        ``streamable`` there is no update or deletion among them, for which alone nothing is streamed.
        """
        top = txn.toplevel
        top.has_streamable_change = top.has_streamable_change or streamable
        top.catalog_changes += count
        self._queue(Queued("catalog", lsn, txn, 0, _CATALOG_CHANGE * count))

    def queue_invalidation(self, txn: BufferedTransaction, lsn: int, invalidation: Invalidation) -> None:
        """Queue what a command of this transaction invalidates; one of its ``catalog_changes``."""
        txn.toplevel.invalidations.append(invalidation)
        self._queue(Queued("invalidation", lsn, txn, 0, _CATALOG_CHANGE, content=invalidation))

    def distribute(self, txn: BufferedTransaction, lsn: int, committed: BufferedTransaction) -> None:
        """Queue what another transaction's commit invalidates."""
        size = _DISTRIBUTED + _MESSAGES * committed.catalog_changes
        for invalidation in committed.invalidations:
            txn.distributed.append(invalidation)
            self._queue(Queued("invalidation", lsn, txn, 0, size, content=invalidation))
            size = _CHANGE

    def _queue(self, change: Queued) -> None:
        txn = change.txn
        if txn.is_aborted:
            return
        txn.has_snapshot = True
        txn.toplevel.has_snapshot = True
        txn.changes.append(change)
        txn.size += change.size
        self.size += change.size
        self._note_partial(change)
        self._keep_below_limit()

    def _note_partial(self, change: Queued) -> None:
        """ReorderBufferProcessPartialChange: no block ends between a row's TOAST chunks, or before a speculative row's
        confirmation. What had to be written to disk meanwhile is streamed once it is whole."""
        if not self._can_stream:
            return
        top = change.txn.toplevel
        if change.action in ("toast", "speculative"):
            top.has_partial_change = True
        elif change.action in ("row", "confirm"):
            top.has_partial_change = False
        if not top.has_partial_change and change.txn.is_serialized and top.has_streamable_change:
            self._stream(top)

    def _keep_below_limit(self) -> None:
        """ReorderBufferCheckMemoryLimit."""
        memory = self._memory
        while self.size >= memory.limit or (memory.immediate and self.size > 0):
            largest = self._largest_streamable() if self._can_stream else None
            if largest is not None:
                if not self._drop_aborted(largest):
                    self._stream(largest)
                continue
            largest = max(self.transactions.values(), key=lambda txn: txn.size)
            if not self._drop_aborted(largest):
                self.size -= largest.size
                largest.size = 0
                largest.is_serialized = True

    def _largest_streamable(self) -> BufferedTransaction | None:
        candidates = [
            txn
            for txn in self.transactions.values()
            if txn.parent is None
            and txn.has_snapshot
            and txn.has_streamable_change
            and not txn.has_partial_change
            and txn.total_size
            and not (self._features.skips_aborted and txn.is_aborted)
        ]
        return max(candidates, key=lambda txn: txn.total_size, default=None)

    def _drop_aborted(self, txn: BufferedTransaction) -> bool:
        """18 looks whether the transaction is aborted already (ReorderBufferCheckAndTruncateAbortedTXN)."""
        if not self._checks_status or not self._is_aborted(txn.xid):
            return False
        self.truncate(txn, is_streamed=False)
        txn.is_aborted = True
        return True
