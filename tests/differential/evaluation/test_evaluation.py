"""Some thousand pairs of a random filter and a random row for each major: no answer differs from the server's."""

from __future__ import annotations

import pytest

from tests.differential.evaluation.forms import compare
from tests.differential.evaluation.run import Run
from tests.support.servers import MAJORS, Servers

SEED, BATCHES = 20, 5
"""A batch is a thousand pairs, which take a server a tenth of a second."""
GREATEST_SHARE = 0.02


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_rows_are_answered_as_the_server_answers_them(major: int, servers: Servers) -> None:
    with Run(servers[major], SEED) as run:
        for number in range(BATCHES):
            run.batch(number)
    figures = run.figures
    assert not figures.differences
    assert not figures.wording
    assert figures.pairs > BATCHES * 900
    assert figures.unknown.total() <= GREATEST_SHARE * figures.pairs


@pytest.mark.server
def test_any_function_is_answered_rightly_or_not_at_all(servers: Servers) -> None:
    with Run(servers[max(MAJORS)], SEED, wide=True) as run:
        for number in range(BATCHES):
            run.batch(number)
    assert not run.figures.differences


@pytest.mark.server
def test_canonical_forms_select_the_same_rows(servers: Servers) -> None:
    with Run(servers[max(MAJORS)], SEED) as run:
        forms = compare(run, BATCHES)
    assert not forms.unequal
    assert forms.rewritten > BATCHES * 20
