"""Partitions and children: filters that nobody uses, rows that nobody sends."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from pubcheck.checks.context import COMPARED, ONE_SUBSCRIPTION, Finding, Ground, listed, order, others, quoted
from pubcheck.checks.silent.filters import published_roots
from pubcheck.postgres.catalog.rows import Place, Publication, PublicationRel, Relation
from pubcheck.postgres.ddl.publications.tables import same_filter
from pubcheck.postgres.identifiers import identifier, qualified
from pubcheck.postgres.replication.initial_copy import copied
from pubcheck.postgres.replication.publication_lookup import (
    Arrival,
    arrival,
    counted_entry,
    is_publishable,
    publications_of,
    sent_columns,
)
from pubcheck.postgres.replication.published_changes import unpublishable as unpublishable_kind


def unused(ground: Ground) -> Iterator[Finding]:
    """Filters and column lists of partitions whose changes are sent as their root's."""
    catalog = ground.catalog
    groups: dict[int, list[tuple[PublicationRel, Relation, PublicationRel | None]]] = {}
    for entry in ground.each(ground.entries):
        relation = catalog.relations[entry.relation]
        if not relation.partition or (entry.filter is None and entry.columns is None):
            continue
        publication = catalog.publications[entry.publication]
        arrives = arrival(catalog, publication, relation)
        if arrives is None or arrives.arrives_as == relation.oid:
            continue
        target = catalog.relations[arrives.arrives_as]
        winner = counted_entry(catalog, publication, target.oid)
        if _leaks(publication, entry, relation, winner, target):
            groups.setdefault(publication.oid, []).append((entry, target, winner))
    yield from overruled(ground)
    for oid, found in groups.items():
        publication = catalog.publications[oid]
        entry, target, winner = found[0]
        names = [ground.name(catalog.relations[one.relation]) for one, _, _ in found]
        parts = [part for part, held in (("row filter", entry.filter), ("column list", entry.columns)) if held]
        what = " and the ".join(parts)
        effect = "rows" if entry.filter is not None else "columns"
        related = [(one.place, "nor is this one") for one, _, _ in found[1:]]
        where = winner.place if winner is not None else ground.place_of(publication)
        if where is not None:
            related.insert(0, (where, f"changes are sent as those of {ground.name(target)}, with what is said here"))
        yield Finding(
            rule="partition-filter-unused",
            message=f"the {what} of {listed(names, 'partition')} {'are' if len(parts) > 1 else 'is'} not used: "
            f'publication "{publication.name}" publishes via the root, and sends {effect} that were to stay',
            help=f"put it on {ground.name(target)}; or publish the partitions under their own names "
            "(publish_via_partition_root = false), and take the root's own filter and list off first",
            place=entry.place,
            certain=publication.seen and target.seen,
            related=others(related),
            object=ground.session.qualified(catalog.relations[entry.relation]),
            publications=(publication.name,),
            also=ground.qualified(catalog.relations[one.relation] for one, _, _ in found)[1:],
        )


