"""The recorded answers are what the servers answer: the whole corpus, on the four majors."""

from __future__ import annotations

import pytest

from tests.support.cases import Case
from tests.support.corpus import differences, played
from tests.support.servers import Servers


@pytest.mark.server
def test_servers_answer_as_recorded(servers: Servers, corpus: list[Case]) -> None:
    deviations = differences(corpus, played(servers, corpus, quick=True))
    assert not deviations, "\n".join(map(str, deviations))
