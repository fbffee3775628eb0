"""Publications with their members, subscriptions, event triggers, extensions, and objects that belong to a relation."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.live import records
from pubcheck.live.loading import Loading
from pubcheck.postgres.catalog import AUTO, NAMESPACE, NORMAL, RELATION
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
from pubcheck.postgres.ddl.event_triggers import KIND, EventTrigger
from pubcheck.postgres.ddl.functions import unfollowed_call
from pubcheck.postgres.session.connection import EVENT_TRIGGERS


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


# Objects that belong to a relation, extensions and event triggers.

_DISABLED = "DR"
"""tgenabled and its kin: disabled, or enabled on a replica only."""


def trigger(loading: Loading, row: records.Trigger) -> None:
    table = loading.refs.relations[row.table]
    address = loading.add_other(row, "trigger", table, enabled=row.enabled not in _DISABLED)
    loading.catalog.depend(address, (RELATION, table, 0), AUTO)
    loading.calls(address, row.function)
    loading.depend_on(address, (name for name in row.uses if name != row.table))


def follow_triggers(loading: Loading) -> None:
    """Note the triggers that may change publications: they run when rows are changed, which is not followed."""
    session, catalog = loading.session, loading.catalog
    for row in loading.objects():
        if isinstance(row, records.Trigger) and row.enabled not in _DISABLED:
            function = catalog.procs.get(loading.refs.function(row.function))
            routine = catalog.routines.get(function.oid) if function is not None else None
            if function is not None and (function.effect in ("i", "t") or (routine is not None and routine.about)):
                unfollowed_call(session, function)
                session.restless = session.restless or function.effect == "t"


def rule(loading: Loading, row: records.Rule) -> None:
    table = loading.refs.relations[row.table]
    address = loading.add_other(row, "rule", table, instead=row.instead, enabled=row.enabled not in _DISABLED)
    loading.catalog.depend(address, (RELATION, table, 0), AUTO)
    loading.depend_on(address, (name for name in row.uses if name != row.table))


def policy(loading: Loading, row: records.Policy) -> None:
    table = loading.refs.relations[row.table]
    address = loading.add_other(row, "policy", table)
    loading.catalog.depend(address, (RELATION, table, 0), AUTO)
    loading.depend_on(address, (name for name in row.uses if name != row.table))


def extension(loading: Loading, row: records.Extension) -> None:
    address = loading.add_other(row, "extension", 0, row.owner)
    loading.catalog.depend(address, (NAMESPACE, loading.refs.schemas[row.schema], 0), NORMAL)


def event_trigger(loading: Loading, row: records.EventTrigger) -> None:
    settings = loading.catalog.settings
    address = loading.add_other(row, KIND, 0, row.owner, enabled=row.enabled not in _DISABLED)
    function = loading.calls(address, row.function)
    trigger = EventTrigger(row.oid, row.event, row.tags, function, row.enabled)
    settings.put(EVENT_TRIGGERS, (*settings.get(EVENT_TRIGGERS, ()), trigger))