def overruled(ground: Ground) -> Iterator[Finding]:
    """Memberships of partitions that another publication of the same subscription sends as their root's."""
    catalog = ground.catalog
    groups: dict[tuple[int, str], list[tuple[PublicationRel, Relation, Publication]]] = {}
    arriving: dict[int, list[tuple[Publication, Arrival]]] = {}
    for entry in ground.each(ground.entries):
        relation = catalog.relations[entry.relation]
        if not relation.partition:
            continue
        if relation.oid not in arriving:
            arriving[relation.oid] = _arriving(ground, relation)
        own = arrival(catalog, catalog.publications[entry.publication], relation)
        for other, arrives in islice(arriving[relation.oid], COMPARED):
            if own is None or arrives.level <= own.level:
                break
            target = catalog.relations[arrives.arrives_as]
            winner = counted_entry(catalog, other, target.oid)
            if winner is None and entry.filter is None and entry.columns is None:
                continue
            same = winner is not None and same_filter(winner.filter, entry.filter)
            if same and (entry.columns is None) == (winner is None or winner.columns is None):
                continue
            subscription = ground.subscription_to(entry.publication, other.oid)
            if subscription is not None or not ground.is_subscribed(entry.publication, other.oid):
                key = entry.publication, subscription.name if subscription is not None else ""
                groups.setdefault(key, []).append((entry, target, other))
    for (here, name), found in groups.items():
        subscription = catalog.subscriptions.get(name)
        publication = catalog.publications[here]
        entry, target, other = found[0]
        names = [ground.name(catalog.relations[one.relation]) for one, _, _ in found]
        rows = {row.name: row for _, _, row in found}
        who = "a subscription to both" if subscription is None else f'subscription "{subscription.name}"'
        related = [(place, f'publication "{other.name}"')] if (place := ground.place_of(other)) is not None else []
        if subscription is not None:
            related.insert(0, (subscription.place, "takes both"))
        yield Finding(
            rule="partition-filter-unused",
            message=f'what publication "{publication.name}" says of {listed(names, "partition")} does not count for '
            f"{who}: changes arrive as those of {ground.name(target)}, with filter and columns of "
            f"{listed(quoted(rows))}",
            help="say it in the publication of the root, or subscribe to the two apart",
            place=entry.place,
            certain=subscription is not None and publication.seen and other.seen and target.seen,
            assumptions=() if subscription is not None else (ONE_SUBSCRIPTION,),
            related=others([*related, *((one.place, "nor does this") for one, _, _ in found if one is not entry)]),
            object=ground.session.qualified(catalog.relations[entry.relation]),
            publications=(publication.name, *rows),
            severity="warning" if subscription is not None else "note",
            also=ground.qualified(catalog.relations[one.relation] for one, _, _ in found)[1:],
        )


def _arriving(ground: Ground, relation: Relation) -> list[tuple[Publication, Arrival]]:
    """The publications of a partition and what each sends it as, the highest ancestor first."""
    rows = ((row, arrival(ground.catalog, row, relation)) for row in publications_of(ground.catalog, relation))
    return sorted(((row, found) for row, found in rows if found is not None), key=lambda pair: -pair[1].level)


def copied_twice(ground: Ground) -> Iterator[Finding]:
    """15 copies a partition twice where one publication has it and another its root."""
    catalog = ground.catalog
    for subscription, named in ground.together:
        if catalog.major.number > 15 or len(named) < 2:
            continue
        found = [row for row in copied(catalog, ground.asked(subscription)) if row.within]
        if not found:
            continue
        first = found[0]
        relation, root = catalog.relations[first.relation], catalog.relations[first.within]
        rows = [catalog.publications[oid] for oid in first.publications]
        member = catalog.members.get((rows[0].oid, relation.oid))
        place = catalog.publication_rels[member].place if member is not None else ground.place_of(rows[0])
        names = [ground.name(catalog.relations[row.relation]) for row in found]
        yield Finding(
            rule="rows-copied-twice",
            message=f'the initial copy of subscription "{subscription.name}" takes the rows of '
            f"{listed(names, 'partition')} twice: by {'itself' if len(names) == 1 else 'themselves'} and as part of "
            f"{ground.name(root)}",
            help="publish_via_partition_root alike in both publications; or a subscription for each; or subscribe WITH "
            "(copy_data = false); PostgreSQL 16 and later copy them once",
            place=place or subscription.place,
            certain=all(row.seen for row in rows) and relation.seen and root.seen,
            related=((subscription.place, "takes both"),),
            object=ground.session.qualified(relation),
            publications=tuple(row.name for row in rows),
            also=ground.qualified(catalog.relations[row.relation] for row in found)[1:],
        )


def _leaks(
    publication: Publication,
    entry: PublicationRel,
    relation: Relation,
    winner: PublicationRel | None,
    target: Relation,
) -> bool:
    """Whether what is sent is more than the partition's own filter or list allows."""
    if entry.filter is not None and not same_filter(entry.filter, winner.filter if winner is not None else None):
        return True
    if entry.columns is None:
        return False
    sent = sent_columns(target, winner.columns if winner is not None else None, publication.generated == "s")
    allowed = {relation.columns[number - 1].name for number in entry.columns}
    return not allowed.issuperset(target.columns[number - 1].name for number in sent)


