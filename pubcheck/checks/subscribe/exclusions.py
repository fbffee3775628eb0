"""Tables that EXCEPT leaves out of one publication, and that another one of the same subscription publishes (19)."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import ONE_SUBSCRIPTION, RuleContext, RuleFinding, finds, listed, quoted
from pubcheck.postgres.catalog.rows import PublicationExclusion
from pubcheck.postgres.replication.publication_lookup import is_publishable, publications_of


@finds("PUB512")
def exclusion_overridden(context: RuleContext) -> Iterator[RuleFinding]:
    """An exclusion counts for its own publication only."""
    catalog = context.catalog
    for exclusion in context.visit(list(catalog.publication_exclusions.values())):
        yield from _overridden(context, exclusion)


def _overridden(context: RuleContext, exclusion: PublicationExclusion) -> Iterator[RuleFinding]:
    catalog = context.catalog
    publication, relation = catalog.publications[exclusion.publication], catalog.relations[exclusion.relation]
    publishing = {
        row.oid: row
        for leaf in context.leaves(relation)
        if is_publishable(leaf)
        for row in publications_of(catalog, leaf)
        if row.oid != publication.oid
    }
    subscribed_with = context.subscribed_with(publication.oid)
    together = [row for row in publishing.values() if row.oid in subscribed_with]
    alone = not together and not context.is_subscribed(publication.oid)
    others = together or [row for row in publishing.values() if alone and not context.is_subscribed(row.oid)]
    if not others:
        return
    names = [row.name for row in others]
    verb = "publishes" if len(names) == 1 else "publish"
    yield RuleFinding(
        rule="PUB512",
        message=f'{context.name(relation)} reaches a subscriber of "{publication.name}" all the same if it also '
        f"subscribes to {listed(quoted(names))}, which {verb} it",
        help="EXCEPT counts for its own publication only: leave the table out of both, or subscribe to them separately",
        place=exclusion.place,
        certain=bool(together) and relation.seen and all(row.seen for row in (publication, *others)),
        assumptions=() if together else (ONE_SUBSCRIPTION,),
        object=context.session.qualified(relation),
        publications=(publication.name, *names),
        severity="warning" if together else "note",
    )
