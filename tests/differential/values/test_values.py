"""Some thousand values of random expressions for each major: their texts and errors are the server's, to the letter."""

from __future__ import annotations

import pytest

from tests.differential.values.run import Run
from tests.support.servers import MAJORS, Servers

SEED, BATCHES = 11, 8


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_values_of_expressions_are_those_of_the_server(major: int, servers: Servers) -> None:
    with Run(servers[major], SEED) as run:
        for number in range(BATCHES):
            run.batch(number)
    assert not run.figures.differences
    assert run.figures.pairs > 2000
