"""Example rows: what is called true is true, NOT NULL is kept, and most filters get a row of each kind."""

from __future__ import annotations

from random import Random

import msgspec
import pytest

from pubcheck.postgres import input
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.executor import Context, evaluate
from pubcheck.postgres.executor.example_rows import Example, Examples, example_rows
from tests.differential.evaluation.filters import make_filter
from tests.differential.evaluation.run import LOCALE, Evaluator

EVALUATOR = Evaluator(18)
CONTEXT = Context(EVALUATOR.inputs(), LOCALE)
COLUMNS = {column.number: column for column in EVALUATOR.relation.columns}


def _examples(filter_: str) -> Examples:
    expr = EVALUATOR.analysed(filter_)
    assert expr is not None
    return example_rows(expr, EVALUATOR.relation.columns, CONTEXT)


def _answer(filter_: str, example: Example) -> bool | None:
    row = {}
    for number, text in example.values:
        column = COLUMNS[number]
        row[number] = None if text is None else input.read(CONTEXT.inputs, column.type, text, column.typmod)
    expr = EVALUATOR.analysed(filter_)
    assert expr is not None
    return evaluate(expr, row, CONTEXT)


@pytest.mark.parametrize(
    "filter_",
    [
        "a > 10",
        "a > 10 AND t = 'EU' AND NOT p",
        "t LIKE 'tenant-%' AND d >= '2024-01-01'",
        "t IN ('EU', 'US') OR a IS NULL",
        "n BETWEEN 99.5 AND 99.75",
        "abs(hashtext(t)) % 4 = 1",
        "uuid_hash(uu) % 2 = 0 AND ts > '2024-01-01 12:00'",
        "jb ->> 'region' = 'EU'",
        "jb @> '{\"active\": true}'",
        "(jb -> 'n')::int > 5",
        "t ~ '^(EU|US)-[0-9]{2}$'",
        "upper(vc) = 'ABC'",
        "extract(year from ts) = 2024",
        "tz >= '2024-01-01 00:00+00'",
        "ip << '10.0.0.0/8'",
        "ia @> '{3}'",
        "ir @> 7",
        "a % 10 = 3",
        "length(t) > 5",
        "coalesce(q, false)",
        "uu = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a12'",
        "CASE WHEN a > 5 THEN p ELSE q END",
    ],
)
def test_a_usual_filter_gets_rows_that_match_and_rows_that_do_not(filter_: str) -> None:
    sample = _examples(filter_)
    assert sample.true
    assert sample.false
    for answer, examples in ((True, sample.true), (False, sample.false), (None, sample.null)):
        assert [_answer(filter_, example) for example in examples] == [answer] * len(examples)


def test_the_first_rows_of_each_kind_differ_in_one_column() -> None:
    sample = _examples("a > 10 AND t = 'EU' AND p")
    first, other = dict(sample.true[0].values), dict(sample.false[0].values)
    assert sum(first[number] != other[number] for number in first) == 1


def test_a_column_that_is_not_null_gets_no_null() -> None:
    expr = EVALUATOR.analysed("a > 10")
    assert expr is not None
    columns = [msgspec.structs.replace(column, not_null=True) for column in EVALUATOR.relation.columns]
    assert not example_rows(expr, columns, CONTEXT).null


def test_errors_are_examples_too() -> None:
    sample = _examples("10 / a > 1")
    example, error = sample.errors[0]
    assert error.sqlstate == "22012"
    assert sample.true
    assert dict(example.values) == {2: "0"}


def test_what_cannot_be_found_is_not_made_up() -> None:
    sample = _examples("a <> a")
    assert not sample.true
    assert sample.exhausted
    assert _examples("1/0 = 1").errors[0][1].sqlstate == "22012"
    assert "jsonpath" in (_examples("jb @@ '$.a'").unknown or "")


def test_random_filters_get_examples_that_hold() -> None:
    random = Random(7)
    both = 0
    for _ in range(200):
        filter_ = make_filter(random)
        if EVALUATOR.analysed(filter_) is None:
            continue
        sample = _examples(filter_)
        both += bool(sample.true and sample.false)
        for answer, examples in ((True, sample.true), (False, sample.false), (None, sample.null)):
            assert all(_answer(filter_, example) is answer for example in examples), filter_
        for example, error in sample.errors:
            with pytest.raises(ServerError) as raised:
                _answer(filter_, example)
            assert raised.value.sqlstate == error.sqlstate
    assert both > 120
