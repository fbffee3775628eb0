"""Compare the publications of a table: which of them publish more of it, and which the same; and their filters: which
rows each of them sends, which both, and which none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from pubcheck.engine.replay import Replay
from pubcheck.explain.document import FilterPair, FiltersCompared, Region, Row, Same, Value, Widening
from pubcheck.explain.example_rows import sql_of
from pubcheck.explain.table_facts import Facts
from pubcheck.filter_logic.questions import Finding, NoRow, TableFilters, Witness
from pubcheck.filter_logic.truth import NOT_TRUE, TRUE
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.functions import Context
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.replication.published_changes import PublishedChanges

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


_COMPARED = 100
"""The maximum number of other publications of a table to compare, those without a filter first."""


class Neighbours:
    """Compares what publications send of the same table. ``of_table`` has that by table."""

    def __init__(self, facts: Facts, of_table: Mapping[int, Sequence[PublishedChanges]]) -> None:
        self.facts, self._of_table = facts, of_table
        self._same_name: dict[tuple[int, int], list[PublishedChanges]] = {}

    def _alongside(self, sent: PublishedChanges) -> list[PublishedChanges]:
        """Return what publications send of the same table under the same name, those without a filter first."""
        key = sent.relation, sent.arrives_as
        if key not in self._same_name:
            neighbours = [near for near in self._of_table[sent.relation] if near.arrives_as == sent.arrives_as]
            self._same_name[key] = sorted(neighbours, key=lambda neighbour: neighbour.filter is not None)
        return self._same_name[key]

    def _neighbours(self, sent: PublishedChanges) -> list[PublishedChanges]:
        """Return the other publications, as many as are compared."""
        neighbours = (neighbour for neighbour in self._alongside(sent) if neighbour.publication != sent.publication)
        return list(islice(neighbours, _COMPARED))

    def not_compared(self, sent: PublishedChanges) -> int:
        """Return the number of publications that are not compared."""
        return max(0, len(self._alongside(sent)) - 1 - _COMPARED)

    def widening(self, sent: PublishedChanges) -> list[Widening]:
        """Return the publications that send more of the table in one subscription with this one."""
        widenings = []
        for neighbour in self._neighbours(sent):
            operations = tuple(name for name in neighbour.operations if name in sent.operations and name != "truncate")
            if not operations:
                continue
            sql = None
            if neighbour.filter is not None:
                if self._alike(sent, neighbour):
                    continue
                sql = self.facts.condition(neighbour).sql
            widenings.append(Widening(self.facts.catalog.publications[neighbour.publication].name, sql, operations))
        return widenings

    def same(self, sent: PublishedChanges) -> list[Same]:
        """Return the publications whose filter means the same."""
        return [
            Same(
                self.facts.catalog.publications[neighbour.publication].name,
                self.facts.condition(neighbour).sql == self.facts.condition(sent).sql,
            )
            for neighbour in self._neighbours(sent)
            if neighbour.filter is not None and self._alike(sent, neighbour)
        ]

    def _alike(self, sent: PublishedChanges, neighbour: PublishedChanges) -> bool:
        """Return whether two filters of one table have the same canonical form.

        Filters with literals whose value was fixed when the filter was read never count as equal: the same text can
        mean two things.
        """
        if sent.filter is None or neighbour.filter is None or sent.filter.frozen or neighbour.filter.frozen:
            return False
        condition, other = self.facts.condition(sent), self.facts.condition(neighbour)
        return condition.of == other.of and condition.canonical is not None and condition.canonical == other.canonical
