"""Filters in examples and in comparison: rows written as SQL and the result of an UPDATE from one of them to another;
which publications publish more of a table and which the same; which rows each filter sends, which both, which none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

from msgspec import Struct

from pubcheck.engine.replay import Replay
from pubcheck.explain.document import (
    Change,
    Example,
    FilterPair,
    FiltersCompared,
    Outcome,
    Region,
    Row,
    Same,
    Value,
    Widening,
)
from pubcheck.explain.table_facts import Facts
from pubcheck.filter_logic.questions import Finding, NoRow, TableFilters, Witness
from pubcheck.filter_logic.truth import NOT_TRUE, TRUE
from pubcheck.postgres import oids
from pubcheck.postgres.catalog.rows import Column, Filter, Relation
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.functions import Context
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.replication.publication_lookup import PublishedChanges
from pubcheck.postgres.tokens import quote_literal


class Samples(Struct, frozen=True):
    """Rows for which a filter is true, false, null, or fails with an error. Rows that differ least from rows of another
    kind come first.

    ``why``: why no matching row, or no other row, was found.
    """

    true: tuple[Row, ...] = ()
    false: tuple[Row, ...] = ()
    null: tuple[Row, ...] = ()
    errors: tuple[tuple[Row, str], ...] = ()
    why: str | None = None


Sampler = Callable[[Filter, Relation], Samples]
"""Rows for a filter over a relation."""

_BARE = frozenset((oids.BOOL, 20, 21, 23, 26, 700, 701, 1700))
"""Types whose values need no quotes: bool, int8, int2, int4, oid, float4, float8, numeric."""


def sampler(replay: Replay) -> Sampler:
    """Return a function that finds rows in the final state of a unit; the evaluator is loaded for the first filter."""

    def sample(condition: Filter, relation: Relation) -> Samples:
        from pubcheck.postgres.analysis.row_filter import parse_state
        from pubcheck.postgres.executor import Context
        from pubcheck.postgres.executor.example_rows import Example as EvaluatedRow
        from pubcheck.postgres.executor.example_rows import example_rows

        if not isinstance(condition.expr, Expr):
            return Samples(why=condition.unknown or "the filter depends on an unknown object")
        if any("now" in by for _, by in condition.frozen):
            return Samples(why="it depends on the time at which the filter is created")
        context = Context(parse_state(replay.session, relation).inputs)
        examples_found = example_rows(condition.expr, relation.live(), context)

        def rows(examples: Iterable[EvaluatedRow]) -> tuple[Row, ...]:
            return tuple(row_of(example) for example in examples)

        def row_of(example: EvaluatedRow) -> Row:
            named = ((relation.columns[number - 1], text) for number, text in example.values)
            return tuple(Value(column.name, sql_of(column, text)) for column, text in named)

        why = examples_found.unknown
        if why is None and examples_found.exhausted:
            why = "no such row was found"
        return Samples(
            rows(examples_found.true),
            rows(examples_found.false),
            rows(examples_found.null),
            tuple(
                (row_of(example), f"ERROR {error.sqlstate}: {error.message}")
                for example, error in examples_found.errors
            ),
            why,
        )

    return sample


def sql_of(column: Column, text: str | None) -> str:
    """Return a value as SQL writes it."""
    if text is None:
        return "NULL"
    if column.type == oids.BOOL:
        return {"t": "true", "f": "false"}.get(text, text)
    if column.type in _BARE and text.lower().strip("-") not in ("nan", "inf", "infinity"):
        return text
    return quote_literal(text)


# Example rows of a filter: the result of an UPDATE by whether its old and new row match (pgoutput_row_filter).


_SENT: dict[tuple[bool, bool], Outcome] = {
    (False, False): "nothing",
    (False, True): "INSERT",
    (True, False): "DELETE",
    (True, True): "UPDATE",
}


def changes_of(samples: Samples) -> tuple[Change, ...]:
    """Return the table of old and new rows, as far as rows were found."""
    changes = []
    for (old, new), sent in _SENT.items():
        before = _pick(samples, old, 0)
        after = _pick(samples, new, 1 if old == new else 0)
        why = None
        if before is None or after is None:
            why = samples.why or "no such row was found"
        elif before == after:
            why = "another column changes"
        changes.append(Change(old, new, sent, before, after, why))
    return tuple(changes)


def _pick(samples: Samples, matches: bool, index: int) -> Row | None:
    """Return the row of a kind at ``index``, or the last one. NULL is not a match."""
    rows = samples.true if matches else samples.false + samples.null
    return rows[min(index, len(rows) - 1)] if rows else None


def examples_of(samples: Samples) -> tuple[Example, ...]:
    """Return one row of each kind."""
    examples = [Example(row, "true") for row in samples.true[:1]]
    examples += [Example(row, "false") for row in samples.false[:1]]
    examples += [Example(row, "null") for row in samples.null[:1]]
    examples += [Example(row, "error", error) for row, error in samples.errors[:1]]
    return tuple(examples)


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
