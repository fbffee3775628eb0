"""What a subscription to several publications receives: the changes of a table (pgoutput.c: get_rel_sync_entry), and
the initial copy of its tables.

The copy follows pg_get_publication_tables (pg_publication.c), fetch_table_list (subscriptioncmds.c) and
fetch_remote_table_info (tablesync.c), for a subscriber of the same major as the publisher. None of them looks at the
publish option.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct

from pubcheck.diagnostics import ServerAnswer
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Filter, Publication, PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import (
    Operation,
    effective_entry,
    excludes,
    is_publishable,
    partition_columns,
    publications_of,
    route,
    sent_columns,
)


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
    return [
        _published_table(catalog, row, oid) for oid in _without_partitions(catalog, _tables(catalog, row), row.via_root)
    ]


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


def _published_table(catalog: Catalog, publication: Publication, oid: int) -> PublicationTable:
    relation = catalog.relations[oid]
    entry = effective_entry(catalog, publication, oid)
    condition = None
    if entry is not None and (publication.oid, relation.namespace) not in catalog.schema_members:
        condition = entry.filter
    columns = compared_columns(catalog, publication, relation)
    return PublicationTable(publication.oid, oid, columns, condition, entry)


Filters = tuple[tuple[int, Filter], ...]
"""Publications with their filters, which are ORed; empty where all rows are sent."""

ConflictKind = Literal["lists-refused", "lists-in-decoding", "generated-columns-in-decoding"]


class Conflict(Struct, frozen=True, gc=False):
    """The server's reason for refusing several publications of one relation to one subscription.

    ``relation`` is the one that the server names. ``columns`` has the resulting column list of each publication, in the
    order of the subscription, by numbers of that relation. Before 16 they can be equal and still differ from no list
    (``lists_differ``). For ``generated-columns-in-decoding`` the publications are those without a list.
    """

    kind: ConflictKind
    relation: int
    server: ServerAnswer
    columns: tuple[tuple[int, tuple[int, ...]], ...]

    @property
    def publications(self) -> tuple[int, ...]:
        return tuple(publication for publication, _ in self.columns)


class Combined(Struct, frozen=True, gc=False):
    """The changes of one relation that a subscription receives.

    ``publications`` are those whose filters and lists count, ``overruled`` those that publish it under a lower
    relation of the tree: their operations count, their filters and lists do not. ``insert``, ``update`` and ``delete``
    are None where that is not published, () where all rows are, or the filters that are ORed. ``truncate``: whether
    TRUNCATE is sent when it names this very relation. ``columns`` are numbers of ``relation``, in the order sent;
    those of the first publication where there is a conflict. ``widened_by`` are publications that send some operation
    unfiltered that others filter.
    """

    relation: int
    arrives_as: int
    publications: tuple[int, ...]
    overruled: tuple[int, ...]
    insert: Filters | None
    update: Filters | None
    delete: Filters | None
    truncate: bool
    columns: tuple[int, ...]
    conflict: Conflict | None
    widened_by: tuple[int, ...]
    certain: bool

    @property
    def sends_rows(self) -> bool:
        """Whether INSERT, UPDATE or DELETE is published."""
        return self.insert is not None or self.update is not None or self.delete is not None

    def filters(self, operation: Operation) -> Filters | None:
        """The filters of an operation; TRUNCATE knows none."""
        if operation == "insert":
            return self.insert
        if operation == "update":
            return self.update
        if operation == "delete":
            return self.delete
        return () if self.truncate else None


def combine(catalog: Catalog, publications: Sequence[int], relation: int) -> Combined | None:
    """Return the changes of a relation that a subscription to these publications receives; None if none publishes it.

    A partitioned table has changes of its own only where it is truncated.
    """
    table = catalog.relations[relation]
    if not is_publishable(table):
        return None
    if len(publications) <= _FEW:
        return _combined(catalog, [catalog.publications[oid] for oid in dict.fromkeys(publications)], table)
    order = {oid: position for position, oid in enumerate(publications)}
    subscribed = [row for row in publications_of(catalog, table) if row.oid in order]
    subscribed.sort(key=lambda row: order[row.oid])
    return _combined(catalog, subscribed, table)


_FEW = 8
"""Up to this number of publications, each one is asked whether it publishes a table. Otherwise the table's own are
read."""


def _combined(catalog: Catalog, publications: list[Publication], table: Relation) -> Combined | None:
    level, arrives_as = 0, table.oid
    counted: list[Publication] = []
    overruled: list[Publication] = []
    for publication in publications:
        arrives = route(catalog, publication, table)
        if arrives is None or (table.kind == "p" and not publication.via_root):
            continue
        if arrives.level < level:
            overruled.append(publication)
            continue
        if arrives.level > level:
            level, arrives_as = arrives.level, arrives.arrives_as
            overruled += counted
            counted = []
        counted.append(publication)
    if not counted:
        return None
    target = catalog.relations[arrives_as]
    operations = {
        operation: _filters(catalog, operation, counted, overruled, target)
        for operation in ("insert", "update", "delete")
    }
    every = [*counted, *overruled]
    truncate = arrives_as == table.oid and any(publication.truncate for publication in every)
    widening: dict[int, None] = {}
    for operation in ("insert", "update", "delete"):
        if operations[operation] == ():
            sending = [publication for publication in counted if getattr(publication, operation)]
            open_ = [publication.oid for publication in sending if _filter(catalog, publication, target) is None]
            if len(open_) < len(sending):
                widening.update(dict.fromkeys(open_))
    conflict = None
    if any(filters is not None for filters in operations.values()):
        conflict = _conflict(catalog, counted, target)
    columns = _columns(catalog, counted, target)
    certain = all(publication.seen for publication in every) and table.seen
    certain = certain and all(catalog.relations[oid].seen for oid in catalog.ancestors(table.oid))
    return Combined(
        table.oid,
        arrives_as,
        tuple(publication.oid for publication in counted),
        tuple(publication.oid for publication in overruled),
        operations["insert"],
        operations["update"],
        operations["delete"],
        truncate,
        partition_columns(target, table, columns),
        conflict,
        tuple(widening),
        certain,
    )


def _filter(catalog: Catalog, publication: Publication, target: Relation) -> Filter | None:
    entry = effective_entry(catalog, publication, target.oid)
    if entry is None or (publication.oid, target.namespace) in catalog.schema_members:
        return None
    return entry.filter


def _filters(
    catalog: Catalog, operation: str, counted: list[Publication], overruled: list[Publication], target: Relation
) -> Filters | None:
    """pgoutput_row_filter_init for one operation.

    Operations that only overruled publications publish are sent unfiltered: no filter that counts applies to them.
    """
    sending = [publication for publication in counted if getattr(publication, operation)]
    if not sending:
        return () if any(getattr(publication, operation) for publication in overruled) else None
    filters: list[tuple[int, Filter]] = []
    for publication in sending:
        condition = _filter(catalog, publication, target)
        if condition is None:
            return ()
        filters.append((publication.oid, condition))
    return tuple(filters)


def _listed(catalog: Catalog, publication: Publication, target: Relation) -> tuple[int, ...] | None:
    entry = effective_entry(catalog, publication, target.oid)
    return None if entry is None else entry.columns


def compared_columns(catalog: Catalog, publication: Publication, target: Relation) -> tuple[int, ...]:
    """The columns that a publication's list, or its lack of one, is taken to mean when it is compared with others'.

    To 15 no list means all columns, generated ones too, though it never sends those: so it differs from a list of all
    columns that can be sent.
    """
    columns = _listed(catalog, publication, target)
    if columns is None and catalog.major.lists_count_generated:
        return tuple(column.number for column in target.columns if not column.dropped)
    return sent_columns(target, columns, publication.generated == "s")


def lists_differ(
    catalog: Catalog,
    target: Relation,
    lists: Sequence[tuple[int, ...] | None],
    sets: Sequence[tuple[int, tuple[int, ...]]],
) -> bool:
    """Return whether the column lists of publications conflict; ``sets`` are the columns that the lists select.

    15 treats a list as no list if it names as many columns as the table ever had: with a dropped or generated column,
    a list of all others conflicts with no list.
    """
    if not catalog.major.lists_count_generated:
        return len({columns for _, columns in sets}) > 1
    return len({None if columns is None or len(columns) == len(target.columns) else columns for columns in lists}) > 1


def _columns(catalog: Catalog, counted: list[Publication], target: Relation) -> tuple[int, ...]:
    """The columns sent under the target's name, by its numbers; if there is no conflict, all publications agree."""
    first = counted[0]
    return sent_columns(target, _listed(catalog, first, target), first.generated == "s")


def _conflict(catalog: Catalog, counted: list[Publication], target: Relation) -> Conflict | None:
    """check_and_init_gencol, then pgoutput_column_list_init."""
    if len(counted) == 1:
        return None
    bare = [publication for publication in counted if _listed(catalog, publication, target) is None]
    has_generated = any(column.generated for column in target.columns if not column.dropped)
    settings = {publication.generated for publication in bare}
    name = f"{catalog.namespaces[target.namespace].name}.{target.name}"
    if has_generated and len(settings) > 1:
        return Conflict(
            "generated-columns-in-decoding",
            target.oid,
            ServerAnswer(
                "0A000",
                "cannot use different values of publish_generated_columns"
                f' for table "{name}" in different publications',
            ),
            tuple((publication.oid, sent_columns(target, None, publication.generated == "s")) for publication in bare),
        )
    sets = tuple((publication.oid, compared_columns(catalog, publication, target)) for publication in counted)
    if not lists_differ(catalog, target, [_listed(catalog, publication, target) for publication in counted], sets):
        return None
    return Conflict(
        "lists-in-decoding",
        target.oid,
        ServerAnswer("0A000", f'cannot use different column lists for table "{name}" in different publications'),
        sets,
    )
