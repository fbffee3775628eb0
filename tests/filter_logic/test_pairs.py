"""Random pairs of filters: no proof is refuted by a row or by the solver. `python -m tests.filter_logic` runs more."""

from __future__ import annotations

import random

import pytest

from pubcheck.filter_logic.questions import Undecided
from tests.filter_logic.random_filters import TABLE, Filters
from tests.filter_logic.world import World

PAIRS = 150


@pytest.fixture(scope="module")
def world() -> World:
    return World(TABLE)


@pytest.mark.parametrize("usual", [True, False])
def test_no_row_is_found_where_it_is_proved_that_there_is_none(world: World, *, usual: bool) -> None:
    undecided = 0
    for seed in range(PAIRS):
        texts = Filters(seed, usual=usual).pair()
        first, second = map(world.filter, texts)
        findings = world.compare(first, second)
        assert world.counterexample(findings, first, second, random.Random(seed)) is None, texts
        undecided += any(isinstance(finding, Undecided) for finding in findings.values())
    assert undecided <= (PAIRS // 10 if usual else PAIRS // 4)


@pytest.mark.slow
def test_the_solver_agrees(world: World) -> None:
    from tests.filter_logic.z3_oracle import disagreement

    asked = 0
    for seed in range(PAIRS):
        first, second = map(world.filter, Filters(seed, usual=True).pair())
        was_asked, problem = disagreement(world, world.compare(first, second), first, second)
        asked += was_asked
        assert problem is None
    assert asked > PAIRS // 5
