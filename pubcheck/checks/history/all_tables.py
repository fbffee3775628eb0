"""Unexpected effects of publications of all tables (19).

- tables in EXCEPT that are published anyway
- SET ALL that removes members or options
- partitions whose own memberships MERGE PARTITIONS or SPLIT PARTITION ended
"""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import RuleContext, RuleFinding, finds, listed, order
from pubcheck.checks.event_log import ReplacedKinds
from pubcheck.postgres.catalog.rows import Place, Publication, Relation
from pubcheck.postgres.replication.publication_lookup import is_publishable, publishes
from pubcheck.postgres.tokens import identifier


def _published(context: RuleContext, publication: Publication, relation: Relation) -> bool:
    return is_publishable(relation) and publishes(context.catalog, publication, relation)


@finds("PUB718")
def excluded_names(context: RuleContext) -> Iterator[RuleFinding]:
    """Tables with an excluded name, detached partitions and new children of excluded tables."""
    catalog, log = context.catalog, context.history.all_tables
    for (oid, schema, name), excluded in log.names.items():
        publication = catalog.publications.get(oid)
        if publication is None:
            continue
        current = catalog.relation_names.get((catalog.namespace_names.get(schema, 0), name))
        if current is not None and current != excluded.relation:
            relation = catalog.relations[current]
            if relation.seen and _published(context, publication, relation):
                yield _finding(
                    context,
                    publication,
                    relation,
                    relation.place or excluded.place,
                    excluded.place,
                    "{table} is published by {publication}: EXCEPT left out another table, which had this name then",
                )
        if not excluded.only and excluded.relation in catalog.relations:
            yield from _children(context, publication, excluded.relation, excluded.place)
    for oid, (root, place) in log.detached.items():
        if oid in catalog.relations and root in catalog.relations:
            yield from _detached(context, catalog.relations[oid], catalog.relations[root], place)


def _detached(context: RuleContext, relation: Relation, root: Relation, place: Place) -> Iterator[RuleFinding]:
    """The table that is no longer a partition of an excluded one."""
    catalog = context.catalog
    for oid in catalog.excluded_from.get(root.oid):
        exclusion = catalog.publication_exclusions[oid]
        publication = catalog.publications[exclusion.publication]
        if _published(context, publication, relation):
            message = (
                f"{{table}} is published by {{publication}}: it is no longer a partition of {context.name(root)}, "
            )
            yield _finding(context, publication, relation, place, exclusion.place, message + "which EXCEPT leaves out")


def _children(context: RuleContext, publication: Publication, parent: int, place: Place) -> Iterator[RuleFinding]:
    """The children that a table got after EXCEPT named it with its children."""
    catalog = context.catalog
    if catalog.relations[parent].kind == "p" or (publication.oid, parent) not in catalog.exclusions:
        return
    above = context.name(catalog.relations[parent])
    for child in catalog.descendants(parent)[1:]:
        relation = catalog.relations[child]
        joined = context.history.inherited.get(child) or relation.place
        if joined is None or order(joined) < order(place) or not _published(context, publication, relation):
            continue
        message = f"{{table}} is published by {{publication}}: EXCEPT names its parent {above}, but only the children "
        yield _finding(context, publication, relation, joined, place, message + "that it had then are left out")


def _finding(
    context: RuleContext, publication: Publication, relation: Relation, place: Place, excluded: Place, message: str
) -> RuleFinding:
    return RuleFinding(
        rule="PUB718",
        message=message.format(table=context.name(relation), publication=f'publication "{publication.name}"'),
        help=f"if its rows are to stay out, name it too: ALTER PUBLICATION {identifier(publication.name)} SET ALL "
        "TABLES EXCEPT (...) with the whole list",
        place=place,
        certain=publication.seen and relation.seen,
        related=((excluded, "EXCEPT is here"),),
        object=context.session.qualified(relation),
        publications=(publication.name,),
    )


@finds("PUB716")
def set_all(context: RuleContext) -> Iterator[RuleFinding]:
    """SET ALL replaces the kinds of a publication and its EXCEPT."""
    catalog = context.catalog
    for replaced in context.visit(context.history.all_tables.replaced):
        publication = catalog.publications.get(replaced.publication)
        if publication is None:
            continue
        changes = list(_changes(context, replaced, publication))
        if not changes:
            continue
        relations = [catalog.relations[row.relation] for row in replaced.ended if row.relation in catalog.relations]
        yield RuleFinding(
            rule="PUB716",
            message=f'SET ALL replaces all of publication "{publication.name}": {"; ".join(changes)}',
            help="name everything that is to stay in SET: ALL TABLES EXCEPT (...), ALL SEQUENCES",
            place=replaced.place,
            certain=publication.seen,
            related=tuple((row.place, "EXCEPT was here") for row in replaced.ended[:1]),
            object=context.session.qualified(relations[0]) if relations else None,
            also=context.qualified(relations)[1:],
            publications=(publication.name,),
        )


def _changes(context: RuleContext, replaced: ReplacedKinds, publication: Publication) -> Iterator[str]:
    """Yield what the statement took from the publication and no later one gave back."""
    catalog = context.catalog
    if replaced.tables and not publication.all_tables:
        yield "it publishes no tables any more"
    if replaced.sequences and not publication.all_sequences:
        yield "it publishes no sequences any more"
    rows = [catalog.relations[row.relation] for row in replaced.ended if row.relation in catalog.relations]
    now = [context.name(row) for row in rows if publication.all_tables and publishes(catalog, publication, row)]
    if now:
        yield f"{listed(now)} {'is' if len(now) == 1 else 'are'} no longer left out, and published"


@finds("PUB717")
def replaced_partitions(context: RuleContext) -> Iterator[RuleFinding]:
    """Partitions that were members by name, and were merged or split: the new ones are not members."""
    catalog = context.catalog
    for replaced in context.visit(context.history.all_tables.partitions):
        by_publication: dict[int, list[str]] = {}
        for entry, name in replaced.members:
            by_publication.setdefault(entry.publication, []).append(name)
        new = [catalog.relations[oid] for oid in replaced.new if oid in catalog.relations]
        new = [row for row in new if row.kind in "rp"]
        for oid, names in by_publication.items():
            publication = catalog.publications.get(oid)
            if publication is None:
                continue
            lost = [row for row in new if not publishes(catalog, publication, row)]
            if not lost:
                continue
            yield RuleFinding(
                rule="PUB717",
                message=f"{listed([context.name(row) for row in lost])} {'is' if len(lost) == 1 else 'are'} not "
                f'published by "{publication.name}": {listed(names)} {"was" if len(names) == 1 else "were"} in it by '
                "name, and the new partitions are other tables",
                help=f"ALTER PUBLICATION {identifier(publication.name)} ADD TABLE ... with the filter and column list "
                "again, or publish the partitioned table",
                place=replaced.place,
                certain=publication.seen and all(row.seen for row in lost),
                related=tuple((entry.place, "became a member here") for entry, _ in replaced.members[:1]),
                object=context.session.qualified(lost[0]),
                also=context.qualified(lost)[1:],
                publications=(publication.name,),
            )
