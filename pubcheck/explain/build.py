"""Build the document: ask the final state of a unit what each publication publishes of each table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.replay import Replay
from pubcheck.explain.document import (
    Answer,
    Estimate,
    FiltersCompared,
    Identity,
    InitialCopy,
    NotSent,
    Publication,
    Table,
    UnitExplained,
    Widening,
)
from pubcheck.explain.filters_compared import Neighbours, Sampler, Samples, changes_of, examples_of
from pubcheck.explain.subscribers import Copies, Subscriptions, consumers_of
from pubcheck.explain.table_facts import DiagnosticNotes, Facts, server_of
from pubcheck.postgres.catalog import rows
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.replication.publication_lookup import (
    OPERATIONS,
    PublishedChanges,
    Reason,
    published_by,
    published_sequences,
    reach,
    truncates_published_by,
    unpublished_members,
)
from pubcheck.statement_index import Statements


class Selection(Struct, frozen=True):
    """The publications and tables (all if none is named) and the subscriptions that the user selects."""

    publications: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    subscriptions: tuple[tuple[str, ...], ...] = ()


def build_unit(
    replay: Replay,
    statements: Statements,
    diagnostics: Sequence[Diagnostic],
    paths: Sequence[str],
    selection: Selection,
    sampler: Sampler,
) -> UnitExplained:
    """Return the explanation of a unit in one major. ``diagnostics`` includes rules that `lint` leaves off."""
    return _Builder(replay, statements, diagnostics, selection, sampler).unit(paths)


def publications_of(
    replay: Replay, statements: Statements, diagnostics: Sequence[Diagnostic], sampler: Sampler
) -> tuple[tuple[Publication, ...], Mapping[str, Identity]]:
    """Return the publications of a unit, and the replica identities of the published tables by name."""
    builder = _Builder(replay, statements, diagnostics, Selection(), sampler)
    publications = builder.publications()
    return publications, {facts.name: facts.identity for facts in builder.facts.known.values()}


_NO_SAMPLES = Samples(why="pubcheck failed to search for one")


class _Builder:
    def __init__(
        self,
        replay: Replay,
        statements: Statements,
        diagnostics: Sequence[Diagnostic],
        selection: Selection,
        sampler: Sampler,
    ) -> None:
        self.replay = replay
        self.catalog, self.statements, self.faults = replay.catalog, statements, replay.faults
        self._reported_errors = len(self.faults.diagnostics)
        """The number of internal errors that ``diagnostics`` include."""
        self.selection, self.sampler = selection, sampler
        self.diagnostic_notes = DiagnosticNotes(diagnostics, selection.tables)
        self.facts = Facts(replay, statements)
        self.shown = [
            row for row in self._by_place() if not selection.publications or row.name in selection.publications
        ]
        self.sent = {row.oid: self._selected(self._sent_by(row.oid)) for row in self.catalog.publications.values()}
        of_table: dict[int, list[PublishedChanges]] = {}
        for sents in self.sent.values():
            for sent in sents:
                of_table.setdefault(sent.relation, []).append(sent)
        self.neighbours = Neighbours(self.facts, of_table)
        self.copies = Copies(self.facts)
        self.subscriptions = Subscriptions(self.facts, self.copies, self.sent)
        self.server = server_of(replay, statements.sources)
        self.consumers = consumers_of(replay, diagnostics)
        self.not_sent: dict[int, list[tuple[int, Reason]]] = {}

    def _by_place(self) -> list[rows.Publication]:
        def order(row: rows.Publication) -> tuple[int, int, int]:
            place = row.place
            return (place.source, place.statement, place.start) if place is not None else (-1, 0, row.oid)

        return sorted(self.catalog.publications.values(), key=order)

    def _sent_by(self, publication: int) -> list[PublishedChanges]:
        """Return what a publication sends, including tables for which it publishes only TRUNCATE."""
        sents = published_by(self.catalog, publication)
        return sents + truncates_published_by(self.catalog, publication, sents)

    def _selected(self, sents: list[PublishedChanges]) -> list[PublishedChanges]:
        """Return those of the selected tables. A partitioned table represents its leaves."""
        tables = self.selection.tables
        if not tables:
            return sents
        return [
            sent for sent in sents if any(self.facts.is_named(oid, tables) for oid in self.facts.family(sent.relation))
        ]

    def publications(self) -> tuple[Publication, ...]:
        self._find_not_sent()
        publications = (self.faults.value(row.place, None, self._publication, row) for row in self.shown)
        return tuple(publication for publication in publications if publication is not None)

    def unit(self, paths: Sequence[str]) -> UnitExplained:
        publications = self.publications()
        answers = (self.faults.value(None, None, self.subscriptions.of, names) for names in self._together())
        subscriptions = tuple(answer for answer in answers if answer is not None)
        reached: dict[int, None] = {}
        for row in self.shown:
            for sent in self.sent[row.oid]:
                for oid in reversed(self.facts.family(sent.relation)):
                    reached[oid] = None
            for exclusion in self.catalog.exclusions_of.get(row.oid):
                excluded = self.catalog.relations[self.catalog.publication_exclusions[exclusion].relation]
                family = self.catalog.descendants(excluded.oid) if excluded.kind == "p" else (excluded.oid,)
                reached.update(dict.fromkeys(family))
            for lost, _ in self.not_sent[row.oid]:
                if self.catalog.relations[lost].partition:
                    for oid in reversed(self.facts.family(lost)):
                        reached[oid] = None
        rows = [self.catalog.relations[oid] for oid in reached]
        tables = (self.faults.value(row.place, None, self._table, row) for row in rows)
        existing = tuple(table for table in tables if table is not None)
        findings = self.diagnostic_notes.resolver.findings(
            [*self.diagnostic_notes.unassigned, *self.faults.diagnostics[self._reported_errors :]]
        )
        return UnitExplained(
            tuple(paths),
            tuple(self.catalog.publication_names),
            existing,
            publications,
            subscriptions,
            tuple(finding.entry for finding in sorted(findings, key=lambda finding: finding.order)),
            self._filters_compared(),
        )

    def _filters_compared(self) -> tuple[FiltersCompared, ...]:
        """Compare the filters of each table that several of the shown publications filter."""
        filters: dict[int, dict[str, Expr]] = {}
        for row in self.shown:
            for sent in self.sent[row.oid]:
                if sent.filter is None or sent.entry is None or not isinstance(sent.filter.expr, Expr):
                    continue
                if not sent.filter.frozen:  # else it depends on the session that creates the publication
                    filters.setdefault(sent.entry.relation, {}).setdefault(row.name, sent.filter.expr)
        several = [(self.catalog.relations[oid], exprs) for oid, exprs in filters.items() if len(exprs) > 1]
        if not several:
            return ()
        from pubcheck.explain.filters_compared import compared

        comparisons = (
            self.faults.value(row.place, None, compared, self.replay, row, exprs, self.facts.name(row.oid))
            for row, exprs in several
        )
        return tuple(comparison for comparison in comparisons if comparison is not None)

    def _find_not_sent(self) -> None:
        """Fill ``not_sent``. Publications of all tables, and those of the same schemas, share the answer."""
        alike: dict[object, list[tuple[int, Reason]]] = {}
        for row in self.shown:
            key = reach(self.catalog, row)
            if key not in alike:
                # A list of all sequences would say nothing about the publication.
                unpublished = unpublished_members(self.catalog, row.oid)
                alike[key] = [entry for entry in unpublished if self.catalog.relations[entry[0]].kind != "S"]
            self.not_sent[row.oid] = alike[key]

    def _table(self, relation: rows.Relation) -> Table:
        facts = self.facts.of(relation.oid)
        parent = self.facts.name(relation.parents[0]) if relation.partition and relation.parents else None
        kind = "partitioned" if relation.kind == "p" else "partition" if relation.partition else "table"
        certainty = "certain" if relation.seen else "assumed"
        return Table(facts.name, kind, parent, facts.columns, facts.identity, certainty)  # type: ignore[arg-type]

    def _publication(self, row: rows.Publication) -> Publication:
        sents = self.sent[row.oid]
        tables_with_notes = self.diagnostic_notes.tables(row.name)
        groups: dict[object, list[PublishedChanges]] = {}
        for sent in sents:
            facts = self.facts.of(sent.relation)
            # Most tables of large publications: there are no notes on them.
            if sent.entry is None and facts.alone and facts.name not in tables_with_notes:
                key: object = (sent.how, sent.certain, facts.kind, self._refusals(row, facts.name))
            else:
                key = self._key(row, sent)
            groups.setdefault(key, []).append(sent)
        answers = [self._answer(row, members) for members in groups.values()]
        schemas = [self.catalog.publication_namespaces[oid].namespace for oid in self.catalog.schemas_of.get(row.oid)]
        has_tables = bool(self.catalog.members_of.get(row.oid))
        kind = "all tables" if row.all_tables else "schemas" if schemas and not has_tables else "tables"
        if not row.all_tables and not sents and not schemas and not has_tables:
            kind = "all sequences" if row.all_sequences else "empty"
        elif schemas and has_tables:
            kind = "tables and schemas"
        reasons: dict[str, list[str]] = {}
        for oid, reason in self.not_sent[row.oid]:
            if not self.selection.tables or any(
                self.facts.is_named(member, self.selection.tables) for member in self.facts.family(oid)
            ):
                reasons.setdefault(reason, []).append(self.facts.name(oid))
        path = line = None
        span = None if row.place is None else self.statements.span(row.place)
        if span is not None and (span.source.listing is None or not span.source.listing.live):
            path, line = span.source.label, self.diagnostic_notes.resolver.line(span)
        return Publication(
            row.name,
            kind,  # type: ignore[arg-type]
            tuple(self.catalog.namespaces[oid].name for oid in schemas),
            tuple(operation for operation in OPERATIONS if getattr(row, operation)),
            row.via_root,
            "stored" if row.generated == "s" else "none",
            "certain" if row.seen else "assumed",
            path,
            line,
            len(sents),
            tuple(answers),
            tuple(NotSent(reason, tuple(names)) for reason, names in reasons.items()),
            self.diagnostic_notes.general(row.name),
            self._names(sequence.oid for sequence in published_sequences(self.catalog)) if row.all_sequences else None,
            self._names(
                self.catalog.publication_exclusions[oid].relation for oid in self.catalog.exclusions_of.get(row.oid)
            ),
            slots=self.server.slots_of(row.name) if self.server is not None else None,
            consumers=self.consumers.get(row.oid, ()),
        )

    def _names(self, relations: Iterable[int]) -> tuple[str, ...]:
        return tuple(self.facts.name(oid) for oid in relations)

    def _key(self, row: rows.Publication, sent: PublishedChanges) -> object:
        """Return what tables must have in common to share an answer."""
        facts = self.facts.of(sent.relation)
        entry = sent.entry
        listed = entry is not None and entry.columns is not None
        return (
            sent.how,
            self.catalog.relations[sent.relation].kind,
            sent.certain,
            facts.kind,
            self._refusals(row, facts.name),
            None if sent.through == sent.relation else sent.through,
            None if sent.arrives_as == sent.relation else sent.arrives_as,
            None if sent.filter is None else (self.facts.reading(sent), facts.identity),
            tuple(self.facts.written_filter(unused_entry).sql for unused_entry in self.facts.unused(sent)),
            None if facts.alone else self._copies(row, sent),
            tuple(self.facts.columns_of(sent)) if listed else None,
            frozenset(note.rule for note in self.diagnostic_notes.about(self.facts, sent, row.name)),
            self._widening(sent),
        )

    def _copies(self, row: rows.Publication, sent: PublishedChanges) -> InitialCopy | None:
        return self.faults.value(row.place, None, self.copies.of, row.oid, sent)

    def _widening(self, sent: PublishedChanges) -> tuple[Widening, ...]:
        if sent.filter is None or sent.entry is None:
            return ()
        return tuple(self.faults.value(sent.entry.place, [], self.neighbours.widening, sent))

    def _refusals(self, row: rows.Publication, table: str) -> object:
        """Return the part of a table's refusals that tables must share to share an answer."""
        refused = self.diagnostic_notes.refused(table, row.name)
        return tuple([(refusal.operation, refusal.publications, refusal.detail) for refusal in refused])

    def _answer(self, row: rows.Publication, members: list[PublishedChanges]) -> Answer:
        first = members[0]
        relation = self.catalog.relations[first.relation]
        facts, known = self.facts.of(first.relation), self.facts.known
        entry = first.entry
        listed = entry is not None and entry.columns is not None
        sent_names = self.facts.columns_of(first)
        names = set(sent_names)
        left_out = tuple([name for name in facts.columns if name not in names])
        identity = facts.identity
        if any(known[sent.relation].identity != identity for sent in members):
            identity = replace(identity, columns=())
        filtered = None if first.filter is None else self.facts.condition(first)
        operations = first.operations if relation.kind == "r" else ("truncate",)
        refused = self.diagnostic_notes.refused(facts.name, row.name)
        never = any(refusal.operation == "update" and refusal.certainty == "certain" for refusal in refused)
        samples = Samples()
        if first.filter is not None:
            source = self.catalog.relations[entry.relation] if entry is not None else relation
            place = entry.place if entry is not None else row.place
            samples = self.faults.value(place, _NO_SAMPLES, self.sampler, first.filter, source)
        tables_with_notes = self.diagnostic_notes.tables(row.name)
        notes = [
            note
            for sent in members
            if not known[sent.relation].alone or known[sent.relation].name in tables_with_notes
            for note in self.diagnostic_notes.about(self.facts, sent, row.name)
        ]
        return Answer(
            tuple([known[sent.relation].name for sent in members]),
            first.how,
            None if first.through == first.relation else self.facts.name(first.through),
            None if first.arrives_as == first.relation else self.facts.name(first.arrives_as),
            operations,
            first.truncate_published,
            filtered,
            tuple(self.facts.written_filter(refusal) for refusal in self.facts.unused(first)),
            tuple(sent_names) if listed else None,
            left_out,
            identity,
            refused,
            changes_of(samples) if first.filter is not None and "update" in operations and not never else (),
            examples_of(samples),
            self._widening(first),
            tuple(self.faults.value(row.place, [], self.neighbours.same, first)) if first.filter is not None else (),
            self.diagnostic_notes.notes_of(notes),
            "certain" if first.certain and (first.filter is None or first.filter.analysed) else "assumed",
            self._copies(row, first),
            self.neighbours.not_compared(first) if first.filter is not None else 0,
            estimate=self._estimate(members),
            full_cost=self.server.full_cost(facts.name) if self.server is not None and len(members) == 1 else None,
        )

    def _estimate(self, members: list[PublishedChanges]) -> Estimate | None:
        """Return the estimated share of rows of the one filter of these tables."""
        entry = members[0].entry
        if self.server is None or entry is None or any(sent.entry is not entry for sent in members):
            return None
        return self.faults.value(entry.place, None, self.server.estimate, entry)

    def _together(self) -> Iterable[tuple[str, ...]]:
        if self.selection.subscriptions:
            return self.selection.subscriptions
        named = [tuple(name for name, _ in row.publications) for row in self.catalog.subscriptions.values()]
        return dict.fromkeys(names for names in named if len(names) > 1)
