"""The partitions that a statement's condition leaves: only these are planned, and checked for a replica identity
(partitioning/partprune.c). And conditions on indexed columns: they decide how a table is scanned, and so in which order
its rows come."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from itertools import combinations
from operator import itemgetter

from msgspec.structs import replace

from pubcheck.postgres.analysis.namespace_items import Item
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.catalog.rows import Index, Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import Context
from pubcheck.postgres.executor.compare import order_of
from pubcheck.postgres.executor.planner_folding import planned
from pubcheck.postgres.primnodes import Expr, conjuncts, nodes
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import StatementBuilder, Step, is_volatile
from pubcheck.simulate.executor.partitions import DEFAULT, Partitioning, partitioning
from pubcheck.simulate.executor.tables import Table, comparison
from pubcheck.simulate.heap import Version

Oids = set[int]
COMMUTED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "<>": "<>"}
_HOLDS: dict[str, Callable[[int], bool]] = {
    "<": lambda sign: sign < 0,
    "<=": lambda sign: sign <= 0,
    "=": lambda sign: sign == 0,
    ">=": lambda sign: sign >= 0,
    ">": lambda sign: sign > 0,
    "<>": lambda sign: sign != 0,
}
"""Operators by the sign of a comparison of their operands."""
_OPPOSED = frozenset(map(frozenset, (("<", ">"), ("<", ">="), ("<", "="), (">", "<="), (">", "="), ("<>", "="))))
"""Operators that exclude each other with the same constant."""
_TOGETHER = (frozenset((20, 21, 23)), frozenset((25, 1043)))
"""Types whose values compare with each other: integers, strings."""


class Pruning:
    """``target`` is the entry of the table that the statement changes, to whose columns ``condition`` refers.

    ``certain``: every partition that is left is one that the server leaves too.
    """

    def __init__(self, session: Backend, scope: ParseState, condition: Expr | None, target: Item) -> None:
        self._session, self._scope, self._target = session, scope, target
        self._condition = condition
        self.certain = True

    def children(self, relation: Relation) -> list[Relation]:
        """Return the partitions of a table that are left, in the order of their bounds."""
        division = partitioning(self._session, relation)
        condition = self._planned
        if condition is None:
            return division.children
        self._note_several(condition)
        left = set() if self._is_contradiction(condition) else self._left(division, condition)
        if left is not None and any(part <= DEFAULT for part in left) and division.default is not None:
            left.add(division.default.oid)
        return [child for child in division.children if left is None or child.oid in left]

    @cached_property
    def _planned(self) -> Expr | None:
        """The condition as the planner leaves it, with NOT moved to the comparisons."""
        if self._condition is None:
            return None
        try:
            return self._without_not(planned(self._scope, self._condition))
        except (ServerError, Unknowable):
            self.certain = False
            return None

    def _without_not(self, node: Expr, *, negated: bool = False) -> Expr:
        """Move NOT down to the comparisons (negate_clause)."""
        if node.node == "BoolExpr":
            if node.value == "NOT":
                return self._without_not(node.args[0], negated=not negated)
            value = {"AND": "OR", "OR": "AND"}[node.value] if negated else node.value
            return replace(node, value=value, args=[self._without_not(arg, negated=negated) for arg in node.args])
        if not negated:
            return node
        if node.node == "NullTest":
            return replace(node, value="IS_NOT_NULL" if node.value == "IS_NULL" else "IS_NULL")
        negator = self._session.catalog_session.syscache.negator(node.operators[0]) if node.node == "OpExpr" else 0
        if negator:
            return replace(node, operators=(negator,))
        return Expr("BoolExpr", node.type, [node], value="NOT")

    def _left(self, division: Partitioning, node: Expr) -> Oids | None:
        """The parts that may have rows for which a condition is true; None for all."""
        if node.node == "BoolExpr" and node.value == "AND":
            return self._all(division, node)
        if node.node == "BoolExpr" and node.value == "OR":
            sides = [self._left(division, arg) for arg in node.args]
            return None if None in sides else set().union(*filter(None, sides))
        if node.node == "Const":
            return None if node.value is True else set()
        if node.node == "OpExpr" and len(node.args) == 2:
            return self._comparison(division, node)
        if node.node == "ScalarArrayOpExpr" and node.value:
            return self._one_of(division, node)
        if node.node == "NullTest" and [self._column(node.args[0])] == division.key.names:
            parts = division.of_nulls(is_null=node.value == "IS_NULL")
            if parts is not None:
                return parts
        return self._unknown(division, node)

    def _unknown(self, division: Partitioning, node: Expr) -> Oids | None:
        """All partitions, for a condition that is not followed."""
        self.certain = self.certain and not self._columns(node) & set(division.key.names)
        return None

    def _columns(self, node: Expr) -> set[str]:
        return {self._column(part) for part in nodes(node)} - {""}

    def _note_several(self, condition: Expr) -> None:
        """The server compares conditions with each other: not all that exclude each other are known here."""
        parts = list(conjuncts(condition))
        for conjunct in parts:
            others = set().union(*(self._columns(other) for other in parts if other is not conjunct))
            if conjunct.node in ("BoolExpr", "ScalarArrayOpExpr") and self._columns(conjunct) & others:
                self.certain = False
            if conjunct.node == "BoolExpr" and any(arg.node == "BoolExpr" for arg in conjunct.args):
                self.certain = False

    def _all(self, division: Partitioning, node: Expr) -> Oids | None:
        parts = list(conjuncts(node))
        left = None
        for conjunct in parts:
            kept = self._left(division, conjunct)
            if kept is not None:
                left = kept if left is None else left & kept
        exact = self._exact(division, parts) if len(division.key.names) > 1 else None
        return left if exact is None else exact

    def _is_contradiction(self, condition: Expr) -> bool:
        """Whether two comparisons of one column with constants exclude each other (predicate_refuted_by)."""
        by_column: dict[str, list[tuple[str, Expr | None]]] = {}
        for node in conjuncts(condition):
            if node.node == "NullTest":
                by_column.setdefault(self._column(node.args[0]), []).append((str(node.value), None))
                continue
            name, operator, constant = self._comparison_of(node)
            if constant is not None and operator in _HOLDS:
                by_column.setdefault(name, []).append((operator, constant))
        by_column.pop("", None)
        context = self._session.context()
        return any(
            _exclude(context, one, other) for tests in by_column.values() for one, other in combinations(tests, 2)
        )

    def _exact(self, division: Partitioning, parts: list[Expr]) -> Oids | None:
        """The partition of the rows that have a constant in each column of the key."""
        equal: dict[str, object] = {}
        for node in parts:
            name, operator, value = self._parts(division, node)
            if operator == "=":
                equal[name] = value
        if any(name not in equal for name in division.key.names):
            return None
        child = division.partition_of([equal[name] for name in division.key.names])
        return set() if child is None else {child.oid}

    def _comparison(self, division: Partitioning, node: Expr) -> Oids | None:
        name, operator, value = self._parts(division, node)
        if not operator:
            return self._unknown(division, node)
        if value is None:
            return set()
        if operator == "=" and name == division.key.names[0]:
            return self._equal(division, value)
        holds = _HOLDS[operator]
        return division.matching(operator, value, holds) if name == division.key.names[0] else None

    def _one_of(self, division: Partitioning, node: Expr) -> Oids | None:
        """IN (...)."""
        left, right = node.args
        cache = self._session.catalog_session.syscache
        is_equal = cache.operator(node.operators[0]).name == "=" and right.node == "Const"
        if not is_equal or self._column(left) != division.key.names[0]:
            return self._unknown(division, node)
        if not _compares(division, cache.element_type(right.type)):
            return self._unknown(division, node)
        values = [] if right.value is None else [value for value in right.value.elements if value is not None]
        sides = [self._equal(division, value) for value in values]
        return None if None in sides else set().union(*filter(None, sides))

    def _equal(self, division: Partitioning, value: object) -> Oids | None:
        """The partitions of rows with a value in the first column of the key."""
        if division.relation.strategy != "h":
            return division.matching("=", value, _HOLDS["="])
        child = division.partition_of([value]) if len(division.key.names) == 1 else None
        return None if child is None else {child.oid}

    def _parts(self, division: Partitioning, node: Expr) -> tuple[str, str, object]:
        """The column, the operator and the constant of a comparison with a column of the key; else empty texts."""
        name, operator, constant = self._comparison_of(node)
        if constant is None or operator not in _HOLDS or name not in division.key.names:
            return "", "", None
        is_known = _compares(division, constant.type, division.key.names.index(name))
        return (name, operator, constant.value) if is_known else ("", "", None)

    def _comparison_of(self, node: Expr) -> tuple[str, str, Expr | None]:
        """The column, the operator and the constant of any comparison of a column of the target."""
        if node.node != "OpExpr" or len(node.args) != 2:
            return "", "", None
        left, right = node.args
        operator = self._session.catalog_session.syscache.operator(node.operators[0]).name
        if left.node == "Const":
            left, right, operator = right, left, COMMUTED.get(operator, "")
        return (self._column(left), operator, right) if right.node == "Const" else ("", "", None)

    def _column(self, node: Expr) -> str:
        """The name of a column of the target, or ""."""
        if node.node == "RelabelType":
            node = node.args[0]
        if node.node != "Var" or type(node.value) is not tuple or node.value[1] is not self._target:
            return ""
        return node.value[2] or ""


def _compares(division: Partitioning, type_oid: int, number: int = 0) -> bool:
    return _together(type_oid, division.key.types[number])


def _together(one: int, other: int) -> bool:
    return one == other or any(one in types and other in types for types in _TOGETHER)


def _exclude(context: Context, one: tuple[str, Expr | None], other: tuple[str, Expr | None]) -> bool:
    """Whether two tests of a column cannot both be true."""
    (first, left), (second, right) = one, other
    if left is None or right is None:
        return "IS_NULL" in (first, second) and first != second
    if not _together(left.type, right.type):
        return False
    sign = order_of(context, left.type, left.collation)(left.value, right.value)
    if sign == 0:
        return frozenset((first, second)) in _OPPOSED
    low, high = (first, second) if sign < 0 else (second, first)
    return low in ("<", "<=", "=") and high in (">", ">=", "=")


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
