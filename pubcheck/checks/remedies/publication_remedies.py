"""Remedies that change the publication that causes a refusal. Causes in other publications remain."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pubcheck.checks.remedies.remedy import Remedy
from pubcheck.checks.remedies.written_filters import without
from pubcheck.checks.table_names import table_name
from pubcheck.checks.write.identity_causes import COLUMN_LIST, FILTER, GENERATED
from pubcheck.checks.write.published_table import PublishedTable
from pubcheck.checks.write.replica_identity import Refusal
from pubcheck.postgres.catalog.rows import Column, PublicationRel, Relation
from pubcheck.postgres.identifiers import identifier

Written = Callable[[PublicationRel], "str | None"]
"""The row filter of a membership as it is written, without its parentheses; None if it is unknown."""


class PublicationRemedies:
    """The changes of one publication that end one cause."""

    def __init__(self, table: PublishedTable, refusal: Refusal, written: Written) -> None:
        self.table, self.check, self.written = table, refusal.cause.check, written
        self.catalog, self.identity = table.catalog, table.identity
        self.publication = table.catalog.publications[refusal.publication]
        self.member = table.membership(self.publication)
        self.alter = f"ALTER PUBLICATION {identifier(self.publication.name)}"

    def wider_list(self) -> Iterator[Remedy]:
        """Add the columns of the replica identity to the column list."""
        member, row = self.member, self.table.row
        if self.check != COLUMN_LIST or self.identity.full or member.entry is None:
            return
        lacking = [number for number in sorted(self.identity.columns) if not self.table.sends(member, number)]
        names = [row.columns[number - 1].name for number in lacking]
        columns = [self.catalog.relations[member.entry.relation].column(name) for name in names]
        if not all(column is not None and self.can_be_listed(column) for column in columns):
            return
        again = self.added_again(member.entry, extra=names)
        if again is not None:
            listed = ", ".join(map(identifier, names))
            cost = f"in one transaction; the subscriber's table needs {listed}"
            yield Remedy(tuple(again), cost, tuple(names), ends="cause")

    def can_be_listed(self, column: Column) -> bool:
        return not column.generated or (column.generated == "s" and self.catalog.major.publish_generated_columns)

    def generated_columns_sent(self) -> Iterator[Remedy]:
        """Set publish_generated_columns, which publishes stored generated columns only."""
        columns = self.table.row.columns
        if self.check != GENERATED or any(columns[number - 1].generated == "v" for number in self.identity.columns):
            return
        statement = f"{self.alter} SET (publish_generated_columns = stored)"
        cost = "the stored generated columns of all its tables are published, to ordinary columns"
        yield Remedy((statement,), cost, ends="cause")

    def inserts_only(self) -> Iterator[Remedy]:
        if self.publication.insert:
            cost = "only inserts are published then, for all its tables"
            yield Remedy((f"{self.alter} SET (publish = 'insert')",), cost, ends="publication")

    def less_filter(self) -> Iterator[Remedy]:
        """Remove from the filter the columns that the identity lacks, or remove the filter."""
        member, row = self.member, self.table.row
        if self.check != FILTER or not self.identity.exists or member.entry is None:
            return
        source = self.catalog.relations[member.entry.relation]
        names = {row.columns[number - 1].name for number in set(member.reads) - self.identity.columns}
        names |= {column.name for column in source.live() if column.generated == "v"}
        left = without(self.written(member.entry), names)
        again = self.added_again(member.entry, where=left)
        if again is not None and source.kind in "rp":
            rows = "more" if left is not None else "all its"
            yield Remedy(tuple(again), f"in one transaction; {rows} rows are published then", ends="cause")

    def no_list(self) -> Iterator[Remedy]:
        """Remove the column list, which FULL does not allow."""
        member = self.member
        if self.check != COLUMN_LIST or not self.identity.full or member.entry is None:
            return
        filtered = member.entry.filter is not None
        text = self.written(member.entry) if filtered else None
        again = self.added_again(member.entry, where=text, with_list=False)
        if again is not None and (text is not None or not filtered):
            yield Remedy(tuple(again), "in one transaction; all its columns are published then", ends="cause")

    def unpublished(self) -> Iterator[Remedy]:
        """Drop the table, or the parent or schema through which it is published, from the publication.

        For FOR ALL TABLES, add it to EXCEPT (PostgreSQL 19); older versions have no remedy of this kind.
        """
        catalog, row, oid = self.catalog, self.table.row, self.publication.oid
        if self.publication.all_tables:
            if catalog.major.publishes_sequences:
                statement = f"{self.alter} SET ALL TABLES EXCEPT ({', '.join(self._excluded_with(row))})"
                rest = ", ALL SEQUENCES" * self.publication.all_sequences
                yield Remedy((statement + rest,), "nothing of it is published then", ends="publication")
            return
        statements: list[str] = []
        for member in (row.oid, *catalog.ancestors(row.oid)):
            relation = catalog.relations[member]
            if (oid, member) in catalog.members:
                only = "ONLY " if relation.kind == "r" and catalog.children.has(member) else ""
                statements.append(f"{self.alter} DROP TABLE {only}{table_name(self.table.session, relation)}")
            if (oid, relation.namespace) in catalog.schema_members:
                schema = identifier(catalog.namespaces[relation.namespace].name)
                statements.append(f"{self.alter} DROP TABLES IN SCHEMA {schema}")
        if statements:
            yield Remedy(tuple(dict.fromkeys(statements)), "nothing of it is published then", ends="publication")

    def _excluded_with(self, row: Relation) -> Iterator[str]:
        """The tables of EXCEPT with one more, or with the partitioned table that it is a partition of."""
        catalog = self.catalog
        excluded = [
            catalog.publication_exclusions[oid].relation for oid in catalog.exclusions_of.get(self.publication.oid)
        ]
        for oid in (*excluded, (row.oid, *catalog.ancestors(row.oid))[-1]):
            relation = catalog.relations[oid]
            only = "ONLY " if relation.kind == "r" and catalog.children.has(oid) else ""
            yield f"TABLE {only}{table_name(self.table.session, relation)}"

    def added_again(
        self,
        entry: PublicationRel,
        *,
        extra: list[str] | None = None,
        where: str | None = None,
        with_list: bool = True,
    ) -> list[str] | None:
        """Return the statements that drop the member and add it again, with ``extra`` columns or the filter ``where``.

        With ``extra`` the filter is kept. Return None if it is unknown.
        """
        if extra is not None and entry.filter is not None:
            where = self.written(entry)
            if where is None:
                return None
        source = self.catalog.relations[entry.relation]
        name = table_name(self.table.session, source)
        if source.kind == "r" and self.catalog.children.has(source.oid):
            name = f"ONLY {name}"
        columns = ""
        if with_list and entry.columns is not None:
            listed = [source.columns[number - 1].name for number in entry.columns] + (extra or [])
            columns = f" ({', '.join(map(identifier, listed))})"
        condition = f" WHERE ({where})" if where is not None else ""
        return [f"{self.alter} DROP TABLE {name}", f"{self.alter} ADD TABLE {name}{columns}{condition}"]
