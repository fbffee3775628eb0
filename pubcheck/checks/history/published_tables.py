"""Published tables that were changed while subscribers read them: types, names, the identity index."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import RuleContext, RuleFinding, finds, first_places, listed, quoted
from pubcheck.checks.tables import table_name
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import is_publishable, publications_of, route


@finds("PUB713")
def types_changed(context: RuleContext) -> Iterator[RuleFinding]:
    """Labels that an enum was given, and types that were renamed: no Type message says so."""
    catalog = context.catalog
    for change in context.visit(context.history.changed_types.values()):
        row = catalog.types.get(change.type)
        if row is None:
            continue
        users = [
            relation
            for relation in catalog.relations.values()
            if is_publishable(relation) and any(column.type == row.oid for column in relation.live())
        ]
        published = [(relation, publications_of(catalog, relation)) for relation in users]
        relations: list[Relation] = [relation for relation, publications in published if publications]
        names = list(dict.fromkeys(publication.name for _, publications in published for publication in publications))
        if not relations:
            continue
        tables = listed(context.name(relation) for relation in relations)
        by_name = listed(quoted(names), "publication")
        if change.labels:
            message = (
                f"type {change.name} of published columns gets other labels: a subscriber whose type lacks a label "
                f"stops at the first row of {tables} with it"
            )
            advice = "change the type on the subscriber first"
        else:
            message = (
                f"type {change.name} of published columns has another name now: connected subscribers do not learn it "
                f"and keep the old name for {tables}"
            )
            advice = "let consumers that map types by name reconnect"
        yield RuleFinding(
            rule="PUB713",
            message=f"{message} ({by_name})",
            help=advice,
            place=change.place,
            certain=row.seen and all(relation.seen for relation in relations),
            related=first_places(
                [(relation.place, "has a column of it") for relation in relations if relation.place is not None]
            ),
            object=context.session.qualified(relations[0]),
            publications=tuple(names),
            mentions=(change.name,),
            also=context.qualified(relations)[1:],
        )


# Published tables and columns that are called otherwise now.


def _schema_was_renamed(context: RuleContext, name: str) -> bool:
    schema, dot, _ = name.partition(".")
    former = context.history.events.schemas.get(schema) if dot else None
    return former is not None and former.fate == "renamed"


@finds("PUB712")
def names_changed(context: RuleContext) -> Iterator[RuleFinding]:
    """Tables that publications name, and columns of theirs, that are called otherwise now: so are their changes."""
    catalog, platform = context.catalog, context.session.platform
    for former in context.visit(context.history.renamed.values()):
        relation = catalog.relations.get(former.relation)
        if relation is None or not is_publishable(relation):
            continue
        column = relation.columns[former.column - 1] if former.column else None
        new_name = context.name(relation) if column is None else column.name
        entries = [catalog.publication_rels[member] for member in catalog.memberships.get(relation.oid)]
        entries = [entry for entry in entries if entry.columns is None or former.column in (0, *entry.columns)]
        entries = [entry for entry in entries if _arrives_as_itself(catalog, entry, relation)]
        if platform is not None:
            # Who reads a platform's publication is the platform, which asks for no column by name.
            entries = [
                entry for entry in entries if not platform.has_publication(catalog.publications[entry.publication].name)
            ]
        if new_name == former.name or not entries or (column is not None and column.dropped):
            continue
        rows = [catalog.publications[entry.publication] for entry in entries]
        names = listed(quoted(row.name for row in rows), "publication")
        effect = (
            f"changes of {former.name} arrive as those of {new_name}"
            if column is None
            else (f'column "{former.name}" of {context.name(relation)} arrives as "{new_name}"')
        )
        missing = "table" if column is None else "column"
        later = ""
        if not catalog.major.schema_change_invalidates and _schema_was_renamed(context, former.name):
            later = "; a connected one gets the old name until it reconnects"
        yield RuleFinding(
            rule="PUB712",
            message=f"{effect} in {names}: a subscriber without a {missing} of that name stops at the first change"
            + later,
            help="rename it on the subscriber too, after all earlier changes have arrived there"
            + ("" if column is not None else f"; or drop it from the publication, if {new_name} is only a backup"),
            place=former.place,
            certain=relation.seen and any(row.seen for row in rows),
            related=first_places([(entry.place, "is published here") for entry in entries]),
            object=context.session.qualified(relation),
            publications=tuple(row.name for row in rows),
            columns=() if column is None else (former.name, new_name),
            mentions=() if column is not None else (former.name,),
        )


def _arrives_as_itself(catalog: Catalog, entry: PublicationRel, row: Relation) -> bool:
    """Return whether changes are sent under the name of the table itself, neither its root's nor its leaves'."""
    publication = catalog.publications[entry.publication]
    arrives = route(catalog, publication, row)
    return arrives is not None and arrives.arrives_as == row.oid and (row.kind == "r" or publication.via_root)


# Tables whose REPLICA IDENTITY names a dropped index, where no publication says so yet.


@finds("PUB711")
def dropped_identity_index(context: RuleContext) -> Iterator[RuleFinding]:
    """The index is dropped, relreplident stays 'i' and means NOTHING; the primary key does not take its place."""
    catalog = context.catalog
    dropped = context.history.events.unidentified
    for relation in context.visit(catalog.relations.values()):
        # Before there was a publication, nobody took note of where.
        place = dropped.get(relation.oid, relation.place)
        if relation.identity != "i" or place is None or relation.kind != "r" or _has_one(context, relation):
            continue
        if not is_publishable(relation) or publications_of(catalog, relation):
            # Refused writes are reported as such; for a publication of INSERTs no identity is needed.
            continue
        name = context.name(relation)
        yield RuleFinding(
            rule="PUB711",
            message=f"the replica identity index of {name} is dropped: the table has no replica identity now, and "
            "its UPDATEs and DELETEs are refused as soon as a publication publishes them",
            help=f"ALTER TABLE {table_name(context.session, relation)} REPLICA IDENTITY USING INDEX with the "
            "index that replaces it, or DEFAULT for the primary key",
            place=place,
            certain=relation.seen and not context.session.healed,
            related=()
            if relation.place in (None, place)
            else ((relation.place, "its replica identity uses an index"),),
            object=context.session.qualified(relation),
        )


def _has_one(context: RuleContext, relation: Relation) -> bool:
    catalog = context.catalog
    return any(catalog.indexes[oid].identity for oid in catalog.key_indexes_of.get(relation.oid))
