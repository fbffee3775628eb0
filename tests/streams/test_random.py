"""Random scripts on real servers and on simulated ones."""

from __future__ import annotations

import pytest

from tests.streams.random_streams import Totals, compare_seed
from tests.support.servers import Servers


@pytest.mark.server
@pytest.mark.parametrize(
    "seed",
    [
        1001,
        300259,  # a message right before a speculative row of a subtransaction
        300297,  # the first range that is written, in a prepared transaction that was rolled back
    ],
)
def test_a_server_sends_what_the_simulated_one_sends(servers: Servers, seed: int) -> None:
    for major in servers:
        assert compare_seed(servers[major], seed, Totals()) == []
