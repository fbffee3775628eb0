"""Every recorded answer of a server to a filter and a row is given without one."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from pubcheck.postgres.errors import Unknowable
from tests.differential.evaluation.run import Evaluator
from tests.postgres.executor.record import load
from tests.support.servers import MAJORS

GREATEST_SHARE = 0.02


@pytest.fixture(scope="module")
def record() -> dict[str, Any]:
    return load()


@pytest.mark.parametrize("major", MAJORS)
def test_recorded_rows_are_answered_as_the_server_answered_them(major: int, record: dict[str, Any]) -> None:
    evaluator = Evaluator(major)
    rows = [evaluator.read(place, row) for place, row in enumerate(record["rows"])]
    unknown: Counter[str] = Counter()
    pairs = 0
    for text, answers in record["answers"][str(major)].items():
        expr = evaluator.analysed(text)
        assert expr is not None, text
        for number, (server, answer) in enumerate(zip(answers, evaluator.predictions(expr, rows), strict=True)):
            pairs += 1
            if isinstance(answer, Unknowable):
                unknown[answer.reason] += 1
            else:
                assert answer == (tuple(server) if isinstance(server, list) else server), (text, record["rows"][number])
    assert pairs > 15_000
    assert unknown.total() <= GREATEST_SHARE * pairs, unknown
