"""Every construct of a filter, against what servers answered (see ``record``)."""

from __future__ import annotations

import json

import pytest

from tests.postgres.analysis.judging import judge
from tests.postgres.analysis.record import ANSWERS, Answer, filters

_RECORDED = json.loads(ANSWERS.read_text(encoding="utf-8"))
_CASES = list(zip(filters(), _RECORDED["answers"], strict=True))
_BEYOND = {
    (15, "JSON_OBJECTAGG('a', i4) IS NOT NULL"): "an ordinary call in 15, which the grammar of 17 cannot read",
}


@pytest.mark.parametrize("major", _RECORDED["majors"])
def test_every_filter_is_answered_as_the_server_answers_it(major: int) -> None:
    index = _RECORDED["majors"].index(major)
    wrong: list[tuple[str, Answer | str, Answer]] = []
    for (table, filter_), answers in _CASES:
        ours = judge(major, table, filter_)
        if ours != answers[index] and (major, filter_) not in _BEYOND:
            wrong.append((filter_, ours, answers[index]))
    assert wrong == []
