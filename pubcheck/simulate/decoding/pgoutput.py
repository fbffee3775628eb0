"""pgoutput, the output plugin of logical replication (replication/pgoutput/pgoutput.c, replication/logical/proto.c)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from msgspec import Struct, field

from pubcheck.postgres.catalog import PG_CATALOG, Catalog
from pubcheck.postgres.catalog.rows import Column as ColumnRow
from pubcheck.postgres.catalog.rows import Relation as RelationRow
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.replication.publication_lookup import (
    DescribedColumns,
    described_columns,
    is_publishable,
    replica_identity,
)
from pubcheck.postgres.replication.row_changes import UNCHANGED, LoggedChange, published_change
from pubcheck.postgres.replication.row_changes import Change as PublishedChange
from pubcheck.postgres.replication.subscription_set import Combined, combine
from pubcheck.simulate.decoding.invalidations import Invalidation
from pubcheck.simulate.decoding.output_plugin import (
    Change,
    DecodingContext,
    OutputPlugin,
    OutputPluginOptions,
    Relation,
    Transaction,
    TruncateChange,
)
from pubcheck.simulate.decoding.pgoutput_options import PgoutputOptions, parse_options
from pubcheck.simulate.server_state import CatalogVersion
from pubcheck.stream import encode
from pubcheck.stream import messages as wire


class Entry(Struct):
    """One relation. ``published`` is None if no publication publishes it.

    ``schema_sent``: its Relation message was sent; ``streamed`` are the transactions in whose stream it was.
    ``columns`` are those of Relation messages.
    """

    published: Combined | None
    columns: DescribedColumns = DescribedColumns()
    schema_sent: bool = False
    streamed: set[int] = field(default_factory=set)
    valid: bool = True

    def knows_schema(self, streaming: int) -> bool:
        return streaming in self.streamed if streaming else self.schema_sent

    def note_schema(self, streaming: int) -> None:
        if streaming:
            self.streamed.add(streaming)
        else:
            self.schema_sent = True


class RelationCache:
    """The entries of one session, for the publications of these names. ``on_lookup`` is called before the catalog is
    read, as it is for each entry."""

    def __init__(self, names: tuple[str, ...], warn: Callable[[str], None], on_lookup: Callable[[], None]) -> None:
        self._names = names
        self._warn = warn
        self._on_lookup = on_lookup
        self._entries: dict[int, Entry] = {}
        self._publications: list[int] | None = None

    def invalidate(self, invalidation: Invalidation) -> None:
        if invalidation.publications:
            self._publications = None
        for oid, entry in self._entries.items():
            if invalidation.covers(oid):  # not by the relation that changes arrive as
                entry.valid = False

    def entry(self, version: CatalogVersion, relation: RelationRow) -> Entry:
        """Return the entry of a relation. Raises ServerError for a missing publication or lists that conflict."""
        entry = self._entries.get(relation.oid)
        if entry is None or not entry.valid:
            self._on_lookup()
            entry = self._entries[relation.oid] = self._build(version.catalog, relation)
        return entry

    def _build(self, catalog: Catalog, relation: RelationRow) -> Entry:
        if self._publications is None:
            self._publications = self._look_up(catalog)
        oids = [oid for oid in self._publications if oid in catalog.publications]
        published = combine(catalog, oids, relation.oid)
        if published is None:
            return Entry(None)
        if published.conflict is not None:
            answer = published.conflict.server
            raise ServerError(answer.sqlstate, answer.message)
        if not published.sends_rows:  # TRUNCATE alone needs neither lists nor filters
            return Entry(published)
        publications = [catalog.publications[oid] for oid in published.publications]
        return Entry(published, described_columns(catalog, catalog.relations[published.arrives_as], publications))

    def _look_up(self, catalog: Catalog) -> list[int]:
        """LoadPublications."""
        oids: list[int] = []
        for name in self._names:
            oid = catalog.publication_names.get(name)
            if oid is not None:
                oids.append(oid)
            elif not catalog.major.skips_missing_publications:
                raise ServerError("42704", f'publication "{name}" does not exist')
            else:
                self._warn(f'skipped loading publication "{name}"')
        return oids

    def end_of_stream(self, xid: int, *, committed: bool) -> None:
        """What was sent in a stream is known from its commit on, and not after an abort (cleanup_rel_sync_cache)."""
        for entry in self._entries.values():
            if xid in entry.streamed:
                entry.streamed.discard(xid)
                entry.schema_sent = entry.schema_sent or committed


_FIRST_GENBKI = 10000
"""Types from this OID on get a Type message (FirstGenbkiObjectId)."""


class _Sent(Struct):
    """What pgoutput remembers of a transaction: whether its BEGIN was sent."""

    begin: bool = False


class Pgoutput(OutputPlugin):
    """One reader of a slot."""

    def __init__(self) -> None:
        self._options = PgoutputOptions()
        self._cache: RelationCache
        self._namespaces: set[int] = set()
        """The schemas whose names were looked up."""
        self._identities: set[int] = set()
        """The relations whose indexes were looked up, for their replica identity."""
        self._block: Transaction | None = None
        """The transaction whose block is open."""

    def startup(self, ctx: DecodingContext, options: OutputPluginOptions, is_init: bool) -> None:
        options.output_type = "binary"
        self._options = parsed = parse_options(ctx.output_plugin_options, ctx.features)
        ctx.streaming = ctx.streaming and parsed.streaming != "off"
        ctx.twophase_opt_given = parsed.two_phase
        self._cache = RelationCache(parsed.publication_names, ctx.warn, lambda: ctx.values.on_lookup())
        ctx.on_invalidation(self._cache.invalidate)
        ctx.on_invalidation(self._forget_identities)

    def _forget_identities(self, invalidation: Invalidation) -> None:
        self._identities = {oid for oid in self._identities if not invalidation.covers(oid)}

    def filter_by_origin(self, ctx: DecodingContext, origin_id: int) -> bool:
        return self._options.publish_no_origin and origin_id != 0

    # Transactions.

    def begin(self, ctx: DecodingContext, txn: Transaction) -> None:
        txn.output_plugin_private = _Sent()

    def _begin(self, ctx: DecodingContext, txn: Transaction) -> None:
        """Send BEGIN with the first message of a transaction that is not streamed or prepared."""
        sent = txn.output_plugin_private
        if isinstance(sent, _Sent) and not sent.begin:
            sent.begin = True
            self._start(ctx, txn, wire.Begin(txn.final_lsn, txn.commit_time, txn.xid), txn.origin_lsn)

    def _start(
        self, ctx: DecodingContext, txn: Transaction, message: wire.AnyMessage, origin_lsn: int, again: bool = False
    ) -> None:
        """Send the first message of a transaction, and its origin if that exists (send_repl_origin)."""
        send_origin = txn.origin_id != 0 and not again
        name = ctx.origin_name(txn.origin_id) if send_origin else None
        if name is None:
            _send(ctx, message, last_write=not send_origin)
        else:
            _send(ctx, message, last_write=False)
            _send(ctx, wire.Origin(origin_lsn, name))

    def commit(self, ctx: DecodingContext, txn: Transaction, commit_lsn: int) -> None:
        sent = txn.output_plugin_private
        txn.output_plugin_private = None
        if isinstance(sent, _Sent) and sent.begin:
            _send(ctx, wire.Commit(commit_lsn, txn.end_lsn, txn.commit_time))

    # Prepared transactions.

    def begin_prepare(self, ctx: DecodingContext, txn: Transaction) -> None:
        message = wire.BeginPrepare(txn.final_lsn, txn.end_lsn, txn.commit_time, txn.xid, txn.gid or "")
        self._start(ctx, txn, message, txn.origin_lsn)

    def prepare(self, ctx: DecodingContext, txn: Transaction, prepare_lsn: int) -> None:
        _send(ctx, wire.Prepare(prepare_lsn, txn.end_lsn, txn.commit_time, txn.xid, txn.gid or ""))

    def commit_prepared(self, ctx: DecodingContext, txn: Transaction, commit_lsn: int) -> None:
        _send(ctx, wire.CommitPrepared(commit_lsn, txn.end_lsn, txn.commit_time, txn.xid, txn.gid or ""))

    def rollback_prepared(
        self, ctx: DecodingContext, txn: Transaction, prepare_end_lsn: int, prepare_time: int
    ) -> None:
        gid = txn.gid or ""
        _send(
            ctx,
            wire.RollbackPrepared(prepare_end_lsn, txn.end_lsn, prepare_time, txn.commit_time, txn.xid, gid),
        )

    # Streamed transactions.

    def stream_start(self, ctx: DecodingContext, txn: Transaction) -> None:
        self._start(ctx, txn, wire.StreamStart(txn.xid, not txn.is_streamed), 0, again=txn.is_streamed)
        self._block = txn

    def stream_stop(self, ctx: DecodingContext, txn: Transaction) -> None:
        _send(ctx, wire.StreamStop())
        self._block = None

    def stream_abort(self, ctx: DecodingContext, txn: Transaction, abort_lsn: int) -> None:
        top = txn.toplevel
        parallel = self._options.streaming == "parallel"
        _send(
            ctx,
            wire.StreamAbort(top.xid, txn.xid, abort_lsn if parallel else None, txn.commit_time if parallel else None),
        )
        self._cache.end_of_stream(top.xid, committed=False)

    def stream_commit(self, ctx: DecodingContext, txn: Transaction, commit_lsn: int) -> None:
        _send(ctx, wire.StreamCommit(txn.xid, commit_lsn, txn.end_lsn, txn.commit_time))
        self._cache.end_of_stream(txn.xid, committed=True)

    def stream_prepare(self, ctx: DecodingContext, txn: Transaction, prepare_lsn: int) -> None:
        _send(ctx, wire.StreamPrepare(prepare_lsn, txn.end_lsn, txn.commit_time, txn.xid, txn.gid or ""))
        self._cache.end_of_stream(txn.xid, committed=False)

    # Changes.

    def change(self, ctx: DecodingContext, txn: Transaction, relation: Relation, change: Change) -> None:
        if not is_publishable(relation.row):
            return
        entry = self._cache.entry(relation.version, relation.row)
        if entry.published is None:
            return
        published = published_change(
            relation.version.catalog,
            entry.published,
            LoggedChange(
                change.action,
                None if change.old is None else change.old.values,
                None if change.new is None else change.new.values,
            ),
            ctx.values.matcher(relation.version),
        )
        if published is None:
            return
        self._begin(ctx, txn)
        self._send_schema(ctx, change.txn, relation, entry)
        _send(ctx, self._row_message(ctx, relation.version, entry.published, published, self._sent_xid(change)))

    def truncate(
        self, ctx: DecodingContext, txn: Transaction, relations: Sequence[Relation], change: TruncateChange
    ) -> None:
        oids: list[int] = []
        for relation in relations:
            if not is_publishable(relation.row):
                continue
            entry = self._cache.entry(relation.version, relation.row)
            if entry.published is None or not entry.published.truncate:
                continue
            oids.append(relation.oid)
            self._begin(ctx, txn)
            self._send_schema(ctx, change.txn, relation, entry)
        if oids:
            xid = self._sent_xid(change)
            _send(ctx, wire.Truncate(tuple(oids), change.cascade, change.restart_identity, xid))

    def message(
        self,
        ctx: DecodingContext,
        txn: Transaction | None,
        message_lsn: int,
        transactional: bool,
        prefix: str,
        content: bytes,
    ) -> None:
        if not self._options.messages:
            return
        if transactional and txn is not None:
            self._begin(ctx, txn)
        xid = txn.xid if self._block is not None and txn is not None else None
        _send(ctx, wire.Message(transactional, message_lsn, prefix, content, xid))

    stream_change = change
    stream_truncate = truncate
    stream_message = message

    def _sent_xid(self, change: Change | TruncateChange) -> int | None:
        """The id of the (sub)transaction is part of messages in a block."""
        return change.txn.xid if self._block is not None else None

    # Schemas (maybe_send_schema).

    def _send_schema(self, ctx: DecodingContext, txn: Transaction, relation: Relation, entry: Entry) -> None:
        streaming = txn.toplevel.xid if self._block is not None else 0
        if entry.knows_schema(streaming):
            return
        assert entry.published is not None
        xid = txn.xid if self._block is not None else None
        arrives_as = entry.published.arrives_as
        if arrives_as != relation.oid:
            ancestor = relation.version.catalog.relations[arrives_as]
            self._send_relation(ctx, relation.version, ancestor, entry, xid)
        self._send_relation(ctx, relation.version, relation.row, entry, xid)
        entry.note_schema(streaming)

    def _send_relation(
        self, ctx: DecodingContext, version: CatalogVersion, row: RelationRow, entry: Entry, xid: int | None
    ) -> None:
        """Type messages of the columns, then the Relation message (send_relation_and_attrs)."""
        catalog = version.catalog
        has_indexes = row.identity != "f" and bool(catalog.indexes_of.get(row.oid))
        if (has_indexes and row.oid not in self._identities) or row.namespace not in self._namespaces | {PG_CATALOG}:
            ctx.values.on_lookup()
            self._namespaces.add(row.namespace)
            self._identities.add(row.oid)
        columns = entry.columns.of(catalog.major, row)
        for column in columns:
            if column.type >= _FIRST_GENBKI:
                namespace, name = ctx.values.type_name(version, column.type)
                _send(ctx, wire.Type(column.type, namespace, name, xid), last_write=False)
        identity = replica_identity(catalog, row)
        namespace = "" if row.namespace == PG_CATALOG else catalog.namespaces[row.namespace].name
        message = wire.Relation(
            row.oid,
            ctx.values.to_client(namespace),
            ctx.values.to_client(row.name),
            row.identity,
            tuple(
                wire.Column(
                    ctx.values.to_client(column.name),
                    column.type,
                    column.typmod,
                    identity.full or column.number in identity.columns,
                )
                for column in columns
            ),
            xid,
        )
        _send(ctx, message, last_write=False)

    # Rows.

    def _row_message(
        self,
        ctx: DecodingContext,
        version: CatalogVersion,
        combined: Combined,
        change: PublishedChange,
        xid: int | None,
    ) -> wire.AnyMessage:
        catalog = version.catalog
        table = catalog.relations[combined.relation]
        columns = [table.columns[number - 1] for number in combined.columns]
        target = catalog.relations[change.arrives_as]
        kind: Literal["K", "O"] = "O" if target.identity == "f" else "K"
        new = None if change.new is None else self._row(ctx, version, columns, change.new)
        old = None if change.old is None else self._row(ctx, version, columns, change.old)
        if change.operation == "insert":
            assert new is not None
            return wire.Insert(target.oid, new, xid)
        if change.operation == "delete":
            assert old is not None
            return wire.Delete(target.oid, old, kind, xid)
        assert new is not None
        return wire.Update(target.oid, new, old, None if old is None else kind, xid)

    def _row(
        self, ctx: DecodingContext, version: CatalogVersion, columns: Sequence[ColumnRow], row: Mapping[int, Any]
    ) -> wire.Row:
        return tuple(self._value(ctx, version, column, row[column.number]) for column in columns)

    def _value(self, ctx: DecodingContext, version: CatalogVersion, column: ColumnRow, value: Any) -> wire.Value:
        if value is None:
            return None
        if value is UNCHANGED:
            return wire.UNCHANGED_TOAST
        if self._options.binary:
            data = ctx.values.binary(version, column.type, value)
            if data is not None:
                return data
        return ctx.values.client_text(version, column.type, value)


def _send(ctx: DecodingContext, message: wire.AnyMessage, *, last_write: bool = True) -> None:
    ctx.prepare_write(last_write)
    ctx.out.write(encode(message))
    ctx.write(last_write)
