"""Facts about tables and filters that are needed repeatedly: names, columns, identities, filter texts."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from msgspec import Struct

from pubcheck.engine.replay import Replay
from pubcheck.explain.document import Condition, Identity
from pubcheck.measure.filter_text import condition
from pubcheck.postgres.catalog import rows
from pubcheck.postgres.replication.publication_lookup import replica_identity
from pubcheck.postgres.replication.published_changes import PublishedChanges
from pubcheck.statement_index import Statements


class TableFacts(Struct, frozen=True):
    """Facts about a table that do not depend on the publication.

    ``kind`` is what tables must have in common to share an answer: generated columns and the kind of identity.
    ``alone``: the table is in no partition tree.
    """

    name: str
    columns: tuple[str, ...]
    identity: Identity
    kind: object
    alone: bool


class Facts:
    """Answers questions about tables from the final state of a unit, and keeps the answers."""

    def __init__(self, replay: Replay, statements: Statements) -> None:
        self.replay, self.catalog, self.statements = replay, replay.catalog, statements
        self.known: dict[int, TableFacts] = {}
        """The facts by table."""
        self._conditions: dict[int, Condition] = {}

    def name(self, oid: int) -> str:
        """Return ``schema.table``."""
        return self.replay.session.qualified(self.catalog.relations[oid])

    def family(self, oid: int) -> tuple[int, ...]:
        """Return a table and, if it is a partition, its parents."""
        relation = self.catalog.relations[oid]
        return (oid, *self.catalog.ancestors(oid)) if relation.partition else (oid,)

    def is_named(self, oid: int, names: Iterable[str]) -> bool:
        """Return whether one of these names, with or without a schema, is the name of a relation."""
        relation = self.catalog.relations[oid]
        return any(name in (relation.name, self.name(oid)) for name in names)

    def of(self, oid: int) -> TableFacts:
        """Return the facts about a table."""
        known = self.known.get(oid)
        if known is None:
            relation = self.catalog.relations[oid]
            live = relation.live()
            name, identity = self.name(oid), self._identity(relation)
            generated = [(column.name, column.generated) for column in live if column.generated]
            kind = (tuple(generated), identity.kind)
            columns = tuple([column.name for column in live])
            alone = relation.kind == "r" and not relation.partition
            known = self.known[oid] = TableFacts(name, columns, identity, kind, alone)
        return known

    def _identity(self, relation: rows.Relation) -> Identity:
        identity = replica_identity(self.catalog, relation)
        if identity.full:
            return Identity("full")
        if identity.index:
            keys = self.catalog.indexes[identity.index].keys
            names = tuple([relation.columns[number - 1].name for number in keys])
            return Identity("primary key" if identity.kind == "d" else "index", names)
        if not identity.known:
            return Identity("not visible")
        return Identity("nothing" if identity.kind == "n" else "none")

    def condition(self, sent: PublishedChanges) -> Condition:
        """Return the row filter of a table's changes, which must have one."""
        assert sent.entry is not None
        return self.written_filter(sent.entry)

    def written_filter(self, entry: rows.PublicationRel) -> Condition:
        """Return the filter of a membership as its statement has it."""
        known = self._conditions.get(entry.oid)
        if known is None:
            assert entry.filter is not None
            statement = self.statements.at(entry.place)
            sql = condition(statement.text, entry.place.start)
            relation = self.catalog.relations[entry.relation]
            known = self._conditions[entry.oid] = Condition(
                sql or "(not shown: its text was not found)",
                canonical_form(sql) if sql is not None else None,
                tuple(relation.columns[number - 1].name for number in entry.filter.columns),
                self.name(entry.relation),
            )
        return known

    def reading(self, sent: PublishedChanges) -> object:
        """Return a filter and the types of the columns that it reads."""
        condition = self.condition(sent)
        assert sent.entry is not None
        assert sent.filter is not None
        columns = self.catalog.relations[sent.entry.relation].columns
        read = [columns[number - 1] for number in sent.filter.columns]
        own = sent.entry.relation == sent.relation or condition.of
        return condition.sql, own, tuple((column.name, column.type, column.typmod, column.not_null) for column in read)

    def columns_of(self, sent: PublishedChanges) -> list[str]:
        """Return the names of the published columns."""
        columns = self.catalog.relations[sent.relation].columns
        return [columns[number - 1].name for number in sent.columns]

    def unused(self, sent: PublishedChanges) -> list[rows.PublicationRel]:
        """Return the memberships of the table and its ancestors whose filters do not count."""
        entries = []
        for oid in self.family(sent.relation):
            member = self.catalog.members.get((sent.publication, oid))
            if member is not None:
                entry = self.catalog.publication_rels[member]
                if entry.filter is not None and entry.filter is not sent.filter:
                    entries.append(entry)
        return entries

    def member(self, publication: int, relation: int) -> rows.PublicationRel:
        """Return the membership of a table that a publication names."""
        return self.catalog.publication_rels[self.catalog.members[publication, relation]]


@cache
def canonical_form(sql: str) -> str | None:
    """Return the canonical form by which conditions are compared, None if there is none."""
    from pubcheck.measure.canonical import canonical

    return canonical(sql)
