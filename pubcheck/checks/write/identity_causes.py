"""The checks that make the publisher refuse UPDATE and DELETE of a published table, each with its cause."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Place, Publication, PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import ReplicaIdentity, identity_check_entry, partition_columns
from pubcheck.rulebook import finder

Write = Literal["update", "delete"]

WRITES: tuple[Write, ...] = ("update", "delete")


class Cause(Struct, frozen=True):
    """A failed check for one publication of a table, so that UPDATE and DELETE of the table are refused.

    ``rule`` is a code. ``check`` is the number of the check in _CHECKS. ``entry`` is the membership that causes it,
    ``column`` the attribute's name and ``place`` where it is written.
    """

    rule: str
    publication: Publication
    check: int
    certain: bool
    column: str = ""
    entry: PublicationRel | None = None
    place: Place | None = None


def causes_in(
    catalog: Catalog, relation: Relation, identity: ReplicaIdentity, publication: Publication
) -> tuple[Cause, ...]:
    """Return the checks that fail for one publication of a table, whatever operations it publishes.

    They do not depend on other publications.
    """
    entry = None if publication.all_tables else identity_check_entry(catalog, publication, relation)
    # Without an entry there is neither a filter nor a column list.
    checks = (_generated_cause, _identity_cause) if entry is None else _CHECKS
    return tuple(
        [cause for check in checks if (cause := check(catalog, relation, identity, publication, entry)) is not None]
    )


@finder("PUB301", "PUB304")
def _filter_cause(
    catalog: Catalog,
    relation: Relation,
    identity: ReplicaIdentity,
    publication: Publication,
    entry: PublicationRel | None,
) -> Cause | None:
    """pub_rf_contains_invalid_column: a filter column outside the identity; any will do under FULL."""
    if entry is None or entry.filter is None or identity.full or not identity.known:
        return None
    source = catalog.relations[entry.relation]
    for number in entry.filter.columns:
        if identity.columns.isdisjoint(partition_columns(source, relation, (number,))):
            name = source.columns[number - 1].name
            place = next((place for column, place in entry.filter.places if column == number), None)
            rule = "PUB304" if relation.partition else "PUB301"
            return Cause(rule, publication, FILTER, publication.seen and entry.filter.analysed, name, entry, place)
    return None


@finder("PUB406")
def _columns_cause(
    catalog: Catalog,
    relation: Relation,
    identity: ReplicaIdentity,
    publication: Publication,
    entry: PublicationRel | None,
) -> Cause | None:
    """pub_contains_invalid_column: every column of the identity is listed, and there is no list under FULL."""
    if entry is None or entry.columns is None:
        return None
    place = None
    if entry.column_places:
        first, last = entry.column_places[0][1], entry.column_places[-1][1]
        place = Place(first.source, first.statement, first.start, last.end)
    if identity.full:
        return Cause("PUB406", publication, COLUMN_LIST, publication.seen, "", entry, place)
    listed = partition_columns(catalog.relations[entry.relation], relation, entry.columns)
    for number in sorted(identity.columns):
        if number not in listed:
            name = relation.columns[number - 1].name
            return Cause("PUB406", publication, COLUMN_LIST, publication.seen, name, entry, place)
    return None


@finder("PUB303")
def _generated_cause(
    catalog: Catalog,
    relation: Relation,
    identity: ReplicaIdentity,
    publication: Publication,
    entry: PublicationRel | None,
) -> Cause | None:
    """pub_contains_invalid_column, since 18: the identity has a generated column that is not published."""
    if not catalog.major.publish_generated_columns:
        return None
    generated = [number for number in identity.columns if relation.columns[number - 1].generated]
    if not generated:
        return None
    if not identity.full and entry is not None and entry.columns is not None:
        return None
    for number in sorted(generated):
        column = relation.columns[number - 1]
        if column.generated == "v" or publication.generated != "s":
            return Cause("PUB303", publication, GENERATED, publication.seen, column.name, entry)
    return None


@finder("PUB302")
def _identity_cause(
    catalog: Catalog,
    relation: Relation,
    identity: ReplicaIdentity,
    publication: Publication,
    entry: PublicationRel | None,
) -> Cause | None:
    """The table has no replica identity."""
    missing = identity.known and not identity.exists
    return Cause("PUB302", publication, NO_IDENTITY, publication.seen) if missing else None


_CHECKS = (_filter_cause, _columns_cause, _generated_cause, _identity_cause)
"""The checks in the order in which CheckCmdReplicaIdentity reports their failures."""

CHECKS = range(4)

FILTER, COLUMN_LIST, GENERATED, NO_IDENTITY = CHECKS
"""Numbers of the checks."""
