"""Partitions and children with filters that are not used and rows that are not published."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pubcheck.checks.context import (
    COMPARED,
    ONE_SUBSCRIPTION,
    RuleContext,
    RuleFinding,
    finds,
    first_places,
    listed,
    order,
    published_roots,
    quoted,
)
from pubcheck.checks.tables import table_name
from pubcheck.postgres.catalog.rows import Place, Publication, PublicationRel, Relation
from pubcheck.postgres.ddl.publications.members import same_filter
from pubcheck.postgres.replication.publication_lookup import (
    Arrival,
    effective_entry,
    is_publishable,
    publications_of,
    route,
    sent_columns,
)
from pubcheck.postgres.replication.publication_lookup import unpublishable as unpublishable_kind
from pubcheck.postgres.replication.subscription_set import tables_to_copy
from pubcheck.postgres.tokens import identifier


@finds("PUB504")
def unused(context: RuleContext) -> Iterator[RuleFinding]:
    """Filters and column lists of partitions whose changes are sent as their root's."""
    catalog = context.catalog
    groups: dict[int, list[tuple[PublicationRel, Relation, PublicationRel | None]]] = {}
    for entry in context.visit(context.entries):
        relation = catalog.relations[entry.relation]
        if not relation.partition or (entry.filter is None and entry.columns is None):
            continue
        publication = catalog.publications[entry.publication]
        arrives = route(catalog, publication, relation)
        if arrives is None or arrives.arrives_as == relation.oid:
            continue
        target = catalog.relations[arrives.arrives_as]
        winner = effective_entry(catalog, publication, target.oid)
        if _leaks(publication, entry, relation, winner, target):
            groups.setdefault(publication.oid, []).append((entry, target, winner))
    yield from overruled(context)
    for oid, members in groups.items():
        publication = catalog.publications[oid]
        entry, target, winner = members[0]
        names = [context.name(catalog.relations[member.relation]) for member, _, _ in members]
        parts = [part for part, held in (("row filter", entry.filter), ("column list", entry.columns)) if held]
        contents = " and the ".join(parts)
        effect = "rows" if entry.filter is not None else "columns"
        related = [(member.place, "nor is this one") for member, _, _ in members[1:]]
        where = winner.place if winner is not None else context.place_of(publication)
        if where is not None:
            related.insert(
                0,
                (
                    where,
                    f"changes are published as those of {context.name(target)}, with the filter and columns given here",
                ),
            )
        yield RuleFinding(
            rule="PUB504",
            message=f"the {contents} of {listed(names, 'partition')} {'are' if len(parts) > 1 else 'is'} not used: "
            f'publication "{publication.name}" publishes via the root, and publishes {effect} that the '
            "filter was meant to exclude",
            help=f"put it on {context.name(target)}; or publish the partitions under their own names "
            "(publish_via_partition_root = false), and take the root's own filter and list off first",
            place=entry.place,
            certain=publication.seen and target.seen,
            related=first_places(related),
            object=context.session.qualified(catalog.relations[entry.relation]),
            publications=(publication.name,),
            also=context.qualified(catalog.relations[member.relation] for member, _, _ in members)[1:],
        )


