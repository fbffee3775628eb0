"""The shares of rows that row filters publish: estimated from statistics of columns, or read from a snapshot.

The most common values of a column are tried on the conditions that read only this column. The rest is known where the
statistics have every value of the column, where the condition compares it in the order of its histogram, or where it
tests for NULL. Of several conditions nothing is assumed: their shares are added as bounds. So a share of 0 or 1 is
that of the sample that ANALYZE took, and not of a guess about columns that depend on each other.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from pubcheck.live import document as doc
from pubcheck.live.load import load
from pubcheck.live.server_facts import ColumnStatistics, PublishedShare, Statistics
from pubcheck.postgres import input
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Column, PublicationRel, Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import Context
from pubcheck.postgres.executor.compile import Prepared, prepare
from pubcheck.postgres.primnodes import Expr, nodes
from pubcheck.postgres.session import Session

ROUNDING = 1e-6
"""Frequencies are float4: those of all values add up to 1 within this error."""


_TOO_WIDE = 1e-5
"""More than the rounding of many frequencies, and less than one row of the sample that ANALYZE takes by default."""


class Share(Struct, frozen=True):
    """Bounds of the share of rows for which a condition is true, and of those for which it is false."""

    true: tuple[float, float] = (0.0, 1.0)
    false: tuple[float, float] = (0.0, 1.0)

    @property
    def takes_all(self) -> bool:
        return self.true[0] >= 1 - ROUNDING

    @property
    def takes_none(self) -> bool:
        return self.true[1] <= ROUNDING


UNKNOWN = Share()


def filter_share(expr: Expr, relation: Relation, columns: Mapping[str, ColumnStatistics], context: Context) -> Share:
    """Return the share of a relation's rows for which an analysed filter is true; ``columns`` are by name."""
    try:
        return _Estimate(relation, columns, context).of(expr)
    except RecursionError:
        return UNKNOWN


class _Estimate:
    def __init__(self, relation: Relation, columns: Mapping[str, ColumnStatistics], context: Context) -> None:
        self._relation, self._columns, self._context = relation, columns, context
        self._values: dict[int, list[tuple[Any, float]]] = {}

    def of(self, expr: Expr) -> Share:
        read = {node.value for node in nodes(expr) if node.node == "Var"}
        if not read:
            return self._constant(expr)
        known = self._known(next(iter(read))) if len(read) == 1 else None
        if known is not None and (_is_complete(known) or expr.node != "BoolExpr"):
            return self._single(expr, self._relation.columns[next(iter(read)) - 1], known)
        if expr.node == "BoolExpr":
            parts = [self.of(part) for part in expr.args]
            if expr.value == "NOT":
                return Share(parts[0].false, parts[0].true)
            return _both(parts) if expr.value == "AND" else _negated(_both([_negated(part) for part in parts]))
        return UNKNOWN

    def _known(self, number: int) -> ColumnStatistics | None:
        return self._columns.get(self._relation.columns[number - 1].name) if number > 0 else None

    def _constant(self, expr: Expr) -> Share:
        answer = _answer(prepare(expr, self._context), {})
        if answer == "unknown":
            return UNKNOWN
        return Share(_exactly(answer is True), _exactly(answer is False))

    def _single(self, expr: Expr, column: Column, known: ColumnStatistics) -> Share:
        """The share of a condition on one column: its common values, NULL, and the rest as far as it is known."""
        run = prepare(expr, self._context)
        true = false = 0.0
        unknown = rest = max(0.0, 1 - known.nulls - sum(known.frequencies))
        if _is_complete(known):
            unknown = rest = 0.0
        for text, frequency in [*zip(known.values, known.frequencies, strict=False), (None, known.nulls)]:
            if not frequency:
                continue
            answer = _answer(run, {column.number: self._read(column, text)})
            true += frequency if answer is True else 0
            false += frequency if answer is False else 0
            unknown += frequency if answer == "unknown" else 0
        low, high = 0.0, rest
        low_false, high_false = 0.0, rest
        if rest and (share := self._rest(expr, column, known, run)) is not None:
            low, high = rest * share[0], rest * share[1]
            low_false, high_false = rest - high, rest - low
        missed = unknown - rest
        return Share((true + low, true + high + missed), (false + low_false, false + high_false + missed))

    def _read(self, column: Column, text: str | None) -> Any:
        if text is None:
            return None
        try:
            return input.read(self._context.inputs, column.type, text, column.typmod)
        except (ServerError, Unknowable):
            return _UNREADABLE

    def _rest(self, expr: Expr, column: Column, known: ColumnStatistics, run: Prepared) -> tuple[float, float] | None:
        """Return the bounds of the share of a column's less common values, which are not NULL."""
        if expr.node == "NullTest" and expr.args[0].node == "Var":
            return _exactly(expr.value != "IS_NULL")
        if len(known.bounds) < 2 or not self._is_ordered(expr, column):
            return None
        answers = [_answer(run, {column.number: self._read(column, text)}) for text in known.bounds]
        if "unknown" in answers:
            return None
        # The values between two bounds are equally many. Those of one stretch, at most, are on both sides.
        buckets = len(answers) - 1
        matching = answers.count(True)
        return max(0, matching - 1) / buckets, min(buckets, matching) / buckets

    def _is_ordered(self, expr: Expr, column: Column) -> bool:
        """Whether a condition compares a column with a constant by <, <=, >= or > in the order of its histogram."""
        if expr.node != "OpExpr" or len(expr.args) != 2 or len(expr.operators) != 1:
            return False
        sides = [{node.node for node in nodes(arg)} for arg in expr.args]
        plain = [side for side in sides if "Var" in side]
        if len(plain) != 1 or not plain[0] <= {"Var", "RelabelType"}:
            return False
        if expr.input_collation != column.collation:
            return False
        strategies = {strategy for _, strategy in self._context.cache.btree_interpretations(expr.operators[0])}
        return bool(strategies) and strategies <= {1, 2, 4, 5}


