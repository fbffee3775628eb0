"""Several publications in one subscription: what they send together of each table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pubcheck.explain.document import InitialCopy, PartOfFilter, Sending, Subscription, Together
from pubcheck.explain.initial_copy import Copies
from pubcheck.explain.table_facts import Facts, canonical_form
from pubcheck.postgres.replication.initial_copy import tables_to_copy
from pubcheck.postgres.replication.published_changes import OPERATIONS, PublishedChanges
from pubcheck.postgres.replication.subscription_set import Combined, Filters, combine


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
