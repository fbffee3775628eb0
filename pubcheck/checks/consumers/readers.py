"""Which consumers read the publications of a unit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, cached_property

from msgspec import Struct

from pubcheck.checks.context import RuleContext, published_roots
from pubcheck.consumers import implied_by
from pubcheck.consumers.demands import Name
from pubcheck.consumers.profiles import Claim, Consumer, ConsumerUse, load
from pubcheck.postgres.catalog.rows import Place, Publication, PublicationRel, Relation
from pubcheck.postgres.replication.publication_lookup import (
    PublishedChanges,
    effective_entry,
    is_publishable,
    published_by,
    published_of,
)


class Reader(Struct, frozen=True):
    """A consumer that reads one publication.

    ``tables`` are patterns of the tables that it is configured to read, empty if unknown. ``reason`` says why this is
    assumed; it is empty if the user says that the consumer reads the publication.
    """

    id: str
    modes: frozenset[str]
    publication: int
    tables: tuple[str, ...] = ()
    reason: str = ""

    @property
    def consumer(self) -> Consumer:
        return load(self.id)

    def claims(self, major: int) -> Iterator[Claim]:
        """Yield the claims that are about this reader."""
        return (claim for claim in self.consumer.claims if claim.holds_in(self.modes, major))


class Subject:
    """One publication as one of its consumers sees it. ``all_readers`` are those of all publications."""

    def __init__(self, context: RuleContext, reader: Reader, all_readers: Sequence[Reader]) -> None:
        self.context, self.reader, self.all_readers = context, reader, all_readers
        self.catalog = context.catalog
        self.publication: Publication = context.catalog.publications[reader.publication]

    @property
    def consumer(self) -> str:
        """The name of the consumer."""
        return self.reader.consumer.name

    @property
    def name(self) -> str:
        """The publication as a message names it."""
        return f'publication "{self.publication.name}"'

    @cached_property
    def place(self) -> Place | None:
        return self.context.place_of(self.publication)

    @cached_property
    def changes(self) -> list[PublishedChanges]:
        """What the publication publishes, one entry for each table with rows."""
        return published_by(self.catalog, self.publication.oid)

    @cached_property
    def leaves(self) -> list[Relation]:
        """The tables with rows that are published."""
        return [self.catalog.relations[change.relation] for change in self.changes]

    @cached_property
    def names(self) -> list[Relation]:
        """The tables under whose names changes arrive."""
        return [self.catalog.relations[oid] for oid in dict.fromkeys(change.arrives_as for change in self.changes)]

    @cached_property
    def roots(self) -> list[Relation]:
        """The partitioned tables that the publication names."""
        return published_roots(self.context, self.publication)

    @cached_property
    def entries(self) -> list[PublicationRel]:
        """The memberships, in the order of the files."""
        return [entry for entry in self.context.entries if entry.publication == self.publication.oid]

    @cached_property
    def fellows(self) -> list[Reader]:
        """The other consumers of the publication."""
        same = (reader for reader in self.all_readers if reader.publication == self.publication.oid)
        return [reader for reader in same if reader.id != self.reader.id]

    @cached_property
    def sisters(self) -> list[Publication]:
        """The other publications of the same consumer."""
        oids = [reader.publication for reader in self.all_readers if reader.id == self.reader.id]
        return [self.catalog.publications[oid] for oid in oids if oid != self.publication.oid]

    def entry_of(self, change: PublishedChanges) -> PublicationRel | None:
        """Return the membership whose column list counts for a table."""
        return effective_entry(self.catalog, self.publication, change.arrives_as)

    def published_in(self, publication: Publication, relation: int) -> PublishedChanges | None:
        """Return what another publication publishes of a table."""
        return published_of(self.catalog, publication.oid, relation)

    def is_configured(self, relation: Relation) -> bool:
        """Return whether the consumer is configured to read a table."""
        return matches(self.reader.tables, self.context.session.qualified(relation))

    @cached_property
    def configured(self) -> list[Relation]:
        """The tables of the files that the consumer is configured to read."""
        if not self.reader.tables:
            return []
        rows = (row for row in self.catalog.relations.values() if is_publishable(row))
        return [row for row in rows if self.is_configured(row)]


def subjects(context: RuleContext) -> list[Subject]:
    """Return every publication with each of its consumers, in the order of the publications."""
    return context.once(_subjects)


def _subjects(context: RuleContext) -> list[Subject]:
    readers = [
        reader
        for publication in context.catalog.publications.values()
        for reader in dict.fromkeys(_readers_of(context, publication))
    ]
    return [Subject(context, reader, readers) for reader in readers]


def _readers_of(context: RuleContext, publication: Publication) -> Iterator[Reader]:
    chosen = [use for use in context.consumers if _is_about(context, use, publication)]
    chosen += [use for use in _commented(context, publication) if use not in chosen]
    for use in chosen:
        consumer = load(use.consumer)
        yield Reader(use.consumer, frozenset(use.modes) or consumer.default_modes, publication.oid, use.tables)
    implied = implied_by(publication.name)
    if implied is not None and not chosen:
        reason = f'whether {load(implied).name} reads publication "{publication.name}", as its name suggests'
        yield Reader(implied, load(implied).default_modes, publication.oid, reason=reason)


def _is_about(context: RuleContext, use: ConsumerUse, publication: Publication) -> bool:
    """Return whether a configured consumer reads a publication.

    One that is configured without publications reads all of them. If its publication has a fixed name, it reads only
    that one where there is one.
    """
    if use.publications:
        return matches(use.publications, publication.name)
    names = context.catalog.publication_names
    own = [name for name in names if implied_by(name) == use.consumer]
    fixed = [
        demand.equals
        for claim in load(use.consumer).claims
        for demand in claim.demands
        if isinstance(demand, Name) and demand.equals in names
    ]
    readable = own or fixed
    return not readable or publication.name in readable


def _commented(context: RuleContext, publication: Publication) -> Iterator[ConsumerUse]:
    """Yield the consumers that comments on the statements about a publication name."""
    if not context.commented:
        return
    catalog = context.catalog
    places = [publication.place]
    places += [catalog.publication_rels[oid].place for oid in catalog.members_of.get(publication.oid)]
    places += [catalog.publication_namespaces[oid].place for oid in catalog.schemas_of.get(publication.oid)]
    statements = dict.fromkeys((place.source, context.outer(place)) for place in places if place is not None)
    for statement in statements:
        yield from context.commented.get(statement, ())


def matches(patterns: Sequence[str], name: str) -> bool:
    """Return whether a name matches one of these patterns: names, with `*` for any text, and quoted as in SQL or not.

    A pattern without schema is about the schema public.
    """
    return any(_pattern(pattern).fullmatch(name) for pattern in patterns)


_QUOTED = re.compile(r'(?<![^.])"((?:[^"]|"")+)"(?![^.])')
"""A quoted identifier, alone or between dots."""


@cache
def _pattern(pattern: str) -> re.Pattern[str]:
    plain = _QUOTED.sub(lambda match: match[1].replace('""', '"'), pattern)
    text = ".*".join(map(re.escape, plain.split("*")))
    return re.compile(rf"(?:public\.)?{text}", re.DOTALL)
