"""Random schemas on servers: the tables of publications, what subscriptions ask for, and what is decoded."""

from __future__ import annotations

import pytest

from tests.replication.agreement import Agreement, agree, scripts
from tests.replication.streams import Streams, stream
from tests.support.servers import MAJORS, Servers

SEEDS = range(40)
WRITTEN = range(15)
"""About a tenth of a second a seed and major."""


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_publications_list_and_copy_what_the_server_says(major: int, servers: Servers) -> None:
    result = Agreement()
    for seed in SEEDS:
        agree(servers[major], scripts(seed), seed, result)
    assert not result.differences
    assert result.of_partitions > 100
    assert result.conflicts > 0


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_random_writes_are_decoded_as_predicted(major: int, servers: Servers) -> None:
    result = Streams()
    for seed in WRITTEN:
        stream(servers[major], seed, result)
    assert not result.differences
    assert result.stopped > 0
    assert min(result.changes[operation] for operation in ("INSERT", "UPDATE", "DELETE", "TRUNCATE")) > 50
