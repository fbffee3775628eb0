"""The initial copy of a subscription: the tables of its publications, and the rows that are copied.

pg_get_publication_tables (pg_publication.c), fetch_table_list (subscriptioncmds.c) and fetch_remote_table_info
(tablesync.c), for a subscriber of the same major as the publisher. None of them looks at the publish option.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import Struct

from pubcheck.diagnostics import ServerAnswer
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Filter, Publication, PublicationRel
from pubcheck.postgres.replication.publication_lookup import effective_entry, excludes, is_publishable, sent_columns
from pubcheck.postgres.replication.subscription_set import Conflict, Filters, compared_columns, lists_differ


class PublicationTable(Struct, frozen=True, gc=False):
    """A row of pg_publication_tables. ``columns`` are attnames by number: 15 shows generated columns that it never
    sends where there is no list. ``filter`` is None where it does not count.
    """

    publication: int
    relation: int
    columns: tuple[int, ...]
    filter: Filter | None
    entry: PublicationRel | None


class CopiedTable(Struct, frozen=True, gc=False):
    """A table that the initial copy takes: an ordinary table alone (ONLY), or a partitioned one with all its rows,
    those of unlogged and foreign partitions too.

    ``filters`` are ORed, () for all rows. ``within`` is an ancestor that is copied as well, so that the rows arrive
    twice (15 only), else 0.
    """

    relation: int
    publications: tuple[int, ...]
    columns: tuple[int, ...]
    filters: Filters
    within: int


def publication_tables(catalog: Catalog, publication: int) -> list[PublicationTable]:
    """Return the rows of pg_publication_tables for a publication, in no particular order."""
    row = catalog.publications[publication]
    return [_listed(catalog, row, oid) for oid in _without_partitions(catalog, _tables(catalog, row), row.via_root)]


def tables_to_copy(catalog: Catalog, publications: Sequence[int]) -> list[CopiedTable]:
    """Return the tables that the initial copy of a subscription to these publications copies; linear in their tables.

    16 leaves out partitions whose ancestor is among the tables of any of the publications, as soon as one of them
    has publish_via_partition_root; 15 looks at each publication alone.
    """
    own = _by_relation(catalog, publications)
    relations = set(_asked_for(catalog, own, publications))
    tables: list[CopiedTable] = []
    for oid, rows in own.items():
        if oid not in relations:
            continue
        filters: list[tuple[int, Filter]] = []
        for row in rows:
            if row.filter is None:
                filters = []
                break
            filters.append((row.publication, row.filter))
        first = catalog.publications[rows[0].publication]
        relation = catalog.relations[oid]
        lists = None if rows[0].entry is None else rows[0].entry.columns
        within = next((above for above in catalog.ancestors(oid) if above in relations), 0) if relation.partition else 0
        tables.append(
            CopiedTable(
                oid,
                tuple(row.publication for row in rows),
                sent_columns(relation, lists, first.generated == "s"),
                tuple(filters),
                within,
            )
        )
    return tables


def subscribe_conflicts(catalog: Catalog, publications: Sequence[int]) -> list[Conflict]:
    """Return the conflicts that CREATE SUBSCRIPTION and REFRESH refuse (fetch_table_list), one per table.

    The server names one of them. In 15 also the conflict that only the table's initial copy refuses: a list of all
    columns and no list, where a column was dropped (``lists_differ``).
    """
    own = _by_relation(catalog, publications)
    if len(set(publications)) < 2:
        return []
    conflicts: list[Conflict] = []
    for oid in _asked_for(catalog, own, publications):
        rows = own[oid]
        if len(rows) == 1:
            continue
        sets = tuple((row.publication, row.columns) for row in rows)
        relation = catalog.relations[oid]
        lists = [None if row.entry is None else row.entry.columns for row in rows]
        if len({columns for _, columns in sets}) > 1 or lists_differ(catalog, relation, lists, sets):
            name = f"{catalog.namespaces[relation.namespace].name}.{relation.name}"
            answer = ServerAnswer(
                "0A000", f'cannot use different column lists for table "{name}" in different publications'
            )
            conflicts.append(Conflict("lists-refused", oid, answer, sets))
    return conflicts


def _by_relation(catalog: Catalog, publications: Sequence[int]) -> dict[int, list[PublicationTable]]:
    by_relation: dict[int, list[PublicationTable]] = {}
    for publication in dict.fromkeys(publications):
        for row in publication_tables(catalog, publication):
            by_relation.setdefault(row.relation, []).append(row)
    return by_relation


def _asked_for(catalog: Catalog, own: dict[int, list[PublicationTable]], publications: Sequence[int]) -> list[int]:
    if not catalog.major.copy_combines_publications:
        return list(own)
    via_root = any(catalog.publications[publication].via_root for publication in publications)
    return _without_partitions(catalog, own, via_root)


def _without_partitions(catalog: Catalog, tables: Iterable[int], via_root: bool) -> list[int]:
    """filter_partitions."""
    remaining = list(tables)
    if not via_root:
        return remaining
    present = set(remaining)
    return [
        oid
        for oid in remaining
        if not catalog.relations[oid].partition or not any(above in present for above in catalog.ancestors(oid))
    ]


def _tables(catalog: Catalog, publication: Publication) -> dict[int, None]:
    """GetPublicationRelations, GetAllSchemaPublicationRelations or GetAllTablesPublicationRelations.

    Partitions of a member are not asked whether they are publishable.
    """
    via_root = publication.via_root
    if publication.all_tables:
        return {
            relation.oid: None
            for relation in catalog.relations.values()
            if is_publishable(relation)
            and (relation.kind == "r" or via_root)
            and not (relation.partition and via_root)
            and not excludes(catalog, publication.oid, relation)
        }
    starts = [catalog.publication_rels[member].relation for member in catalog.members_of.get(publication.oid)]
    for schema in catalog.schemas_of.get(publication.oid):
        held = catalog.relations_in.get(catalog.publication_namespaces[schema].namespace)
        starts += [oid for oid in held if is_publishable(catalog.relations[oid])]
    tables: dict[int, None] = {}
    walked: set[int] = set()
    for start in starts:
        if via_root or catalog.relations[start].kind != "p":
            tables[start] = None
        elif start not in walked:
            tree = catalog.descendants(start)
            walked.update(tree)
            tables.update((oid, None) for oid in tree if catalog.relations[oid].kind != "p")
    return tables


def _listed(catalog: Catalog, publication: Publication, oid: int) -> PublicationTable:
    relation = catalog.relations[oid]
    entry = effective_entry(catalog, publication, oid)
    condition = None
    if entry is not None and (publication.oid, relation.namespace) not in catalog.schema_members:
        condition = entry.filter
    columns = compared_columns(catalog, publication, relation)
    return PublicationTable(publication.oid, oid, columns, condition, entry)
