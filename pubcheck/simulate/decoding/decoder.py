"""Records of the log become changes, commits and aborts (replication/logical/decode.c)."""

from __future__ import annotations

from collections.abc import Sequence

from pubcheck.simulate.decoding.invalidations import (
    catalog_changes,
    invalidation_of,
    invalidation_of_truncation,
    rewrites_rows,
)
from pubcheck.simulate.decoding.output_plugin import DecodingContext, OutputPlugin
from pubcheck.simulate.decoding.reorder_buffer import BufferedTransaction, Memory, ReorderBuffer
from pubcheck.simulate.decoding.replay import Callbacks, Replay
from pubcheck.simulate.log import (
    Abort,
    CatalogChange,
    Commit,
    LogicalMessage,
    OriginChange,
    Prepare,
    Record,
    RowChange,
    TransactionEnd,
    Truncation,
)


class Decoder:
    """One session that reads a slot: a plugin with its state, and the transactions that are not finished.

    ``aborted`` are the transactions and subtransactions whose abort the log has already, ahead of what was read; the
    caller adds to it. ``origins`` are the names of the replication origins where the slot is, by id.
    """

    def __init__(
        self,
        plugin: OutputPlugin,
        context: DecodingContext,
        memory: Memory,
        *,
        two_phase_slot: bool,
        aborted: set[int],
        origins: dict[int, str],
    ) -> None:
        self.context = context
        self._origins = origins
        self._callbacks = Callbacks(plugin, context, two_phase_slot=two_phase_slot)
        self._replay = Replay(self._callbacks, context, aborted.__contains__)
        self._buffer = self._replay.buffer = ReorderBuffer(
            memory,
            context.streaming,
            self._replay.stream,
            aborted.__contains__,
            context.features.skips_aborted and not memory.immediate,
            context.features,
        )

    @property
    def output_type(self) -> str:
        return self._callbacks.options.output_type

    def read(self, records: Sequence[Record]) -> None:
        """Decode further records."""
        for record in records:
            self._record(record)

    def end(self) -> None:
        """Shut the plugin down."""
        self._callbacks.shutdown()

    def _record(self, record: Record) -> None:
        if isinstance(record, TransactionEnd):  # they make no transaction known
            txn = self._buffer.transactions.get(record.xid)
        else:
            txn = self._buffer.transaction(record.xid, record.top, record.start) if record.xid else None
        if isinstance(record, LogicalMessage):
            self._message(txn, record)
        elif isinstance(record, Abort):
            self._abort(txn, record)
        elif txn is None:
            if isinstance(record, CatalogChange):
                self._replay.invalidate(invalidation_of(record))
        elif isinstance(record, RowChange):
            txn.toplevel.has_snapshot = True
            if not self._callbacks.filter_by_origin(record.origin):
                self._buffer.queue_row(txn, record)
        elif isinstance(record, Truncation):
            self._buffer.queue_invalidation(txn, record.start, invalidation_of_truncation(record))
            if not self._callbacks.filter_by_origin(record.origin):
                self._buffer.queue_truncation(txn, record)
        elif isinstance(record, CatalogChange):
            txn.toplevel.has_snapshot = True
            invalidation = invalidation_of(record)
            count = catalog_changes(record) - bool(invalidation)  # which is queued by itself
            self._buffer.queue_catalog_changes(txn, record.start, count, streamable=rewrites_rows(record))
            if invalidation:
                self._buffer.queue_invalidation(txn, record.start, invalidation)
        elif isinstance(record, OriginChange):
            txn.toplevel.has_snapshot = True  # changes of shared catalogs are not queued
            note_origins(record, self._origins)
        elif isinstance(record, Commit):
            self._commit(txn, record)
        elif isinstance(record, Prepare):
            self._prepare(txn, record)

    def _message(self, txn: BufferedTransaction | None, record: LogicalMessage) -> None:
        if self._callbacks.filter_by_origin(record.origin):
            return
        if record.transactional and txn is not None:
            self._buffer.queue_message(txn, record)
        else:
            self._callbacks.call("message", record.end, txn, record.end, False, record.prefix, record.content)

    def _commit(self, txn: BufferedTransaction, record: Commit) -> None:
        self._distribute(txn, record.start)
        if txn.invalidations and record.gid is None:
            # A commit that changed the catalog gives each transaction a new snapshot, also its own.
            self._buffer.queue_catalog_changes(txn, record.start, 1, streamable=False)
        two_phase = record.gid is not None and not self._callbacks.filter_prepare(record.xid, record.gid)
        if self._callbacks.filter_by_origin(record.origin):
            self._replay.invalidate(*txn.all_invalidations)
            self._buffer.forget(txn)
        elif two_phase:
            self._finish_prepared(txn, record, committed=True)
        else:
            _note_end(txn, record)
            self._replay.whole(txn)

    def _distribute(self, txn: BufferedTransaction, lsn: int) -> None:
        """Queue in the transactions in progress what a commit invalidates (SnapBuildDistributeSnapshotAndInval)."""
        for other in list(self._buffer.transactions.values()):
            if other.parent is None and other.has_snapshot and other is not txn and not other.is_prepared:
                self._buffer.distribute(other, lsn, txn)

    def _finish_prepared(self, txn: BufferedTransaction, record: Commit | Abort, *, committed: bool) -> None:
        """COMMIT PREPARED or ROLLBACK PREPARED (ReorderBufferFinishPrepared)."""
        if txn.first_lsn == record.start:  # unknown at PREPARE TRANSACTION too
            self._buffer.forget(txn)
            return
        prepare_end_lsn, prepare_time = txn.end_lsn, txn.commit_time
        txn.gid = record.gid
        _note_end(txn, record)
        if committed:
            self._callbacks.call("commit_prepared", txn.end_lsn, txn, record.start)
        else:
            self._callbacks.call("rollback_prepared", txn.end_lsn, txn, prepare_end_lsn, prepare_time)
        self._replay.invalidate(*txn.all_invalidations)
        self._buffer.forget(txn)

    def _abort(self, txn: BufferedTransaction | None, record: Abort) -> None:
        """ROLLBACK: also of a savepoint that wrote nothing itself, but into which others were released."""
        two_phase = record.gid is not None and not self._callbacks.filter_prepare(record.xid, record.gid)
        if txn is not None and two_phase and not self._callbacks.filter_by_origin(record.origin):
            self._finish_prepared(txn, record, committed=False)
            return
        transactions = (self._buffer.transactions.get(xid) for xid in (*record.subtransactions, record.xid))
        for transaction in transactions:
            if transaction is None:
                continue
            transaction.commit_time = _time(record)
            if transaction.is_streamed:
                self._callbacks.call("stream_abort", record.end, transaction, record.end)
                self._replay.invalidate(*transaction.toplevel.all_invalidations)
            self._buffer.forget(transaction)

    def _prepare(self, txn: BufferedTransaction, record: Prepare) -> None:
        if self._callbacks.filter_prepare(record.xid, record.gid):
            return
        if txn.first_lsn == record.start:  # nothing else of it was logged, so that it is unknown
            self._buffer.forget(txn)
            return
        _note_end(txn, record, keep=True)
        if self._callbacks.filter_by_origin(record.origin):
            self._replay.invalidate(*txn.all_invalidations)
            return
        txn.is_prepared = True
        txn.gid = record.gid
        self._replay.whole(txn)


def note_origins(record: Record, origins: dict[int, str]) -> None:
    """Add the origin that a record creates to the names by id, or remove the one that it drops."""
    if isinstance(record, OriginChange):
        if record.name is None:
            origins.pop(record.number, None)
        else:
            origins[record.number] = record.name


def _note_end(txn: BufferedTransaction, record: TransactionEnd, *, keep: bool = False) -> None:
    """Note where, when and by which origin a transaction ended.

    A session with a replication origin ends transactions at the origin's time, which is 0 if none was set; PREPARE
    then keeps its own. ROLLBACK, other than ROLLBACK PREPARED, does not log it."""
    txn.final_lsn, txn.end_lsn, txn.commit_time = record.start, record.end, _time(record, keep=keep)
    txn.origin_id, txn.origin_lsn = record.origin, record.origin_lsn


def _time(record: TransactionEnd, *, keep: bool = False) -> int:
    is_plain_abort = isinstance(record, Abort) and record.gid is None
    if record.origin and not is_plain_abort and (record.origin_time or not keep):
        return record.origin_time
    return record.time
