"""GROUP BY and aggregates (executor/nodeAgg.c)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

from pubcheck.postgres import oids
from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.datum import WIDE, Array
from pubcheck.postgres.executor.compare import order_of
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import StatementBuilder, Step
from pubcheck.simulate.executor.index_keys import comparison, equal_form, key_of
from pubcheck.simulate.not_followed import NotFollowed

Row = list[Any]
Finish = Callable[[list[tuple[Any, ...]]], Any]


class _Aggregate:
    """One aggregate of a query: the steps of its arguments, and what makes its result of their values."""

    def __init__(self, builder: StatementBuilder, expr: Expr) -> None:
        self.arguments = [builder.build(arg) for arg in expr.args]
        condition = expr.value[1] if len(expr.value) > 1 else None
        self.condition: Step | None = None if condition is None else builder.build(condition)
        sorting = expr.value[2] if len(expr.value) > 2 else ()
        keys = [(builder.build(key), key, by["SortBy"]) for key, by in sorting]
        self.compare = comparison(builder.session, keys) if keys else None
        if len(expr.value) > 3 and expr.value[3]:
            raise NotFollowed("an aggregate with DISTINCT")
        proc = builder.cache.proc(expr.functions[0])
        if proc.oid >= FIRST_NORMAL_OID:
            raise NotFollowed(f"the aggregate {proc.name}")
        self.finish: Finish = maker_of(proc.name)(builder, expr)

    def result(self, rows: list[Row]) -> Any:
        if self.condition is not None:
            rows = [row for row in rows if self.condition(row) is True]
        if self.compare is not None:
            rows = sorted(rows, key=functools.cmp_to_key(self.compare))
        return self.finish([tuple([step(row) for step in self.arguments]) for row in rows])


class _OverGroups(StatementBuilder):
    """Builds expressions over groups: aggregates are at the end of a row."""

    def __init__(self, session: Backend, level: Nested, aggregates: list[_Aggregate], width: int) -> None:
        super().__init__(session, level)
        self.aggregates, self.width = aggregates, width

    def build(self, expr: Expr) -> Step:
        if expr.node == "Aggref" and expr.value[0] is self.level:
            number = len(self.aggregates)
            self.aggregates.append(_Aggregate(StatementBuilder(self.session, self.level), expr))
            width = self.width
            return lambda row: row[width][number]
        return super().build(expr)


class Aggregation:
    """The groups of a query."""

    def __init__(self, session: Backend, level: Nested) -> None:
        query = level.query
        cache = session.catalog_session.syscache
        builder = StatementBuilder(session, level)
        self._aggregates: list[_Aggregate] = []
        self._width = max(len(level.entries), 1)
        over = _OverGroups(session, level, self._aggregates, self._width)
        self.targets = [over.build(target.expr) for target in query.targets]
        self._having = None if query.having is None else over.build(query.having)
        groups = [target.expr for target in query.groups or ()]
        self._keys = [builder.build(expr) for expr in groups]
        self._forms = [equal_form(cache, expr.type, expr.collation) for expr in groups]
        self._grouped = query.groups is not None

    def run(self, rows: Iterator[Row]) -> Iterator[tuple[Any, ...]]:
        groups: dict[Any, list[Row]] = {}
        if not self._grouped:
            groups[()] = []
        for row in rows:
            groups.setdefault(key_of([step(row) for step in self._keys], self._forms), []).append(list(row))
        for members in groups.values():
            values = [aggregate.result(members) for aggregate in self._aggregates]
            row = [*(members[0] if members else [None] * self._width), values]
            if self._having is None or self._having(row) is True:
                yield tuple([step(row) for step in self.targets])


def _count(builder: StatementBuilder, expr: Expr) -> Finish:
    return lambda rows: sum(1 for row in rows if None not in row)


def _present(rows: list[tuple[Any, ...]]) -> list[Any]:
    return [row[0] for row in rows if row[0] is not None]


def _sum(builder: StatementBuilder, expr: Expr) -> Finish:
    argument = expr.args[0].type
    if argument not in (oids.INT2, oids.INT4, oids.INT8, oids.NUMERIC):
        raise NotFollowed("sum of numbers that are not exact")

    def finish(rows: list[tuple[Any, ...]]) -> Any:
        values = _present(rows)
        if not values:
            return None
        if argument in (oids.INT2, oids.INT4):
            return sum(values)
        total = Decimal(0)
        for value in values:
            total = WIDE.add(total, Decimal(value))
        return total

    return finish


def _extreme(sign: int) -> Callable[[StatementBuilder, Expr], Finish]:
    def make(builder: StatementBuilder, expr: Expr) -> Finish:
        order = order_of(builder.context, expr.type, expr.args[0].collation)

        def finish(rows: list[tuple[Any, ...]]) -> Any:
            best: Any = None
            for value in _present(rows):
                if best is None or order(value, best) * sign > 0:
                    best = value
            return best

        return finish

    return make


def _all_of(builder: StatementBuilder, expr: Expr) -> Finish:
    return lambda rows: None if not _present(rows) else all(_present(rows))


def _any_of(builder: StatementBuilder, expr: Expr) -> Finish:
    return lambda rows: None if not _present(rows) else any(_present(rows))


def _string_agg(builder: StatementBuilder, expr: Expr) -> Finish:
    empty: Any = b"" if expr.type == oids.BYTEA else ""

    def finish(rows: list[tuple[Any, ...]]) -> Any:
        parts: list[Any] = []
        for value, delimiter in rows:
            if value is not None:
                if parts:
                    parts.append(delimiter or empty)
                parts.append(value)
        return empty.join(parts) if parts else None

    return finish


def _array_agg(builder: StatementBuilder, expr: Expr) -> Finish:
    if builder.cache.element_type(builder.cache.base_type(expr.args[0].type)[0]):
        raise NotFollowed("array_agg of arrays")
    return lambda rows: Array([row[0] for row in rows]) if rows else None


def maker_of(name: str) -> Callable[[StatementBuilder, Expr], Finish]:
    """What makes the function that computes an aggregate of the values of its arguments."""
    if name not in _AGGREGATES:
        raise NotFollowed(f"the aggregate {name}")
    return _AGGREGATES[name]


_AGGREGATES: dict[str, Callable[[StatementBuilder, Expr], Finish]] = {
    "array_agg": _array_agg,
    "bool_and": _all_of,
    "bool_or": _any_of,
    "count": _count,
    "every": _all_of,
    "max": _extreme(1),
    "min": _extreme(-1),
    "string_agg": _string_agg,
    "sum": _sum,
}
