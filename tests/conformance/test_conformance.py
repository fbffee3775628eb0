"""pubcheck predicts the answers that servers gave to the cases of the corpus."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pubcheck.postgres.versions import DEFAULT_MAJOR, MAJORS
from tests.conformance.judging import LATER, UNMAPPED, Judgement, Status, judge
from tests.conformance.totals import totals
from tests.support.cases import Case

REQUIRED_WORDING = 0.99
"""The share of covered cases in which message, detail, hint and position must all equal the server's."""


# A quick run judges the cases for the default major only.
PARAMETERS = [pytest.param(major, marks=[pytest.mark.slow] if major != DEFAULT_MAJOR else []) for major in MAJORS]


@pytest.fixture(scope="module", params=PARAMETERS)
def judged(request: pytest.FixtureRequest, corpus: list[Case]) -> tuple[int, list[Judgement]]:
    major: int = request.param
    return major, [judge(case, major) for case in corpus if major in case.answers]


def test_every_case_is_judged(judged: tuple[int, list[Judgement]]) -> None:
    _, judgements = judged
    assert [_name(j) for j in judgements if j.problem] == []


def test_no_refusal_is_invented(judged: tuple[int, list[Judgement]]) -> None:
    _, judgements = judged
    assert [_name(j) for j in judgements if j.invented and j.status is not Status.UNMAPPED] == []


def test_every_covered_verdict_is_the_servers(
    judged: tuple[int, list[Judgement]], record_property: Callable[[str, object], None]
) -> None:
    major, judgements = judged
    record_property("conformance", totals(major, judgements).line())
    assert [_name(j) for j in judgements if j.status is Status.COVERED and not j.agreed] == []


def test_the_words_are_the_servers(judged: tuple[int, list[Judgement]]) -> None:
    major, judgements = judged
    differing = [_name(j) for j in judgements if j.status is Status.COVERED and not j.worded]
    assert totals(major, judgements).wording >= REQUIRED_WORDING, differing


def test_exceptions_name_cases_that_exist(corpus: list[Case]) -> None:
    assert set(LATER) <= {case.rule for case in corpus} | {case.id for case in corpus}
    assert set(UNMAPPED) <= {case.id for case in corpus}


def _name(judgement: Judgement) -> str:
    problem = judgement.problem or ", ".join(judgement.differences)
    return f"{judgement.case.rule}/{judgement.case.id}: {problem}".rstrip(": ")
