"""Partitioned tables whose replica identity is another one than that of their partitions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Literal

from pubcheck.checks.context import RuleContext, RuleFinding, finds, first_places, listed
from pubcheck.checks.tables import table_name
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Publication, Relation
from pubcheck.postgres.replication.publication_lookup import published_by, replica_identity

Problem = Literal["rows without old values", "no key", "other columns"]


@finds("PUB511")
def root_identity(context: RuleContext) -> Iterator[RuleFinding]:
    """The Relation message describes the root, and the old rows are those of the partitions."""
    catalog = context.catalog
    for publication in context.visit(catalog.publications.values()):
        place = context.place_of(publication)
        if not publication.via_root or not (publication.update or publication.delete) or place is None:
            continue
        groups: dict[tuple[int, Problem], list[Relation]] = {}
        for sent in published_by(catalog, publication.oid):
            if sent.arrives_as == sent.relation:
                continue
            leaf, root = catalog.relations[sent.relation], catalog.relations[sent.arrives_as]
            problem = _problem(catalog, root, leaf)
            if problem is not None:
                groups.setdefault((root.oid, problem), []).append(leaf)
        for (oid, problem), leaves in groups.items():
            yield _finding(context, publication, catalog.relations[oid], problem, leaves)


def _problem(catalog: Catalog, root: Relation, leaf: Relation) -> Problem | None:
    of_root, of_leaf = replica_identity(catalog, root), replica_identity(catalog, leaf)
    if of_root.full and of_leaf.exists and not of_leaf.full:
        return "rows without old values"
    if of_leaf.full and not of_root.exists and of_root.known:
        return "no key"
    both_keys = of_root.exists and of_leaf.exists and not (of_root.full or of_leaf.full)
    if both_keys and not _names(root, of_root.columns) <= _names(leaf, of_leaf.columns):
        return "other columns"
    return None


def _names(relation: Relation, columns: frozenset[int]) -> set[str]:
    """Return the names of columns: a partition may have them in another order than its root."""
    return {column.name for column in relation.columns if column.number in columns}


def _key(catalog: Catalog, relation: Relation) -> list[str]:
    """Return the columns of a replica identity in the order of the table."""
    columns = replica_identity(catalog, relation).columns
    return [column.name for column in relation.columns if column.number in columns]


def _finding(
    context: RuleContext, publication: Publication, root: Relation, problem: Problem, leaves: list[Relation]
) -> RuleFinding:
    name, partitions = context.name(root), listed((context.name(leaf) for leaf in leaves), "partition")
    have = "have" if len(leaves) > 1 else "has"
    keys: list[list[str]] = []
    if problem == "rows without old values":
        message = (
            f"{name} has REPLICA IDENTITY FULL and {partitions} {have} not: the subscriber expects whole old rows "
            "and gets only their key, or none; without a key of its own it skips UPDATEs and DELETEs silently"
        )
        statements = [f"ALTER TABLE {_written(context, leaf)} REPLICA IDENTITY FULL" for leaf in leaves[:1]]
    elif problem == "other columns":
        keys = [_key(context.catalog, row) for row in (root, leaves[0])]
        message = (
            f"{name} has the replica identity ({', '.join(keys[0])}) and {partitions} {have} "
            f"({', '.join(keys[1])}), which does not have all of its columns: a subscriber that searches by the "
            "columns of the root finds no row for a DELETE, or an UPDATE of these columns, and skips it silently"
        )
        statements = [f"ALTER TABLE {_written(context, leaves[0])} REPLICA IDENTITY USING INDEX ..."]
    else:
        message = (
            f"{partitions} {have} REPLICA IDENTITY FULL and {name} has not, and no key: UPDATEs and DELETEs stop the "
            "subscriber, which expects no replica identity"
        )
        statements = [f"ALTER TABLE {_written(context, root)} REPLICA IDENTITY FULL"]
    place = root.place or context.place_of(publication)
    assert place is not None
    related = [(leaf.place, "another replica identity") for leaf in leaves if leaf.place is not None]
    published = context.place_of(publication)
    if published is not None and published != place:
        related.insert(0, (published, f'publication "{publication.name}" publishes via the root'))
    more = " (and so on for each partition)" if len(leaves) > 1 and problem != "no key" else ""
    return RuleFinding(
        rule="PUB511",
        message=message,
        help=f"give the root and its partitions the same replica identity: {statements[0]}{more}",
        place=place,
        certain=publication.seen and root.seen and all(leaf.seen for leaf in leaves),
        related=first_places(related),
        object=context.session.qualified(root),
        publications=(publication.name,),
        columns=tuple(itertools.chain(*keys)),
        also=context.qualified(leaves),
    )


def _written(context: RuleContext, relation: Relation) -> str:
    return table_name(context.session, relation)
