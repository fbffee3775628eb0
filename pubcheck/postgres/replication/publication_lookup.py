"""The publications that publish a table, the entry of each that applies, and what it publishes: relation name,
operations, filter and columns (pg_publication.c, pgoutput.c). The replica identity: which columns of a table tell its
rows apart downstream (relcache.c: RelationGetIndexList)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, Catalog
from pubcheck.postgres.catalog.rows import Column, Filter, Publication, PublicationRel, Relation
from pubcheck.postgres.versions import Major


class ReplicaIdentity(Struct, frozen=True):
    """``kind`` is relreplident; ``columns`` the attribute numbers of the identity, empty where there is none.

    ``known`` is False if the table is unknown and nothing in the unit sets its identity.
    """

    kind: str
    columns: frozenset[int] = frozenset()
    index: int = 0
    known: bool = True

    @property
    def full(self) -> bool:
        return self.kind == "f"

    @property
    def exists(self) -> bool:
        """Whether UPDATE and DELETE can be replicated at all (CheckCmdReplicaIdentity)."""
        return self.full or bool(self.index)


def replica_identity(catalog: Catalog, relation: Relation) -> ReplicaIdentity:
    """Return the identity of a table as INDEX_ATTR_BITMAP_IDENTITY_KEY has it.

    FULL has all columns but no index; DEFAULT the primary key unless it is deferrable or invalid; USING INDEX that
    index while it exists, is valid, unique, immediate and not partial; otherwise there is none.
    """
    kind = relation.identity
    if kind == "f":
        return ReplicaIdentity(kind, frozenset(column.number for column in relation.live()))
    if kind in "di":
        for oid in catalog.key_indexes_of.get(relation.oid):
            index = catalog.indexes[oid]
            chosen = index.primary if kind == "d" else index.identity
            if chosen and index.valid and index.unique and index.immediate and not index.partial:
                return ReplicaIdentity(kind, frozenset(index.keys), oid)
    return ReplicaIdentity(kind, known=relation.seen or kind == "n")


PublishedBy = Literal["table", "schema", "all tables"]


def is_publishable(relation: Relation) -> bool:
    """is_publishable_class: an ordinary or partitioned permanent table that initdb did not make."""
    return relation.kind in "rp" and relation.persistence == "p" and relation.oid >= FIRST_NORMAL_OID


def published_sequences(catalog: Catalog) -> list[Relation]:
    """Return the sequences that ALL SEQUENCES publishes: all permanent ones."""
    return [
        row
        for row in catalog.relations.values()
        if row.kind == "S" and row.persistence == "p" and row.oid >= FIRST_NORMAL_OID
    ]


def publications_of(catalog: Catalog, relation: Relation) -> list[Publication]:
    """All publications of a table, in the order in which RelationBuildPublicationDesc looks at them.

    Its own memberships, its schema's, then for a partition those of each ancestor, nearest first; FOR ALL TABLES last.
    """
    publications: dict[int, None] = {}
    for oid in (relation.oid, *catalog.ancestors(relation.oid)):
        if catalog.memberships.has(oid):
            members = (catalog.publication_rels[member].publication for member in catalog.memberships.get(oid))
            publications.update(dict.fromkeys(sorted(members)))
        namespace = catalog.relations[oid].namespace
        if catalog.schema_publications.has(namespace):
            entries = (catalog.publication_namespaces[entry] for entry in catalog.schema_publications.get(namespace))
            publications.update(dict.fromkeys(sorted(entry.publication for entry in entries)))
    for_all = (oid for oid in catalog.publications_for_all if not excludes(catalog, oid, relation))
    publications.update(dict.fromkeys(for_all))
    return [catalog.publications[oid] for oid in publications]


def excludes(catalog: Catalog, publication: int, relation: Relation) -> bool:
    """Return whether EXCEPT leaves a table out of a publication; of a partition its topmost ancestor decides."""
    if not catalog.exclusions_of.has(publication):
        return False
    ancestors = catalog.ancestors(relation.oid)
    return (publication, ancestors[-1] if ancestors else relation.oid) in catalog.exclusions


def publishes(catalog: Catalog, publication: Publication, relation: Relation) -> bool:
    """Return whether a publication is one of ``publications_of`` a table."""
    if publication.all_tables:
        return not excludes(catalog, publication.oid, relation)
    return any(
        (publication.oid, oid) in catalog.members
        or (publication.oid, catalog.relations[oid].namespace) in catalog.schema_members
        for oid in (relation.oid, *catalog.ancestors(relation.oid))
    )


def identity_check_entry(catalog: Catalog, publication: Publication, relation: Relation) -> PublicationRel | None:
    """The membership whose filter and column list hold for a table in a publication; None where it has neither.

    With publish_via_partition_root that of the topmost published ancestor (GetTopMostAncestorInPublication), even
    where the partition has one of its own.
    """
    publish_as = relation.oid
    if publication.via_root and relation.partition:
        for oid in catalog.ancestors(relation.oid):
            namespace = catalog.relations[oid].namespace
            if (publication.oid, oid) in catalog.members or (publication.oid, namespace) in catalog.schema_members:
                publish_as = oid
    member = catalog.members.get((publication.oid, publish_as))
    return None if member is None else catalog.publication_rels[member]


class Arrival(Struct, frozen=True, gc=False):
    """The relation under which a publication publishes a table's changes, and the reason why it publishes them.

    ``level`` counts ancestors up to ``arrives_as``: 0 for the table itself. ``through`` is the relation whose
    membership or schema brings the table in: itself or an ancestor. ``how`` says how that relation is named; the
    schema, where both it and the table are named.
    """

    arrives_as: int
    level: int
    through: int
    how: PublishedBy


def route(catalog: Catalog, publication: Publication, relation: Relation) -> Arrival | None:
    """Return the entry that get_rel_sync_entry finds for one publication; None if it does not publish the table.

    Whether the table is publishable at all is another question (``is_publishable``).
    """
    oid = relation.oid
    if publication.all_tables:
        if excludes(catalog, publication.oid, relation):
            return None
        if publication.via_root and relation.partition and (ancestors := catalog.ancestors(oid)):
            return Arrival(ancestors[-1], len(ancestors), oid, "all tables")
        return Arrival(oid, 0, oid, "all tables")
    own_name = how_named(catalog, publication.oid, relation)
    if not relation.partition:
        return None if own_name is None else Arrival(oid, 0, oid, own_name)
    if own_name is not None and not publication.via_root:
        return Arrival(oid, 0, oid, own_name)
    arrival = None if own_name is None else Arrival(oid, 0, oid, own_name)
    for level, ancestor in enumerate(catalog.ancestors(oid), 1):
        how = how_named(catalog, publication.oid, catalog.relations[ancestor])
        if how is not None:
            if not publication.via_root:
                return Arrival(oid, 0, ancestor, how)
            arrival = Arrival(ancestor, level, ancestor, how)
    return arrival


def how_named(catalog: Catalog, publication: int, relation: Relation) -> PublishedBy | None:
    """Return whether a publication names a relation itself or its schema; the schema goes first, as it voids
    filters."""
    if (publication, relation.namespace) in catalog.schema_members:
        return "schema"
    return "table" if (publication, relation.oid) in catalog.members else None


def effective_entry(catalog: Catalog, publication: Publication, publish_as: int) -> PublicationRel | None:
    """The membership under which a relation's changes are sent; FOR ALL TABLES has none.

    Its column list counts always, its filter only where the relation's schema is not published as well
    (pgoutput_row_filter_init).
    """
    if publication.all_tables:
        return None
    member = catalog.members.get((publication.oid, publish_as))
    return None if member is None else catalog.publication_rels[member]


def sent_columns(relation: Relation, listed: tuple[int, ...] | None, generated: bool) -> tuple[int, ...]:
    """The columns of a relation that are sent under its name (logicalrep_should_publish_column).

    ``listed`` is the column list, which wins over ``generated``: whether stored generated columns are published.
    Virtual columns never are.
    """
    if listed is not None:
        numbers = set(listed)
        return tuple(column.number for column in relation.columns if not column.dropped and column.number in numbers)
    # A list is made in less time than a generator's tuple, and this is asked of every table of a database.
    return tuple(
        [
            column.number
            for column in relation.columns
            if not column.dropped and (not column.generated or (generated and column.generated == "s"))
        ]
    )


class DescribedColumns(Struct, frozen=True):
    """The columns of Relation messages: ``numbers``, or None for all, with stored generated ones if ``generated``."""

    numbers: frozenset[int] | None = None
    generated: bool = False

    def of(self, major: Major, relation: Relation) -> list[Column]:
        """Return those of a relation (logicalrep_should_publish_column).

        The numbers are those of the relation that changes arrive as, but the server also applies them to a partition's
        own columns. Before 18 no list has a generated column; a partition may have one under such a number.
        """
        return [column for column in relation.live() if self._has(major, column)]

    def _has(self, major: Major, column: Column) -> bool:
        if self.numbers is not None:
            return column.number in self.numbers and (major.publish_generated_columns or not column.generated)
        return not column.generated or (self.generated and column.generated == "s")


def described_columns(catalog: Catalog, target: Relation, publications: Sequence[Publication]) -> DescribedColumns:
    """Return the columns by which changes that arrive as a relation are described (pgoutput_column_list_init)."""
    lists = [_column_list(catalog, publication, target) for publication in publications]
    generated = any(publication.generated == "s" for publication in publications)
    major, listed = catalog.major, lists[0]
    if not major.publish_generated_columns:
        # A list of all columns counts as none.
        countable = [column for column in target.live() if major.lists_count_generated or not column.generated]
        if listed is None or len(listed) == len(countable):
            return DescribedColumns(None, generated)
        return DescribedColumns(frozenset(listed), generated)
    if all(columns is None for columns in lists):
        return DescribedColumns(None, generated)
    return DescribedColumns(frozenset(sent_columns(target, listed, publications[0].generated == "s")), generated)


def _column_list(catalog: Catalog, publication: Publication, target: Relation) -> tuple[int, ...] | None:
    entry = effective_entry(catalog, publication, target.oid)
    return None if entry is None else entry.columns


def partition_columns(target: Relation, relation: Relation, columns: tuple[int, ...]) -> tuple[int, ...]:
    """Map columns of an ancestor to those of its partition, by name; unknown columns are left out."""
    if target.oid == relation.oid:
        return columns
    numbers = {column.name: column.number for column in relation.columns if not column.dropped}
    names = (target.columns[number - 1].name for number in columns)
    return tuple(numbers[name] for name in names if name in numbers)


Operation = Literal["insert", "update", "delete", "truncate"]
OPERATIONS: tuple[Operation, ...] = ("insert", "update", "delete", "truncate")

Reason = Literal["unlogged", "temporary", "foreign", "materialized view", "sequence", "information_schema"]


class PublishedChanges(Struct, frozen=True, gc=False):
    """The changes that a publication publishes of the rows of one ordinary table or leaf partition.

    ``arrives_as`` is the relation whose name and columns the changes bear, ``through`` the one that the publication
    names and that brings the table in, both the table or an ancestor; ``how`` it is named. ``operations`` are those of
    the publication: a TRUNCATE of the leaf alone is not published if it arrives as another (``truncate_published``).
    ``entry`` is the membership whose filter and column list count, ``filter`` its filter unless the schema or ALL
    TABLES voids it (by column numbers of ``entry.relation``). ``columns`` are numbers of ``relation``, in the order in
    which they are published. ``certain``: this depends on nothing unknown.
    """

    publication: int
    relation: int
    arrives_as: int
    operations: tuple[Operation, ...]
    filter: Filter | None
    entry: PublicationRel | None
    columns: tuple[int, ...]
    how: PublishedBy
    through: int
    certain: bool

    @property
    def truncate_published(self) -> bool:
        """Whether TRUNCATE of this table is published (pgoutput_truncate skips tables published as an ancestor)."""
        return "truncate" in self.operations and self.arrives_as == self.relation


def published_operations(publication: Publication) -> tuple[Operation, ...]:
    """The publish option."""
    return tuple(operation for operation in OPERATIONS if getattr(publication, operation))


def published_by(catalog: Catalog, publication: int) -> list[PublishedChanges]:
    """Return the tables whose rows a publication publishes, one entry for each.

    FOR ALL TABLES in the catalog's order, otherwise in that of the members. Takes time linear in their number.
    """
    row = catalog.publications[publication]
    operations = published_operations(row)
    sents: list[PublishedChanges] = []
    for oid in _reached(catalog, row):
        relation = catalog.relations[oid]
        if relation.kind == "r" and is_publishable(relation):
            sent = _sent(catalog, row, relation, operations)
            if sent is not None:
                sents.append(sent)
    return sents


def tables_published_by(catalog: Catalog, publication: int) -> set[int]:
    """Return the tables whose rows a publication publishes: those in the result of ``published_by``."""
    relations = catalog.relations
    reached = (relations[oid] for oid in _reached(catalog, catalog.publications[publication]))
    return {relation.oid for relation in reached if relation.kind == "r" and is_publishable(relation)}


def truncates_published_by(
    catalog: Catalog, publication: int, sents: Iterable[PublishedChanges]
) -> list[PublishedChanges]:
    """Return the partitioned tables of which a publication publishes TRUNCATE and no rows (pgoutput_truncate).

    ``sents`` is the result of ``published_by``: a table under whose name no rows are published has no partition, or no
    published one.
    """
    row = catalog.publications[publication]
    if not (row.via_root and row.truncate):
        return []
    arrived = {sent.arrives_as for sent in sents}
    empty = (catalog.relations[oid] for oid in _reached(catalog, row) if oid not in arrived)
    operations = published_operations(row)
    candidates = [
        _sent(catalog, row, relation, operations)
        for relation in empty
        if relation.kind == "p" and is_publishable(relation)
    ]
    return [sent for sent in candidates if sent is not None and sent.truncate_published]


def published_of(catalog: Catalog, publication: int, relation: int) -> PublishedChanges | None:
    """Return the changes that a publication publishes of one ordinary table or leaf; None for nothing."""
    row, table = catalog.publications[publication], catalog.relations[relation]
    if table.kind != "r" or not is_publishable(table):
        return None
    return _sent(catalog, row, table, published_operations(row))


def _sent(
    catalog: Catalog, publication: Publication, relation: Relation, operations: tuple[Operation, ...]
) -> PublishedChanges | None:
    arrives = route(catalog, publication, relation)
    if arrives is None:
        return None
    target = relation if arrives.level == 0 else catalog.relations[arrives.arrives_as]
    entry = effective_entry(catalog, publication, target.oid)
    listed, condition = None, None
    if entry is not None:
        listed = entry.columns
        if (publication.oid, target.namespace) not in catalog.schema_members:
            condition = entry.filter
    columns = partition_columns(target, relation, sent_columns(target, listed, publication.generated == "s"))
    certain = publication.seen and relation.seen
    if relation.partition and certain:
        certain = all(catalog.relations[oid].seen for oid in catalog.ancestors(relation.oid))
    return PublishedChanges(
        publication.oid,
        relation.oid,
        target.oid,
        operations,
        condition,
        entry,
        columns,
        arrives.how,
        arrives.through,
        certain,
    )


def unpublished_members(catalog: Catalog, publication: int) -> list[tuple[int, Reason]]:
    """Return the relations in a publication's members, schemas or database that are never published, with the reason.

    Partitions among them are accepted silently (is_publishable_class). Views do not count.
    """
    result: list[tuple[int, Reason]] = []
    for oid in _reached(catalog, catalog.publications[publication]):
        reason = unpublishable(catalog.relations[oid])
        if reason is not None:
            result.append((oid, reason))
    return result


def reach(catalog: Catalog, publication: Publication) -> object:
    """Return a value that is equal for publications of all tables, and for those of the same schemas: they have the
    same unpublished members."""
    schemas = [catalog.publication_namespaces[oid].namespace for oid in catalog.schemas_of.get(publication.oid)]
    members = catalog.exclusions_of if publication.all_tables else catalog.members_of
    return publication.all_tables, tuple(schemas), tuple(members.get(publication.oid))


def unpublishable(relation: Relation) -> Reason | None:
    """Return why a relation with rows of its own is never published; None if it is, or has none."""
    if relation.kind == "f":
        return "foreign"
    if relation.kind == "m":
        return "materialized view"
    if relation.kind == "S":
        return "sequence"
    if relation.kind != "r":
        return None
    if relation.persistence == "u":
        return "unlogged"
    if relation.persistence == "t":
        return "temporary"
    return "information_schema" if relation.oid < FIRST_NORMAL_OID else None


def _reached(catalog: Catalog, publication: Publication) -> Iterator[int]:
    """Yield all relations that a publication can cover, each once: members, tables of its schemas, their partitions."""
    if publication.all_tables:
        excluding = catalog.exclusions_of.has(publication.oid)
        for relation in list(catalog.relations.values()):
            if relation.oid >= FIRST_NORMAL_OID and not (excluding and excludes(catalog, publication.oid, relation)):
                yield relation.oid
        return
    seen: set[int] = set()
    for start in _starts(catalog, publication.oid):
        if start in seen:
            continue
        if catalog.relations[start].kind == "p":
            for oid in catalog.descendants(start):
                if oid not in seen:
                    seen.add(oid)
                    yield oid
        else:
            seen.add(start)
            yield start


def _starts(catalog: Catalog, publication: int) -> Iterator[int]:
    for member in catalog.members_of.get(publication):
        yield catalog.publication_rels[member].relation
    for schema in catalog.schemas_of.get(publication):
        yield from catalog.relations_in.get(catalog.publication_namespaces[schema].namespace)
