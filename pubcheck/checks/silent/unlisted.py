"""Tables that a publication leaves out, or publishes under another name, without a filter that says so."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import RuleContext, RuleFinding, finds, first_places, listed, published_roots, quoted
from pubcheck.checks.tables import table_name
from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.catalog.rows import PublicationRel
from pubcheck.postgres.replication.publication_lookup import is_publishable, publications_of
from pubcheck.postgres.tokens import identifier

_BOOKKEEPING = lazy_compile(
    r"(?i)migration|changelog|schema_(?:history|info|version)|db_version|internal_metadata|alembic"
)
"""The names of tables that migration tools keep for themselves."""
_SIBLINGS = 3
"""The number of tables of a schema from which on it is taken as a rule of its author to list all of them."""


@finds("PUB513")
def under_leaf_names(context: RuleContext) -> Iterator[RuleFinding]:
    """Partitioned tables whose changes arrive under the names of their partitions."""
    from pubcheck.postgres.replication.publication_lookup import published_by

    catalog = context.catalog
    for publication in context.visit(catalog.publications.values()):
        place = context.place_of(publication)
        if publication.via_root or place is None or not (roots := published_roots(context, publication)):
            continue
        leaves = [catalog.relations[change.relation] for change in published_by(catalog, publication.oid)]
        above = {oid for leaf in leaves if leaf.partition for oid in catalog.ancestors(leaf.oid)}
        roots = [row for row in roots if row.oid in above]
        if roots:
            names = listed(map(context.name, roots))
            yield RuleFinding(
                rule="PUB513",
                message=f'publication "{publication.name}" publishes changes of {names} under the names of the '
                "partitions: a subscriber needs a table for each of them, also for those to come",
                help=f"ALTER PUBLICATION {identifier(publication.name)} SET (publish_via_partition_root = true), "
                "if the subscriber has one table",
                place=place,
                certain=publication.seen and all(row.seen for row in roots),
                related=first_places([(row.place, "a partitioned table") for row in roots if row.place is not None]),
                object=context.session.qualified(roots[0]),
                publications=(publication.name,),
                also=context.qualified(roots)[1:],
            )


@finds("PUB818")
def sibling_not_published(context: RuleContext) -> Iterator[RuleFinding]:
    """A table that no publication has, where publications list every older table of its schema by name."""
    catalog = context.catalog
    by_schema: dict[int, list[PublicationRel]] = {}
    for entry in context.entries:
        by_schema.setdefault(catalog.relations[entry.relation].namespace, []).append(entry)
    for schema, entries in by_schema.items():
        last = max(map(context.age, entries))
        rows = [catalog.relations[oid] for oid in catalog.relations_in.get(schema)]
        rows = [
            row for row in rows if is_publishable(row) and not row.partition and _BOOKKEEPING.search(row.name) is None
        ]
        older = [row for row in rows if row.place is None or context.age(row) < last]
        newer = [row for row in rows if row.place is not None and context.age(row) > last and row.seen]
        newer = [row for row in newer if not publications_of(catalog, row)]
        if len(older) < _SIBLINGS or not newer or not all(publications_of(catalog, row) for row in older):
            continue
        publications = [catalog.publications[oid] for oid in dict.fromkeys(entry.publication for entry in entries)]
        first = newer[0]
        assert first.place is not None
        names = listed(quoted(row.name for row in publications), "publication")
        yield RuleFinding(
            rule="PUB818",
            message=f"no publication has {listed(map(context.name, newer), 'table')}, although {names} "
            f"list{'s' if len(publications) == 1 else ''} every older table of the schema by name",
            help=f"ALTER PUBLICATION {identifier(publications[0].name)} ADD TABLE "
            f"{table_name(context.session, first)}, if its rows are to be replicated",
            place=first.place,
            certain=all(row.seen for row in publications) and not context.session.blind,
            related=first_places([(row.place, "and this one") for row in newer[1:] if row.place is not None]),
            object=context.session.qualified(first),
            publications=tuple(row.name for row in publications),
            also=context.qualified(newer)[1:],
        )
