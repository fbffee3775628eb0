"""The filters of several publications for one table: which rows each of them sends, which both, and which none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

from pubcheck.engine.replay import Replay
from pubcheck.explain.document import FilterPair, FiltersCompared, Region, Row, Rows, Value
from pubcheck.explain.row_samples import sql_of
from pubcheck.filter_logic.comparison import TableFilters
from pubcheck.filter_logic.questions import Finding, NoRow, Witness
from pubcheck.filter_logic.truth import NOT_TRUE, TRUE
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.values import Context
from pubcheck.postgres.primnodes import Expr

MOST = 8
"""The number of publications of a table whose filters are compared."""
_REGIONS_OF = 4
"""Up to this number of publications, each set of them is a region."""


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
    regions = _regions(table, publications, rows) if len(publications) <= _REGIONS_OF else ()
    return FiltersCompared(name, publications, tuple(pairs), regions, table.gap().nulls)


def _regions(table: TableFilters, publications: Sequence[str], rows: _Rows) -> tuple[Region, ...]:
    regions = []
    for answers in product((True, False), repeat=len(publications)):
        finding = table.rows.find(*[(number, TRUE if yes else NOT_TRUE) for number, yes in enumerate(answers)])
        sending = tuple(name for name, yes in zip(publications, answers, strict=True) if yes)
        regions.append(Region(sending, _existence(finding), rows.row(finding)))
    return tuple(regions)


def _existence(finding: Finding) -> Rows:
    return "none" if isinstance(finding, NoRow) else "some" if isinstance(finding, Witness) else "unknown"


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
