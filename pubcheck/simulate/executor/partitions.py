"""Partitions: their bounds, the one that a row belongs to (executor/execPartition.c, partitioning/partbounds.c)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.executor.compare import order_of
from pubcheck.postgres.executor.functions import Order
from pubcheck.postgres.executor.hashing import FUNCTIONS as HASHES
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope, Step, compile_expression, converted
from pubcheck.simulate.executor.tables import cached, equal_form
from pubcheck.simulate.not_followed import NotFollowed

_MASK = (1 << 64) - 1
_SEED = 0x7A5B22367996DCFD
"""HASH_PARTITION_SEED."""
End = tuple[int, Any]
DEFAULT = 0


class Key:
    """The partition key of a table: the steps of its columns and expressions, and how their values are compared."""

    def __init__(self, session: Backend, relation: Relation) -> None:
        spec = session.database.catalog.definitions[("partition key", relation.oid)]
        p = parse_state(session.catalog_session, relation)
        self.types: list[int] = []
        self.names: list[str] = []
        self.steps: list[Step] = []
        self.orders: list[Order] = []
        self.typmods: list[int] = []
        self.collations: list[int] = []
        context = session.context()
        for item, number in zip(spec["partParams"], relation.partition_key, strict=True):
            element = item["PartitionElem"]
            if "opclass" in element:
                raise NotFollowed("a partition key with an operator class")
            tree = element.get("expr") or {"ColumnRef": {"fields": [{"String": {"sval": element["name"]}}]}}
            if number:
                column = relation.columns[number - 1]
                tree = {"ColumnRef": {"fields": [{"String": {"sval": column.name}}]}}
            expr = p.transform(tree)
            assign_collations(p, expr)
            if "collation" in element:
                raise NotFollowed("a partition key with a collation")
            self.types.append(expr.type)
            self.typmods.append(expr.typmod)
            self.collations.append(expr.collation)
            self.names.append(relation.columns[number - 1].name if number else "")
            self.steps.append(compile_expression(session, None, expr))
            self.orders.append(order_of(context, expr.type, expr.collation))

    def values(self, row: Any) -> list[Any]:
        return [step(row) for step in self.steps]


class Partitioning:
    """The partitions of one table. ``children`` are in the order of their bounds, the default one last.

    Bounds: of LIST the ``_listed`` values with their partitions, and the partition of ``_null``; of RANGE the
    ``_ranges``, in order.
    """

    def __init__(self, session: Backend, relation: Relation) -> None:
        self.session, self.relation = session, relation
        self.key = Key(session, relation)
        catalog = session.database.catalog
        rows = [catalog.relations[oid] for oid in catalog.children.get(relation.oid)]
        specs = {row.oid: catalog.definitions[("bound", row.oid)] for row in rows}
        self.default = next((row for row in rows if specs[row.oid].get("is_default")), None)
        others = [row for row in rows if row is not self.default]
        self._find: Callable[[list[Any]], Relation | None]
        self._listed: list[tuple[Any, Relation]] = []
        self._null: Relation | None = None
        self._ranges: list[tuple[Relation, list[End], list[End]]] = []
        order = {"l": self._by_list, "r": self._by_range, "h": self._by_hash}[relation.strategy]
        self.children = order(others, specs)
        if self.default is not None:
            self.children.append(self.default)

    def child_of(self, row: Any) -> Relation | None:
        """The partition that a row belongs to, by the table's own column numbers (get_partition_for_tuple)."""
        return self.partition_of(self.key.values(row))

    def partition_of(self, values: list[Any]) -> Relation | None:
        """The partition for these values of the key's columns."""
        return self._find(values) or self.default

    def matching(self, operator: str, value: Any, holds: Callable[[int], bool]) -> set[int] | None:
        """The parts that may have rows whose first key column compares so with a value; None if all may.

        A part is a partition, by its oid, or a range that only the default partition takes, by a negative number, or
        ``DEFAULT`` for anything else that it takes.
        """
        order = self.key.orders[0]
        if self.relation.strategy == "l":
            parts = {row.oid for listed, row in self._listed if holds(order(listed, value))}
            return parts if operator == "=" and parts else parts | {DEFAULT}
        if self.relation.strategy != "r" or operator == "<>":
            return None
        first: list[End] = [(0, value)]
        parts = {DEFAULT} if operator == "=" and len(self.key.orders) > 1 else set()
        ranges = [(row.oid, lower, upper) for row, lower, upper in self._ranges]
        gaps = [(-number, lower, upper) for number, (lower, upper) in enumerate(self._gaps(), 1)]
        for part, lower, upper in (*ranges, *gaps):
            if _reaches(operator, lower, upper, first, self._compare):
                parts.add(part)
        return parts

    def of_nulls(self, *, is_null: bool) -> set[int] | None:
        """The parts that may have rows whose only key column is NULL, or is not; None if all may."""
        if self.relation.strategy == "l":
            if is_null:
                return {DEFAULT if self._null is None else self._null.oid}
            return {row.oid for _, row in self._listed} | {DEFAULT}
        return {DEFAULT} if is_null and self.relation.strategy == "r" else None

    def _gaps(self) -> Iterator[tuple[list[End], list[End]]]:
        """The ranges that no other partition takes."""
        end: list[End] = [(-1, None)] * len(self.key.orders)
        for _, lower, upper in self._ranges:
            if self._compare(end, lower):
                yield end, lower
            end = upper
        last: list[End] = [(1, None)] * len(self.key.orders)
        if self._compare(end, last):
            yield end, last

    def _value(self, item: Node, number: int) -> Any:
        """A value of a bound, as the key's type (transformPartitionBoundValue)."""
        scope, problem = Scope(self.session), "a bound of another type than the partition key"
        expr = converted(scope, scope.transform(item), self.key.types[number], self.key.typmods[number], problem)
        return compile_expression(self.session, scope, expr)(())

    # LIST.

    def _by_list(self, rows: list[Relation], specs: dict[int, Node]) -> list[Relation]:
        form = equal_form(self.session.catalog_session.syscache, self.key.types[0], self.key.collations[0])
        order = self.key.orders[0]
        by_value: dict[Any, Relation] = {}
        sortable: list[tuple[Any, Relation]] = []
        null: Relation | None = None
        for row in rows:
            for item in specs[row.oid].get("listdatums", ()):
                value = self._value(item, 0)
                if value is None:
                    null = row
                    continue
                by_value[value if form is None else form(value)] = row
                sortable.append((value, row))

        def find(values: list[Any]) -> Relation | None:
            value = values[0]
            if value is None:
                return null
            return by_value.get(value if form is None else form(value))

        self._find = find

        def by_first(one: tuple[Any, Relation], other: tuple[Any, Relation]) -> int:
            return order(one[0], other[0])

        sortable.sort(key=functools.cmp_to_key(by_first))
        self._listed, self._null = sortable, null
        ordered = {row.oid: row for _, row in sortable}
        if null is not None:
            ordered.setdefault(null.oid, null)
        return list(ordered.values())

    # RANGE.

    def _by_range(self, rows: list[Relation], specs: dict[int, Node]) -> list[Relation]:
        ends = {row.oid: [self._ends(specs[row.oid][side]) for side in ("lowerdatums", "upperdatums")] for row in rows}

        def by_lower(one: Relation, other: Relation) -> int:
            return self._compare(ends[one.oid][0], ends[other.oid][0])

        ordered = sorted(rows, key=functools.cmp_to_key(by_lower))
        lowers = [ends[row.oid][0] for row in ordered]
        uppers = [ends[row.oid][1] for row in ordered]

        def find(values: list[Any]) -> Relation | None:
            if any(value is None for value in values):
                return None
            ends_of_row: list[End] = [(0, value) for value in values]
            low, high = 0, len(ordered)
            while low < high:
                middle = (low + high) // 2
                if self._compare(lowers[middle], ends_of_row) <= 0:
                    low = middle + 1
                else:
                    high = middle
            if low and self._compare(ends_of_row, uppers[low - 1]) < 0:
                return ordered[low - 1]
            return None

        self._find = find
        self._ranges = list(zip(ordered, lowers, uppers, strict=True))
        return list(ordered)

    def _ends(self, items: list[Node]) -> list[End]:
        ends: list[End] = []
        for number, item in enumerate(items):
            fields = item.get("ColumnRef", {}).get("fields", ())
            word = fields[0].get("String", {}).get("sval") if len(fields) == 1 else None
            if word in ("minvalue", "maxvalue"):
                ends.append((-1 if word == "minvalue" else 1, None))
            else:
                ends.append((0, self._value(item, number)))
        return ends

    def _compare(self, one: list[End], other: list[End]) -> int:
        for (side, left), (other_side, right), order in zip(one, other, self.key.orders, strict=False):
            if side or other_side:
                if side != other_side:
                    return side - other_side
                return 0
            answer = order(left, right)
            if answer:
                return answer
        return 0

    # HASH.

    def _by_hash(self, rows: list[Relation], specs: dict[int, Node]) -> list[Relation]:
        moduli = {row.oid: (specs[row.oid]["modulus"], specs[row.oid].get("remainder", 0)) for row in rows}
        hashes = [self._hash(type_oid) for type_oid in self.key.types]

        def find(values: list[Any]) -> Relation | None:
            combined = 0
            for value, extended in zip(values, hashes, strict=True):
                if value is not None:
                    combined = _combine(combined, extended(value, _SEED) & _MASK)
            return next((row for row in rows if combined % moduli[row.oid][0] == moduli[row.oid][1]), None)

        self._find = find
        return sorted(rows, key=lambda row: moduli[row.oid])

    def _hash(self, type_oid: int) -> Callable[[Any, int], int]:
        cache = self.session.catalog_session.syscache
        base, _ = cache.base_type(type_oid)
        name = _HASHES.get(cache.type(base).name)
        if name is None:
            raise NotFollowed(f"the hash of type {cache.format_type(type_oid)}")
        return HASHES[name]


