"""What a statement needs to know of a table that it changes, worked out once for each version of the catalog."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from operator import itemgetter
from typing import Any

from pubcheck.postgres.analysis.coerce import coerce_to_boolean
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.operators import make_op
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog.rows import Column, Constraint, Index, Relation
from pubcheck.postgres.executor.functions import Constant
from pubcheck.postgres.parse_tree import column_names
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.replication.publication_lookup import ReplicaIdentity, replica_identity
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Step, assigned, compile_expression
from pubcheck.simulate.executor.index_keys import Exclusion, key_function
from pubcheck.simulate.executor.sequences import next_value, sequence_of_column
from pubcheck.simulate.heap import KeyOf, Storage, Version
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.tuple_sizes import RowLayout


class Check:
    """A CHECK constraint that is ready."""

    __slots__ = ("holds", "name")

    def __init__(self, name: str, holds: Step) -> None:
        self.name, self.holds = name, holds


class Unique:
    """A unique index that rows are checked against."""

    __slots__ = ("constraint", "index", "key_of", "name")

    def __init__(self, index: Index, name: str, key_of: Callable[[], KeyOf], constraint: Constraint | None) -> None:
        """``constraint`` is the one that the index belongs to, if that is deferrable."""
        self.index, self.name, self.key_of, self.constraint = index, name, key_of, constraint


class Table:
    """One table as the executor sees it. Everything is worked out when it is first asked for."""

    def __init__(self, session: Backend, relation: Relation) -> None:
        self.session = session
        self.relation = relation
        self.oid = relation.oid
        self.columns = relation.live()
        self.logged = relation.persistence == "p" and relation.kind in "rm"
        self.layout = RowLayout(session.catalog_session.syscache, relation.columns)
        catalog = session.database.catalog
        self.identity: ReplicaIdentity = replica_identity(catalog, relation)
        self.not_null = tuple(column for column in self.columns if column.not_null)
        self.stored = tuple(column for column in self.columns if column.generated == "s")
        self.virtual = tuple(column for column in self.columns if column.generated == "v")
        self._defaults: dict[int, Step] = {}

    @property
    def storage(self) -> Storage:
        storage = self.session.database.storage
        if self.oid not in storage:
            storage[self.oid] = Storage()
        return storage[self.oid]

    def expression(self, tree: Any, column: Column) -> Step:
        """An expression over the table's row that gives a column's value; the row is the values by column number."""
        p = parse_state(self.session.catalog_session, self.relation)
        return compile_expression(self.session, None, assigned(p, column, tree), in_order=True)

    def condition(self, tree: Any, clause: str) -> Step:
        p = parse_state(self.session.catalog_session, self.relation)
        expr = coerce_to_boolean(p, p.transform(tree), clause)
        assign_collations(p, expr)
        return compile_expression(self.session, None, expr)

    def indexed_value(self, tree: Any) -> tuple[Step, int, int]:
        """An expression of an index, with its type and collation."""
        p = parse_state(self.session.catalog_session, self.relation)
        expr = p.transform(tree)
        assign_collations(p, expr)
        return compile_expression(self.session, None, expr), expr.type, expr.collation

    def default(self, column: Column) -> Step:
        """The default of a column (build_column_default); NULL where it has none."""
        step = self._defaults.get(column.number)
        if step is None:
            step = self._defaults[column.number] = self._default_of(column)
        return step

    def _default_of(self, column: Column) -> Step:
        if column.identity or (column.has_default and column.tree is None):
            session, sequence = self.session, sequence_of_column(self.session, self.relation, column)
            return lambda row: next_value(session, sequence)
        return self.expression(column.tree, column) if column.has_default else Constant(None)

    @cached_property
    def generated(self) -> list[tuple[int, Step]]:
        """The stored generated columns, each with its expression."""
        return [(column.number, self.expression(column.tree, column)) for column in self.stored]

    def with_virtual(self, version: Version) -> Version:
        """A row with the values of its virtual columns, as queries read them."""
        row = Version(version, version.size, version.xmin, version.cmin)
        row.base = version
        for column in self.virtual:
            row[column.number] = self.expression(column.tree, column)(version)
        return row

    @cached_property
    def checks(self) -> list[Check]:
        """The CHECK constraints by name, as the relation cache sorts them."""
        catalog = self.session.database.catalog
        rows = [catalog.constraints[oid] for oid in catalog.constraints_of.get(self.oid)]
        conditions: list[Constraint] = [row for row in rows if row.kind == "c" and row.enforced]
        conditions.sort(key=lambda row: row.name.encode())
        return [Check(row.name, self.condition(row.tree, "CHECK")) for row in conditions]

    @cached_property
    def indexed(self) -> frozenset[int]:
        """The columns that indexes read: an UPDATE of one makes new entries in all indexes (not HOT)."""
        catalog = self.session.database.catalog
        numbers: set[int] = set()
        for oid in catalog.indexes_of.get(self.oid):
            index = catalog.indexes[oid]
            numbers.update(index.keys, index.included)
            names = column_names(list(index.trees))
            numbers.update(column.number for column in self.columns if column.name in names)
        return frozenset(numbers)

    @cached_property
    def key_columns(self) -> frozenset[int]:
        """The columns that foreign keys may refer to (INDEX_ATTR_BITMAP_KEY)."""
        catalog = self.session.database.catalog
        indexes = (catalog.indexes[oid] for oid in catalog.indexes_of.get(self.oid))
        keys = [index.keys for index in indexes if index.unique and not index.trees]
        return frozenset(number for numbers in keys for number in numbers)

    @property
    def has_indexes(self) -> bool:
        return self.session.database.catalog.indexes_of.has(self.oid)

    @cached_property
    def uniques(self) -> list[Unique]:
        """The unique indexes in the order of their oids."""
        catalog = self.session.database.catalog
        indexes = [catalog.indexes[oid] for oid in sorted(catalog.indexes_of.get(self.oid))]
        return [
            Unique(
                index,
                catalog.relations[index.oid].name,
                lambda index=index: key_function(
                    self.session.catalog_session.syscache, self.relation, index, self.condition, self.indexed_value
                ),  # type: ignore[misc]
                self._deferrable_constraint(index),
            )
            for index in indexes
            if index.unique and index.valid and not index.exclusion
        ]

    @cached_property
    def exclusions(self) -> list[Exclusion]:
        """The exclusion constraints in the order of the oids of their indexes."""
        catalog = self.session.database.catalog
        indexes = [catalog.indexes[oid] for oid in sorted(catalog.indexes_of.get(self.oid))]
        return [self._exclusion(index) for index in indexes if index.exclusion and index.valid]

    def _exclusion(self, index: Index) -> Exclusion:
        if len(index.operators) != len(index.keys):
            raise NotFollowed("whether rows violate an exclusion constraint")
        p = parse_state(self.session.catalog_session, self.relation)
        trees = iter(index.expressions)
        readers: list[Step] = []
        tests: list[Step] = []
        reader: Step
        for place, (number, names) in enumerate(zip(index.keys, index.operators, strict=True)):
            if number:
                column = self.relation.columns[number - 1]
                reader, type_oid, collation = itemgetter(number), column.type, column.collation
            else:
                reader, type_oid, collation = self.indexed_value(next(trees))
            one, other = (Expr("Param", type_oid, [], collation=collation, value=_key_at(n, place)) for n in (0, 1))
            expr = make_op(p, list(names), one, other, -1)
            assign_collations(p, expr)
            readers.append(reader)
            tests.append(compile_expression(self.session, None, expr))
        predicate = None if index.predicate is None else self.condition(index.predicate, "WHERE")

        def keys_of(row: Any) -> tuple[Any, ...] | None:
            if predicate is not None and predicate(row) is not True:
                return None
            return tuple([read(row) for read in readers])

        name = self.session.database.catalog.relations[index.oid].name
        return Exclusion(index, name, self._deferrable_constraint(index), keys_of, tests)

    def _deferrable_constraint(self, index: Index) -> Constraint | None:
        catalog = self.session.database.catalog
        rows = (catalog.constraints[oid] for oid in catalog.constraints_of.get(self.oid))
        return None if index.immediate else next(row for row in rows if row.index == index.oid)


def _key_at(side: int, place: int) -> Step:
    """A key of one of two rows."""
    return lambda pair: pair[side][place]


def cached(session: Backend, key: Any, make: Callable[[], Any]) -> Any:
    """What is worked out once for each version of the catalog."""
    number = session.database.version().number
    cache = session.tables
    if cache.get("version") != number:
        cache.clear()
        cache["version"] = number
    if key not in cache:
        cache[key] = make()
    return cache[key]


def table_of(session: Backend, relation: Relation) -> Table:
    """The table, as the current version of the catalog has it."""
    table: Table = cached(session, relation.oid, lambda: Table(session, relation))
    return table
