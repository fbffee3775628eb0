"""The filters of several publications for one table: which rows each of them sends, which both, and which none."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from pubcheck.engine.replay import Replay
from pubcheck.explain.document import FilterPair, FiltersCompared, Region, Row, Value
from pubcheck.explain.example_rows import sql_of
from pubcheck.filter_logic.questions import Finding, NoRow, TableFilters, Witness
from pubcheck.filter_logic.truth import NOT_TRUE, TRUE
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.functions import Context
from pubcheck.postgres.primnodes import Expr

MOST = 8
"""The number of publications of a table whose filters are compared."""
_REGIONS = 16
"""The largest number of sets of publications that are distinguished."""


def compared(replay: Replay, relation: Relation, filters: Mapping[str, Expr], name: str) -> FiltersCompared:
    """Compare the filters of a table, by the names of their publications; ``name`` is the table's."""
    publications, expressions = tuple(filters)[:MOST], list(filters.values())[:MOST]
    table = TableFilters(replay.session, relation, expressions)
    rows = _Rows(relation, table.context)
    pairs = []
    for comparison in table.comparisons():
        shown = comparison.both if isinstance(comparison.both, Witness) else None
        pairs.append(
            FilterPair(
                publications[comparison.first],
                publications[comparison.second],
                comparison.kind,
                rows.row(shown) if comparison.kind == "overlapping" else None,
            )
        )
    return FiltersCompared(name, publications, tuple(pairs), _regions(table, publications, rows), table.gap().nulls)


def _regions(table: TableFilters, publications: Sequence[str], rows: _Rows) -> tuple[Region, ...] | None:
    sets = list(islice(_sets(table, len(publications), ()), _REGIONS + 1))
    if len(sets) > _REGIONS:
        return None
    return tuple(
        Region(
            tuple(publications[number] for number in sending),
            "some" if isinstance(finding, Witness) else "unknown",
            rows.row(finding),
        )
        for sending, finding in sets
    )


def _sets(
    table: TableFilters, count: int, demands: tuple[tuple[int, int], ...]
) -> Iterator[tuple[tuple[int, ...], Finding]]:
    """Yield the sets of filters that are true for a row, and all others not, as far as it is not proved that there is
    no such row. ``demands`` are the answers of the first filters."""
    finding = table.rows.find(*demands)
    if isinstance(finding, NoRow):
        return
    if len(demands) == count:
        yield tuple(number for number, answer in demands if answer == TRUE), finding
        return
    for answer in (TRUE, NOT_TRUE):
        yield from _sets(table, count, (*demands, (len(demands), answer)))


class _Rows:
    """Writes rows as SQL."""

    def __init__(self, relation: Relation, context: Context) -> None:
        self.columns = {column.number: column for column in relation.columns}
        self.output = Context(context.inputs, defaults=True).output

    def row(self, finding: Finding | None) -> Row | None:
        """Return a row that was found."""
        if not isinstance(finding, Witness):
            return None
        try:
            return tuple(self._value(number, value) for number, value in sorted(finding.row.items()))
        except Unknowable:
            return None  # its text depends on a setting

    def _value(self, number: int, value: object) -> Value:
        column = self.columns[number]
        text = None if value is None else self.output.writer(column.type)(value)
        return Value(column.name, sql_of(column, text))
