"""SELECT as a source of rows: FROM, WHERE, GROUP BY, ORDER BY, LIMIT, UNION ALL, VALUES, functions that return sets;
and sub-selects in expressions (executor/nodeSubplan.c).

A query's rows come in an order. Where the server's order depends on its plan, ``certain`` is False.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Hashable, Iterator
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.analysis.namespace_items import Item, Nested, WorkingTable
from pubcheck.postgres.datum import Array
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.primnodes import Expr, nodes
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.aggregates import Aggregation, OverWindows, Windows
from pubcheck.simulate.executor.expressions import (
    StatementBuilder,
    Step,
    frame_of,
    has_unknown_order,
    is_volatile,
)
from pubcheck.simulate.executor.from_rows import FromClause
from pubcheck.simulate.executor.row_locks import RowMarks, locked_rows
from pubcheck.simulate.executor.tables import equal_form, key_of, row_order
from pubcheck.simulate.not_followed import NotFollowed

Rows = list[tuple[Any, ...]]


def sub_select(builder: StatementBuilder, expr: Expr) -> Step:
    """A sub-select as a function of the outer row; one that does not refer to it is run once."""
    form, _, outer, level = expr.value
    query = plan(builder.session, level)
    frame = frame_of(builder.level) if builder.level is not None else None
    if builder.level is None and outer:
        raise NotFollowed("a sub-select that refers to the row of a definition")
    once: list[Rows] = []

    def rows(row: Any) -> Rows:
        if once:
            return once[0]
        held = None
        if frame is not None:
            held, frame.row = frame.row, row
        try:
            result = list(query.run())
        finally:
            if frame is not None:
                frame.row = held
        if not outer:
            once.append(result)
        return result

    return _FORMS[form](builder, expr, rows, query)


def _exists(builder: StatementBuilder, expr: Expr, rows: Callable[[Any], Rows], query: Any) -> Step:
    return lambda row: bool(rows(row))


def _scalar(builder: StatementBuilder, expr: Expr, rows: Callable[[Any], Rows], query: Any) -> Step:
    def step(row: Any) -> Any:
        result = rows(row)
        if len(result) > 1:
            raise ServerError("21000", "more than one row returned by a subquery used as an expression")
        return result[0][0] if result else None

    return step


def _array(builder: StatementBuilder, expr: Expr, rows: Callable[[Any], Rows], query: Any) -> Step:
    def step(row: Any) -> Any:
        result = rows(row)
        if not query.certain and len(result) > 1:
            raise NotFollowed("the order of the rows of an array's sub-select")
        return Array([values[0] for values in result])

    return step


def _quantified(use_or: bool) -> Callable[[StatementBuilder, Expr, Callable[[Any], Rows], Any], Step]:
    def make(builder: StatementBuilder, expr: Expr, rows: Callable[[Any], Rows], query: Any) -> Step:
        held: list[Any] = [()]
        numbers = iter(range(1600))

        def bound(node: Expr) -> Expr:
            if node.node == "Param" and node.value is None:
                number = next(numbers)
                return replace(node, value=lambda row: held[0][number])
            return replace(node, args=[bound(arg) for arg in node.args])

        test = builder.build(bound(expr.args[0]))

        def step(row: Any) -> Any:
            unknown = False
            for values in rows(row):
                held[0] = values
                answer = test(row)
                if answer is None:
                    unknown = True
                elif answer is use_or:
                    return use_or
            return None if unknown else not use_or

        return step

    return make


def _row_comparison(builder: StatementBuilder, expr: Expr, rows: Callable[[Any], Rows], query: Any) -> Step:
    raise NotFollowed("the comparison of a row with a sub-select")


_FORMS: dict[str, Callable[[Any, Expr, Callable[[Any], Rows], Any], Step]] = {
    "EXISTS": _exists,
    "EXPR": _scalar,
    "ARRAY": _array,
    "ANY": _quantified(True),
    "ALL": _quantified(False),
    "ROWCOMPARE": _row_comparison,
}


Row = list[Any]


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
        self._outputs: list[Expr] = []
        """The columns of the first arm of a set operation."""
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
        self._keeps_all = keeps_all
        if isinstance(sides[0][0], Nested):
            self._outputs = [target.output or target.expr for target in sides[0][1]]
        if (operation != "UNION" or not keeps_all) and operation != "recursive UNION":
            raise NotFollowed(f"the order of the rows of {operation}")
        if self.query.working_table is not None and isinstance(sides[1][0], Nested):
            query = sides[1][0].query
            parts = [target.expr for target in query.targets] + ([] if query.where is None else [query.where])
            if any(node.node == "SubLink" for part in parts for node in nodes(part)):
                raise NotFollowed("a sub-select in the second part of a recursive query")
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
        if self._arms and self.query.working_table is not None:
            return self._recursive(self.query.working_table)
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
        if self._arms and query.working_table is not None:
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
            for index in range(length):
                yield tuple(
                    (value[index] if index < len(value) else None) if is_set else value
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

    def _recursive(self, table: WorkingTable) -> Iterator[tuple[Any, ...]]:
        """ExecRecursiveUnion: the second arm runs over the rows of the step before, until it gives none."""
        seen: set[Hashable] = set()
        rows = self._new_rows(0, seen)
        while rows:
            yield from rows
            table.current = rows
            rows = self._new_rows(1, seen)

    def _new_rows(self, number: int, seen: set[Hashable]) -> list[tuple[Any, ...]]:
        """Return the rows of an arm of a recursive query; for UNION without ALL, only new rows."""
        arm, coercions = self._arms[number]
        rows = [row if coercions is None else tuple([step(row) for step in coercions]) for row in arm.run()]
        self.certain = self.certain and (arm.in_order or arm.certain or len(rows) < 2)
        if self._keeps_all:
            return rows
        cache = self.session.catalog_session.syscache
        forms = [equal_form(cache, expr.type, expr.collation) for expr in self._outputs]
        fresh = []
        for row in rows:
            key = key_of(row, forms)
            if key not in seen:
                seen.add(key)
                fresh.append(row)
        return fresh

    def _distinct(self, rows: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        assert self.query.distinct is not None
        cache = self.session.catalog_session.syscache
        targets = enumerate(self.query.targets)
        chosen = [(number, target.expr) for number, target in targets if target in self.query.distinct]
        forms = [equal_form(cache, expr.type, expr.collation) for _, expr in chosen]
        seen: dict[Any, tuple[Any, ...]] = {}
        for row in rows:
            key = key_of([row[number] for number, _ in chosen], forms)
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
