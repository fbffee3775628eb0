"""Ways out of a refused write: SQL that a person can run, with what it costs, in the order of preference."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator

from msgspec import Struct

from pubcheck.checks.naming import identifier
from pubcheck.checks.write import Refusal, Write, failing
from pubcheck.postgres.catalog import CONSTRAINT, PUBLIC, RELATION
from pubcheck.postgres.catalog.rows import Column, Constraint, Index, Publication, PublicationRel, Relation
from pubcheck.postgres.ddl.names import choose_relation_name
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.scan import folded, name_end, tokens
from pubcheck.postgres.session import Session
from pubcheck.replication.identity import ReplicaIdentity, replica_identity
from pubcheck.replication.published import judged_entry, mapped, publications_of

Written = Callable[[PublicationRel], "str | None"]
"""The row filter of a membership as it is written, without its parentheses; None where it cannot be told."""


class Way(Struct, frozen=True):
    """``statements`` to run one after the other, after which the server refuses the write no more; ``cost``: at what
    price, as the end of a sentence. ``lists``: the columns that they add to column lists."""

    statements: tuple[str, ...]
    cost: str
    lists: tuple[str, ...] = ()


_MOST = 12
"""Statements that are still read; many publications can be at fault."""


class _Judged(Struct, frozen=True):
    """A publication of the table that publishes updates or deletes, with the membership whose filter and list count.

    ``reads`` are the columns of its filter and ``listed`` those of its list, as numbers of the table itself.
    """

    publication: Publication
    entry: PublicationRel | None
    reads: tuple[int, ...] = ()
    listed: frozenset[int] | None = None


Keys = dict[tuple[int, tuple[str, ...]], bool]
"""By the index of a primary key and the names of columns: whether the key can be made anew over these. Partitions ask
the same of their root, one after the other, so it is kept; true of one state of the catalog."""


def ways_out(session: Session, refusal: Refusal, written: Written, keys: Keys) -> list[Way]:
    """All that is known to end a refusal; none is offered that another publication or check would thwart.

    Where there is none, the way to publish the table no more, unless it is published FOR ALL TABLES. ``keys``: what was
    found for other refusals, to be empty at first.
    """
    search = _Search(session, refusal.relation, refusal.operation, written, keys)
    found = [way for way in search.ways() if len(way.statements) <= _MOST]
    return found or [way for way in search.unpublished() if len(way.statements) <= _MOST]


class _Search:
    """One table and operation: what an identity must hold, what it may hold, and what there is to make one of."""

    def __init__(self, session: Session, oid: int, operation: Write, written: Written, keys: Keys) -> None:
        self.session = session
        self.catalog = catalog = session.catalog
        self.row = row = catalog.relations[oid]
        self.operation = operation
        self.written = written
        self.keys = keys
        self.table = self.name_of(row)
        self.alter = f"ALTER TABLE {self.table}"
        self.identity = replica_identity(catalog, row)
        self.judged = [self.judge(one) for one in publications_of(catalog, row) if one.update or one.delete]
        self.failing = [
            one
            for one in self.judged
            if getattr(one.publication, operation) and failing(catalog, row, self.identity, one.publication)
        ]
        self.needed = tuple(dict.fromkeys(number for one in self.judged for number in one.reads))
        self.indexes = [catalog.indexes[index] for index in catalog.indexes_of.get(oid)]

    def judge(self, publication: Publication) -> _Judged:
        entry = None if publication.all_tables else judged_entry(self.catalog, publication, self.row)
        if entry is None:
            return _Judged(publication, None)
        named = self.catalog.relations[entry.relation]
        reads = mapped(named, self.row, entry.filter.columns if entry.filter is not None else ())
        listed = None if entry.columns is None else frozenset(mapped(named, self.row, entry.columns))
        return _Judged(publication, entry, reads, listed)

    def ways(self) -> Iterator[Way]:
        if self.row.seen:
            yield from self.existing_key()
            yield from self.wider_list()
            yield from self.new_index()
            yield from self.generated_columns_sent()
            yield from self.new_key()
        yield from self.full()
        yield from self.inserts_only()
        if self.row.seen:
            yield from self.wider_primary_key()
        yield from self.less_filter()
        yield from self.no_list()

    # What an identity may be.

    def fits(self, numbers: Iterable[int]) -> bool:
        """Whether these columns as an identity satisfy every publication."""
        numbers = frozenset(numbers)
        return bool(numbers) and numbers.issuperset(self.needed) and all(map(self.may_be_sent, numbers))

    def may_be_sent(self, number: int) -> bool:
        return all(self.sends(one, number) for one in self.judged)

    def sends(self, one: _Judged, number: int) -> bool:
        """Whether a publication allows a column in the identity: it is listed, or sent without a list."""
        if one.listed is not None:
            return number in one.listed
        generated = self.row.columns[number - 1].generated
        if not generated or not self.catalog.major.publish_generated_columns:
            return True
        return generated == "s" and one.publication.generated == "s"

    def nullable(self, numbers: Iterable[int]) -> list[Column]:
        columns = (self.row.columns[number - 1] for number in numbers)
        return [column for column in columns if not column.not_null]

    def existing_key(self) -> Iterator[Way]:
        """A primary key or another unique index that does as it is, or once its columns are NOT NULL."""
        candidates: list[tuple[int, int, Way]] = []
        for index in self.indexes:
            if not _plain(index) or not index.immediate or not self.fits(index.keys):
                continue
            nullable = self.nullable(index.keys)
            columns = self.names(index.keys)
            if index.primary and self.row.identity != "d":
                way = Way((f"{self.alter} REPLICA IDENTITY DEFAULT",), f"the primary key ({columns}) is there")
            elif index.identity or index.primary:
                continue
            else:
                name = identifier(self.catalog.relations[index.oid].name)
                using = f"{self.alter} REPLICA IDENTITY USING INDEX {name}"
                cost = f"the unique index over ({columns}) is there"
                way = Way((*self.set_not_null(nullable), using), cost + self.reading(nullable))
            candidates.append((len(nullable), len(index.keys), way))
        if candidates:
            yield min(candidates, key=lambda candidate: candidate[:2])[2]

    def set_not_null(self, columns: list[Column]) -> tuple[str, ...]:
        return tuple(f"{self.alter} ALTER COLUMN {identifier(column.name)} SET NOT NULL" for column in columns)

    @staticmethod
    def reading(columns: list[Column]) -> str:
        return "; SET NOT NULL reads the table under a lock and fails where there is a NULL" if columns else ""

    def new_index(self) -> Iterator[Way]:
        """A unique index over a key that there is and the columns that filters read."""
        base = self.unique_columns()
        if base is None:
            return
        added = [number for number in self.needed if number not in base]
        numbers = (*base, *added)
        if not self.fits(numbers) or any(not self.indexable(number) for number in added):
            return
        nullable = self.nullable(numbers)
        there = [index.keys for index in self.indexes if _plain(index) and index.immediate and self.fits(index.keys)]
        if any(not self.nullable(keys) or set(keys) == set(numbers) for keys in there):
            return  # one such is there
        name = choose_relation_name(self.catalog, self.row.namespace, self.row.name, None, "identity", constraint=False)
        columns = self.names(numbers)
        also = "; each other partition needs its own" if self.row.partition else ""
        yield Way(
            (
                *self.set_not_null(nullable),
                f"CREATE UNIQUE INDEX {identifier(name)} ON {self.table} ({columns})",
                f"{self.alter} REPLICA IDENTITY USING INDEX {identifier(name)}",
            ),
            f"one more index; old rows are logged with ({columns}){also}{self.reading(nullable)}",
        )

    def unique_columns(self) -> tuple[int, ...] | None:
        """The columns of the best key there is: all may be sent, few are nullable."""
        keys = [
            (len(self.nullable(index.keys)), not index.primary, len(index.keys), index.keys)
            for index in self.indexes
            if _plain(index) and all(map(self.may_be_sent, index.keys))
        ]
        return min(keys)[3] if keys else None

    def indexable(self, number: int) -> bool:
        """Whether a column can be in a btree index at all; not one of a type that is not visible."""
        column = self.row.columns[number - 1]
        try:
            return column.generated != "v" and self.session.syscache.default_class(column.type, "b") != (0, 0)
        except Unknowable:
            return False

    def new_key(self) -> Iterator[Way]:
        """A column that numbers the rows, for a table without any key."""
        bare = not self.row.partition and not self.row.of_type and not self.catalog.children.has(self.row.oid)
        listed = any(one.listed is not None for one in self.judged)
        if self.needed or listed or not bare or any(_plain(index) or index.primary for index in self.indexes):
            return
        names = itertools.chain(("id", "row_id"), map("row_id{}".format, itertools.count(1)))
        name = next(name for name in names if self.row.column(name) is None)
        yield Way(
            (
                *(() if self.row.identity == "d" else (f"{self.alter} REPLICA IDENTITY DEFAULT",)),
                f"{self.alter} ADD COLUMN {name} bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY",
            ),
            "rewrites the table under a lock; the subscriber's table needs the column; better a key that its rows have",
        )

    def wider_primary_key(self) -> Iterator[Way]:
        """The filter's columns as part of the primary key, of a partition's root where it is the root's."""
        catalog = self.catalog
        index = next((index for index in self.indexes if index.primary and _plain(index)), None)
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
            self.keys[top.oid, names] = self.can_be_made_anew(owner, top, constraint, names)
        if not self.keys[top.oid, names]:
            return
        was = ", ".join(map(identifier, names[: len(index.keys)]))
        yield Way(
            (
                f"ALTER TABLE {self.name_of(owner)} DROP CONSTRAINT {identifier(constraint.name)}, "
                f"ADD PRIMARY KEY ({', '.join(map(identifier, names))})",
            ),
            f"builds the key anew under a lock; ({was}) alone is no longer kept unique",
        )

    def can_be_made_anew(self, owner: Relation, index: Index, constraint: Constraint, names: Iterable[str]) -> bool:
        """Whether nothing needs a primary key as it is and these columns can be one, in all partitions."""
        catalog = self.catalog
        if self.depended_on(index.oid, constraint.oid):
            return False
        oids = catalog.descendants(owner.oid) if owner.kind == "p" else (owner.oid,)
        columns = (catalog.relations[oid].column(name) for oid in oids for name in names)
        return all(column is not None and _can_be_key(column) for column in columns)

    def depended_on(self, *oids: int) -> bool:
        """Whether a foreign key, a view or the like needs the key."""
        return any(
            kind not in ("i", "P")
            for which in (RELATION, CONSTRAINT)
            for oid in oids
            for _, _, kind in self.catalog.dependents.get((which, oid))
        )

    # What the publications may do.

    def wider_list(self) -> Iterator[Way]:
        """The identity's columns in every list that lacks some."""
        identity = self.identity
        if identity.full or not identity.exists or not identity.columns.issuperset(self.needed):
            return
        statements: list[str] = []
        added: dict[str, None] = {}
        for one in self.judged:
            lacking = [number for number in sorted(identity.columns) if not self.sends(one, number)]
            if not lacking:
                continue
            if one.listed is None or one.entry is None:
                return
            names = [self.row.columns[number - 1].name for number in lacking]
            columns = [self.catalog.relations[one.entry.relation].column(name) for name in names]
            if not all(column is not None and self.can_be_listed(column) for column in columns):
                return
            again = self.added_again(one, one.entry, extra=names)
            if again is None:
                return
            added.update(dict.fromkeys(names))
            statements += again
        if statements:
            listed = ", ".join(map(identifier, added))
            yield Way(tuple(statements), f"in one transaction; the subscriber's table needs {listed}", tuple(added))

    def can_be_listed(self, column: Column) -> bool:
        return not column.generated or (column.generated == "s" and self.catalog.major.publish_generated_columns)

    def generated_columns_sent(self) -> Iterator[Way]:
        """publish_generated_columns, which sends stored generated columns only."""
        if not self.catalog.major.publish_generated_columns or not self.identity_does():
            return
        statements: list[str] = []
        for one in self.judged:
            generated = {self.row.columns[number - 1].generated for number in self.identity.columns} - {""}
            lacking = [number for number in self.identity.columns if not self.sends(one, number)]
            if not lacking:
                continue
            if "v" in generated or one.listed is not None:
                return
            name = identifier(one.publication.name)
            statements.append(f"ALTER PUBLICATION {name} SET (publish_generated_columns = stored)")
        if statements:
            yield Way(tuple(statements), "the stored generated columns of all its tables are sent, to ordinary columns")

    def identity_does(self) -> bool:
        """Whether nothing but what is sent stands against the identity."""
        if self.identity.full:
            return all(one.listed is None for one in self.judged)
        return self.identity.exists and self.identity.columns.issuperset(self.needed)

    def full(self) -> Iterator[Way]:
        if self.identity.full or any(one.listed is not None for one in self.judged):
            return
        if not all(self.sends(one, column.number) for one in self.judged for column in self.row.live()):
            return
        yield Way(
            (f"{self.alter} REPLICA IDENTITY FULL",),
            "logs every old row whole; a subscriber without a key searches its table for each change",
        )

    def inserts_only(self) -> Iterator[Way]:
        if self.failing and all(one.publication.insert for one in self.failing):
            names = [identifier(one.publication.name) for one in self.failing]
            yield Way(
                tuple(f"ALTER PUBLICATION {name} SET (publish = 'insert')" for name in names),
                "only inserts are sent then, of all its tables",
            )

    def unpublished(self) -> Iterator[Way]:
        """The table, or what it is published through, out of each publication at fault."""
        catalog = self.catalog
        statements: list[str] = []
        for one in self.failing:
            oid, name = one.publication.oid, identifier(one.publication.name)
            if one.publication.all_tables:
                return
            for member in (self.row.oid, *catalog.ancestors(self.row.oid)):
                row = catalog.relations[member]
                if (oid, member) in catalog.members:
                    only = "ONLY " if row.kind == "r" and catalog.children.has(member) else ""
                    statements.append(f"ALTER PUBLICATION {name} DROP TABLE {only}{self.name_of(row)}")
                if (oid, row.namespace) in catalog.schema_members:
                    schema = identifier(catalog.namespaces[row.namespace].name)
                    statements.append(f"ALTER PUBLICATION {name} DROP TABLES IN SCHEMA {schema}")
        if statements:
            yield Way(tuple(dict.fromkeys(statements)), "nothing of it is sent then")

    def less_filter(self) -> Iterator[Way]:
        """The filter without what the identity lacks, or no filter."""
        identity = self.identity
        if not (identity.exists and self.lists_do(identity)):
            return
        statements: list[str] = []
        for one in self.judged:
            missing = set(one.reads) - identity.columns
            if identity.full or not missing:
                continue
            if one.entry is None:
                return
            source = self.catalog.relations[one.entry.relation]
            names = {self.row.columns[number - 1].name for number in missing}
            names |= {column.name for column in source.live() if column.generated == "v"}
            left = without(self.written(one.entry), names)
            again = self.added_again(one, one.entry, where=left)
            if again is None or source.kind not in "rp":
                return
            statements += again
        if statements:
            whole = not any(" WHERE " in text for text in statements)
            yield Way(
                tuple(statements),
                "in one transaction; " + ("all its rows are sent then" if whole else "more rows are sent then"),
            )

    def lists_do(self, identity: ReplicaIdentity) -> bool:
        if identity.full and any(one.listed is not None for one in self.judged):
            return False
        return all(self.sends(one, number) for one in self.judged for number in identity.columns)

    def no_list(self) -> Iterator[Way]:
        """No column lists, which FULL does not allow."""
        if not self.identity.full:
            return
        statements: list[str] = []
        for one in self.judged:
            if one.listed is None:
                if not all(self.sends(one, column.number) for column in self.row.live()):
                    return
                continue
            bare = _Judged(one.publication, None)
            if one.entry is None or not all(self.sends(bare, column.number) for column in self.row.live()):
                return
            filtered = one.entry.filter is not None
            text = self.written(one.entry) if filtered else None
            again = self.added_again(one, one.entry, where=text, with_list=False)
            if again is None or (filtered and text is None):
                return
            statements += again
        if statements:
            yield Way(tuple(statements), "in one transaction; all its columns are sent then")

    def added_again(
        self,
        one: _Judged,
        entry: PublicationRel,
        *,
        extra: list[str] | None = None,
        where: str | None = None,
        with_list: bool = True,
    ) -> list[str] | None:
        """The membership dropped and added anew: with ``extra`` columns and the filter that it has, or with ``where``.

        None where its filter is to be kept and cannot be told.
        """
        if extra is not None and entry.filter is not None:
            where = self.written(entry)
            if where is None:
                return None
        source = self.catalog.relations[entry.relation]
        name = self.name_of(source)
        if source.kind == "r" and self.catalog.children.has(source.oid):
            name = f"ONLY {name}"
        columns = ""
        if with_list and entry.columns is not None:
            listed = [source.columns[number - 1].name for number in entry.columns] + (extra or [])
            columns = f" ({', '.join(map(identifier, listed))})"
        alter = f"ALTER PUBLICATION {identifier(one.publication.name)}"
        condition = f" WHERE ({where})" if where is not None else ""
        return [f"{alter} DROP TABLE {name}", f"{alter} ADD TABLE {name}{columns}{condition}"]

    # Names.

    def names(self, numbers: Iterable[int]) -> str:
        return ", ".join(identifier(self.row.columns[number - 1].name) for number in numbers)

    def name_of(self, row: Relation) -> str:
        """As people write it: without the schema where that is public, and pg_catalog has no such name."""
        name = identifier(row.name)
        if row.namespace == PUBLIC and not row.name.startswith("pg_"):
            return name
        return f"{identifier(self.catalog.namespaces[row.namespace].name)}.{name}"


def _plain(index: Index) -> bool:
    """A unique index whose columns tell any two rows apart, as long as none is NULL."""
    return index.unique and index.valid and not index.partial and not index.expressions and not index.exclusion


def _can_be_key(column: Column) -> bool:
    held = column.constraint
    return column.generated != "v" and (not column.not_null or held is None or (held.validated and not held.no_inherit))


# --- The filter as it is written -------------------------------------------------------------------------------


def written_filter(text: bytes, entry: PublicationRel, source: Relation) -> str | None:
    """The row filter of a membership in the text of its statement, without its parentheses.

    None where it is not there, or where a name in it is no longer that of the table or of its column.
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
