"""Scripts as applications run them send the same from real servers and from simulated ones."""

from __future__ import annotations

import pytest

from tests.streams.applications import applications, compare_application
from tests.support.servers import MAJORS, Servers

NOT_FOLLOWED = {
    "batch-by-unnest": "the order in which a SELECT without ORDER BY gives its rows",  # from 16 on
    "feature-flags-merge": "the order in which a MERGE joins its rows",
    "running-totals": "the order in which a join gives its rows",
}
_SCRIPTS = applications()


@pytest.mark.server
@pytest.mark.parametrize(("number", "name"), list(enumerate(_SCRIPTS)))
def test_a_server_sends_what_the_simulated_one_sends(servers: Servers, number: int, name: str) -> None:
    """Each script runs on one major; `python -m tests.streams scripts` runs all on all."""
    majors = [major for major in MAJORS if major >= _SCRIPTS[name].first_major]
    result = compare_application(servers[majors[number % len(majors)]], _SCRIPTS[name])
    assert result.differences == []
    if result.not_followed is not None:
        assert NOT_FOLLOWED.get(name, "(followed)") in result.not_followed
