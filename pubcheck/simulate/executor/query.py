"""SELECT as a source of rows: FROM, WHERE, GROUP BY, ORDER BY, LIMIT, UNION ALL, VALUES, functions that return sets.

A query's rows come in an order. Where the server's order depends on its plan, ``certain`` is False.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

from pubcheck.postgres.analysis.from_clause import Join
from pubcheck.postgres.analysis.namespace_items import Item, Nested
from pubcheck.postgres.analysis.operators import find_operator
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.primnodes import Expr, nodes
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.aggregates import Aggregation
from pubcheck.simulate.executor.conditions import conjuncts
from pubcheck.simulate.executor.expressions import (
    Scope,
    StatementBuilder,
    Step,
    frame_of,
    has_unknown_order,
    is_volatile,
)
from pubcheck.simulate.executor.index_keys import equal_form
from pubcheck.simulate.executor.row_locks import RowMarks, locked_rows
from pubcheck.simulate.executor.row_order import row_order
from pubcheck.simulate.executor.scans import scan_relation
from pubcheck.simulate.executor.set_functions import function_rows
from pubcheck.simulate.executor.windows import OverWindows, Windows
from pubcheck.simulate.not_followed import NotFollowed

Row = list[Any]
Source = Callable[[Row], Iterator[None]]
"""Fills its entries of a row in place, once for each of its rows."""


class _Nulls(dict[int, None]):
    """The row of the other side of an outer join."""

    def __missing__(self, number: int) -> None:
        return None


NULLS = _Nulls()


class FromClause:
    """The rows of FROM. ``rows`` fills the entries of a row in place, once for each of them.

    ``certain``: whether their order was known so far.
    """

    lateral = False

    def __init__(self, session: Backend, level: Nested, sources: list[Any]) -> None:
        self.session, self.level = session, level
        self.certain = True
        where = level.query.where
        self._is_product = where is None or not any(len(_items_in(part, level)) > 1 for part in conjuncts(where))
        self.rows = self._sources(sources)

    def _sources(self, sources: list[Any]) -> Source:
        if not sources:
            return lambda row: iter((None,))
        combined = self._source_of(sources[0])
        for other in sources[1:]:
            combined = self._nested(combined, self._source_of(other))
        return combined

    def _nested(self, outer: Source, inner: Source) -> Source:
        def rows(row: Row) -> Iterator[None]:
            matches = most = 0
            for _ in outer(row):
                inner_rows = 0
                for _ in inner(row):
                    inner_rows += 1
                    yield
                matches, most = matches + bool(inner_rows), max(most, inner_rows)
                # Without a condition on both sides, the only row of one is joined to the others in their order.
                if (min(matches, most) if self._is_product else max(matches, most)) > 1:
                    self.certain = False

        return rows

    def _source_of(self, source: Any) -> Source:
        if isinstance(source, Join):
            return self._join(source)
        position = self.level.entries.index(source)
        if source.relation is not None and source.source is None:
            is_view = source.relation.kind == "v" and source.relation.oid >= FIRST_NORMAL_OID
            return self._view(source, position) if is_view else self._table(source, position)
        if isinstance(source.source, Nested):
            return self._sub_select(source.source, position)
        if isinstance(source.source, list):
            make_rows = function_rows(self.session, self.level, source)

            def of_function(row: Row) -> Iterator[None]:
                for values in make_rows(row):
                    row[position] = values
                    yield

            return of_function
        if hasattr(source.source, "rows"):
            return self._common_table(source.source, position)
        raise NotFollowed(f'the rows of "{source.name}"')

    def _common_table(self, common: Any, position: int) -> Source:
        def rows(row: Row) -> Iterator[None]:
            for values in common.rows():
                row[position] = values
                yield

        return rows

    def _table(self, item: Item, position: int) -> Source:
        session, relation = self.session, item.relation
        assert relation is not None

        def rows(row: Row) -> Iterator[None]:
            for version in scan_relation(session, relation, inherited=not item.only):
                row[position] = version
                yield

        return rows

    def _view(self, item: Item, position: int) -> Source:
        """The rows of a view's query, by the numbers of the view's columns."""
        session, relation = self.session, item.relation
        assert relation is not None
        if relation.oid in session.views:
            raise NotFollowed(f'the rows of "{relation.name}"')
        session.views.add(relation.oid)
        try:
            outer, session.variables = session.variables, None
            level = Nested(Scope(session))
            session.variables = outer
            definition: Any = session.database.catalog.definitions[("view", relation.oid)]
            if analyze_query(level, definition["query"]) is None:
                raise Unknowable("the columns of a SELECT")
            inner = plan(session, level)
        finally:
            session.views.discard(relation.oid)
        numbers = [column.number for column in relation.live()]

        def rows(row: Row) -> Iterator[None]:
            results = list(inner.run())
            self.certain = self.certain and (inner.in_order or inner.certain or len(results) < 2)
            for values in results:
                row[position] = dict(zip(numbers, values, strict=True))
                yield

        return rows

    def _sub_select(self, level: Nested, position: int) -> Source:
        inner = plan(self.session, level)
        frame = frame_of(self.level)
        if inner.in_order:

            def in_order(row: Row) -> Iterator[None]:
                frame.row = row
                for values in inner.run():
                    row[position] = values
                    yield

            return in_order

        def rows(row: Row) -> Iterator[None]:
            held, frame.row = frame.row, row
            try:
                results = list(inner.run())
            finally:
                frame.row = held
            self.certain = self.certain and (inner.certain or len(results) < 2)
            for values in results:
                row[position] = values
                yield

        return rows

    def _join(self, join: Join) -> Source:
        left, right = self._source_of(join.left), self._source_of(join.right)
        condition = self._join_condition(join)
        kind = join.kind
        if kind not in ("JOIN_INNER", "JOIN_LEFT"):
            raise NotFollowed("the order of the rows of a RIGHT or FULL JOIN")
        nullable = [self.level.entries.index(item) for item in _items(join.right)] if kind == "JOIN_LEFT" else []

        def rows(row: Row) -> Iterator[None]:
            outer_rows = 0
            for _ in left(row):
                matches = 0
                for _ in right(row):
                    if condition is None or condition(row) is True:
                        matches += 1
                        yield
                if not matches and nullable:
                    for position in nullable:
                        row[position] = NULLS
                    matches = 1
                    yield
                outer_rows += bool(matches)
                if outer_rows > 1 or matches > 1:
                    self.certain = False

        return rows

    def _join_condition(self, join: Join) -> Step | None:
        builder = StatementBuilder(self.session, self.level)
        if join.condition is not None:
            return builder.build(join.condition)
        if not join.using:
            return None
        tests = []
        for name in join.using:
            left, right = (_column_of(self.level, side, name) for side in (join.left, join.right))
            equal = find_operator(self.level, ["="], left.type, right.type, -1)
            row = self.session.catalog_session.syscache.operator(equal.oid)
            tests.append(Expr("OpExpr", 16, [left, right], operators=(row.oid,), functions=(row.function,)))
        steps = [builder.build(test) for test in tests]
        return lambda row: all(step(row) is True for step in steps)


class Plan:
    """A query that is ready. ``run`` gives its rows; ``names`` and ``types`` are those of its columns."""

    def __init__(self, session: Backend, p: Nested) -> None:
        self.session = session
        self.level = p
        self.query = p.query
        self.certain = True
        """Whether the order of the rows is known, as far as they were read."""
        self._calls_in_turn = False
        """Whether volatile functions are called for each row as it is read."""
        self._marks = RowMarks(session, p) if p.query.locking else None
        self._postponed: list[int] = []
        shown = [target for target in self.query.targets if not target.junk]
        self.names = tuple(target.name for target in shown)
        self.types = tuple(target.expr.type for target in shown)
        builder = StatementBuilder(session, p)
        self._limits = {clause: builder.build(expr) for clause, expr in self.query.limits.items()}
        self._arms: list[tuple[Plan, list[Step] | None]] = []
        self._rows: list[list[Step]] | None = None
        self._aggregation: Aggregation | None = None
        self._windows: Windows | None = None
        if self.query.arms:
            self._set_operation(self.query.arms)
            return
        if self.query.rows is not None:
            ordered = StatementBuilder(session, p, in_order=True)
            self._rows = [[ordered.build(expr) for expr in row] for row in self.query.rows]
            return
        self._from = FromClause(session, p, self.query.sources)
        self._where = None if self.query.where is None else builder.build(self.query.where)
        if p.has_aggregates or self.query.groups is not None or self.query.having is not None:
            if self.query.grouping_sets:
                raise NotFollowed("grouping sets")
            if _has_windows(self.query):
                raise NotFollowed("window functions over groups")
            self._aggregation = Aggregation(session, p)
            self._targets = self._aggregation.targets
        elif _has_windows(self.query):
            self._windows = Windows(session, p)
            over = OverWindows(session, p, self._windows)
            self._targets = [over.build(target.expr) for target in self.query.targets]
        else:
            ordered = StatementBuilder(session, p, in_order=True)
            self._targets = [ordered.build_target(target.expr) for target in self.query.targets]
            self._find_volatile_targets()

    def _find_volatile_targets(self) -> None:
        """Targets with volatile functions are evaluated last, in the order in which rows leave the query
        (make_sort_input_target)."""
        query = self.query
        sorted_by = [target for target, _ in query.sort] + list(query.distinct or ())
        numbers = [number for number, target in enumerate(query.targets) if is_volatile(self.session, target.expr)]
        if query.sort or self._limits or query.locking:
            self._postponed = [number for number in numbers if query.targets[number] not in sorted_by]
        self._calls_in_turn = len(numbers) > len(self._postponed)

    def _set_operation(self, arms: Any) -> None:
        operation, keeps_all, *sides = arms
        if operation != "UNION" or not keeps_all:
            raise NotFollowed(f"the order of the rows of {operation}")
        for source, targets in sides:
            if isinstance(source, tuple):
                self._set_operation(source)
                continue
            builder = StatementBuilder(self.session, None)
            coercions: list[Step] = []
            for number, target in enumerate(targets):
                output = target.output
                if output is None or output is target.expr:
                    coercions.append(operator.itemgetter(number))
                else:
                    coercions.append(builder.over(output, target.expr, number))
            self._arms.append((plan(self.session, source), coercions))

    # Rows.

    def run(self) -> Iterator[tuple[Any, ...]]:
        """The rows. What a caller of the outer query's row needs is in its frame."""
        rows = self._all_rows()
        if self.query.sort:
            rows = self._sorted(rows)  # DISTINCT ON keeps the first row of each group in this order
        if self.query.distinct is not None:
            rows = self._distinct(rows)
        width = len(self.names)
        rows = self._limited(rows)
        if self._postponed:
            rows = self._with_postponed(rows)
        if len(self.query.targets) == width:
            return rows
        return (tuple(v for v, t in zip(row, self.query.targets, strict=True) if not t.junk) for row in rows)

    def _all_rows(self) -> Iterator[tuple[Any, ...]]:
        if self._arms:
            return self._union()
        if self._rows is not None:
            return (tuple([step(()) for step in row]) for row in self._rows)
        joined = self._joined()
        if self._calls_in_turn and not self.in_order:
            joined = self._in_certain_order(joined)
        if self._aggregation is not None:
            return self._aggregated(joined)
        if self._windows is not None:
            return self._over_windows(self._windows, joined)
        if any(getattr(step, "returns_set", False) for step in self._targets):
            return self._projected_sets(joined)
        targets = list(self._targets)
        for number in self._postponed:
            targets[number] = list  # a copy of the row, for later
        if self._marks is not None:
            targets.append(list)
        return (tuple([step(row) for step in targets]) for row in joined)

    def _over_windows(self, windows: Windows, joined: Iterator[Row]) -> Iterator[tuple[Any, ...]]:
        listed = [list(row) for row in joined]
        windows.in_order = self.certain
        rows = list(windows.run(iter(listed)))
        self.certain = windows.certain
        return (tuple([step(row) for step in self._targets]) for row in rows)

    def _in_certain_order(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Rows for which volatile functions are called. Raises NotFollowed where their order is not known."""
        listed = [list(row) for row in rows]
        if len(listed) > 1 and not self.certain:
            raise NotFollowed("the order in which volatile functions are called for the rows of a query")
        return iter(listed)

    def _with_postponed(self, rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Evaluate the targets that are evaluated last."""
        for values in self._in_certain_order(map(list, rows)):
            for number in self._postponed:
                values[number] = self._targets[number](values[number])
            yield tuple(values)

    def _joined(self) -> Iterator[Row]:
        row: Row = [None] * max(len(self.level.entries), 1)
        where, count = self._where, 0
        for _ in self._from.rows(row):
            if where is None or where(row) is True:
                count += 1
                self.session.spend_step()
                yield row
        self.certain = self.certain and self._from.certain
        if count > 1 and has_unknown_order(self.session, self.query.where):
            self.certain = False

    @property
    def in_order(self) -> bool:
        """Whether rows can be taken as they come: there is one source, or UNION ALL, and nothing sorts or groups."""
        query = self.query
        if query.locking or has_unknown_order(self.session, query.where):
            return False
        if (
            self._aggregation is not None
            or self._windows is not None
            or query.sort
            or query.distinct is not None
            or self._limits
        ):
            return False
        if self._arms:
            return all(arm.in_order for arm, _ in self._arms)
        sources = query.sources
        return not sources or (len(sources) == 1 and isinstance(sources[0], Item) and _is_plain(sources[0]))

    def _projected_sets(self, joined: Iterator[Row]) -> Iterator[tuple[Any, ...]]:
        """Set-returning functions in the select list: all advance together (ProjectSet)."""
        for row in joined:
            values = [(list(step(row)) if getattr(step, "returns_set", False) else step(row)) for step in self._targets]
            sets = [getattr(step, "returns_set", False) for step in self._targets]
            length = max(len(value) for value, is_set in zip(values, sets, strict=True) if is_set)
            for at in range(length):
                yield tuple(
                    (value[at] if at < len(value) else None) if is_set else value
                    for value, is_set in zip(values, sets, strict=True)
                )

    def _aggregated(self, joined: Iterator[Row]) -> Iterator[tuple[Any, ...]]:
        assert self._aggregation is not None
        rows = list(self._aggregation.run(joined))
        if len(rows) > 1:
            self.certain = False
        return iter(rows)

    def _union(self) -> Iterator[tuple[Any, ...]]:
        for arm, coercions in self._arms:
            for row in arm.run():
                yield row if coercions is None else tuple([step(row) for step in coercions])
            self.certain = self.certain and arm.certain

    def _distinct(self, rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        assert self.query.distinct is not None
        cache = self.session.catalog_session.syscache
        chosen = [
            (number, equal_form(cache, target.expr.type, target.expr.collation))
            for number, target in enumerate(self.query.targets)
            if target in self.query.distinct
        ]
        seen: dict[Any, tuple[Any, ...]] = {}
        for row in rows:
            key = tuple(
                row[number] if form is None or row[number] is None else form(row[number]) for number, form in chosen
            )
            if key in seen and len(chosen) < len(self.names) and not self.query.sort:
                self.certain = False
            seen.setdefault(key, row)
        if len(seen) > 1 and not self.query.sort:
            self.certain = False
        return iter(seen.values())

    def _sorted(self, rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        compare = row_order(self.session, self.query.targets, self.query.sort)
        ordered = sorted(rows, key=functools.cmp_to_key(compare))
        ties = any(compare(one, other) == 0 and one != other for one, other in itertools.pairwise(ordered))
        self.certain = not ties
        return iter(ordered)

    def _limited(self, rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        if not self._limits:
            return rows if self._marks is None else locked_rows(self._marks, rows, None)
        if self.query.with_ties:
            raise NotFollowed("FETCH FIRST ... WITH TIES")
        offset, limit = (self._limit(clause) for clause in ("OFFSET", "LIMIT"))
        listed = list(rows)
        if not self.certain and len(listed) > 1:
            raise NotFollowed("which rows LIMIT and OFFSET choose")
        start = offset or 0
        most = None if limit is None else start + limit
        if self._marks is not None:
            listed = list(locked_rows(self._marks, iter(listed), most))
        return iter(listed[start:most])

    def _limit(self, clause: str) -> int | None:
        step = self._limits.get(clause)
        value = None if step is None else step(())
        if value is not None and value < 0:
            state = "2201W" if clause == "LIMIT" else "2201X"
            raise ServerError(state, f"{clause} must not be negative")
        return value


def _has_windows(query: Any) -> bool:
    return any(node.node == "WindowFunc" for target in query.targets for node in nodes(target.expr))


def _is_plain(item: Item) -> bool:
    if item.relation is not None and item.relation.kind == "v":
        return False
    return item.source is None or not isinstance(item.source, Nested) or plan_of(item.source).in_order


def plan_of(level: Nested) -> Plan:
    result: Plan = vars(level)["executor_plan"]
    return result


def plan(session: Backend, level: Nested) -> Plan:
    """The plan of an analysed query; it is made once for each statement."""
    held = vars(level).get("executor_plan")
    if held is None:
        held = vars(level)["executor_plan"] = Plan(session, level)
    result: Plan = held
    return result


def _items_in(expr: Expr, level: Nested) -> set[int]:
    """The entries of a level that an expression refers to; one with a sub-select may refer to all."""
    items = {id(n.value[1]) for n in nodes(expr) if n.node == "Var" and type(n.value) is tuple and n.value[0] is level}
    return items | ({0, 1} if any(node.node == "SubLink" for node in nodes(expr)) else set())


def _items(source: Any) -> list[Item]:
    return [*_items(source.left), *_items(source.right)] if isinstance(source, Join) else [source]


def _column_of(level: Nested, source: Any, name: str) -> Expr:
    """A column of one side of a join, by its name."""
    for item in _items(source):
        for column in item.columns or ():
            if column.name == name:
                value = (level, item, name)
                return Expr("Var", column.type, [], typmod=column.typmod, collation=column.collation, value=value)
    raise Unknowable(f'the column "{name}"')
