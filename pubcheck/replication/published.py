"""Which publications publish a table, and which entry of each counts (pg_publication.c, relcache.c)."""

from __future__ import annotations

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, Catalog
from pubcheck.postgres.catalog.rows import Publication, PublicationRel, Relation


def is_publishable(relation: Relation) -> bool:
    """is_publishable_class: an ordinary or partitioned permanent table that initdb did not make."""
    return relation.kind in "rp" and relation.persistence == "p" and relation.oid >= FIRST_NORMAL_OID


def publications_of(catalog: Catalog, relation: Relation) -> list[Publication]:
    """All publications of a table, in the order in which RelationBuildPublicationDesc looks at them.

    Its own memberships, its schema's, then for a partition those of each ancestor, nearest first; FOR ALL TABLES last.
    """
    found: dict[int, None] = {}
    for oid in (relation.oid, *catalog.ancestors(relation.oid)):
        if catalog.memberships.has(oid):
            members = (catalog.publication_rels[member].publication for member in catalog.memberships.get(oid))
            found.update(dict.fromkeys(sorted(members)))
        namespace = catalog.relations[oid].namespace
        if catalog.schema_publications.has(namespace):
            entries = (catalog.publication_namespaces[entry] for entry in catalog.schema_publications.get(namespace))
            found.update(dict.fromkeys(sorted(entry.publication for entry in entries)))
    found.update(dict.fromkeys(catalog.publications_for_all))
    return [catalog.publications[oid] for oid in found]


def judged_entry(catalog: Catalog, publication: Publication, relation: Relation) -> PublicationRel | None:
    """The membership whose filter and column list hold for a table in a publication; None where it has neither.

    With publish_via_partition_root that of the topmost published ancestor (GetTopMostAncestorInPublication), even
    where the partition has one of its own.
    """
    publish_as = relation.oid
    if publication.via_root and relation.partition:
        for oid in catalog.ancestors(relation.oid):
            namespace = catalog.relations[oid].namespace
            if (publication.oid, oid) in catalog.members or (publication.oid, namespace) in catalog.schema_members:
                publish_as = oid
    member = catalog.members.get((publication.oid, publish_as))
    return None if member is None else catalog.publication_rels[member]
