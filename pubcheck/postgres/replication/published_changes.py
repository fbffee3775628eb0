"""The changes that one publication publishes: for each table their relation name, operations, filter and columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Literal

from msgspec import Struct

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, Catalog
from pubcheck.postgres.catalog.rows import Filter, Publication, PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import (
    PublishedBy,
    effective_entry,
    excludes,
    is_publishable,
    partition_columns,
    route,
    sent_columns,
)

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
