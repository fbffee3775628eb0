"""What a subscriber gets: the initial copy, several publications in one subscription, and the demands of consumers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pubcheck.diagnostics import Diagnostic
from pubcheck.engine.replay import Replay
from pubcheck.explain.document import (
    ConsumerView,
    CopyDifference,
    InitialCopy,
    PartOfFilter,
    Sending,
    Subscription,
    Together,
    Unmet,
)
from pubcheck.explain.table_facts import Facts, canonical_form
from pubcheck.postgres.catalog import rows
from pubcheck.postgres.replication.publication_lookup import OPERATIONS, PublishedChanges, unpublishable
from pubcheck.postgres.replication.subscription_set import Combined, CopiedTable, Filters, combine, tables_to_copy


class Copies:
    """Answers from the final state of a unit."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self._copies: dict[int, dict[int, CopiedTable]] = {}
        self._lost: dict[int, dict[str, list[str]]] = {}

    def of(self, publication: int, sent: PublishedChanges) -> InitialCopy | None:
        """Return what a subscription to one publication copies of a table."""
        differences: list[CopyDifference] = []
        if "insert" not in sent.operations:
            differences.append(_INSERT_NOT_PUBLISHED)
        relation = self.facts.catalog.relations[sent.relation]
        if relation.kind == "r" and not relation.partition:
            sql = None if sent.filter is None else self.facts.condition(sent).sql
            return InitialCopy(None, sql, None, tuple(differences))
        if publication not in self._copies:
            self._copies[publication] = {
                table.relation: table for table in tables_to_copy(self.facts.catalog, [publication])
            }
        matching, copied = self._copies_of(sent.relation, sent.arrives_as, self._copies[publication])
        if copied is None:
            return None
        if not _same_rows([condition for _, condition in copied.filters], sent.filter):
            differences.append(CopyDifference("other rows", "later changes are published through another filter"))
        return self._copied(matching, copied, sent.relation, self.facts.columns_of(sent), differences)

    def together(self, row: Combined, columns: Sequence[str], copies: Mapping[int, CopiedTable]) -> InitialCopy | None:
        """Return what a subscription to several publications copies of a table; ``columns`` are streamed later."""
        matching, copied = self._copies_of(row.relation, row.arrives_as, copies)
        if row.conflict is not None or copied is None:
            return None
        differences: list[CopyDifference] = []
        if row.insert is None:
            differences.append(_INSERT_NOT_PUBLISHED)
        elif {oid for oid, _ in copied.filters} != {oid for oid, _ in row.insert}:
            publications = ", ".join(self.facts.catalog.publications[oid].name for oid, _ in row.insert)
            text = (
                f"INSERTs are published by the filters of {publications} alone"
                if publications
                else "INSERTs of all rows are published"
            )
            differences.append(CopyDifference("other rows", text))
        return self._copied(matching, copied, row.relation, columns, differences)

    def _copies_of(
        self, relation: int, arrives_as: int, copies: Mapping[int, CopiedTable]
    ) -> tuple[list[CopiedTable], CopiedTable | None]:
        """Return all copies that contain the rows of a relation, and the one that counts."""
        matching = [table for oid in self.facts.family(relation) if (table := copies.get(oid)) is not None]
        return matching, next(
            (table for table in matching if table.relation == arrives_as), matching[-1] if matching else None
        )

    def _copied(
        self,
        matching: list[CopiedTable],
        copied: CopiedTable,
        relation: int,
        sent: Sequence[str],
        differences: list[CopyDifference],
    ) -> InitialCopy:
        """Describe a copy: of all copies that contain the rows of ``relation``, ``copied`` is the one that counts."""
        catalog = self.facts.catalog
        source = catalog.relations[copied.relation]
        columns = [source.columns[number - 1].name for number in copied.columns]
        if set(columns) != set(sent):
            lacking = [name for name in columns if name not in sent]
            more = f"{', '.join(lacking)} too" if lacking else f"only {', '.join(columns)}"
            differences.append(CopyDifference("other columns", f"the copy has {more}"))
        lost = self._never_sent(copied.relation) if source.kind == "p" else {}
        for reason, names in lost.items():
            text = f"the copy contains the rows of {', '.join(names)} ({reason}), whose changes are never published"
            differences.append(CopyDifference("never published", text))
        if len(matching) > 1:
            names = [self.facts.name(table.relation) for table in matching]
            differences.append(CopyDifference("twice", f"the rows are copied once for each of {', '.join(names)}"))
        parts = [self.facts.written_filter(self.facts.member(oid, copied.relation)).sql for oid, _ in copied.filters]
        return InitialCopy(
            None if copied.relation == relation else self.facts.name(copied.relation),
            (parts[0] if len(parts) == 1 else " OR ".join(f"({part})" for part in parts)) if parts else None,
            None if set(columns) == set(sent) else tuple(columns),
            tuple(differences),
        )

    def _never_sent(self, root: int) -> dict[str, list[str]]:
        """Return the partitions below a root whose changes are never published, by reason."""
        if root not in self._lost:
            lost: dict[str, list[str]] = {}
            self._lost[root] = lost
            for oid in self.facts.catalog.descendants(root):
                reason = unpublishable(self.facts.catalog.relations[oid])
                if reason is not None:
                    lost.setdefault(reason, []).append(self.facts.name(oid))
        return self._lost[root]


