"""Random scripts have the same errors and leave the same rows on servers and in the simulator."""

from __future__ import annotations

import pytest

from pubcheck.simulate.not_followed import NotFollowed
from tests.simulate.random_scripts import Script, on_server, simulated
from tests.support.servers import Servers


@pytest.mark.server
@pytest.mark.parametrize("seed", range(8))
def test_random_scripts_agree(servers: Servers, seed: int) -> None:
    script = Script(seed)
    for major in servers:
        errors, contents, waited = on_server(servers[major], script)
        try:
            ours = simulated(major, script, waited)
        except NotFollowed:
            continue  # the order of a join's rows depends on the server's plan
        assert ours == (errors, contents)
