"""Published tables and columns that are called otherwise now."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import RuleContext, RuleFinding, finds, first_places, listed, quoted
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import is_publishable, route


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