def overruled(context: RuleContext) -> Iterator[RuleFinding]:
    """Memberships of partitions that another publication of the same subscription sends as their root's."""
    catalog = context.catalog
    groups: dict[tuple[int, str], list[tuple[PublicationRel, Relation, Publication]]] = {}
    arriving: dict[int, list[tuple[Publication, Arrival]]] = {}
    for entry in context.visit(context.entries):
        relation = catalog.relations[entry.relation]
        if not relation.partition:
            continue
        if relation.oid not in arriving:
            arriving[relation.oid] = _arriving(context, relation)
        own = route(catalog, catalog.publications[entry.publication], relation)
        for overruling, arrives in islice(arriving[relation.oid], COMPARED):
            if own is None or arrives.level <= own.level:
                break
            target = catalog.relations[arrives.arrives_as]
            winner = effective_entry(catalog, overruling, target.oid)
            if winner is None and entry.filter is None and entry.columns is None:
                continue
            filter_agrees = winner is not None and same_filter(winner.filter, entry.filter)
            if filter_agrees and (entry.columns is None) == (winner is None or winner.columns is None):
                continue
            subscription = context.subscription_to(entry.publication, overruling.oid)
            if subscription is not None or not context.is_subscribed(entry.publication, overruling.oid):
                key = entry.publication, subscription.name if subscription is not None else ""
                groups.setdefault(key, []).append((entry, target, overruling))
    for (publication_oid, name), members in groups.items():
        subscription = catalog.subscriptions.get(name)
        publication = catalog.publications[publication_oid]
        entry, target, overruling = members[0]
        names = [context.name(catalog.relations[member.relation]) for member, _, _ in members]
        rows = {row.name: row for _, _, row in members}
        subscriber = "a subscription to both" if subscription is None else f'subscription "{subscription.name}"'
        related = (
            [(place, f'publication "{overruling.name}"')] if (place := context.place_of(overruling)) is not None else []
        )
        if subscription is not None:
            related.insert(0, (subscription.place, "takes both"))
        yield RuleFinding(
            rule="PUB504",
            message=f'the filter and columns of publication "{publication.name}" for {listed(names, "partition")} have '
            f"no effect for {subscriber}: changes arrive as those of {context.name(target)}, with filter and columns "
            f"of {listed(quoted(rows))}",
            help="put the filter on the root, or use a subscription for each",
            place=entry.place,
            certain=subscription is not None and publication.seen and overruling.seen and target.seen,
            assumptions=() if subscription is not None else (ONE_SUBSCRIPTION,),
            related=first_places(
                [*related, *((member.place, "nor does this") for member, _, _ in members if member is not entry)]
            ),
            object=context.session.qualified(catalog.relations[entry.relation]),
            publications=(publication.name, *rows),
            mentions=(subscription.name,) if subscription is not None else (),
            severity="warning" if subscription is not None else "note",
            also=context.qualified(catalog.relations[member.relation] for member, _, _ in members)[1:],
        )


def _arriving(context: RuleContext, relation: Relation) -> list[tuple[Publication, Arrival]]:
    """The publications of a partition and what each sends it as, the highest ancestor first."""
    rows = ((row, route(context.catalog, row, relation)) for row in publications_of(context.catalog, relation))
    return sorted(((row, arrival) for row, arrival in rows if arrival is not None), key=lambda pair: -pair[1].level)


@finds("PUB812")
def copied_twice(context: RuleContext) -> Iterator[RuleFinding]:
    """15 copies a partition twice where one publication has it and another its root."""
    catalog = context.catalog
    for subscription, named in context.subscription_publications:
        if catalog.major.copy_combines_publications or len(named) < 2:
            continue
        copied_partitions = [
            row for row in tables_to_copy(catalog, context.publications_of_subscription(subscription)) if row.within
        ]
        if not copied_partitions:
            continue
        first = copied_partitions[0]
        relation, root = catalog.relations[first.relation], catalog.relations[first.within]
        rows = [catalog.publications[oid] for oid in first.publications]
        member = catalog.members.get((rows[0].oid, relation.oid))
        place = catalog.publication_rels[member].place if member is not None else context.place_of(rows[0])
        names = [context.name(catalog.relations[row.relation]) for row in copied_partitions]
        yield RuleFinding(
            rule="PUB812",
            message=f'the initial copy of subscription "{subscription.name}" copies the rows of '
            f"{listed(names, 'partition')} twice: by {'itself' if len(names) == 1 else 'themselves'} and as part of "
            f"{context.name(root)}",
            help="publish_via_partition_root alike in both publications; or a subscription for each; or subscribe WITH "
            "(copy_data = false); PostgreSQL 16 and later copy them once",
            place=place or subscription.place,
            certain=all(row.seen for row in rows) and relation.seen and root.seen,
            related=((subscription.place, "takes both"),),
            object=context.session.qualified(relation),
            publications=tuple(row.name for row in rows),
            mentions=(subscription.name,),
            also=context.qualified(catalog.relations[row.relation] for row in copied_partitions)[1:],
        )


