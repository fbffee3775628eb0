"""Conditions on indexed columns: they decide how a table is scanned, and so in which order its rows come."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Mapping
from operator import itemgetter

from pubcheck.postgres.analysis.namespace_items import Item
from pubcheck.postgres.catalog.rows import Index
from pubcheck.postgres.primnodes import Expr, conjuncts, nodes
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import StatementBuilder, Step, is_volatile
from pubcheck.simulate.executor.pruning import COMMUTED
from pubcheck.simulate.executor.tables import Table, comparison
from pubcheck.simulate.heap import Version

_EQUAL = frozenset(("int4eq", "texteq", "booleq", "int2eq", "int8eq", "uuid_eq"))
_UNEQUAL = frozenset(("<", "<=", ">", ">="))
_ONE_BOUND, _TWO_BOUNDS = 0.3333333333333333, 0.005
"""DEFAULT_INEQ_SEL and DEFAULT_RANGE_INEQ_SEL: the shares of rows that a planner without statistics expects."""
_PAGES = 10
"""The pages that a table without statistics is assumed to have at least (table_block_relation_estimate_size)."""


class IndexConditions:
    """What the condition of a statement says about columns of its target, named as in the target's own table."""

    def __init__(self, equal: Mapping[str, Step]) -> None:
        """``equal``: the columns that are equal to a value, with the function that gives it."""
        self.equal = dict(equal)
        self.bounds: dict[str, set[str]] = {}
        self.listed: dict[str, int] = {}
        """The columns of IN (...), with the number of values."""
        self.count = len(equal)

    @classmethod
    def of(cls, session: Backend, condition: Expr | None, target: Item) -> IndexConditions:
        """Return what a condition says."""
        conditions = cls({})
        conditions._add(session, condition, target)
        return conditions

    def _add(self, session: Backend, condition: Expr | None, target: Item) -> None:
        cache = session.catalog_session.syscache
        for node in conjuncts(condition):
            self.count += 1
            if node.node == "ScalarArrayOpExpr":
                self._add_list(session, node, target)
            if node.node != "OpExpr" or len(node.args) != 2:
                continue
            left, right = node.args
            operator = cache.operator(node.operators[0]).name
            if _is_fixed(session, left, target):
                left, right, operator = right, left, COMMUTED.get(operator, operator)
            if left.node != "Var" or type(left.value) is not tuple or not _is_fixed(session, right, target):
                continue
            _, item, name = left.value
            if item is not target or name is None:
                continue
            if operator == "=" and left.type == right.type and cache.proc(node.functions[0]).name in _EQUAL:
                self.equal[name] = StatementBuilder(session, None).build(right)
            elif operator in _UNEQUAL:
                self.bounds.setdefault(name, set()).add(operator[0])

    def _add_list(self, session: Backend, node: Expr, target: Item) -> None:
        left, right = node.args
        if not node.value or left.node != "Var" or type(left.value) is not tuple or right.node != "ArrayExpr":
            return
        _, item, name = left.value
        is_equal = session.catalog_session.syscache.operator(node.operators[0]).name == "="
        if is_equal and item is target and name is not None and all(arg.node == "Const" for arg in right.args):
            self.listed[name] = len({repr(arg.value) for arg in right.args})

    def candidates(self, table: Table) -> Iterator[Version]:
        """The rows to look at, in the order in which the server looks at them."""
        states, oldest = table.session.database.xids.states, table.session.oldest_xid()
        versions = self._by_key(table)
        if versions is not None:
            for version in versions:
                table.storage.prune(version, states, oldest)
            return iter(versions)
        if self.bounds or self.equal or self.listed:
            chosen = self._cheapest_index(table)
            if chosen is not None:
                return self._in_index_order(table, list(table.storage.scan()), *chosen)
        return table.storage.scan(states, oldest)

    def _in_index_order(self, table: Table, versions: list[Version], index: Index, in_order: bool) -> Iterator[Version]:
        """An index points to the first version of a row that all updates left on its page and under its keys. A bitmap
        scan goes by these places, an index scan by the keys."""
        versions.sort(key=lambda version: version.root)
        if not in_order:
            return iter(versions)
        columns = [table.relation.columns[number - 1] for number in index.keys]
        compare = comparison(table.session, [(itemgetter(column.number), column, {}) for column in columns])
        return iter(sorted(versions, key=functools.cmp_to_key(compare)))

    def _by_key(self, table: Table) -> list[Version] | None:
        """The versions under one key of a unique index, if there are constants for all its columns."""
        if not self.equal:
            return None
        for unique in table.uniques:
            if unique.index.expressions:
                continue
            columns = [table.relation.columns[number - 1] for number in unique.index.keys]
            if unique.index.predicate is None and all(column.name in self.equal for column in columns):
                index = table.storage.index(unique.index.oid, unique.key_of)
                key = index.key_of({column.number: self.equal[column.name](()) for column in columns})
                return [] if key is None else list(index.at(key))
        return None

    def _cheapest_index(self, table: Table) -> tuple[Index, bool] | None:
        """The index that the planner chooses, and whether it reads it in order; None where it reads the whole table
        (costsize.c, without statistics)."""
        catalog = table.session.database.catalog
        best = self._scan_cost(table)
        chosen: tuple[Index, bool] | None = None
        for oid in sorted(catalog.indexes_of.get(table.oid)):
            index = catalog.indexes[oid]
            if index.method != "btree" or index.partial or not index.valid or 0 in index.keys:
                continue
            names = [table.relation.columns[number - 1].name for number in index.keys]
            if not any(names[0] in columns for columns in (self.equal, self.bounds, self.listed)):
                continue
            for in_order, cost in self._index_costs(table, names, unique=index.unique):
                if cost < best:
                    best, chosen = cost, (index, in_order)
        return chosen

    def _rows(self, table: Table) -> float:
        return float(table.layout.rows_per_page * max(table.storage.pages, _PAGES))

    def _scan_cost(self, table: Table) -> float:
        return max(table.storage.pages, _PAGES) + self._rows(table) * (0.01 + 0.0025 * self.count)

    def _selectivity(self, name: str, rows: float, *, unique: bool) -> float:
        if name in self.equal or name in self.listed:
            share = 1 / (rows if unique else min(200.0, rows))
            return min(1.0, share * self.listed.get(name, 1))
        bounds = self.bounds.get(name)
        return 1.0 if not bounds else _ONE_BOUND if len(bounds) == 1 else _TWO_BOUNDS

    def _index_costs(self, table: Table, names: list[str], *, unique: bool) -> list[tuple[bool, float]]:
        """The costs of an index scan and of a bitmap scan (btcostestimate, cost_index, cost_bitmap_heap_scan)."""
        rows, pages = self._rows(table), max(table.storage.pages, _PAGES)
        boundary = total = 1.0
        bounded = True
        quals, scans = 0, 1
        for name in names:
            share = self._selectivity(name, rows, unique=unique and len(names) == 1)
            total *= share
            quals += (name in self.equal) + len(self.bounds.get(name, ())) + (name in self.listed)
            if bounded:
                boundary *= share
                scans *= self.listed.get(name, 1)
            bounded = bounded and (name in self.equal or name in self.listed)
        read = float(round(rows * boundary / scans))
        fetched = max(1.0, float(round(rows * total)))
        index_pages = 1 + max(1, math.ceil(table.storage.entries / 366))
        pages_read = scans * max(1, math.ceil(read * index_pages / rows))
        if scans > 1:
            pages_read = math.ceil(min(2.0 * index_pages * pages_read / (2.0 * index_pages + pages_read), index_pages))
        cost = pages_read * 4.0 + scans * max(read, 1.0) * (0.005 + 0.0025 * quals)
        cost += scans * (math.ceil(math.log2(rows)) * 0.0025 + 0.125)
        heap = math.ceil(min(2.0 * pages * fetched / (2.0 * pages + fetched), pages))
        ordered = cost + heap * 4.0 + fetched * (0.01 + 0.0025 * (self.count - quals))
        per_page = 4.0 - 3.0 * math.sqrt(heap / pages) if heap >= 2 else 4.0
        bitmap = cost + 0.1 * 0.0025 * fetched + heap * per_page + fetched * (0.01 + 0.0025 * self.count)
        return [(True, ordered), (False, bitmap)]


def _is_fixed(session: Backend, expr: Expr, target: Item) -> bool:
    """Whether an expression has one value while the table is scanned (is_pseudo_constant_for_index)."""
    if is_volatile(session, expr):
        return False
    for node in nodes(expr):
        if node.node == "Var" and (type(node.value) is not tuple or target in node.value[0].entries):
            return False
        if node.node == "SubLink" and (node.value[0] != "EXPR" or node.value[2]):
            return False
    return True
