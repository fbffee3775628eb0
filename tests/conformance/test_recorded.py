"""The recorded answers are what the servers answer. All of the corpus but the subscriptions, on the four majors."""

from __future__ import annotations

import pytest

from tests.support.cases import Case
from tests.support.corpus import differences, played
from tests.support.playing import PLAYED
from tests.support.servers import Servers


@pytest.mark.server
def test_servers_answer_as_recorded(servers: Servers, corpus: list[Case]) -> None:
    cases = [case for case in corpus if case.phase in PLAYED]
    found = differences(cases, played(servers, cases, quick=True))
    assert not found, "\n".join(map(str, found))
