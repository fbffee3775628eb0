"""What is asked of tables and filters again and again: their names, columns and identities, how a filter is written."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

from msgspec import Struct

from pubcheck.engine.replay import Replay
from pubcheck.explain.document import Condition, Identity
from pubcheck.measure.filter_text import condition
from pubcheck.postgres.catalog import rows
from pubcheck.postgres.replication.published_changes import Sent
from pubcheck.postgres.replication.replica_identity import replica_identity
from pubcheck.statement_index import Statements


class TableFacts(Struct, frozen=True):
    """What does not depend on the publication. ``kind`` is what tables must have in common to share an answer:
    generated columns, the kind of identity. ``alone``: in no partition tree."""

    name: str
    columns: tuple[str, ...]
    identity: Identity
    kind: object
    alone: bool


class Facts:
    """Answers from the final state of a unit, each worked out once."""

    def __init__(self, fold: Replay, statements: Statements) -> None:
        self.fold, self.catalog, self.statements = fold, fold.catalog, statements
        self.known: dict[int, TableFacts] = {}
        """By the table, what was worked out."""
        self._conditions: dict[int, Condition] = {}

    def name(self, oid: int) -> str:
        """``schema.table``."""
        return self.fold.session.qualified(self.catalog.relations[oid])

    def family(self, oid: int) -> tuple[int, ...]:
        """A table and what it is a partition of."""
        relation = self.catalog.relations[oid]
        return (oid, *self.catalog.ancestors(oid)) if relation.partition else (oid,)

    def means(self, oid: int, names: Iterable[str]) -> bool:
        """Whether one of these names, with a schema or without, is that of a relation."""
        relation = self.catalog.relations[oid]
        return any(name in (relation.name, self.name(oid)) for name in names)

    def of(self, oid: int) -> TableFacts:
        """A table by itself."""
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
        found = replica_identity(self.catalog, relation)
        if found.full:
            return Identity("full")
        if found.index:
            keys = self.catalog.indexes[found.index].keys
            names = tuple([relation.columns[number - 1].name for number in keys])
            return Identity("primary key" if found.kind == "d" else "index", names)
        if not found.known:
            return Identity("not visible")
        return Identity("nothing" if found.kind == "n" else "none")

    def condition(self, sent: Sent) -> Condition:
        """The filter by which a table's changes are sent, which has one."""
        assert sent.entry is not None
        return self.written(sent.entry)

    def written(self, entry: rows.PublicationRel) -> Condition:
        """The filter of a membership, as its statement has it."""
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

    def reading(self, sent: Sent) -> object:
        """A filter, and the types of the columns that it reads."""
        condition = self.condition(sent)
        assert sent.entry is not None
        assert sent.filter is not None
        columns = self.catalog.relations[sent.entry.relation].columns
        read = [columns[number - 1] for number in sent.filter.columns]
        own = sent.entry.relation == sent.relation or condition.of
        return condition.sql, own, tuple((one.name, one.type, one.typmod, one.not_null) for one in read)

    def columns_of(self, sent: Sent) -> list[str]:
        """The columns that are sent."""
        columns = self.catalog.relations[sent.relation].columns
        return [columns[number - 1].name for number in sent.columns]

    def unused(self, sent: Sent) -> list[rows.PublicationRel]:
        """Memberships of the table and of its ancestors whose filters do not count."""
        found = []
        for oid in self.family(sent.relation):
            member = self.catalog.members.get((sent.publication, oid))
            if member is not None:
                entry = self.catalog.publication_rels[member]
                if entry.filter is not None and entry.filter is not sent.filter:
                    found.append(entry)
        return found

    def member(self, publication: int, relation: int) -> rows.PublicationRel:
        """The membership of a table that is named in a publication."""
        return self.catalog.publication_rels[self.catalog.members[publication, relation]]


@cache
def canonical_form(sql: str) -> str | None:
    """A condition in the form by which conditions are compared, None where it has none."""
    from pubcheck.measure.canonical import canonical

    return canonical(sql)
