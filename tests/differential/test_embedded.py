"""Random DO blocks and functions: no difference between a server and pubcheck, nothing invented of what may fail."""

from __future__ import annotations

import pytest

from tests.differential.blocks import Blocks
from tests.differential.embedded import differences, invented
from tests.differential.mutants import blocks, script
from tests.support.servers import MAJORS, Servers

SEEDS = range(15)
"""A fifth of a second a seed and major; `python -m tests.differential.embedded` takes any number."""


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_blocks_do_what_they_do_on_the_server(major: int, servers: Servers) -> None:
    by_seed = {seed: list(differences(servers[major], Blocks(seed).statements)) for seed in SEEDS}
    assert not {seed: wrong for seed, wrong in by_seed.items() if wrong}


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_of_blocks_that_may_fail_nothing_is_invented(major: int, servers: Servers) -> None:
    by_seed = {seed: list(invented(servers[major], Blocks(seed, failing=0.6).statements)) for seed in SEEDS}
    assert not {seed: wrong for seed, wrong in by_seed.items() if wrong}


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_of_blocks_with_a_word_amiss_nothing_is_invented(major: int, servers: Servers) -> None:
    texts = blocks()
    by_seed = {seed: list(invented(servers[major], script(texts, seed))) for seed in SEEDS}
    assert not {seed: wrong for seed, wrong in by_seed.items() if wrong}