_UNREADABLE = object()


def _answer(run: Prepared, row: dict[int, Any]) -> bool | str | None:
    """Return the answer for a row; "unknown" where it cannot be evaluated, or is an error on the server."""
    if _UNREADABLE in row.values():
        return "unknown"
    try:
        return run(row)
    except (ServerError, Unknowable):
        return "unknown"


def _is_complete(known: ColumnStatistics) -> bool:
    """Whether the statistics have every value that the sample had: then there is no histogram (analyze.c)."""
    distinct = known.distinct if known.distinct >= 0 else -known.distinct * known.rows
    rest = 1 - known.nulls - sum(known.frequencies)
    # Values that are too wide for the statistics are a part of the rest.
    return not known.bounds and len(known.values) >= round(distinct) and rest < _TOO_WIDE


def _exactly(holds: bool) -> tuple[float, float]:
    return (1.0, 1.0) if holds else (0.0, 0.0)


def _negated(share: Share) -> Share:
    return Share(share.false, share.true)


def _both(parts: list[Share]) -> Share:
    """AND, whatever the parts have to do with each other (the bounds of Fréchet)."""
    true = max(0.0, 1 - sum(1 - part.true[0] for part in parts)), min(part.true[1] for part in parts)
    false = max(part.false[0] for part in parts), min(1.0, sum(part.false[1] for part in parts))
    return Share(true, false)


_DIGITS = 7
"""Digits of a share in a file, more than the rounding of the server's frequencies."""


class Shares:
    """The shares that filters of a session publish, by the statistics of its database."""

    def __init__(self, session: Session, statistics: Statistics) -> None:
        self._session = session
        self._columns = statistics.columns_by_table()
        self._stored = {(row.publication, row.table): row for row in statistics.shares}

    def of(self, entry: PublicationRel, *, stored: bool) -> tuple[float, Share] | None:
        """Return the number of rows and the share of a membership with a filter, None if nothing is known of it.
        ``stored``: its filter is that of the snapshot."""
        relation = self._session.catalog.relations[entry.relation]
        table = self._session.qualified(relation)
        known = self._stored.get((self._session.catalog.publications[entry.publication].name, table))
        if known is not None and stored:
            return known.rows, Share(known.true, known.false)
        columns = self._columns.get(table)
        if columns is None or entry.filter is None or not isinstance(entry.filter.expr, Expr):
            return None
        context = Context(parse_state(self._session, relation).inputs)
        share = filter_share(entry.filter.expr, relation, columns, context)
        return max(column.rows for column in columns.values()), share


def without_values(snapshot: doc.Snapshot, statistics: Statistics) -> Statistics:
    """Return statistics of a snapshot's database with the shares of its filters in the place of values."""
    session = Session(Catalog(snapshot.server.postgres), complete=True)
    load(session, snapshot, 0)
    catalog, shares, rows = session.catalog, Shares(session, statistics), list[PublishedShare]()
    for entry in catalog.publication_rels.values():
        estimate = shares.of(entry, stored=False)
        if estimate is not None and estimate[1] != UNKNOWN:
            count, share = estimate
            rows.append(
                PublishedShare(
                    publication=catalog.publications[entry.publication].name,
                    table=session.qualified(catalog.relations[entry.relation]),
                    rows=count,
                    true=_rounded(share.true),
                    false=_rounded(share.false),
                )
            )
    return Statistics(
        tables=statistics.tables, shares=tuple(sorted(rows, key=lambda row: (row.publication, row.table)))
    )


def _rounded(bounds: tuple[float, float]) -> tuple[float, float]:
    return round(bounds[0], _DIGITS), round(bounds[1], _DIGITS)