def row_moves(ground: Ground) -> Iterator[Finding]:
    """An UPDATE that moves a row to another partition is a DELETE and an INSERT, which must both be published."""
    for publication in ground.each(ground.catalog.publications.values()):
        place = ground.place_of(publication)
        missing = [name for name in ("insert", "delete") if not getattr(publication, name)]
        if not publication.update or not missing or place is None:
            continue
        roots = published_roots(ground, publication)
        if not roots:
            continue
        lost = {
            ("insert", "delete"): "it never arrives",
            ("insert",): "only its deletion arrives, and the row is lost",
            ("delete",): "it arrives anew, and the old one stays",
        }[tuple(missing)]
        yield Finding(
            rule="partition-row-move",
            message=f"an UPDATE that moves a row of {listed(ground.name(root) for root in roots)} to another partition "
            f'is DELETE and INSERT, and publication "{publication.name}" does not publish {" and ".join(missing)}: '
            f"{lost}",
            help=f"publish insert and delete with update: ALTER PUBLICATION {identifier(publication.name)} "
            "SET (publish = 'insert, update, delete')",
            place=place,
            certain=publication.seen and all(root.seen for root in roots),
            related=others([(root.place, "a partitioned table") for root in roots if root.place is not None]),
            object=ground.session.qualified(roots[0]),
            publications=(publication.name,),
            operation="update",
            also=ground.qualified(roots)[1:],
        )


def unpublishable(ground: Ground) -> Iterator[Finding]:
    """Unlogged and foreign partitions of published trees."""
    catalog = ground.catalog
    groups: dict[int, list[tuple[Relation, list[Publication]]]] = {}
    for relation in ground.each(catalog.relations.values()):
        if not relation.partition or unpublishable_kind(relation) not in ("foreign", "unlogged"):
            continue
        publications = [row for row in publications_of(catalog, relation) if _through_tree(ground, row, relation)]
        if publications:
            groups.setdefault(catalog.ancestors(relation.oid)[-1], []).append((relation, publications))
    for root, leaves in groups.items():
        leaf, publications = leaves[0]
        place = leaf.place or catalog.relations[root].place
        if place is None:
            continue
        kind, above = unpublishable_kind(leaf), ground.name(catalog.relations[root])
        related = [(row.place, "nor are those of this one") for row, _ in leaves[1:] if row.place is not None]
        for publication in publications:
            where = ground.place_of(publication)
            if where is not None:
                related.append((where, f'publication "{publication.name}" publishes {above}'))
        names = [row.name for row in publications]
        yield Finding(
            rule="unpublishable-partition",
            message=f"rows of {listed([ground.name(row) for row, _ in leaves], 'partition')} are never sent, without "
            f"an error: {ground.name(leaf)} is {kind}, and {listed(quoted(names), 'publication')} "
            f"publish{'es' if len(names) == 1 else ''} {above} as a whole",
            help="ALTER TABLE ... SET LOGGED"
            if kind == "unlogged"
            else "publish the rows where they are stored, on the foreign server",
            place=place,
            certain=leaf.seen and catalog.relations[root].seen and any(row.seen for row in publications),
            related=others(related),
            object=ground.session.qualified(leaf),
            publications=tuple(names),
            also=ground.qualified(row for row, _ in leaves)[1:],
        )


def _through_tree(ground: Ground, publication: Publication, leaf: Relation) -> bool:
    """Whether the partition is published as part of its tree, not only by its own schema."""
    arrives = arrival(ground.catalog, publication, leaf)
    return arrives is not None and (
        arrives.how == "all tables" or arrives.through != leaf.oid or _ancestor_published(ground, publication, leaf)
    )


def _ancestor_published(ground: Ground, publication: Publication, leaf: Relation) -> bool:
    catalog = ground.catalog
    return any(
        arrival(catalog, publication, catalog.relations[ancestor]) is not None
        for ancestor in catalog.ancestors(leaf.oid)
    )