_INSERT_NOT_PUBLISHED = CopyDifference(
    "insert not published", "existing rows are copied, although INSERT is not published"
)


def _same_rows(filters: Sequence[rows.Filter], row_filter: rows.Filter | None) -> bool:
    return list(filters) == ([] if row_filter is None else [row_filter])


# Several publications in one subscription: what they send together of each table.


class Subscriptions:
    """Answers questions about subscriptions. ``sent`` has what each publication sends, by oid."""

    def __init__(self, facts: Facts, copies: Copies, sent: Mapping[int, Sequence[PublishedChanges]]) -> None:
        self.facts, self.copies, self._sent = facts, copies, sent

    def of(self, names: tuple[str, ...]) -> Subscription:
        """Return what the publications of these names publish together."""
        known = self.facts.catalog.publication_names
        oids = [known[name] for name in names if name in known]
        groups: dict[object, tuple[list[Combined], InitialCopy | None]] = {}
        tables = dict.fromkeys(sent.relation for oid in oids for sent in self._sent[oid])
        copies = {copied_table.relation: copied_table for copied_table in tables_to_copy(self.facts.catalog, oids)}
        for table in tables:
            combined = combine(self.facts.catalog, oids, table)
            if combined is not None:
                copy = self.copies.together(combined, self._column_names(combined), copies)
                groups.setdefault((self._combined_key(combined), copy), ([], copy))[0].append(combined)
        return Subscription(
            names,
            tuple(name for name in names if name not in known),
            tuple(self._combined(members, copy) for members, copy in groups.values()),
        )

    def _combined_key(self, row: Combined) -> object:
        filters = tuple(
            None if filters_of_operation is None else tuple(self._part(oid, row) for oid, _ in filters_of_operation)
            for filters_of_operation in (row.insert, row.update, row.delete)
        )
        own = row.arrives_as == row.relation
        everything = self._all_columns(row)
        return (
            row.publications,
            row.overruled,
            None if own else row.arrives_as,
            filters,
            row.truncate,
            None if everything else tuple(self._column_names(row)),
            row.widened_by,
            None if row.conflict is None else row.conflict.kind,
            row.certain,
        )

    def _column_names(self, row: Combined) -> list[str]:
        columns = self.facts.catalog.relations[row.relation].columns
        return [columns[number - 1].name for number in row.columns]

    def _all_columns(self, row: Combined) -> bool:
        """Return whether no relevant publication has a column list."""
        for oid in row.publications:
            member = self.facts.catalog.members.get((oid, row.arrives_as))
            if member is not None and self.facts.catalog.publication_rels[member].columns is not None:
                return False
        return True

    def _part(self, publication: int, row: Combined) -> PartOfFilter:
        entry = self.facts.member(publication, row.arrives_as)
        return PartOfFilter(self.facts.catalog.publications[publication].name, self.facts.written_filter(entry).sql)

    def _sending(self, operation: str, filters: Filters, row: Combined) -> Sending:
        parts = tuple(self._part(oid, row) for oid, _ in filters)
        whole = " OR ".join(f"({part.sql})" for part in parts)
        return Sending(operation, parts, canonical_form(whole) if parts else None)  # type: ignore[arg-type]

    def _combined(self, members: list[Combined], copy: InitialCopy | None) -> Together:
        first = members[0]
        publications = self.facts.catalog.publications
        filters_by_operation = [(operation, first.filters(operation)) for operation in OPERATIONS]
        return Together(
            tuple(self.facts.name(row.relation) for row in members),
            tuple(publications[oid].name for oid in first.publications),
            tuple(publications[oid].name for oid in first.overruled),
            None if first.arrives_as == first.relation else self.facts.name(first.arrives_as),
            tuple(self._sending(name, filters, first) for name, filters in filters_by_operation if filters is not None),
            None if self._all_columns(first) else tuple(self._column_names(first)),
            tuple(publications[oid].name for oid in first.widened_by),
            None if first.conflict is None else first.conflict.server.message,
            "certain" if first.certain else "assumed",
            copy,
        )


