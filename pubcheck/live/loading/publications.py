"""Publications with their members, and subscriptions."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.live import records
from pubcheck.live.loading import Loading
from pubcheck.postgres.catalog.rows import (
    Filter,
    Place,
    Publication,
    PublicationExclusion,
    PublicationNamespace,
    PublicationRel,
    Relation,
    Subscription,
)


def publication(loading: Loading, row: records.Publication) -> None:
    loading.catalog.add_publication(
        Publication(
            row.oid,
            row.name,
            loading.refs.role(row.owner),
            True,
            row.all_tables,
            row.insert,
            row.update,
            row.delete,
            row.truncate,
            row.via_root,
            row.generated,
            loading.place(),
            all_sequences=row.all_sequences,
        )
    )


def publication_table(loading: Loading, row: records.PublicationTable) -> None:
    catalog = loading.catalog
    table = catalog.relations[loading.refs.relations[row.table]]
    place = loading.place()
    columns = None
    if row.columns is not None:
        numbers = loading.refs.numbers(table)
        columns = tuple(sorted(numbers[name] for name in row.columns))
    catalog.add_publication_rel(
        PublicationRel(
            row.oid,
            catalog.publication_names[row.name],
            table.oid,
            _filter(loading, row, table) if row.filter else None,
            columns,
            place,
            tuple((column, place) for column in columns or ()),
        )
    )


def _filter(loading: Loading, row: records.PublicationTable, table: Relation) -> Filter:
    from pubcheck.postgres.analysis.row_filter import read_filter

    tree = loading.expressions.fresh_tree(row.filter)
    loading.session.begin_statement(loading.source, loading.number)
    return _without_offsets(read_filter(loading.session, table, tree), loading.place())


def publication_exclusion(loading: Loading, row: records.PublicationExclusion) -> None:
    catalog = loading.catalog
    catalog.add(
        PublicationExclusion(
            row.oid, catalog.publication_names[row.name], loading.refs.relations[row.table], loading.place()
        )
    )


def publication_schema(loading: Loading, row: records.PublicationSchema) -> None:
    catalog = loading.catalog
    catalog.add(
        PublicationNamespace(
            row.oid, catalog.publication_names[row.name], loading.refs.schemas[row.schema], loading.place()
        )
    )


def subscription(loading: Loading, row: records.Subscription) -> None:
    place = loading.place()
    loading.catalog.put_subscription(
        Subscription(
            row.name,
            tuple((name, place) for name in row.publications),
            place,
            seen=True,
            enabled=row.enabled,
            slot=bool(row.slot),
            owner=loading.refs.role(row.owner),
            password_required=row.password_required,
            binary=row.binary,
        )
    )


def _without_offsets(row: Filter, place: Place) -> Filter:
    """Return a filter all of whose places are those of its object; literals were fixed long ago."""
    return replace(row, places=tuple((column, place) for column, _ in row.places), frozen=())
