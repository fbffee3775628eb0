"""Some thousand random values for each major: their text and their bytes are the server's, to the last one."""

from __future__ import annotations

import pytest

from tests.differential.output.run import Run
from tests.support.servers import MAJORS, Servers

SEED, BATCHES, SIZE = 7, 6, 500
GREATEST_SHARE = 0.05
"""Of values that pubcheck does not follow."""


@pytest.mark.server
@pytest.mark.parametrize("major", MAJORS)
def test_values_are_written_as_the_server_writes_them(major: int, servers: Servers) -> None:
    server = servers[major]
    with server.database() as name, server.connect(name) as conn:
        run = Run(conn, SEED)
        for _ in range(BATCHES):
            run.batch(SIZE)
    assert not run.figures.differences
    assert run.figures.same.total() > BATCHES * SIZE * 0.6
    assert run.figures.unknown.total() <= GREATEST_SHARE * BATCHES * SIZE
