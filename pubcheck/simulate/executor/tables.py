"""What a statement needs to know of a table that it changes, worked out once for each version of the catalog. Keys of
rows: those of unique indexes, exclusion constraints, and the order of rows under ORDER BY."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pubcheck.postgres import oids
from pubcheck.postgres.analysis.coerce import coerce_to_boolean
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.operators import make_op
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog.rows import Column, Constraint, Index, Relation
from pubcheck.postgres.executor.compare import is_deterministic, order_of
from pubcheck.postgres.executor.functions import Constant
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.replication.publication_lookup import ReplicaIdentity, replica_identity
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Step, assigned, compile_expression
from pubcheck.simulate.executor.sequences import next_value, sequence_of_column
from pubcheck.simulate.heap import Key, KeyOf, Storage, Version
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.tuple_sizes import RowLayout

if TYPE_CHECKING:
    from pubcheck.postgres.session.syscache import SysCache


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


Normal = Callable[[Any], Hashable]


def key_function(
    cache: SysCache,
    relation: Relation,
    index: Index,
    condition: Callable[[Any, str], Any],
    expression: Callable[[Any], tuple[Callable[[Any], Any], int, int]],
) -> KeyOf:
    """The key of a row in an index. None: the row is not in it, or NULL makes it no duplicate of any. ``expression``
    returns the function of a row that an indexed expression is, its type and its collation."""
    trees = iter(index.expressions)
    readers: list[Callable[[Any], Any]] = []
    forms: list[Normal | None] = []
    reader: Callable[[Any], Any]
    for number in index.keys:
        if number:
            column = relation.columns[number - 1]
            reader, type_oid, collation = itemgetter(number), column.type, column.collation
        else:
            reader, type_oid, collation = expression(next(trees))
        readers.append(reader)
        forms.append(equal_form(cache, type_oid, collation))
    predicate = None if index.predicate is None else condition(index.predicate, "WHERE")
    distinct = not index.nulls_not_distinct
    if len(readers) == 1 and predicate is None and distinct and forms[0] is None:
        (read,) = readers

        def single(row: Any) -> Key | None:
            value = read(row)
            return None if value is None else (value,)

        return single

    def key(row: Any) -> Key | None:
        if predicate is not None and predicate(row) is not True:
            return None
        # All of them: an expression can fail although another value is NULL.
        values = [read(row) for read in readers]
        if distinct and None in values:
            return None
        return key_of(values, forms)

    return key


def key_of(values: Iterable[Any], forms: Sequence[Normal | None]) -> Key:
    """Return values as a key, by their forms: equal ones have equal keys."""
    return tuple([v if v is None or form is None else form(v) for v, form in zip(values, forms, strict=True)])


def equal_form(cache: SysCache, type_oid: int, collation: int = 0) -> Normal | None:
    """How a value becomes one that is the same for equal values; None where it is that already."""
    base, _ = cache.base_type(type_oid)
    if not is_deterministic(cache, collation):
        raise NotFollowed("which texts a nondeterministic collation finds equal")
    if base in _AS_THEY_ARE:
        return None
    if base in (oids.FLOAT4, oids.FLOAT8, oids.NUMERIC):
        return lambda value: "NaN" if value != value else value
    if base == oids.BPCHAR:
        return lambda value: value.rstrip(" ")
    row = cache.type(base)
    if row.kind == "e" or base in (oids.VARBIT, oids.BIT):
        return None
    if base == oids.INTERVAL:
        return _interval
    if row.kind == "r":
        inner = equal_form(cache, row.base)

        def of_range(value: Any) -> Hashable:
            return (value.empty, *key_of((value.lower, value.upper), (inner, inner)), value.lower_in, value.upper_in)

        return of_range
    element = cache.element_type(base)
    if element:
        of_element = equal_form(cache, element)

        def of_array(value: Any) -> Hashable:
            elements = getattr(value, "elements", value)
            forms = tuple(e if e is None or of_element is None else of_element(e) for e in elements)
            return (forms, tuple(value.lengths), tuple(value.lowers))

        return of_array
    if base == oids.JSONB:
        return _json
    raise NotFollowed(f"which values of type {cache.format_type(type_oid)} are equal")


def _interval(value: Any) -> Hashable:
    return int(value) if isinstance(value, int) else ((value[0] * 30 + value[1]) * 86_400_000_000 + value[2])


def _json(value: Any) -> Hashable:
    if isinstance(value, dict):
        return ("object", frozenset((key, _json(item)) for key, item in value.items()))
    if isinstance(value, list):
        return ("array", tuple(map(_json, value)))
    return (type(value).__name__, value if isinstance(value, Hashable) else repr(value))


_AS_THEY_ARE = frozenset(
    (
        oids.BOOL, oids.INT2, oids.INT4, oids.INT8, oids.OID, oids.TEXT, oids.VARCHAR, oids.NAME, oids.CHAR,
        oids.BYTEA, oids.DATE, oids.TIME, oids.TIMESTAMP, oids.TIMESTAMPTZ, oids.TIMETZ, oids.UUID, oids.XID,
        oids.CID, 650, 869, 774, 829, 790, 3220, 5069, 24, 2205, 2206, 4089, 4096,
    )
)  # fmt: skip


Keys = tuple[Any, ...]
KeysOf = Callable[[Any], "Keys | None"]
"""The keys of a row; None for a row that is not in the index."""
Test = Callable[[tuple[Keys, Keys]], Any]
"""An operator of the constraint between the keys of two rows."""


class Exclusion:
    """An exclusion constraint that rows are checked against."""

    __slots__ = ("_keys_of", "_tests", "constraint", "index", "name")

    def __init__(
        self, index: Index, name: str, constraint: Constraint | None, keys_of: KeysOf, tests: Sequence[Test]
    ) -> None:
        """``constraint`` is None if it is not deferrable."""
        self.index, self.name, self.constraint = index, name, constraint
        self._keys_of, self._tests = keys_of, tests

    @property
    def without_overlaps(self) -> bool:
        return self.index.unique

    def has_empty_range(self, row: Any) -> bool:
        """Return whether the last key is an empty range, which WITHOUT OVERLAPS does not allow."""
        keys = self._keys_of(row)
        last = None if keys is None else keys[-1]
        return last is not None and bool(getattr(last, "empty", last == ()))

    def conflicts(self, row: Any, others: Iterable[Any]) -> Iterator[Any]:
        """Yield the rows that cannot be there together with another one. NULL conflicts with nothing."""
        keys = self._keys_of(row)
        if keys is None or None in keys:
            return
        for other in others:
            other_keys = self._keys_of(other)
            if other_keys is not None and all(test((other_keys, keys)) is True for test in self._tests):
                yield other


# The order of rows under ORDER BY.


def row_order(session: Backend, targets: list[Any], sort: list[Any]) -> Callable[[Any, Any], int]:
    """The order of rows under ORDER BY."""
    return comparison(session, [(itemgetter(targets.index(target)), target.expr, by) for target, by in sort])


def comparison(
    session: Backend, sort: Sequence[tuple[Callable[[Any], Any], Expr | Column, Node]]
) -> Callable[[Any, Any], int]:
    """The order of rows by the values that functions of a row give, each an expression's, under its SortBy."""
    context = session.context()
    keys = []
    for value_of, expr, by in sort:
        if "useOp" in by:
            raise NotFollowed("ORDER BY ... USING")
        order = order_of(context, expr.type, expr.collation)
        descending = by.get("sortby_dir") == "SORTBY_DESC"
        nulls = by.get("sortby_nulls", "SORTBY_NULLS_DEFAULT")
        first = nulls == "SORTBY_NULLS_FIRST" or (nulls == "SORTBY_NULLS_DEFAULT" and descending)
        keys.append((value_of, order, -1 if descending else 1, -1 if first else 1))

    def compare(one: Any, other: Any) -> int:
        for value_of, order, sign, null_sign in keys:
            left, right = value_of(one), value_of(other)
            if left is None or right is None:
                if left is not right:
                    return null_sign if left is None else -null_sign
                continue
            answer = order(left, right)
            if answer:
                return answer * sign
        return 0

    return compare
