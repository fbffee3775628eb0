"""Remedies for a refused write that give the table another replica identity, one that suits all its publications."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator

from pubcheck.checks.remedies.remedy import Keys, PublishedTable, Remedy
from pubcheck.checks.table_names import table_name
from pubcheck.postgres.catalog import CONSTRAINT, RELATION
from pubcheck.postgres.catalog.rows import Column, Constraint, Index, Relation
from pubcheck.postgres.ddl.new_objects import choose_relation_name
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.tokens import identifier


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
