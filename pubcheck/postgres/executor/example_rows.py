"""Example rows of a filter: some that match and some that do not.

Nothing is solved: values near the filter's own constants are tried for every column, and of those for which its parts
give the same answers one is kept. Every example was evaluated. Matching rows may exist even if no example was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import Any

from msgspec import Struct

from pubcheck.postgres import input, oids
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.compile import Prepared, prepare
from pubcheck.postgres.executor.functions import Context
from pubcheck.postgres.executor.sample_values import Hints, texts_for
from pubcheck.postgres.primnodes import Expr, nodes

_ROWS = 400
"""Rows that are tried at most."""
_KINDS = 4
"""Values of a column that are kept at most, each with other answers of the filter's parts than the rest."""
_EXAMPLES_OF_A_KIND = 2
"""Examples of each kind."""


class Example(Struct, frozen=True):
    """A row as far as the filter reads it: attribute numbers and the texts of their values, None for NULL."""

    values: tuple[tuple[int, str | None], ...]

    def text(self, number: int) -> str | None:
        return dict(self.values)[number]


class Examples(Struct, frozen=True):
    """Rows for which a filter is true, false, NULL, or fails (with the error), at most two of each.

    The first of them differ least from each other. ``unknown`` says why nothing is known of some row that was tried;
    where all four are empty nothing is known of any. ``exhausted`` is False where rows were left that were not tried.
    """

    true: tuple[Example, ...] = ()
    false: tuple[Example, ...] = ()
    null: tuple[Example, ...] = ()
    errors: tuple[tuple[Example, ServerError], ...] = ()
    unknown: str | None = None
    exhausted: bool = True


class _Candidate(Struct, frozen=True, gc=False):
    text: str | None
    value: Any


def example_rows(expr: Expr, columns: Sequence[Column], context: Context) -> Examples:
    """Examples for an analysed filter over a relation's columns, whose NOT NULL is kept. Costs a millisecond or two."""
    run = prepare(expr, context)
    hints = Hints(expr)
    numbers = sorted(hints.columns)
    by_number = {column.number: column for column in columns}
    try:
        parts = _parts_by_column(expr)
        choices = [_choices(by_number[number], parts.get(number, []), hints, context) for number in numbers]
    except Unknowable as unknown:
        return Examples(unknown=unknown.reason)
    return _tried(run, numbers, choices)


def _choices(column: Column, parts_of_column: list[Expr], hints: Hints, context: Context) -> list[_Candidate]:
    """Values of a column, the ones that more parts of the filter are true for before the others."""
    candidates = list(_readable(column, texts_for(column, hints, context), context))
    if not column.not_null:
        candidates.append(_Candidate(None, None))
    parts = [prepare(part, context) for part in parts_of_column]
    by_answers: dict[tuple[str, ...], _Candidate] = {}
    doubles: dict[tuple[str, ...], _Candidate] = {}
    for candidate in candidates:
        answers = tuple(_answer(part, {column.number: candidate.value}) for part in parts)
        if candidate.value is None:
            answers = (*answers, "null")
        if answers in by_answers:
            doubles.setdefault(answers, candidate)
        by_answers.setdefault(answers, candidate)
    if len(by_answers) < 3:
        # The filter's parts do not tell the values apart, or there are none: others may do so together.
        spare = [
            extra for extra in candidates if all(extra is not kept_candidate for kept_candidate in by_answers.values())
        ]
        for index, extra in enumerate(spare[: _KINDS - len(by_answers)]):
            by_answers[("", str(index))] = extra
    order = sorted(by_answers, key=lambda answers: (-answers.count("true"), answers.count("error"), "null" in answers))
    nulls = [answers for answers in order if by_answers[answers].value is None]
    chosen = [answers for answers in order if by_answers[answers].value is not None][:_KINDS]
    second = [doubles[answers] for answers in chosen[:1] if answers in doubles]
    return [by_answers[answers] for answers in (*chosen, *nulls)] + second


