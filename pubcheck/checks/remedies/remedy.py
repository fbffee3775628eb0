"""A remedy for a refused write: SQL that a person can run, and its cost; and the table that it is for."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Literal

from msgspec import Struct

from pubcheck.checks.tables import table_name
from pubcheck.postgres.catalog.rows import Publication, PublicationRel
from pubcheck.postgres.replication.publication_lookup import (
    identity_check_entry,
    partition_columns,
    publications_of,
    replica_identity,
)
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import identifier


class Remedy(Struct, frozen=True):
    """``statements`` to run one after the other, after which a cause is gone and no other has come; ``cost``: at what
    price, as the end of a sentence. ``lists``: the columns that they add to a column list. ``ends``: all causes of the
    table, those of the publication, or this cause alone.
    """

    statements: tuple[str, ...]
    cost: str
    lists: tuple[str, ...] = ()
    ends: Literal["table", "publication", "cause"] = "table"


Keys = dict[tuple[int, tuple[str, ...]], bool]
"""Whether a primary key can consist of these columns, by the key's index and the columns' names.

All partitions ask this of their root, so the answer is kept. It holds for one state of the catalog.
"""


# A table with what its publications ask of its replica identity.


class Membership(Struct, frozen=True):
    """A publication of the table that publishes updates or deletes, with the entry whose filter and list count.

    ``reads`` are the columns of its filter and ``listed`` those of its list, as numbers of the table itself.
    """

    publication: Publication
    entry: PublicationRel | None
    reads: tuple[int, ...] = ()
    listed: frozenset[int] | None = None


class PublishedTable:
    """A table in the final state of a unit."""

    def __init__(self, session: Session, oid: int) -> None:
        self.session = session
        self.catalog = catalog = session.catalog
        self.row = row = catalog.relations[oid]
        self.name = table_name(session, row)
        self.alter = f"ALTER TABLE {self.name}"
        self.identity = replica_identity(catalog, row)

    @cached_property
    def memberships(self) -> list[Membership]:
        """The publications of the table that publish updates or deletes."""
        publications = publications_of(self.catalog, self.row)
        return [self.membership(row) for row in publications if row.update or row.delete]

    def membership(self, publication: Publication) -> Membership:
        """Return the requirements of one publication."""
        entry = None if publication.all_tables else identity_check_entry(self.catalog, publication, self.row)
        if entry is None:
            return Membership(publication, None)
        named = self.catalog.relations[entry.relation]
        reads = partition_columns(named, self.row, entry.filter.columns if entry.filter is not None else ())
        listed = None if entry.columns is None else frozenset(partition_columns(named, self.row, entry.columns))
        return Membership(publication, entry, reads, listed)

    def sends(self, membership: Membership, number: int) -> bool:
        """Return whether a publication allows a column in the identity: it is listed, or sent without a list."""
        if membership.listed is not None:
            return number in membership.listed
        generated = self.row.columns[number - 1].generated
        if not generated or not self.catalog.major.publish_generated_columns:
            return True
        return generated == "s" and membership.publication.generated == "s"

    def names(self, numbers: Iterable[int]) -> str:
        """Columns by number as SQL lists them."""
        return ", ".join(identifier(self.row.columns[number - 1].name) for number in numbers)
