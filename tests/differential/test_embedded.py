"""Random DO blocks and functions: no difference between a server and pubcheck."""

from __future__ import annotations

import pytest

from pubcheck.postgres.versions import MAJORS
from tests.differential.blocks import Blocks
from tests.differential.embedded import differences
from tests.support.servers import Servers

SEEDS = range(40)
"""A fifth of a second a seed and major; `python -m tests.differential.embedded` takes any number."""


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_blocks_do_what_they_do_on_the_server(major: int, servers: Servers) -> None:
    found = {seed: list(differences(servers[major], Blocks(seed).statements)) for seed in SEEDS}
    assert not {seed: each for seed, each in found.items() if each}
