"""GROUP BY and aggregates (executor/nodeAgg.c), and window functions (executor/nodeWindowAgg.c,
utils/adt/windowfuncs.c)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Hashable, Iterator, Sequence
from decimal import Decimal
from typing import Any

from msgspec import Struct

from pubcheck.postgres import oids
from pubcheck.postgres.analysis.namespace_items import Nested, Window
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.datum import WIDE, Array
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.executor.compare import order_of
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import StatementBuilder, Step
from pubcheck.simulate.executor.tables import comparison, equal_form, key_of
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


_RANGE, _ROWS = 0x2, 0x4  # and GROUPS, 0x8
_FROM_FIRST, _TO_LAST, _FROM_CURRENT, _TO_CURRENT = 0x20, 0x100, 0x200, 0x400
_FROM_PRECEDING, _TO_PRECEDING, _FROM_FOLLOWING, _TO_FOLLOWING = 0x800, 0x1000, 0x2000, 0x4000
_EXCLUDE_ROW, _EXCLUDE_GROUP, _EXCLUDE_TIES = 0x8000, 0x10000, 0x20000


class _Peers(Struct):
    """A partition: its rows in order, and for each the places of its first and its last peer."""

    rows: list[Row]
    first: list[int]
    last: list[int]

    @property
    def has_ties(self) -> bool:
        return any(start < end for start, end in zip(self.first, self.last, strict=True))


Compute = Callable[[_Peers], list[Any]]


class OverWindows(StatementBuilder):
    """Builds expressions over rows to which the results of window functions are appended."""

    def __init__(self, session: Backend, level: Nested, windows: Windows) -> None:
        super().__init__(session, level)
        self._windows = windows

    def build(self, expr: Expr) -> Step:
        if expr.node == "WindowFunc":
            number = self._windows.add(expr)
            width = self._windows.width
            return lambda row: row[width + number]
        return super().build(expr)


class _Sorted:
    """One window: how its rows are divided and ordered, and its functions with the places of their results."""

    def __init__(self, session: Backend, level: Nested, window: Window) -> None:
        builder = StatementBuilder(session, level)
        cache = session.catalog_session.syscache
        self.window = window
        self.functions: list[tuple[int, Compute]] = []
        self.keys = [builder.build(expr) for expr in window.partition]
        self.forms = [equal_form(cache, expr.type, expr.collation) for expr in window.partition]
        partition: list[tuple[Expr, Node]] = [(expr, {}) for expr in window.partition]
        sort = [(builder.build(expr), expr, by) for expr, by in [*partition, *window.order]]
        self.compare = comparison(session, sort)

    def partitions(self, rows: list[Row]) -> Iterator[_Peers]:
        ordered = sorted(rows, key=functools.cmp_to_key(self.compare))
        start = 0
        while start < len(ordered):
            key = self._key(ordered[start])
            end = start + 1
            while end < len(ordered) and self._key(ordered[end]) == key:
                end += 1
            yield self._peers(ordered[start:end])
            start = end

    def _key(self, row: Row) -> tuple[Hashable, ...]:
        return key_of([step(row) for step in self.keys], self.forms)

    def _peers(self, rows: list[Row]) -> _Peers:
        first, last = [0] * len(rows), [0] * len(rows)
        start = 0
        for place in range(1, len(rows) + 1):
            if place == len(rows) or self.compare(rows[place - 1], rows[place]):
                first[start:place], last[start:place] = [start] * (place - start), [place - 1] * (place - start)
                start = place
        return _Peers(rows, first, last)


class Windows:
    """The window functions of a query. ``certain``: whether the order of the rows that come out is known."""

    certain = False

    def __init__(self, session: Backend, level: Nested) -> None:
        self.session, self.level = session, level
        self.width = max(len(level.entries), 1)
        self.in_order = True
        """Whether the rows come in a known order."""
        self._count = 0
        self._windows: list[_Sorted] = []

    def add(self, expr: Expr) -> int:
        """Add a call. Return the number of its result."""
        over, _, ignores_nulls = expr.value
        window = self.level.query.windows.get(over.get("name", id(over)))
        if window is None or ignores_nulls:
            raise NotFollowed("a window function with IGNORE NULLS")
        entry = next((entry for entry in self._windows if entry.window is window), None)
        if entry is None:
            entry = _Sorted(self.session, self.level, window)
            self._windows.append(entry)
        entry.functions.append((self._count, self._function(expr, window)))
        self._count += 1
        return self._count - 1

    def run(self, rows: Iterator[Row]) -> Iterator[Row]:
        """The rows with the results of all calls, in the order of the only window."""
        listed = [[*row[: self.width], *[None] * self._count] for row in rows]
        ordered: list[Row] = []
        ties = False
        for window in self._windows:
            ordered = []
            for peers in window.partitions(listed):
                ties = ties or peers.has_ties
                for number, compute in window.functions:
                    for row, value in zip(peers.rows, compute(peers), strict=True):
                        row[self.width + number] = value
                ordered += peers.rows
        is_sorted = any(window.window.order or window.window.partition for window in self._windows)
        self.certain = len(self._windows) == 1 and (not ties if is_sorted else self.in_order)
        return iter(ordered)

    def _function(self, expr: Expr, window: Window) -> Compute:
        builder = StatementBuilder(self.session, self.level)
        proc = builder.cache.proc(expr.functions[0])
        arguments = [builder.build(argument) for argument in expr.args]
        if proc.oid >= FIRST_NORMAL_OID:
            raise NotFollowed(f"the window function {proc.name}")
        if proc.kind == "a":
            finish = maker_of(proc.name)(builder, expr)
            frame = _frame(window, self._tied)
            needs_order = proc.name in _IN_ORDER
            condition = None if expr.value[1] is None else builder.build(expr.value[1])

            def aggregate(peers: _Peers) -> list[Any]:
                if needs_order:
                    self._tied(peers)
                values = [tuple([step(row) for step in arguments]) for row in peers.rows]
                counts = [condition is None or condition(row) is True for row in peers.rows]
                return [finish([values[place] for place in places if counts[place]]) for places in frame(peers)]

            return aggregate
        if proc.name in _RANKS:
            ranks = _RANKS[proc.name]
            needs_order = proc.name in _IN_ORDER

            def rank(peers: _Peers) -> list[Any]:
                if needs_order:
                    self._tied(peers)
                return ranks(peers)

            return rank
        if proc.name == "ntile":
            return self._ntile(arguments[0])
        if proc.name in _OFFSETS:
            return self._offset(arguments, _OFFSETS[proc.name])
        if proc.name in ("first_value", "last_value"):
            frame = _frame(window, self._tied)
            end = 0 if proc.name == "first_value" else -1

            def value(peers: _Peers) -> list[Any]:
                self._tied(peers)
                values = [arguments[0](row) for row in peers.rows]
                return [values[places[end]] if places else None for places in frame(peers)]

            return value
        raise NotFollowed(f"the window function {proc.name}")

    def _offset(self, arguments: list[Step], sign: int) -> Compute:
        """lag and lead."""

        def compute(peers: _Peers) -> list[Any]:
            self._tied(peers)
            results: list[Any] = []
            for place, row in enumerate(peers.rows):
                distance = arguments[1](row) if len(arguments) > 1 else 1
                other = None if distance is None else place + sign * distance
                if other is None:
                    results.append(None)
                elif 0 <= other < len(peers.rows):
                    results.append(arguments[0](peers.rows[other]))
                else:
                    results.append(arguments[2](row) if len(arguments) > 2 else None)
            return results

        return compute

    def _ntile(self, number: Step) -> Compute:
        def compute(peers: _Peers) -> list[Any]:
            self._tied(peers)
            buckets = number(peers.rows[0])
            if buckets is None:
                return [None] * len(peers.rows)
            if buckets <= 0:
                raise ServerError("22014", "argument of ntile must be greater than zero")
            size, larger = divmod(len(peers.rows), buckets)
            border = larger * (size + 1)
            return [
                place // (size + 1) + 1 if place < border else larger + (place - border) // size + 1
                for place in range(len(peers.rows))
            ]

        return compute

    def _tied(self, peers: _Peers) -> None:
        """Raise NotFollowed where a result depends on the order of rows that the window does not order."""
        is_sorted = any(window.window.order or window.window.partition for window in self._windows)
        if peers.has_ties and (is_sorted or not self.in_order):
            raise NotFollowed("the order of rows that the ORDER BY of a window does not tell apart")


def _row_numbers(peers: _Peers) -> list[Any]:
    return list(range(1, len(peers.rows) + 1))


def _ranks(peers: _Peers) -> list[Any]:
    return [place + 1 for place in peers.first]


def _dense_ranks(peers: _Peers) -> list[Any]:
    number, results = 0, []
    for place, start in enumerate(peers.first):
        number += start == place
        results.append(number)
    return results


def _percent_ranks(peers: _Peers) -> list[Any]:
    others = len(peers.rows) - 1
    return [start / others if others else 0.0 for start in peers.first]


def _distributions(peers: _Peers) -> list[Any]:
    return [(end + 1) / len(peers.rows) for end in peers.last]


_RANKS: dict[str, Compute] = {
    "cume_dist": _distributions,
    "dense_rank": _dense_ranks,
    "percent_rank": _percent_ranks,
    "rank": _ranks,
    "row_number": _row_numbers,
}
_IN_ORDER = frozenset(("array_agg", "row_number", "string_agg"))
"""Functions whose results depend on the order of peers."""
_OFFSETS = {"lag": -1, "lead": 1}


def _frame(window: Window, tied: Callable[[_Peers], None]) -> Callable[[_Peers], Iterator[Sequence[int]]]:
    """The places of the rows in the frame of each row. Its bounds count rows, or groups of peers."""
    options = window.frame
    by_rows = bool(options & _ROWS)
    known = _FROM_FIRST | _TO_LAST | _FROM_CURRENT | _TO_CURRENT
    with_offsets = _FROM_PRECEDING | _TO_PRECEDING | _FROM_FOLLOWING | _TO_FOLLOWING
    if not options & (known | with_offsets) or (options & with_offsets and options & _RANGE):
        raise NotFollowed("the frame of a window")
    start, end = _offset_of(window.start), _offset_of(window.end)
    start = start if options & _FROM_FOLLOWING else -start
    end = end if options & _TO_FOLLOWING else -end

    def frames(peers: _Peers) -> Iterator[Sequence[int]]:
        if by_rows:
            tied(peers)
        count = len(peers.rows)
        firsts = list(range(count)) if by_rows else sorted(set(peers.first))
        ends = [*firsts[1:], count]
        unit = -1
        for place in range(count):
            unit += unit + 1 < len(firsts) and firsts[unit + 1] == place
            low, high = unit + start, unit + end
            first = 0 if options & _FROM_FIRST or low < 0 else firsts[low] if low < len(firsts) else count
            stop = count if options & _TO_LAST or high >= len(ends) else ends[high] if high >= 0 else 0
            yield _without(range(first, stop), place, peers, options)

    return frames


def _without(places: Sequence[int], place: int, peers: _Peers, options: int) -> Sequence[int]:
    """Leave out what EXCLUDE says: the current row, its peers, or both."""
    if not options & (_EXCLUDE_ROW | _EXCLUDE_GROUP | _EXCLUDE_TIES):
        return places
    first, last = (place, place) if options & _EXCLUDE_ROW else (peers.first[place], peers.last[place])
    keeps_row = bool(options & _EXCLUDE_TIES)
    return [other for other in places if not first <= other <= last or (keeps_row and other == place)]


def _offset_of(node: Any) -> int:
    if node is None:
        return 0
    value = node.get("A_Const", {}).get("ival")
    if value is None:
        raise NotFollowed("a frame whose offset is not a number")
    offset = int(value.get("ival", 0))
    if offset < 0:
        raise ServerError("22013", "frame starting offset must not be negative")
    return offset
