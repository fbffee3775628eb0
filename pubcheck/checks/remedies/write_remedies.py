"""Remedies for a refused write in the order of preference: those that change the publication, and those that give the
table another replica identity, one that suits all its publications."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from itertools import chain

from pubcheck.checks.remedies.remedy import Keys, PublishedTable, Remedy
from pubcheck.checks.tables import table_name
from pubcheck.checks.write.replica_identity import COLUMN_LIST, FILTER, GENERATED, Refusal
from pubcheck.postgres.catalog import CONSTRAINT, RELATION
from pubcheck.postgres.catalog.rows import Column, Constraint, Index, PublicationRel, Relation
from pubcheck.postgres.ddl.new_objects import choose_relation_name
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import folded, identifier, name_end, tokens
from pubcheck.rulebook import fixer


class IdentityRemedies:
    """The requirements on a table's replica identity, and the indexes and columns that can meet them."""

    def __init__(self, table: PublishedTable, keys: Keys) -> None:
        self.table, self.keys = table, keys
        self.session, self.catalog, self.row = table.session, table.catalog, table.row
        self.memberships = table.memberships
        self.needed = tuple(dict.fromkeys(number for membership in self.memberships for number in membership.reads))
        self.indexes = [self.catalog.indexes[index] for index in self.catalog.indexes_of.get(self.row.oid)]

    def fits(self, numbers: Iterable[int]) -> bool:
        """Return whether these columns as an identity satisfy every publication."""
        numbers = frozenset(numbers)
        return bool(numbers) and numbers.issuperset(self.needed) and all(map(self.may_be_sent, numbers))

    def may_be_sent(self, number: int) -> bool:
        return all(self.table.sends(membership, number) for membership in self.memberships)

    def nullable(self, numbers: Iterable[int]) -> list[Column]:
        columns = (self.row.columns[number - 1] for number in numbers)
        return [column for column in columns if not column.not_null]

    def existing_key(self) -> Iterator[Remedy]:
        """A primary key or another unique index that does as it is, or once its columns are NOT NULL."""
        candidates: list[tuple[int, int, Remedy]] = []
        for index in self.indexes:
            if not _is_plain(index) or not index.immediate or not self.fits(index.keys):
                continue
            nullable = self.nullable(index.keys)
            columns = self.table.names(index.keys)
            if index.primary and self.row.identity != "d":
                remedy = Remedy(
                    (f"{self.table.alter} REPLICA IDENTITY DEFAULT",), f"the primary key ({columns}) exists"
                )
            elif index.identity or index.primary:
                continue
            else:
                name = identifier(self.catalog.relations[index.oid].name)
                using = f"{self.table.alter} REPLICA IDENTITY USING INDEX {name}"
                cost = f"the unique index over ({columns}) exists"
                remedy = Remedy((*self.set_not_null(nullable), using), cost + self.reading(nullable))
            candidates.append((len(nullable), len(index.keys), remedy))
        if candidates:
            yield min(candidates, key=lambda candidate: candidate[:2])[2]

    def set_not_null(self, columns: list[Column]) -> tuple[str, ...]:
        return tuple(f"{self.table.alter} ALTER COLUMN {identifier(column.name)} SET NOT NULL" for column in columns)

    @staticmethod
    def reading(columns: list[Column]) -> str:
        return "; SET NOT NULL reads the table under a lock and fails where there is a NULL" if columns else ""

    def new_index(self) -> Iterator[Remedy]:
        """A unique index over a key that there is and the columns that filters read."""
        base = self.unique_columns()
        if base is None:
            return
        added = [number for number in self.needed if number not in base]
        numbers = (*base, *added)
        if not self.fits(numbers) or any(not self.indexable(number) for number in added):
            return
        nullable = self.nullable(numbers)
        existing = [
            index.keys for index in self.indexes if _is_plain(index) and index.immediate and self.fits(index.keys)
        ]
        if any(not self.nullable(keys) or set(keys) == set(numbers) for keys in existing):
            return  # one such is there
        name = choose_relation_name(self.catalog, self.row.namespace, self.row.name, None, "identity", constraint=False)
        columns = self.table.names(numbers)
        also = "; each other partition needs its own" if self.row.partition else ""
        yield Remedy(
            (
                *self.set_not_null(nullable),
                f"CREATE UNIQUE INDEX {identifier(name)} ON {self.table.name} ({columns})",
                f"{self.table.alter} REPLICA IDENTITY USING INDEX {identifier(name)}",
            ),
            f"one more index; old rows are logged with ({columns}){also}{self.reading(nullable)}",
        )

    def unique_columns(self) -> tuple[int, ...] | None:
        """The columns of the best key there is: all may be sent, few are nullable."""
        keys = [
            (len(self.nullable(index.keys)), not index.primary, len(index.keys), index.keys)
            for index in self.indexes
            if _is_plain(index) and all(map(self.may_be_sent, index.keys))
        ]
        return min(keys)[3] if keys else None

    def indexable(self, number: int) -> bool:
        """Return whether a column can be in a btree index at all; not one of a type that is not visible."""
        column = self.row.columns[number - 1]
        try:
            return column.generated != "v" and self.session.syscache.default_class(column.type, "b") != (0, 0)
        except Unknowable:
            return False

    def new_key(self) -> Iterator[Remedy]:
        """A column that numbers the rows, for a table without any key."""
        bare = not self.row.partition and not self.row.of_type and not self.catalog.children.has(self.row.oid)
        listed = any(membership.listed is not None for membership in self.memberships)
        if self.needed or listed or not bare or any(_is_plain(index) or index.primary for index in self.indexes):
            return
        names = itertools.chain(("id", "row_id"), map("row_id{}".format, itertools.count(1)))
        name = next(name for name in names if self.row.column(name) is None)
        yield Remedy(
            (
                *(() if self.row.identity == "d" else (f"{self.table.alter} REPLICA IDENTITY DEFAULT",)),
                f"{self.table.alter} ADD COLUMN {name} bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            ),
            "rewrites the table under a lock; the subscriber's table needs the column; prefer an existing column "
            "that identifies the rows",
        )

    def wider_primary_key(self) -> Iterator[Remedy]:
        """The filter's columns as part of the primary key, of a partition's root where it is the root's."""
        catalog = self.catalog
        index = next((index for index in self.indexes if index.primary and _is_plain(index)), None)
        if index is None or self.row.identity != "d" or not index.immediate or not self.needed:
            return
        added = [number for number in self.needed if number not in index.keys]
        if not added or not self.fits((*index.keys, *added)) or not all(map(self.indexable, added)):
            return
        names = tuple(self.row.columns[number - 1].name for number in (*index.keys, *added))
        top = index
        while top.parent:
            top = catalog.indexes[top.parent]
        owner = catalog.relations[top.table]
        constraint = catalog.owner_of_index(top.oid)
        if constraint is None or constraint.kind != "p":
            return
        if (top.oid, names) not in self.keys:
            self.keys[top.oid, names] = self.can_be_recreated(owner, top, constraint, names)
        if not self.keys[top.oid, names]:
            return
        was = ", ".join(map(identifier, names[: len(index.keys)]))
        yield Remedy(
            (
                f"ALTER TABLE {table_name(self.session, owner)} DROP CONSTRAINT {identifier(constraint.name)}, "
                f"ADD PRIMARY KEY ({', '.join(map(identifier, names))})",
            ),
            f"rebuilds the key under a lock; ({was}) alone is no longer kept unique",
        )

    def can_be_recreated(self, owner: Relation, index: Index, constraint: Constraint, names: Iterable[str]) -> bool:
        """Return whether nothing needs a primary key as it is and these columns can be one, in all partitions."""
        catalog = self.catalog
        if self.depended_on(index.oid, constraint.oid):
            return False
        oids = catalog.descendants(owner.oid) if owner.kind == "p" else (owner.oid,)
        columns = (catalog.relations[oid].column(name) for oid in oids for name in names)
        return all(column is not None and _can_be_key(column) for column in columns)

    def depended_on(self, *oids: int) -> bool:
        """Return whether a foreign key, a view or the like needs the key."""
        return any(
            kind not in ("i", "P")
            for which in (RELATION, CONSTRAINT)
            for oid in oids
            for _, _, kind in self.catalog.dependents.get((which, oid))
        )

    def full(self) -> Iterator[Remedy]:
        if self.table.identity.full or any(membership.listed is not None for membership in self.memberships):
            return
        if not all(
            self.table.sends(membership, column.number) for membership in self.memberships for column in self.row.live()
        ):
            return
        yield Remedy(
            (f"{self.table.alter} REPLICA IDENTITY FULL",),
            "logs every old row whole; a subscriber without a key searches its table for each change",
        )


def _is_plain(index: Index) -> bool:
    """A unique index whose columns tell any two rows apart, as long as none is NULL."""
    return index.unique and index.valid and not index.partial and not index.expressions and not index.exclusion


def _can_be_key(column: Column) -> bool:
    held = column.constraint
    return column.generated != "v" and (not column.not_null or held is None or (held.validated and not held.no_inherit))


def written_filter(text: bytes, entry: PublicationRel, source: Relation) -> str | None:
    """Return the row filter of a membership in the text of its statement, without its parentheses.

    None if it has none, or if the table or a column that it names was renamed since.
    """
    if entry.filter is None:
        return None
    for number, place in entry.filter.places:
        name = text[place.start : name_end(text, place.start)]
        parts = [folded(token) for kind, token, _ in tokens(name) if kind == "name"]
        named = source.column(parts[-1]) if parts else None
        # Where a virtual column is named, what is read are the columns of its expression.
        if named is None or (named.number != number and named.generated != "v"):
            return None
        if parts[1:] and parts[-2] != source.name:
            return None
    depth, start, inside = 0, -1, False
    for kind, token, offset in tokens(text, entry.place.start):
        if token == b"(":
            depth += 1
            if inside and depth == 1:
                start = offset + 1
        elif token == b")":
            depth = max(0, depth - 1)
            if start >= 0 and depth == 0:
                return text[start:offset].decode().strip()
        elif depth == 0 and kind == "name" and token.lower() == b"where":
            inside = True
        elif depth == 0 and token in (b",", b";"):
            return None
    return None


_SPLITS_NO_MORE = frozenset((b"or", b"between", b"case"))


def without(written: str | None, names: set[str]) -> str | None:
    """The filter without those of its conditions, joined by AND, that read one of the columns; None for no filter."""
    if written is None:
        return None
    text = written.encode()
    parts: list[tuple[int, int, bool]] = []
    depth, start, reads = 0, 0, False
    for kind, token, offset in tokens(text):
        word = token.lower()
        depth += (token in b"([") - (token in b")]")
        if depth == 0 and word in _SPLITS_NO_MORE:
            return None
        if depth == 0 and word == b"and":
            parts.append((start, offset, reads))
            start, reads = offset + len(token), False
        elif kind == "name" and folded(token) in names:
            reads = True
    parts.append((start, len(text), reads))
    return " AND ".join(text[first:last].decode().strip() for first, last, reads in parts if not reads) or None


# Remedies that change the publication that causes a refusal. Causes in other publications remain.

_Written = Callable[[PublicationRel], "str | None"]
"""The row filter of a membership as it is written, without its parentheses; None if it is unknown."""


class _PublicationRemedies:
    """The changes of one publication that end one cause."""

    def __init__(self, table: PublishedTable, refusal: Refusal, written: _Written) -> None:
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


# Remedies for a refused write: SQL that a person can run, with what it costs, in the order of preference.

_MOST = 12
"""Statements that are still read: many columns can need a NOT NULL."""


class Remedies:
    """The remedies for the causes of one table. A change of the table ends all of them; no remedy adds a cause.

    The remedies that all causes share are computed once: a table can have tens of thousands of causes.
    """

    def __init__(self, session: Session, relation: int, written: _Written, keys: Keys) -> None:
        """``keys`` caches the results for other tables; it is empty at first."""
        self.relation, self._written = relation, written
        self._table = table = PublishedTable(session, relation)
        identity = IdentityRemedies(table, keys)
        seen = table.row.seen
        self._existing = _without_columns(identity.existing_key()) if seen else []
        self._new_index = _without_columns(identity.new_index()) if seen else []
        self._new_key = _without_columns(identity.new_key()) if seen else []
        self._full = _without_columns(identity.full())
        self._wider_key = _without_columns(identity.wider_primary_key()) if seen else []
        changes = self._existing or self._new_index or self._full
        self.lists_first = not changes or table.identity.columns.issuperset(identity.needed)
        """Whether a wider column list is better than another identity: no filter needs one, or the table has none."""

    @fixer("PUB301", "PUB302", "PUB303", "PUB304", "PUB406")
    def of(self, refusal: Refusal) -> list[Remedy]:
        """Return the remedies that end a cause, the best first; if there are none, ``unpublished``."""
        of_publication = _PublicationRemedies(self._table, refusal, self._written)
        seen = self._table.row.seen
        lists = _without_columns(of_publication.wider_list()) if seen else []
        remedies = chain(
            self._existing,
            lists if self.lists_first else (),
            self._new_index,
            _without_columns(of_publication.generated_columns_sent()) if seen else (),
            self._new_key,
            self._full,
            () if self.lists_first else lists,
            _without_columns(of_publication.inserts_only()),
            self._wider_key,
            _without_columns(of_publication.less_filter()),
            _without_columns(of_publication.no_list()),
        )
        return list(remedies) or _without_columns(of_publication.unpublished())


def _without_columns(remedies: Iterable[Remedy] | Iterator[Remedy]) -> list[Remedy]:
    return [remedy for remedy in remedies if len(remedy.statements) <= _MOST]
