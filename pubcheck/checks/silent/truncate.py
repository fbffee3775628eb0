"""TRUNCATE of a published table that other tables refer to."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import RuleContext, RuleFinding, finds, first_places, listed
from pubcheck.postgres.catalog.rows import Constraint
from pubcheck.postgres.replication.publication_lookup import tables_published_by
from pubcheck.postgres.tokens import identifier


@finds("PUB606")
def referenced(context: RuleContext) -> Iterator[RuleFinding]:
    """The subscriber truncates what is published of the truncated tables, and never cascades."""
    catalog = context.catalog
    references: dict[int, list[Constraint]] = {}
    for row in catalog.constraints.values():
        if row.kind == "f" and row.references != row.relation:
            references.setdefault(row.references, []).append(row)
    if not references:
        return
    for publication in context.visit(catalog.publications.values()):
        if not publication.truncate:
            continue
        published = tables_published_by(catalog, publication.oid)
        tables = {
            oid: unpublished
            for oid in published
            if (unpublished := [row.relation for row in references.get(oid, ()) if row.relation not in published])
        }
        place = context.place_of(publication)
        if not tables or place is None:
            continue
        rows = [catalog.relations[oid] for oid in sorted(tables)]
        referring = [catalog.relations[oid] for oid in sorted({oid for group in tables.values() for oid in group})]
        verb = "refer" if len(referring) > 1 else "refers"
        yield RuleFinding(
            rule="PUB606",
            message=f'publication "{publication.name}" publishes TRUNCATE of {listed(map(context.name, rows))}, to '
            f"which {listed(map(context.name, referring), 'table')} {verb}: a subscriber with that foreign key stops, "
            "because it truncates only what is published",
            help="publish the referring tables too, or "
            f"ALTER PUBLICATION {identifier(publication.name)} SET (publish = 'insert, update, delete')",
            place=place,
            certain=publication.seen and all(row.seen for row in (*rows, *referring)),
            related=first_places([(row.place, "refers to it") for row in referring if row.place is not None]),
            object=context.session.qualified(rows[0]),
            publications=(publication.name,),
            operation="truncate",
            also=context.qualified(rows)[1:],
        )
