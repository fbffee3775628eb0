"""Conditions on indexed columns: they decide how a table is scanned, and so in which order its rows come."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pubcheck.postgres.analysis.namespace_items import Item
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.heap import Version

_EQUAL = frozenset(("int4eq", "texteq", "booleq", "int2eq", "int8eq", "uuid_eq"))
_UNEQUAL = frozenset(("<", "<=", ">", ">="))
_ONE_BOUND, _TWO_BOUNDS = 0.3333333333333333, 0.005
"""DEFAULT_INEQ_SEL and DEFAULT_RANGE_INEQ_SEL: the shares of rows that a planner without statistics expects."""
_PAGES = 10
"""The pages that a table without statistics is assumed to have at least (table_block_relation_estimate_size)."""


class IndexConditions:
    """What the condition of a statement says about columns of its target, named as in the target's own table."""

    def __init__(self, session: Backend, condition: Expr | None, target: Item) -> None:
        self.equal: dict[str, object] = {}
        self.bounds: dict[str, set[str]] = {}
        self.count = 0
        cache = session.catalog_session.syscache
        for node in _conjuncts(condition):
            self.count += 1
            if node.node != "OpExpr" or len(node.args) != 2:
                continue
            left, right = node.args
            operator = cache.operator(node.operators[0]).name
            if left.node == "Const":
                left, right, operator = (
                    right,
                    left,
                    {"<": ">", ">": "<", "<=": ">=", ">=": "<="}.get(operator, operator),
                )
            if left.node != "Var" or right.node != "Const" or type(left.value) is not tuple:
                continue
            _, item, name = left.value
            if item is not target or name is None:
                continue
            if operator == "=" and left.type == right.type and cache.proc(node.functions[0]).name in _EQUAL:
                self.equal[name] = right.value
            elif operator in _UNEQUAL:
                self.bounds.setdefault(name, set()).add(operator[0])

    def candidates(self, table: Table) -> Iterator[Version]:
        """The rows to look at, in the order in which the server looks at them."""
        found = self._by_key(table)
        if found is not None:
            return iter(found)
        versions = list(table.storage.scan())
        if self.bounds and self._uses_bitmap(table):
            # An index points to the first version of a row that all updates left on its page and under its keys.
            versions.sort(key=lambda version: version.root)
        return iter(versions)

    def _by_key(self, table: Table) -> list[Version] | None:
        """The versions under one key of a unique index, if there are constants for all its columns."""
        if not self.equal:
            return None
        for unique in table.uniques:
            columns = [table.relation.columns[number - 1] for number in unique.index.keys]
            if unique.index.predicate is None and all(column.name in self.equal for column in columns):
                index = table.storage.index(unique.index.oid, unique.key_of)
                key = index.key_of({column.number: self.equal[column.name] for column in columns})
                return [] if key is None else list(index.at(key))
        return None

    def _uses_bitmap(self, table: Table) -> bool:
        """Whether a bitmap scan of an index costs less than reading the table (costsize.c, without statistics)."""
        catalog = table.session.database.catalog
        for oid in catalog.indexes_of.get(table.oid):
            index = catalog.indexes[oid]
            if index.method != "btree" or index.partial or not index.valid or not index.keys or not index.keys[0]:
                continue
            bounds = self.bounds.get(table.relation.columns[index.keys[0] - 1].name)
            if bounds and self._bitmap_cost(table, len(bounds)) < self._scan_cost(table):
                return True
        return False

    def _rows(self, table: Table) -> float:
        return float(table.layout.rows_per_page * max(table.storage.pages, _PAGES))

    def _scan_cost(self, table: Table) -> float:
        rows = self._rows(table)
        return max(table.storage.pages, _PAGES) + rows * (0.01 + 0.0025 * self.count)

    def _bitmap_cost(self, table: Table, bounds: int) -> float:
        rows, pages = self._rows(table), max(table.storage.pages, _PAGES)
        fetched = float(round(rows * (_ONE_BOUND if bounds == 1 else _TWO_BOUNDS)))
        index_pages = 1 + max(1, math.ceil(len(table.storage.versions) / 366))
        reads = math.ceil(fetched * index_pages / rows)
        quals = bounds
        cost = max(reads, 1) * 4.0 + fetched * (0.005 + 0.0025 * quals)
        cost += math.ceil(math.log2(rows)) * 0.0025 + 0.125
        cost += 0.1 * 0.0025 * fetched
        heap = min(2.0 * pages * fetched / (2.0 * pages + fetched), pages)
        heap = math.ceil(heap)
        per_page = 4.0 - 3.0 * math.sqrt(heap / pages) if heap >= 2 else 4.0
        return cost + heap * per_page + fetched * (0.01 + 0.0025 * self.count)


def _conjuncts(condition: Expr | None) -> Iterator[Expr]:
    stack = [] if condition is None else [condition]
    while stack:
        node = stack.pop()
        if node.node == "BoolExpr" and node.value == "AND":
            stack += node.args
        else:
            yield node
