"""Calls an output plugin's callbacks as the server does, with its refusals (replication/logical/logical.c)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pubcheck.postgres.errors import ServerError
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

_STREAMING = ("stream_start", "stream_stop", "stream_abort", "stream_commit", "stream_change", "stream_message")
_TWO_PHASE = ("begin_prepare", "prepare", "commit_prepared", "rollback_prepared", "stream_prepare", "filter_prepare")
_OBJECT_NOT_IN_PREREQUISITE_STATE = "55000"


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

    def _require(self, name: str, purpose: str) -> None:
        if name not in self._defined:
            raise ServerError(_OBJECT_NOT_IN_PREREQUISITE_STATE, f"{purpose} requires a {name}_cb callback")

    def shutdown(self) -> None:
        self._call("shutdown", 0, 0, writes=False)

    # Transactions.

    def begin(self, txn: Transaction) -> None:
        self._call("begin", txn.first_lsn, txn.xid, txn)

    def change(self, txn: Transaction, relation: Relation, change: Change) -> None:
        self._call("change", change.lsn, txn.xid, txn, relation, change)

    def truncate(self, txn: Transaction, relations: Sequence[Relation], change: TruncateChange) -> None:
        self._call("truncate", change.lsn, txn.xid, txn, relations, change)

    def commit(self, txn: Transaction, commit_lsn: int) -> None:
        self._call("commit", txn.end_lsn, txn.xid, txn, commit_lsn)

    def message(self, txn: Transaction | None, lsn: int, transactional: bool, prefix: str, content: bytes) -> None:
        self._call("message", lsn, 0 if txn is None else txn.xid, txn, lsn, transactional, prefix, content)

    def filter_by_origin(self, origin_id: int) -> bool:
        return bool(self._call("filter_by_origin", 0, 0, origin_id, writes=False))

    # Prepared transactions.

    def filter_prepare(self, xid: int, gid: str) -> bool:
        """Whether a prepared transaction is decoded at COMMIT PREPARED only (FilterPrepare)."""
        if not self._context.twophase:
            return True
        return bool(self._call("filter_prepare", 0, 0, xid, gid, writes=False))

    def _at_prepare_time(self, name: str, location: int, txn: Transaction, *arguments: object) -> None:
        self._require(name, "logical replication at prepare time")
        self._call(name, location, txn.xid, txn, *arguments)

    def begin_prepare(self, txn: Transaction) -> None:
        self._at_prepare_time("begin_prepare", txn.first_lsn, txn)

    def prepare(self, txn: Transaction, prepare_lsn: int) -> None:
        self._at_prepare_time("prepare", txn.end_lsn, txn, prepare_lsn)

    def commit_prepared(self, txn: Transaction, commit_lsn: int) -> None:
        self._at_prepare_time("commit_prepared", txn.end_lsn, txn, commit_lsn)

    def rollback_prepared(self, txn: Transaction, prepare_end_lsn: int, prepare_time: int) -> None:
        self._at_prepare_time("rollback_prepared", txn.end_lsn, txn, prepare_end_lsn, prepare_time)

    # Streamed transactions.

    def _streamed(self, name: str, location: int, txn: Transaction, *arguments: object) -> None:
        self._require(name, "logical streaming")
        self._call(name, location, txn.xid, txn, *arguments)

    def stream_start(self, txn: Transaction, first_lsn: int) -> None:
        self._streamed("stream_start", first_lsn, txn)

    def stream_stop(self, txn: Transaction, last_lsn: int) -> None:
        self._streamed("stream_stop", last_lsn, txn)

    def stream_abort(self, txn: Transaction, abort_lsn: int) -> None:
        self._streamed("stream_abort", abort_lsn, txn, abort_lsn)

    def stream_commit(self, txn: Transaction, commit_lsn: int) -> None:
        self._streamed("stream_commit", txn.end_lsn, txn, commit_lsn)

    def stream_prepare(self, txn: Transaction, prepare_lsn: int) -> None:
        self._require("stream_prepare", "logical streaming at prepare time")
        self._call("stream_prepare", txn.end_lsn, txn.xid, txn, prepare_lsn)

    def stream_change(self, txn: Transaction, relation: Relation, change: Change) -> None:
        self._streamed("stream_change", change.lsn, txn, relation, change)

    def stream_truncate(self, txn: Transaction, relations: Sequence[Relation], change: TruncateChange) -> None:
        self._call("stream_truncate", change.lsn, txn.xid, txn, relations, change)

    def stream_message(self, txn: Transaction, lsn: int, transactional: bool, prefix: str, content: bytes) -> None:
        self._call("stream_message", lsn, txn.xid, txn, lsn, transactional, prefix, content)
