"""Example rows for filters, as the evaluator finds them, written as SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pubcheck.engine.replay import Replay
from pubcheck.explain.document import Row, Value
from pubcheck.explain.example_rows import Samples
from pubcheck.postgres import oids
from pubcheck.postgres.catalog.rows import Column, Filter, Relation
from pubcheck.postgres.identifiers import quote_literal
from pubcheck.postgres.primnodes import Expr

Sampler = Callable[[Filter, Relation], Samples]
"""Rows for a filter over a relation."""

_BARE = frozenset((oids.BOOL, 20, 21, 23, 26, 700, 701, 1700))
"""Types whose values need no quotes: bool, int8, int2, int4, oid, float4, float8, numeric."""


def sampler(replay: Replay) -> Sampler:
    """Return a function that finds rows in the final state of a unit; the evaluator is loaded for the first filter."""

    def sample(condition: Filter, relation: Relation) -> Samples:
        from pubcheck.postgres.analysis.row_filter import parse_state
        from pubcheck.postgres.executor import Context
        from pubcheck.postgres.executor.example_rows import Example, example_rows

        if not isinstance(condition.expr, Expr):
            return Samples(why=condition.unknown or "the filter depends on an unknown object")
        if any("now" in by for _, by in condition.frozen):
            return Samples(why="it depends on the time at which the filter is created")
        context = Context(parse_state(replay.session, relation).inputs)
        examples_found = example_rows(condition.expr, relation.live(), context)

        def rows(examples: Iterable[Example]) -> tuple[Row, ...]:
            return tuple(row_of(example) for example in examples)

        def row_of(example: Example) -> Row:
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
