"""Tables whose REPLICA IDENTITY names a dropped index, where no publication says so yet."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import RuleContext, RuleFinding, finds
from pubcheck.checks.table_names import table_name
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.replication.publication_lookup import is_publishable, publications_of


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
