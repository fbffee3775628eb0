"""Example rows of filters, written as SQL, and the result of an UPDATE from one of them to another."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from pubcheck.engine.replay import Replay
from pubcheck.explain.document import Change, Example, Outcome, Row, Value
from pubcheck.postgres import oids
from pubcheck.postgres.catalog.rows import Column, Filter, Relation
from pubcheck.postgres.primnodes import Expr
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
