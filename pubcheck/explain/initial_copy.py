"""The initial copy, and how it differs from the changes replicated later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pubcheck.explain.document import CopyDifference, InitialCopy
from pubcheck.explain.table_facts import Facts
from pubcheck.postgres.catalog import rows
from pubcheck.postgres.replication.initial_copy import CopiedTable, tables_to_copy
from pubcheck.postgres.replication.published_changes import PublishedChanges, unpublishable
from pubcheck.postgres.replication.subscription_set import Combined


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
