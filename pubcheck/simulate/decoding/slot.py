"""A logical replication slot of a simulated server: what reading it returns. Records of the log become changes, commits
and aborts (replication/logical/decode.c)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.simulate.decoding.invalidations import (
    catalog_changes,
    invalidation_of,
    invalidation_of_truncation,
    rewrites_rows,
)
from pubcheck.simulate.decoding.output_plugin import DecodingContext, OutputPlugin, Values
from pubcheck.simulate.decoding.reorder_buffer import BufferedTransaction, Memory, ReorderBuffer
from pubcheck.simulate.decoding.replay import Callbacks, Replay
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.server_state import (
    Abort,
    CatalogChange,
    Commit,
    Log,
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


Row = tuple[int, int, bytes]
"""Position, transaction id, data; the position of XLogData is 0 for a message that is not the last of its change."""

PluginFactory = Callable[[], OutputPlugin]


class Server(Protocol):
    """The part of a database that a slot needs."""

    major: int
    log: Log


def _pgoutput() -> OutputPlugin:
    from pubcheck.simulate.decoding.pgoutput import Pgoutput

    return Pgoutput()


def _test_decoding() -> OutputPlugin:
    from pubcheck.simulate.decoding.test_decoding import TestDecoding

    return TestDecoding()


_PLUGINS: Mapping[str, PluginFactory] = {"pgoutput": _pgoutput, "test_decoding": _test_decoding}


class Slot:
    """A slot, created at the current end of the log. ``plugin`` is a name, or a class of output plugins.

    ``two_phase``: transactions are decoded when they are prepared.
    """

    def __init__(self, server: Server, plugin: str | PluginFactory, *, two_phase: bool = False) -> None:
        self._name = plugin if isinstance(plugin, str) else getattr(plugin, "__name__", "plugin")
        if isinstance(plugin, str):
            if plugin not in _PLUGINS:
                raise ServerError("58P01", f'could not access file "{plugin}": No such file or directory')
            plugin = _PLUGINS[plugin]
        self._server = server
        self._plugin = plugin
        self.two_phase = two_phase
        self._from = len(server.log.records)

    def peek(self, settings: Mapping[str, str] | None = None, /, **options: str | None) -> list[Row]:
        """Return everything from where the slot is (pg_logical_slot_peek_changes, in a session of its own).

        ``settings`` are the session's run-time parameters, ``options`` the plugin's. Raises ServerError where
        decoding fails.
        """
        return self.read(settings or {}, options)[0]

    def get(self, settings: Mapping[str, str] | None = None, /, **options: str | None) -> list[Row]:
        """Return the same, and move the slot to the end of the log (pg_logical_slot_get_changes)."""
        rows = self.peek(settings, **options)
        self._from = len(self._server.log.records)
        return rows

    def read(
        self, settings: Mapping[str, str], options: Mapping[str, str | None], *, textual: bool = False
    ) -> tuple[list[Row], list[str]]:
        """Return the rows and the warnings. ``textual``: the function that reads expects a textual output plugin."""
        reader = Reader(self, settings, options)
        if textual and reader.output_type == "binary":
            raise ServerError(
                "0A000",
                f'logical decoding output plugin "{self._name}" produces binary output, but function'
                ' "pg_logical_slot_peek_changes(name,pg_lsn,integer,text[])" expects textual data',
            )
        rows = [(lsn, xid, data) for lsn, xid, data, _ in reader.receive()]
        reader.end()
        return rows, reader.notices

    def start(self, settings: Mapping[str, str] | None = None, /, **options: str | None) -> Reader:
        """Attach a walsender (START_REPLICATION): it decodes the log as far as it is, each time it is asked."""
        return Reader(self, settings or {}, options)

    @property
    def server(self) -> Server:
        return self._server

    @property
    def position(self) -> int:
        """The number of records before the slot."""
        return self._from

    def new_plugin(self) -> OutputPlugin:
        return self._plugin()


class Reader:
    """One session that reads a slot."""

    def __init__(self, slot: Slot, settings: Mapping[str, str], options: Mapping[str, str | None]) -> None:
        self._log = slot.server.log
        self._position = slot.position
        self._status_known = self._position
        self._aborted: set[int] = set()
        origins: dict[int, str] = {}
        for record in self._log.records[: self._position]:
            note_origins(record, origins)
        self._rows: list[tuple[int, int, bytes, bool]] = []
        major = slot.server.major
        folded = {name.lower(): value for name, value in settings.items()}
        self._context = DecodingContext(
            major,
            list(options.items()),
            Values(major, folded),
            origins,
            lambda lsn, xid, data, last: self._rows.append((lsn, xid, data, last)),
        )
        self._decoder = Decoder(
            slot.new_plugin(),
            self._context,
            _memory(folded),
            two_phase_slot=slot.two_phase,
            aborted=self._aborted,
            origins=origins,
        )
        slot.two_phase = slot.two_phase or (self._context.twophase and self._context.twophase_opt_given)

    @property
    def output_type(self) -> str:
        return self._decoder.output_type

    @property
    def notices(self) -> list[str]:
        return self._context.notices

    def receive(self) -> list[tuple[int, int, bytes, bool]]:
        """Decode what is new in the log: rows with whether each is the last of its change.

        Raises ServerError where decoding fails; ``sent`` then returns what was sent before.
        """
        records = self._log.records
        for record in records[self._status_known :]:
            if isinstance(record, Abort):
                self._aborted.update((record.xid, *record.subtransactions))
        new = records[self._position :]
        self._position = self._status_known = len(records)
        try:
            self._decoder.read(new)
        except Unknowable as unknown:
            raise NotFollowed(unknown.reason) from unknown
        return self.sent()

    def forget_log(self) -> None:
        """Drop the records that were decoded. The last one is kept, because the next one may be a part of it."""
        records = self._log.records
        del records[: max(self._position - 1, 0)]
        self._position = self._status_known = len(records)

    def sent(self) -> list[tuple[int, int, bytes, bool]]:
        """Return the rows that were written and not yet returned."""
        rows = self._rows[:]
        self._rows.clear()
        return rows

    def end(self) -> None:
        self._decoder.end()


def _memory(settings: Mapping[str, str]) -> Memory:
    memory = Memory(immediate=settings.get("debug_logical_replication_streaming", "").lower() == "immediate")
    if "logical_decoding_work_mem" in settings:
        memory.limit = work_mem(settings["logical_decoding_work_mem"])
    return memory


_UNITS = {"b": 1, "kb": 1024, "mb": 1024**2, "gb": 1024**3, "tb": 1024**4, "": 1024}
_LEAST = 64 * 1024


def work_mem(text: str) -> int:
    """Return the bytes of logical_decoding_work_mem as SET reads it. Raises ServerError 22023."""
    digits = text.strip().rstrip("kKmMgGtTbB ")
    unit = text.strip()[len(digits) :].strip()
    if not digits.isdigit() or unit.lower() not in _UNITS:
        raise ServerError("22023", f'invalid value for parameter "logical_decoding_work_mem": "{text}"')
    size = int(digits) * _UNITS[unit.lower()]
    if size < _LEAST:
        kilobytes = size // 1024
        raise ServerError(
            "22023",
            f'{kilobytes} kB is outside the valid range for parameter "logical_decoding_work_mem"'
            " (64 kB .. 2147483647 kB)",
        )
    return size