def _readable(column: Column, texts: Iterable[str], context: Context) -> Iterator[_Candidate]:
    seen: set[str] = set()
    for text in texts:
        if text in seen:
            continue
        seen.add(text)
        try:
            yield _Candidate(text, input.read(context.inputs, column.type, text, column.typmod))
        except (ServerError, Unknowable):
            continue


def _answer(part: Prepared, row: dict[int, Any]) -> str:
    try:
        return {True: "true", False: "false", None: "null"}[part(row)]
    except ServerError:
        return "error"
    except Unknowable:
        return "unknown"


_PARTS = 8
"""Parts of a filter that the values of a column are tried on at most."""
_NO_COLUMN, _SEVERAL = 0, -1


def _parts_by_column(expr: Expr) -> dict[int, list[Expr]]:
    """Return the largest conditions within a filter that read a single column, by its attribute number."""
    read = _columns_read(expr)
    by_column: dict[int, list[Expr]] = {}
    todo = [expr]
    while todo:
        node = todo.pop()
        number = read[id(node)]
        if number == _NO_COLUMN:
            continue
        if node.type == oids.BOOL and number != _SEVERAL and node.node != "BoolExpr":
            by_column.setdefault(number, []).append(node)
        else:
            todo.extend(node.args)
    return {
        number: [part for part in parts if not Hints.tests_a_case(part)][:_PARTS] for number, parts in by_column.items()
    }


def _columns_read(expr: Expr) -> dict[int, int]:
    """Return the one column that is read in a node and below it, or ``_NO_COLUMN`` or ``_SEVERAL``, by the node's
    id."""
    read: dict[int, int] = {}
    for node in reversed(list(nodes(expr))):  # what is below a node comes before it
        numbers = {read[id(below)] for below in node.args}
        if node.node == "Var":
            numbers.add(node.value)
        numbers.discard(_NO_COLUMN)
        read[id(node)] = next(iter(numbers), _NO_COLUMN) if len(numbers) < 2 else _SEVERAL
    return read


def _tried(run: Prepared, numbers: list[int], choices: list[list[_Candidate]]) -> Examples:
    examples: dict[str, list[Any]] = {"true": [], "false": [], "null": [], "error": []}
    unknown: str | None = None
    seen: set[tuple[tuple[int, str | None], ...]] = set()
    for count, picked in enumerate(_nearest_first([len(kinds) for kinds in choices])):
        if count == _ROWS or all(len(examples[kind]) >= _EXAMPLES_OF_A_KIND for kind in ("true", "false", "null")):
            return _examples(examples, unknown, exhausted=False)
        row = [kinds[index] for kinds, index in zip(choices, picked, strict=True)]
        example = Example(tuple([(number, candidate.text) for number, candidate in zip(numbers, row, strict=True)]))
        if example.values in seen:
            continue
        seen.add(example.values)
        try:
            answer = run({number: candidate.value for number, candidate in zip(numbers, row, strict=True)})
        except ServerError as error:
            examples["error"].append((example, error))
        except Unknowable as reason:
            unknown = unknown or reason.reason
        else:
            examples["null" if answer is None else "true" if answer else "false"].append(example)
    return _examples(examples, unknown, exhausted=True)


def _examples(by_kind: dict[str, list[Any]], unknown: str | None, exhausted: bool) -> Examples:
    kinds = {kind: tuple(rows[:_EXAMPLES_OF_A_KIND]) for kind, rows in by_kind.items()}
    return Examples(kinds["true"], kinds["false"], kinds["null"], kinds["error"], unknown, exhausted)


def _nearest_first(lengths: list[int]) -> Iterator[tuple[int, ...]]:
    """Yield the index of each column's value: first 0 for all columns, then rows in which one column differs, two..."""
    places = range(len(lengths))
    for differing in range(len(lengths) + 1):
        for changed in combinations(places, differing):
            for values in product(*(range(1, lengths[place]) for place in changed)):
                picked = [0] * len(lengths)
                for place, value in zip(changed, values, strict=True):
                    picked[place] = value
                yield tuple(picked)
