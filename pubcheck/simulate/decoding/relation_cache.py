"""pgoutput's cache of the published relations: how each is sent, and where its schema is known (get_rel_sync_entry)."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct, field

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Relation as RelationRow
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.replication.publication_lookup import DescribedColumns, described_columns
from pubcheck.postgres.replication.subscription_set import Combined, combine
from pubcheck.simulate.decoding.invalidations import Invalidation
from pubcheck.simulate.log import CatalogVersion


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
