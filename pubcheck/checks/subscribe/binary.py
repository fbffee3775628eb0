"""Subscriptions in binary format to columns that have none."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import RuleContext, RuleFinding, finds, first_places
from pubcheck.diagnostics import ServerAnswer
from pubcheck.postgres.replication.publication_lookup import published_by
from pubcheck.postgres.tokens import identifier

_WITHOUT_SEND = {1034: "aclitem", 3644: "gtsvector"}
"""Built-in arrays of types without a send function. A value of such a type itself is sent as text."""


@finds("PUB815")
def without_binary_format(context: RuleContext) -> Iterator[RuleFinding]:
    """array_send asks for the send function of the elements."""
    catalog = context.catalog
    for subscription in context.visit(catalog.subscriptions.values()):
        if not subscription.binary:
            continue
        for oid in context.publications_of_subscription(subscription):
            publication = catalog.publications[oid]
            for sent in published_by(catalog, oid):
                relation = catalog.relations[sent.relation]
                columns = [relation.columns[number - 1] for number in sent.columns]
                bad = next((column for column in columns if column.type in _WITHOUT_SEND), None)
                if bad is None:
                    continue
                element = _WITHOUT_SEND[bad.type]
                places = [(relation.place, "the table")] if relation.place is not None else []
                yield RuleFinding(
                    rule="PUB815",
                    message=f'subscription "{subscription.name}" asks for binary values, and column "{bad.name}" of '
                    f"{context.name(relation)} has none: decoding stops at its first value",
                    help=f"ALTER SUBSCRIPTION {identifier(subscription.name)} SET (binary = false), or leave the "
                    "column out of the publication with a column list",
                    place=subscription.place,
                    certain=subscription.seen and publication.seen and relation.seen,
                    related=first_places(places),
                    object=context.session.qualified(relation),
                    publications=(publication.name,),
                    columns=(bad.name,),
                    mentions=(subscription.name,),
                    server=ServerAnswer("42883", f"no binary output function available for type {element}"),
                )