# What the consumers of a publication see of it: which of their demands it meets, and what they do with it.


def consumers_of(replay: Replay, diagnostics: Iterable[Diagnostic]) -> Mapping[int, tuple[ConsumerView, ...]]:
    """Return the consumers of each publication, by its oid."""
    outcome = replay.outcome
    if outcome is None or outcome.history is None:
        return {}
    from pubcheck.checks.registry import has_readers

    context = outcome.context(outcome.history)
    if not has_readers(context):
        return {}
    from pubcheck.checks.consumers.demand_rules import EFFECTS
    from pubcheck.checks.consumers.readers import subjects
    from pubcheck.consumers.profiles import id_of

    claims: dict[tuple[str, str], list[Diagnostic]] = {}
    for diagnostic in diagnostics:
        if diagnostic.claim is not None:
            for name in diagnostic.publications:
                claims.setdefault((name, diagnostic.claim.consumer), []).append(diagnostic)
    views: dict[int, list[ConsumerView]] = {}
    for subject in subjects(context):
        findings = claims.get((subject.publication.name, id_of(subject.reader.id)), ())
        demands = [
            claim
            for claim in subject.reader.claims(context.catalog.major.number)
            if claim.demands and claim.strength != "effect"
        ]
        known = {claim.id: claim for claim in subject.reader.consumer.claims}
        unmet: dict[str, Unmet] = {}
        effects: dict[str, str] = {}
        for finding in findings:
            assert finding.claim is not None
            tables = tuple(name for name in (finding.object, *finding.also) if name is not None)
            if finding.rule == EFFECTS:
                effects[finding.claim.claim] = finding.claim.says
            else:
                for claim in (known[key] for key in (finding.claim.claim, *finding.claim.also)):
                    before = unmet[claim.id].tables if claim.id in unmet else ()
                    all_tables = tuple(dict.fromkeys((*before, *tables)))
                    unmet[claim.id] = Unmet(claim.id, claim.severity, claim.says, all_tables)
        view = ConsumerView(
            id_of(subject.reader.id),
            subject.consumer,
            "assumed" if subject.reader.reason else "certain",
            tuple(sorted(subject.reader.modes)),
            len(demands),
            tuple(unmet.values()),
            tuple(effects.values()),
        )
        views.setdefault(subject.publication.oid, []).append(view)
    return {oid: tuple(of_publication) for oid, of_publication in views.items()}