def _leaks(
    publication: Publication,
    entry: PublicationRel,
    relation: Relation,
    winner: PublicationRel | None,
    target: Relation,
) -> bool:
    """Return whether what is sent is more than the partition's own filter or list allows."""
    if entry.filter is not None and not same_filter(entry.filter, winner.filter if winner is not None else None):
        return True
    if entry.columns is None:
        return False
    sent = sent_columns(target, winner.columns if winner is not None else None, publication.generated == "s")
    allowed = {relation.columns[number - 1].name for number in entry.columns}
    return not allowed.issuperset(target.columns[number - 1].name for number in sent)


@finds("PUB505")
def row_moves(context: RuleContext) -> Iterator[RuleFinding]:
    """An UPDATE that moves a row to another partition is a DELETE and an INSERT, which must both be published."""
    for publication in context.visit(context.catalog.publications.values()):
        place = context.place_of(publication)
        missing = [name for name in ("insert", "delete") if not getattr(publication, name)]
        if not publication.update or not missing or place is None:
            continue
        roots = published_roots(context, publication)
        if not roots:
            continue
        lost = {
            ("insert", "delete"): "it never arrives",
            ("insert",): "only its deletion arrives, and the row is lost",
            ("delete",): "it is inserted again, and the old one stays",
        }[tuple(missing)]
        yield RuleFinding(
            rule="PUB505",
            message=f"an UPDATE that moves a row of {listed(context.name(root) for root in roots)} to another "
            f'partition is DELETE and INSERT, and publication "{publication.name}" does not publish '
            f"{' and '.join(missing)}: {lost}",
            help=f"publish insert and delete with update: ALTER PUBLICATION {identifier(publication.name)} "
            "SET (publish = 'insert, update, delete')",
            place=place,
            certain=publication.seen and all(root.seen for root in roots),
            related=first_places([(root.place, "a partitioned table") for root in roots if root.place is not None]),
            object=context.session.qualified(roots[0]),
            publications=(publication.name,),
            operation="update",
            also=context.qualified(roots)[1:],
        )


@finds("PUB506")
def unpublishable(context: RuleContext) -> Iterator[RuleFinding]:
    """Unlogged and foreign partitions of published trees."""
    catalog = context.catalog
    groups: dict[int, list[tuple[Relation, list[Publication]]]] = {}
    for relation in context.visit(catalog.relations.values()):
        if not relation.partition or unpublishable_kind(relation) not in ("foreign", "unlogged"):
            continue
        publications = [row for row in publications_of(catalog, relation) if _through_tree(context, row, relation)]
        if publications:
            groups.setdefault(catalog.ancestors(relation.oid)[-1], []).append((relation, publications))
    for root, leaves in groups.items():
        leaf, publications = leaves[0]
        place = leaf.place or catalog.relations[root].place
        if place is None:
            continue
        kind, above = unpublishable_kind(leaf), context.name(catalog.relations[root])
        related = [(row.place, "nor are those of this one") for row, _ in leaves[1:] if row.place is not None]
        for publication in publications:
            where = context.place_of(publication)
            if where is not None:
                related.append((where, f'publication "{publication.name}" publishes {above}'))
        names = [row.name for row in publications]
        yield RuleFinding(
            rule="PUB506",
            message=f"rows of {listed([context.name(row) for row, _ in leaves], 'partition')} are never published, "
            f"and no error is raised: {context.name(leaf)} is {kind}, and {listed(quoted(names), 'publication')} "
            f"publish{'es' if len(names) == 1 else ''} {above} as a whole",
            help="ALTER TABLE ... SET LOGGED"
            if kind == "unlogged"
            else "publish the rows where they are stored, on the foreign server",
            place=place,
            certain=leaf.seen and catalog.relations[root].seen and any(row.seen for row in publications),
            related=first_places(related),
            object=context.session.qualified(leaf),
            publications=tuple(names),
            also=context.qualified(row for row, _ in leaves)[1:],
        )


def _through_tree(context: RuleContext, publication: Publication, leaf: Relation) -> bool:
    """Return whether the partition is published as part of its tree, not only by its own schema."""
    arrives = route(context.catalog, publication, leaf)
    return arrives is not None and (
        arrives.how == "all tables" or arrives.through != leaf.oid or _ancestor_published(context, publication, leaf)
    )


def _ancestor_published(context: RuleContext, publication: Publication, leaf: Relation) -> bool:
    catalog = context.catalog
    return any(
        route(catalog, publication, catalog.relations[ancestor]) is not None for ancestor in catalog.ancestors(leaf.oid)
    )


