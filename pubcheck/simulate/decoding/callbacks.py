"""Calls an output plugin's callbacks as the server does, with its refusals (replication/logical/logical.c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.decoding.output_plugin import (
    CALLBACKS,
    REQUIRED,
    DecodingContext,
    OutputPlugin,
    OutputPluginOptions,
    Transaction,
)

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