def new_children(ground: Ground) -> Iterator[Finding]:
    """Children of parents, and partitions beside others, that were made after these were named in a publication."""
    yield from _new_children(ground)
    yield from _new_partitions(ground)


def _new_partitions(ground: Ground) -> Iterator[Finding]:
    """Partitions made where a publication names each one of those before by itself."""
    catalog = ground.catalog
    siblings: dict[tuple[int, int], list[PublicationRel]] = {}
    for entry in ground.each(ground.entries):
        row = catalog.relations[entry.relation]
        parent = row.parents[0] if row.partition else ground.history.detached.get(row.oid)
        if parent is not None and parent in catalog.relations:
            siblings.setdefault((entry.publication, parent), []).append(entry)
    for (oid, parent), entries in siblings.items():
        publication, above = catalog.publications[oid], catalog.relations[parent]
        first, named = order(entries[0].place), {entry.relation for entry in entries}
        rest = _made_later(ground, publication, parent, named, first)
        if not rest:
            continue
        places = [row.place for row in rest if row.place is not None]
        names = [ground.name(row) for row in rest]
        yield Finding(
            rule="new-child-not-published",
            message=f'rows of {listed(names, "table")} are not sent: publication "{publication.name}" names the '
            f"partitions that {ground.name(above)} had then, one by one",
            help=f"ALTER PUBLICATION {identifier(publication.name)} ADD TABLE {qualified(names[0])}; or publish "
            f"{ground.name(above)}, with all partitions that it will have",
            place=places[0],
            certain=publication.seen and above.seen and all(row.seen for row in rest),
            related=others([(entry.place, "is named by itself") for entry in entries]),
            object=ground.session.qualified(rest[0]),
            publications=(publication.name,),
            also=ground.qualified(rest)[1:],
            severity=None if len(entries) > 1 else "note",
        )


def _made_later(
    ground: Ground, publication: Publication, parent: int, named: set[int], first: tuple[int, ...]
) -> list[Relation]:
    """The partitions that a publication does not have; none where one of them is older than ``first``."""
    catalog, rest = ground.catalog, []
    for child in catalog.children.groups.get(parent, ()):
        row = catalog.relations[child]
        if child not in named and is_publishable(row) and arrival(catalog, publication, row) is None:
            if row.place is None or order(row.place) <= first:
                return []  # some were left out from the beginning
            rest.append(row)
    return rest


def _new_children(ground: Ground) -> Iterator[Finding]:
    """Children made after their parent was named in a publication, which named all there were then."""
    catalog, history = ground.catalog, ground.history
    groups: dict[int, list[tuple[Relation, Place, PublicationRel]]] = {}
    for entry in ground.each(ground.entries):
        parent = catalog.relations[entry.relation]
        if parent.kind == "p" or not catalog.children.has(parent.oid) or entry.oid in history.only:
            continue
        for oid in catalog.descendants(parent.oid)[1:]:
            child = catalog.relations[oid]
            since = history.inherited.get(oid, child.place)
            if since is None or order(since) <= order(entry.place) or child.kind != "r" or child.persistence != "p":
                continue
            if arrival(catalog, catalog.publications[entry.publication], child) is None:
                groups.setdefault(entry.publication, []).append((child, since, entry))
    for publication, found in groups.items():
        row = catalog.publications[publication]
        child, place, entry = found[0]
        parent = catalog.relations[entry.relation]
        names = [ground.name(one) for one, _, _ in found]
        yield Finding(
            rule="new-child-not-published",
            message=f'rows of {listed(names, "table")} are not sent: publication "{row.name}" publishes '
            f"{ground.name(parent)} with the children that it had then",
            help=f"ALTER PUBLICATION {identifier(row.name)} ADD TABLE {qualified(names[0])}",
            place=place,
            certain=row.seen and parent.seen,
            related=others(
                [(entry.place, "names the parent"), *((where, "nor this one's") for _, where, _ in found[1:])]
            ),
            object=ground.session.qualified(child),
            publications=(row.name,),
            also=ground.qualified(one for one, _, _ in found)[1:],
        )