@finds("PUB507")
def new_children(context: RuleContext) -> Iterator[RuleFinding]:
    """Children of parents, and partitions next to others, that were made after these were named in a publication."""
    yield from _new_children(context)
    yield from _new_partitions(context)


def _new_partitions(context: RuleContext) -> Iterator[RuleFinding]:
    """Partitions made where a publication names each one of those before by itself."""
    catalog = context.catalog
    siblings: dict[tuple[int, int], list[PublicationRel]] = {}
    for entry in context.visit(context.entries):
        row = catalog.relations[entry.relation]
        parent = row.parents[0] if row.partition else context.history.detached.get(row.oid)
        if parent is not None and parent in catalog.relations:
            siblings.setdefault((entry.publication, parent), []).append(entry)
    for (oid, parent), entries in siblings.items():
        publication, above = catalog.publications[oid], catalog.relations[parent]
        first, named = order(entries[0].place), {entry.relation for entry in entries}
        rest = _made_later(context, publication, parent, named, first)
        if not rest:
            continue
        places = [row.place for row in rest if row.place is not None]
        names = [context.name(row) for row in rest]
        yield RuleFinding(
            rule="PUB507",
            message=f'rows of {listed(names, "table")} are not published: publication "{publication.name}" names the '
            f"partitions that {context.name(above)} had then, one by one",
            help=f"ALTER PUBLICATION {identifier(publication.name)} ADD TABLE "
            f"{table_name(context.session, rest[0])}; or publish {context.name(above)}, with all partitions that it "
            "will have",
            place=places[0],
            certain=publication.seen and above.seen and all(row.seen for row in rest),
            related=first_places([(entry.place, "is named by itself") for entry in entries]),
            object=context.session.qualified(rest[0]),
            publications=(publication.name,),
            also=context.qualified(rest)[1:],
            severity=None if len(entries) > 1 else "note",
        )


def _made_later(
    context: RuleContext, publication: Publication, parent: int, named: set[int], first: tuple[int, ...]
) -> list[Relation]:
    """The partitions that a publication does not have; none where one of them is older than ``first``."""
    catalog, rest = context.catalog, []
    for child in catalog.children.groups.get(parent, ()):
        row = catalog.relations[child]
        if child not in named and is_publishable(row) and route(catalog, publication, row) is None:
            if row.place is None or order(row.place) <= first:
                return []  # some were left out from the beginning
            rest.append(row)
    return rest


def _new_children(context: RuleContext) -> Iterator[RuleFinding]:
    """Children made after their parent was named in a publication, which named all there were then."""
    catalog, history = context.catalog, context.history
    groups: dict[int, list[tuple[Relation, Place, PublicationRel]]] = {}
    for entry in context.visit(context.entries):
        parent = catalog.relations[entry.relation]
        if parent.kind == "p" or not catalog.children.has(parent.oid) or entry.oid in history.only:
            continue
        for oid in catalog.descendants(parent.oid)[1:]:
            child = catalog.relations[oid]
            since = history.inherited.get(oid, child.place)
            if since is None or order(since) <= order(entry.place) or child.kind != "r" or child.persistence != "p":
                continue
            if route(catalog, catalog.publications[entry.publication], child) is None:
                groups.setdefault(entry.publication, []).append((child, since, entry))
    for publication, children in groups.items():
        row = catalog.publications[publication]
        child, place, entry = children[0]
        parent = catalog.relations[entry.relation]
        names = [context.name(moved_child) for moved_child, _, _ in children]
        yield RuleFinding(
            rule="PUB507",
            message=f'rows of {listed(names, "table")} are not published: publication "{row.name}" publishes '
            f"{context.name(parent)} with the children that it had then",
            help=f"ALTER PUBLICATION {identifier(row.name)} ADD TABLE {table_name(context.session, child)}",
            place=place,
            certain=row.seen and parent.seen,
            related=first_places(
                [(entry.place, "names the parent"), *((where, "nor this one's") for _, where, _ in children[1:])]
            ),
            object=context.session.qualified(child),
            publications=(row.name,),
            also=context.qualified(moved_child for moved_child, _, _ in children)[1:],
        )
