"""The changes of one transaction on their way to the plugin (reorderbuffer.c: ReorderBufferProcessTXN), whose callbacks
are called as the server does, with its refusals (replication/logical/logical.c)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.decoding.invalidations import Invalidation
from pubcheck.simulate.decoding.output_plugin import (
    CALLBACKS,
    REQUIRED,
    Change,
    DecodingContext,
    OutputPlugin,
    OutputPluginOptions,
    Relation,
    Transaction,
    TruncateChange,
)
from pubcheck.simulate.decoding.reorder_buffer import BufferedTransaction, Queued, ReorderBuffer
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.server_state import CatalogVersion, LogicalMessage, RowChange, Truncation

_STREAMING = ("stream_start", "stream_stop", "stream_abort", "stream_commit", "stream_change", "stream_message")
_TWO_PHASE = ("begin_prepare", "prepare", "commit_prepared", "rollback_prepared", "stream_prepare", "filter_prepare")
_OBJECT_NOT_IN_PREREQUISITE_STATE = "55000"
_PURPOSES = {
    **dict.fromkeys(
        ("begin_prepare", "prepare", "commit_prepared", "rollback_prepared"), "logical replication at prepare time"
    ),
    **dict.fromkeys(
        ("stream_start", "stream_stop", "stream_abort", "stream_commit", "stream_change"), "logical streaming"
    ),
    "stream_prepare": "logical streaming at prepare time",
}
"""What some callbacks are needed for, as the error for a plugin without them says."""


class Callbacks:
    """The callbacks of one plugin that reads one slot. Raises ServerError XX000 if a required one is missing."""

    def __init__(self, plugin: OutputPlugin, context: DecodingContext, *, two_phase_slot: bool) -> None:
        self._context = context
        self._defined: dict[str, Callable[..., Any]] = {}
        for name in CALLBACKS:
            callback = getattr(plugin, name, None)
            if callback is not None:
                self._defined[name] = callback
        for name in REQUIRED:
            if name not in self._defined:
                raise ServerError("XX000", f"output plugins have to register a {name} callback")
        self.options = OutputPluginOptions()
        context.streaming = any(name in self._defined for name in (*_STREAMING, "stream_truncate"))
        context.twophase = any(name in self._defined for name in _TWO_PHASE)
        self._call("startup", 0, 0, self.options, False, writes=False)
        context.twophase = context.twophase and (two_phase_slot or context.twophase_opt_given)

    def _call(self, name: str, location: int, xid: int, *arguments: object, writes: bool = True) -> Any:
        callback = self._defined.get(name)
        if callback is None:
            return None
        context = self._context
        context.accept_writes, context.write_location, context.write_xid = writes, location, xid
        try:
            return callback(context, *arguments)
        finally:
            context.accept_writes = False

    def call(self, name: str, location: int, txn: Transaction | None, *arguments: object) -> None:
        """Call a callback about a transaction, at a position of the log. Raises ServerError 55000 if the plugin has no
        such callback, though it decodes what needs it."""
        if name in _PURPOSES and name not in self._defined:
            raise ServerError(_OBJECT_NOT_IN_PREREQUISITE_STATE, f"{_PURPOSES[name]} requires a {name}_cb callback")
        self._call(name, location, 0 if txn is None else txn.xid, txn, *arguments)

    def shutdown(self) -> None:
        self._call("shutdown", 0, 0, writes=False)

    def filter_by_origin(self, origin_id: int) -> bool:
        return bool(self._call("filter_by_origin", 0, 0, origin_id, writes=False))

    def filter_prepare(self, xid: int, gid: str) -> bool:
        """Whether a prepared transaction is decoded at COMMIT PREPARED only (FilterPrepare)."""
        if not self._context.twophase:
            return True
        return bool(self._call("filter_prepare", 0, 0, xid, gid, writes=False))


class _ConcurrentAbort(Exception):
    """The catalog was needed for a transaction that has aborted meanwhile (genam.c: HandleConcurrentAbort)."""


class Replay:
    """Passes transactions to the plugin: whole ones at their end, large ones in blocks."""

    def __init__(self, callbacks: Callbacks, context: DecodingContext, is_aborted: Callable[[int], bool]) -> None:
        self.buffer: ReorderBuffer
        self._callbacks = callbacks
        self._context = context
        self._is_aborted = is_aborted
        self._loaded: set[int] = set()
        """The relations in this process's relation cache, for which the catalog is not read again. A TOAST table counts
        as the negative number of its table."""
        self._mapped: set[int] = set()
        """The relations whose file is known to be theirs (RelidByRelfilenumber)."""
        self._checked_xid = 0
        """The transaction of the current change, if it may have aborted."""
        context.values.on_lookup = self._read_catalog

    # Invalidations.

    def invalidate(self, *invalidations: Invalidation) -> None:
        for invalidation in invalidations:
            for known in (self._loaded, self._mapped):
                if invalidation.everything:
                    known.clear()
                else:
                    known -= invalidation.relations
                    known.difference_update(-oid for oid in invalidation.relations)
            for callback in self._context.invalidation_callbacks:
                callback(invalidation)

    # Transactions.

    def whole(self, txn: BufferedTransaction) -> None:
        """Replay a transaction at its end, or at PREPARE (ReorderBufferReplay)."""
        if txn.is_streamed:
            self._end_of_streamed(txn)
        elif txn.has_snapshot:
            self._process(txn, streaming=False)
        elif not txn.is_prepared:
            self.buffer.forget(txn)

    def _end_of_streamed(self, txn: BufferedTransaction) -> None:
        self.stream(txn)
        if txn.is_prepared:
            self._callbacks.call("stream_prepare", txn.end_lsn, txn, txn.final_lsn)
            self.buffer.truncate(txn)
        else:
            self._callbacks.call("stream_commit", txn.end_lsn, txn, txn.final_lsn)
            self.buffer.forget(txn)

    def stream(self, txn: BufferedTransaction) -> None:
        """Pass on what a transaction has so far, as a block (ReorderBufferStreamTXN)."""
        self._process(txn, streaming=True)

    def _process(self, txn: BufferedTransaction, *, streaming: bool) -> None:
        call = self._callbacks.call
        if not streaming:
            call("begin_prepare" if txn.is_prepared else "begin", txn.first_lsn, txn)
        last_lsn = 0
        aborted = None
        for change in self.buffer.merged(txn):
            if streaming and not last_lsn:
                txn.origin_id = change.origin_id
                call("stream_start", change.lsn, txn)
            last_lsn = change.lsn
            if streaming or change.txn.is_prepared:  # which subtransactions are not: they go unchecked
                self._checked_xid = change.txn.xid
            try:
                self._apply(txn, change, streaming=streaming)
            except _ConcurrentAbort:
                aborted = change.txn
                break
        self._checked_xid = 0
        if aborted is not None:
            self.invalidate(*txn.all_invalidations)
            aborted.is_aborted = True
            self.buffer.truncate(txn)
            if txn.is_streamed:
                call("stream_stop", last_lsn, txn)
            elif txn.is_prepared:
                call("prepare", txn.end_lsn, txn, txn.final_lsn)
            return
        if streaming:
            if last_lsn:
                call("stream_stop", last_lsn, txn)
        elif txn.is_prepared:
            call("prepare", txn.end_lsn, txn, txn.final_lsn)
        else:
            call("commit", txn.end_lsn, txn, txn.final_lsn)
        self.invalidate(*txn.all_invalidations)
        if streaming or txn.is_prepared:
            self.buffer.truncate(txn)
        else:
            self.buffer.forget(txn)

    def _apply(self, txn: BufferedTransaction, change: Queued, *, streaming: bool) -> None:
        content, prefix = change.content, "stream_" if streaming else ""
        if isinstance(content, RowChange):
            self._open_by_file(txn, content.relation)
            if content.rewrite and not self._callbacks.options.receive_rewrites:
                return
            (relation,) = _relations(content.version, (content.relation,))
            lsn = change.lsn - (change.action == "confirm")  # that of the speculative row
            row = Change(content.operation, lsn, change.txn, change.origin_id, content.old, content.new)
            self._callbacks.call(f"{prefix}change", lsn, txn, relation, row)
        elif isinstance(content, Truncation):
            for oid in content.relations:
                self._open(oid)
            relations = _relations(content.version, content.relations)
            cascade, restart = content.cascade, content.restart_identity
            truncation = TruncateChange(change.lsn, change.txn, change.origin_id, cascade, restart)
            self._callbacks.call(f"{prefix}truncate", change.lsn, txn, relations, truncation)
        elif isinstance(content, LogicalMessage):
            text = (content.prefix, content.content)
            self._callbacks.call(f"{prefix}message", change.lsn, txn, change.lsn, True, *text)
        elif isinstance(content, Invalidation):
            self.invalidate(content)
        elif change.toast_of:
            self._open_by_file(txn, -change.toast_of)

    def _read_catalog(self) -> None:
        if self._is_aborted(self._checked_xid):
            raise _ConcurrentAbort

    def _open(self, oid: int) -> None:
        """Load a relation into the relation cache."""
        if oid not in self._loaded:
            self._read_catalog()
            self._loaded.add(oid)

    def _open_by_file(self, txn: BufferedTransaction, oid: int) -> None:
        """Find the relation that a row belongs to by its file, and load it. Raises NotFollowed."""
        if oid not in self._mapped:
            self._read_catalog()
            self._refuse_unknown_file(txn, oid)
            self._mapped.add(oid)
        self._open(oid)

    def _refuse_unknown_file(self, txn: BufferedTransaction, oid: int) -> None:
        """The catalog no longer has the file that a transaction gave a table if the transaction has aborted. A server
        then fails, with an error that names the file, where it does not check for aborts."""
        if self._is_aborted(txn.xid) and any(item.covers(abs(oid)) for item in txn.invalidations):
            raise NotFollowed(
                "the file of a table that a prepared transaction changed, when the transaction is decoded after its"
                ' rollback: servers stop decoding with "could not map filenumber"'
            )


def _relations(version: CatalogVersion, oids: Sequence[int]) -> list[Relation]:
    return [Relation(version.catalog.relations[oid], version) for oid in oids]
