"""Facts about tables and filters that are needed repeatedly: names, columns, identities, filter texts; those of a
running server; and the diagnostics of publications and tables as notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.replay import Replay
from pubcheck.explain.document import Condition, Estimate, FullCost, Identity, Note, Refused, SlotReader
from pubcheck.findings import Resolver
from pubcheck.live.server_facts import ServerFacts, Statistics
from pubcheck.measure.plan import condition
from pubcheck.postgres.catalog import rows
from pubcheck.postgres.catalog.rows import PublicationRel
from pubcheck.postgres.replication.publication_lookup import PublishedChanges, replica_identity
from pubcheck.source import Source
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


# The facts of a running server about its publications and tables, as `explain` shows them.

_DAY = 86_400


def server_of(replay: Replay, sources: Sequence[Source]) -> RunningServer | None:
    """Return the server, or the snapshot with statistics, among the sources of a unit."""
    if all(source.listing is None for source in sources):
        return None
    from pubcheck.live.document import statistics_among

    statistics = statistics_among(sources)
    return None if statistics is None else RunningServer(replay, statistics)


class RunningServer:
    """Answers questions about publications and tables from the facts of a server, or statistics alone."""

    def __init__(self, replay: Replay, statistics: Statistics) -> None:
        from pubcheck.live.published_shares import Shares

        self._statements = replay.statements
        self._facts = statistics if isinstance(statistics, ServerFacts) else None
        self._tables = {row.table: row for row in statistics.tables}
        self._shares = Shares(replay.session, statistics)

    def slots_of(self, publication: str) -> tuple[SlotReader, ...] | None:
        """Return the slots whose readers ask for a publication, or may do so; None if nothing is known of slots."""
        if self._facts is None:
            return None
        slots = (slot for slot in self._facts.slots if slot.may_read_publications)
        return tuple(
            SlotReader(
                slot.name,
                slot.active,
                "unknown" if slot.reader is None else "certain" if slot.reader.subscription is None else "assumed",
                slot.reader.subscription if slot.reader is not None else None,
                slot.wal_status,
                slot.unconfirmed,
            )
            for slot in slots
            if slot.reader is None or publication in slot.reader.publications
        )

    def estimate(self, entry: PublicationRel) -> Estimate | None:
        """Return the estimated share of rows that match the row filter of a membership."""
        from pubcheck.live.published_shares import UNKNOWN

        stored = self._statements.sources[entry.place.source].listing is not None
        estimate = self._shares.of(entry, stored=stored)
        return None if estimate is None or estimate[1] == UNKNOWN else Estimate(estimate[0], *estimate[1].true)

    def full_cost(self, table: str) -> FullCost | None:
        """Return the cost of REPLICA IDENTITY FULL for a table, by its counters."""
        row = self._tables.get(table)
        if row is None or not row.rows:
            return None
        return FullCost(row.rows, round(row.size / row.rows), (row.updates + row.deletes) / row.seconds * _DAY)


_OF_THE_FIRST = frozenset(("PUB508",))
"""Rules about one publication that also name related ones. All other rules are about every publication that they
name."""

_SHOWN = 3
"""The number of causes of a refused write that every publication of the table shows, whichever publication is at
fault."""


class DiagnosticNotes:
    """The diagnostics of a unit by publication and table. ``tables`` are the selected ones."""

    def __init__(self, diagnostics: Sequence[Diagnostic], tables: tuple[str, ...]) -> None:
        self.resolver = Resolver(excerpts=False)
        self._tables = tables
        self._refused: dict[str, dict[str, list[Refused]]] = {}
        """The causes of refused writes, by table and publication."""
        self._first: dict[str, list[Refused]] = {}
        """The first causes of each table, in the server's order; computed on first use."""
        self.notes: dict[str, dict[str, list[Diagnostic]]] = {}
        """Diagnostics by publication ("" if they name none) and table."""
        self._general: dict[str, list[Diagnostic]] = {}
        self.unassigned: list[Diagnostic] = []
        """Diagnostics about no publication and no table in one."""
        self._used: set[int] = set()
        self._assign(diagnostics)

    def _assign(self, diagnostics: Sequence[Diagnostic]) -> None:
        for row in diagnostics:
            if row.phase == "write" and row.object is not None and row.server is not None:
                of_table = self._refused.setdefault(row.object, {})
                of_table.setdefault(row.publications[0], []).append(_refused(row))
            elif row.phase in ("silent", "subscribe") and (row.publications or row.object is not None):
                about = row.publications[:1] if row.rule in _OF_THE_FIRST else row.publications
                for publication in about or ("",):
                    if row.object is None or row.also:
                        # A diagnostic about several tables appears once, with the publication.
                        if self.is_selected(row):
                            self._general.setdefault(publication, []).append(row)
                    else:
                        self.notes.setdefault(publication, {}).setdefault(row.object, []).append(row)
            else:
                self.unassigned.append(row)

    def refused(self, table: str, publication: str) -> tuple[Refused, ...]:
        """Return why writes of a table are refused: all causes of a publication, and the first of the others."""
        of_table = self._refused.get(table)
        if of_table is None:
            return ()
        if table not in self._first:
            causes = sorted((cause for causes in of_table.values() for cause in causes), key=_order)
            self._first[table] = [cause for cause in causes if cause.after_count < _SHOWN]
        first = [cause for cause in self._first[table] if publication not in cause.publications]
        return tuple(sorted((*of_table.get(publication, ()), *first), key=_order))

    def about(self, facts: Facts, sent: PublishedChanges, publication: str) -> list[Diagnostic]:
        """Return the notes on a table in a publication, under any name of its partition tree."""
        diagnostics: dict[int, Diagnostic] = {}
        if publication not in self.notes and "" not in self.notes:
            return []
        for notes in (self.notes.get(publication), self.notes.get("")):
            if notes:
                for oid in facts.family(sent.relation):
                    for diagnostic in notes.get(facts.of(oid).name, ()):
                        diagnostics[id(diagnostic)] = diagnostic
        self._used.update(diagnostics)
        return list(diagnostics.values())

    def notes_of(self, diagnostics: Iterable[Diagnostic]) -> tuple[Note, ...]:
        """Return one note per rule and place, with the tables that it concerns if there are several."""
        notes: dict[tuple[object, ...], Note] = {}
        tables: dict[tuple[object, ...], dict[str, None]] = {}
        for diagnostic in diagnostics:
            entry = self.resolver.findings([diagnostic])[0].entry
            claim = diagnostic.claim.claim if diagnostic.claim is not None else ""
            key = (entry.rule, entry.path, entry.line, entry.severity, entry.certainty, claim)
            notes.setdefault(
                key,
                Note(
                    entry.rule,
                    entry.name,
                    entry.severity,
                    entry.certainty,
                    entry.message,
                    entry.help,
                    entry.path,
                    entry.line,
                ),
            )
            if entry.object is not None:
                tables.setdefault(key, {}).update(dict.fromkeys((entry.object, *diagnostic.also)))
        order = {"error": 0, "warning": 1, "note": 2}
        with_tables = [replace(note, tables=tuple(tables.get(key, ()))) for key, note in notes.items()]
        return tuple(sorted(with_tables, key=lambda note: (order[note.severity], note.rule)))

    def is_selected(self, diagnostic: Diagnostic) -> bool:
        """Return whether a diagnostic that no answer shows is about a selected table, or about no table."""
        selected = self._tables
        tables = () if diagnostic.object is None else (diagnostic.object, *diagnostic.also)
        return not selected or any(name in selected or name.partition(".")[2] in selected for name in tables)

    def tables(self, publication: str) -> set[str]:
        """Return the tables that notes on a publication name."""
        return {*self.notes.get(publication, ()), *self.notes.get("", ())}

    def general(self, publication: str) -> tuple[Note, ...]:
        """Return the notes on a publication itself, and those on its tables that no answer shows."""
        rest = [
            diagnostic
            for every in self.notes.get(publication, {}).values()
            for diagnostic in every
            if id(diagnostic) not in self._used and self.is_selected(diagnostic)
        ]
        return self.notes_of([*self._general.get(publication, ()), *rest])


def _refused(diagnostic: Diagnostic) -> Refused:
    assert diagnostic.server is not None
    server = diagnostic.server
    return Refused(
        "update" if diagnostic.operation == "update" else "delete",
        diagnostic.publications,
        server.sqlstate,
        server.message,
        server.detail,
        server.hint,
        diagnostic.certainty,
        diagnostic.rule,
        diagnostic.help,
        diagnostic.after,
        diagnostic.after_count,
    )


def _order(refused: Refused) -> tuple[bool, int]:
    """Return the sort key of a refusal: UPDATE first, then the order in which the server meets the causes."""
    return refused.operation != "update", refused.after_count
