"""Types of published columns that were changed while subscribers read them."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import RuleContext, RuleFinding, finds, first_places, listed, quoted
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.replication.publication_lookup import is_publishable, publications_of


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
