"""Keys of rows: those of unique indexes, exclusion constraints, and the order of rows under ORDER BY."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pubcheck.postgres import oids
from pubcheck.postgres.catalog.rows import Column, Constraint, Index, Relation
from pubcheck.postgres.executor.compare import is_deterministic, order_of
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.heap import Key, KeyOf
from pubcheck.simulate.not_followed import NotFollowed

if TYPE_CHECKING:
    from pubcheck.postgres.session.syscache import SysCache


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