def _reaches(
    operator: str, lower: list[End], upper: list[End], value: list[End], compare: Callable[[list[End], list[End]], int]
) -> bool:
    """Whether a range has keys whose first column compares so with a value. It ends before ``upper``; if the key has
    several columns, the first one may still equal that of ``upper``."""
    low, high = compare(lower, value), compare(upper, value)
    reaches_up = high > 0 or (high == 0 and len(upper) > 1)
    return {
        "<": low < 0,
        "<=": low <= 0,
        "=": low <= 0 and (high > 0 or (high == 0 and len(upper) > 1 and upper[1][0] >= 0)),
        ">=": reaches_up,
        ">": high > 0,
    }[operator]


def _combine(one: int, other: int) -> int:
    """hash_combine64."""
    return (one ^ (other + 0x49A0F4DD15E5A8E3 + (one << 54) + (one >> 7))) & _MASK


_HASHES = {
    "int2": "hashint2extended",
    "int4": "hashint4extended",
    "int8": "hashint8extended",
    "bool": "hashboolextended",
    "text": "hashtextextended",
    "varchar": "hashtextextended",
    "bpchar": "hashbpcharextended",
    "name": "hashnameextended",
    "uuid": "uuid_hash_extended",
    "numeric": "hash_numeric_extended",
    "date": "hashdateextended",
    "timestamp": "timestamp_hash_extended",
    "timestamptz": "timestamptz_hash_extended",
    "float8": "hashfloat8extended",
    "oid": "hashoidextended",
}


def partitioning(session: Backend, relation: Relation) -> Partitioning:
    """The partitions of a table, as the current version of the catalog has them."""
    result: Partitioning = cached(session, ("partitions", relation.oid), lambda: Partitioning(session, relation))
    return result


def partitions(session: Backend, relation: Relation) -> list[Relation]:
    return partitioning(session, relation).children


def no_partition(session: Backend, relation: Relation, row: Any) -> ServerError:
    """The error for a row that no partition takes (ExecFindPartition)."""
    key = partitioning(session, relation).key
    texts = []
    for value, type_oid in zip(key.values(row), key.types, strict=True):
        text = "null" if value is None else session.output.writer(type_oid)(value)
        texts.append(text if len(text.encode()) <= 64 else text.encode()[:64].decode(errors="ignore") + "...")
    if not all(key.names):
        raise NotFollowed("the detail of an error about a partition key with expressions")
    detail = f"Partition key of the failing row contains ({', '.join(key.names)}) = ({', '.join(texts)})."
    return ServerError("23514", f'no partition of relation "{relation.name}" found for row', detail=detail)
