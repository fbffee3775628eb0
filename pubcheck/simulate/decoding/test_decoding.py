"""test_decoding, the server's example of an output plugin, which writes changes as text (contrib/test_decoding)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from pubcheck.postgres import oids
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.replication.row_changes import UNCHANGED
from pubcheck.postgres.tokens import quote_identifier
from pubcheck.simulate.decoding.output_plugin import (
    Change,
    DecodingContext,
    OutputPlugin,
    OutputPluginOptions,
    Relation,
    Transaction,
    TruncateChange,
)
from pubcheck.simulate.server_state import Tuple
from pubcheck.stream.lsn import format_time

_BARE = frozenset((oids.INT2, oids.INT4, oids.INT8, oids.OID, oids.FLOAT4, oids.FLOAT8, oids.NUMERIC))
_BITS = frozenset((oids.BIT, oids.VARBIT))
_IGNORED_WITHOUT_VALUE = ("force-binary", "include-rewrites", "stream-changes")
_OPTIONS = (*_IGNORED_WITHOUT_VALUE, "include-xids", "include-timestamp", "skip-empty-xacts", "only-local")


class _Wrote(Struct):
    """Whether a message of a transaction, and of the open block, was written."""

    transaction: bool = False
    block: bool = False


class TestDecoding(OutputPlugin):
    """One reader of a slot."""

    __test__ = False  # not a test

    def startup(self, ctx: DecodingContext, options: OutputPluginOptions, is_init: bool) -> None:
        flags = {**dict.fromkeys(_OPTIONS, False), "include-xids": True}
        for name, value in ctx.output_plugin_options:
            if name not in flags:
                raise ServerError("22023", f'option "{name}" = "{"(null)" if value is None else value}" is unknown')
            if value is not None:
                flags[name] = _boolean(name, value)
            elif name not in _IGNORED_WITHOUT_VALUE:
                flags[name] = True
            if flags["force-binary"]:
                options.output_type = "binary"
        options.receive_rewrites = flags["include-rewrites"]
        ctx.streaming = ctx.streaming and flags["stream-changes"]
        self._include_xids, self._include_timestamp = flags["include-xids"], flags["include-timestamp"]
        self._skip_empty_xacts, self._only_local = flags["skip-empty-xacts"], flags["only-local"]
        self._quote_all = ctx.values.settings.get("quote_all_identifiers") in ("on", "true", "yes", "1")

    def filter_by_origin(self, ctx: DecodingContext, origin_id: int) -> bool:
        return self._only_local and origin_id != 0

    def filter_prepare(self, ctx: DecodingContext, xid: int, gid: str) -> bool:
        return "_nodecode" in gid

    # Transactions.

    def begin(self, ctx: DecodingContext, txn: Transaction) -> None:
        txn.output_plugin_private = _Wrote()
        if not self._skip_empty_xacts:
            self._write_begin(ctx, txn)

    def _write_begin(self, ctx: DecodingContext, txn: Transaction, last_write: bool = True) -> None:
        _write(ctx, f"BEGIN {txn.xid}" if self._include_xids else "BEGIN", last_write)

    def commit(self, ctx: DecodingContext, txn: Transaction, commit_lsn: int) -> None:
        if not self._skips(txn):
            _write(ctx, self._end("COMMIT", f" {txn.xid}" if self._include_xids else "", txn))

    def _skips(self, txn: Transaction) -> bool:
        """Whether an empty transaction is not shown."""
        return self._skip_empty_xacts and not _wrote(txn).transaction

    def begin_prepare(self, ctx: DecodingContext, txn: Transaction) -> None:
        self.begin(ctx, txn)

    def prepare(self, ctx: DecodingContext, txn: Transaction, prepare_lsn: int) -> None:
        if not self._skips(txn):
            self._write_prepared(ctx, "PREPARE TRANSACTION", txn)

    def commit_prepared(self, ctx: DecodingContext, txn: Transaction, commit_lsn: int) -> None:
        self._write_prepared(ctx, "COMMIT PREPARED", txn)

    def rollback_prepared(
        self, ctx: DecodingContext, txn: Transaction, prepare_end_lsn: int, prepare_time: int
    ) -> None:
        self._write_prepared(ctx, "ROLLBACK PREPARED", txn)

    def _write_prepared(self, ctx: DecodingContext, command: str, txn: Transaction) -> None:
        xid = f", txid {txn.xid}" if self._include_xids else ""
        _write(ctx, self._end(command, f" {_literal(txn.gid or '')}{xid}", txn))

    def _end(self, command: str, rest: str, txn: Transaction) -> str:
        time = f" (at {format_time(txn.commit_time)})" if self._include_timestamp else ""
        return command + rest + time

    # Streamed transactions.

    def stream_start(self, ctx: DecodingContext, txn: Transaction) -> None:
        if txn.output_plugin_private is None:
            txn.output_plugin_private = _Wrote()
        _wrote(txn).block = False
        if not self._skip_empty_xacts:
            self._write_stream_start(ctx, txn)

    def _write_stream_start(self, ctx: DecodingContext, txn: Transaction, last_write: bool = True) -> None:
        self._write_stream(ctx, "opening a streamed block for transaction", txn, last_write)

    def _write_stream(self, ctx: DecodingContext, text: str, txn: Transaction, last_write: bool = True) -> None:
        _write(ctx, f"{text} TXN {txn.xid}" if self._include_xids else text, last_write)

    def stream_stop(self, ctx: DecodingContext, txn: Transaction) -> None:
        if not self._skip_empty_xacts or _wrote(txn).block:
            self._write_stream(ctx, "closing a streamed block for transaction", txn)

    def stream_abort(self, ctx: DecodingContext, txn: Transaction, abort_lsn: int) -> None:
        if not self._skips(txn.toplevel):
            self._write_stream(ctx, "aborting streamed (sub)transaction", txn)

    def stream_prepare(self, ctx: DecodingContext, txn: Transaction, prepare_lsn: int) -> None:
        if self._skips(txn):
            return
        gid = _literal(txn.gid or "")
        rest = f" TXN {gid}, txid {txn.xid}" if self._include_xids else f" {gid}"
        _write(ctx, self._end("preparing streamed transaction", rest, txn))

    def stream_commit(self, ctx: DecodingContext, txn: Transaction, commit_lsn: int) -> None:
        if not self._skips(txn):
            rest = f" TXN {txn.xid}" if self._include_xids else ""
            _write(ctx, self._end("committing streamed transaction", rest, txn))

    def stream_change(self, ctx: DecodingContext, txn: Transaction, relation: Relation, change: Change) -> None:
        self._write_streamed(ctx, "streaming change for", txn)

    def stream_truncate(
        self, ctx: DecodingContext, txn: Transaction, relations: Sequence[Relation], change: TruncateChange
    ) -> None:
        self._write_streamed(ctx, "streaming truncate for", txn)

    def _write_streamed(self, ctx: DecodingContext, text: str, txn: Transaction) -> None:
        self._open_block(ctx, txn)
        _write(ctx, f"{text} TXN {txn.xid}" if self._include_xids else f"{text} transaction")

    def _open_block(self, ctx: DecodingContext, txn: Transaction) -> None:
        wrote = _wrote(txn)
        if self._skip_empty_xacts and not wrote.block:
            self._write_stream_start(ctx, txn, last_write=False)
        wrote.transaction = wrote.block = True

    def stream_message(
        self,
        ctx: DecodingContext,
        txn: Transaction | None,
        message_lsn: int,
        transactional: bool,
        prefix: str,
        content: bytes,
    ) -> None:
        start = f"streaming message: transactional: {transactional:d} prefix: {prefix}, sz: {len(content)}"
        if transactional:
            if txn is not None and ctx.features.messages_open_block:
                self._open_block(ctx, txn)
            _write(ctx, start)
        else:
            _write(ctx, start + " content:" + content.decode("utf-8", "surrogateescape"))

    # Changes.

    def change(self, ctx: DecodingContext, txn: Transaction, relation: Relation, change: Change) -> None:
        self._begin_if_skipped(ctx, txn)
        text = f"table {self._table(ctx, relation)}: {change.action.upper()}:"
        if change.action == "insert":
            text += self._tuple(ctx, relation, change.new, skip_nulls=False)
        elif change.action == "update":
            if change.old is not None:
                text += f" old-key:{self._tuple(ctx, relation, change.old, skip_nulls=True)} new-tuple:"
            text += self._tuple(ctx, relation, change.new, skip_nulls=False)
        else:
            text += self._tuple(ctx, relation, change.old, skip_nulls=True)
        _write(ctx, text)

    def truncate(
        self, ctx: DecodingContext, txn: Transaction, relations: Sequence[Relation], change: TruncateChange
    ) -> None:
        self._begin_if_skipped(ctx, txn)
        names = ", ".join(self._table(ctx, relation) for relation in relations)
        flags = " restart_seqs" * change.restart_identity + " cascade" * change.cascade
        _write(ctx, f"table {names}: TRUNCATE:{flags or ' (no-flags)'}")

    def message(
        self,
        ctx: DecodingContext,
        txn: Transaction | None,
        message_lsn: int,
        transactional: bool,
        prefix: str,
        content: bytes,
    ) -> None:
        if transactional and txn is not None and ctx.features.messages_open_block:
            self._begin_if_skipped(ctx, txn)
        ctx.prepare_write(True)
        ctx.out.write(f"message: transactional: {transactional:d} prefix: {prefix}, sz: {len(content)} content:")
        ctx.out.write(content)
        ctx.write(True)

    def _begin_if_skipped(self, ctx: DecodingContext, txn: Transaction) -> None:
        wrote = _wrote(txn)
        if self._skip_empty_xacts and not wrote.transaction:
            self._write_begin(ctx, txn, last_write=False)
        wrote.transaction = True

    def _table(self, ctx: DecodingContext, relation: Relation) -> str:
        return f"{self._quoted(ctx, relation.namespace)}.{self._quoted(ctx, relation.name)}"

    def _quoted(self, ctx: DecodingContext, name: str) -> str:
        if self._quote_all:
            return '"' + name.replace('"', '""') + '"'
        return quote_identifier(name, ctx.major)

    def _tuple(self, ctx: DecodingContext, relation: Relation, row: Tuple | None, *, skip_nulls: bool) -> str:
        if row is None:
            return " (no-tuple-data)"
        parts: list[str] = []
        for column in relation.columns:
            value = row.values.get(column.number)
            if value is None and skip_nulls:
                continue
            name, kind = self._quoted(ctx, column.name), ctx.values.format_type(relation.version, column.type)
            text = "null"
            if value is UNCHANGED:
                text = "unchanged-toast-datum"
            elif value is not None:
                text = _shown(column.type, ctx.values.text(relation.version, column.type, value))
            parts.append(f" {name}[{kind}]:{text}")
        return "".join(parts)


def _wrote(txn: Transaction) -> _Wrote:
    wrote = txn.output_plugin_private
    assert isinstance(wrote, _Wrote)
    return wrote


def _write(ctx: DecodingContext, text: str, last_write: bool = True) -> None:
    ctx.prepare_write(last_write)
    ctx.out.write(text)
    ctx.write(last_write)


def _shown(type_oid: int, text: str) -> str:
    """print_literal."""
    if type_oid in _BARE:
        return text
    if type_oid in _BITS:
        return f"B'{text}'"
    if type_oid == oids.BOOL:
        return "true" if text == "t" else "false"
    return "'" + text.replace("'", "''") + "'"


def _literal(text: str) -> str:
    """quote_literal_cstr: a text with backslashes is an escape string."""
    quoted = "'" + text.replace("\\", "\\\\").replace("'", "''") + "'"
    return " E" + quoted if "\\" in text else quoted


def _boolean(name: str, value: str) -> bool:
    """parse_bool: any unambiguous beginning of true, false, yes, no, on, off; 1 and 0."""
    folded = value.lower()
    for word, answer in (("true", True), ("false", False), ("yes", True), ("no", False)):
        if folded and word.startswith(folded):
            return answer
    if folded in ("on", "1"):
        return True
    if folded in ("of", "off", "0"):
        return False
    raise ServerError("22023", f'could not parse value "{value}" for parameter "{name}"')
