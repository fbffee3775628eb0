"""Random row filters are judged as the servers judge them; a longer run is `python -m tests.differential.filters`."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.differential.filters.answers import Kind
from tests.differential.filters.report import Count, Outcome, table
from tests.differential.filters.run import Run
from tests.support.servers import MAJORS, Servers

SEED = 20_251_121
BATCHES = 20
IN_A_BATCH = 25
"""Many small databases: what they hold confuses resolution more than a longer list of filters does."""

ASSUMED, SQLSTATE = 0.005, 0.995
"""At most so many answers may be assumed, at least so many SQLSTATEs must be the server's."""


@pytest.fixture(scope="module", params=MAJORS)
def judged(request: pytest.FixtureRequest, servers: Servers) -> tuple[Run, list[Outcome]]:
    major: int = request.param
    with Run(servers[major], SEED) as run:
        return run, [outcome for number in range(BATCHES) for outcome in run.batch(number, IN_A_BATCH)]


@pytest.mark.server
def test_no_refusal_is_invented(judged: tuple[Run, list[Outcome]]) -> None:
    assert _of(judged[1], Kind.INVENTED, Kind.RAISED) == []


@pytest.mark.server
def test_no_refusal_is_missed(judged: tuple[Run, list[Outcome]]) -> None:
    assert _of(judged[1], Kind.MISSED) == []


@pytest.mark.server
def test_answers_are_the_servers(
    judged: tuple[Run, list[Outcome]], record_property: Callable[[str, object], None]
) -> None:
    run, outcomes = judged
    whole = run.totals.whole
    record_property("conformance", f"random filters {run.totals.major}: {whole.line()}")
    assert whole.share(whole.kinds[Kind.ASSUMED]) <= ASSUMED, _of(outcomes, Kind.ASSUMED)
    assert whole.sqlstate + whole.share(whole.kinds[Kind.ASSUMED]) >= SQLSTATE, _of(outcomes, Kind.SQLSTATE)


@pytest.mark.server
def test_setups_are_followed(judged: tuple[Run, list[Outcome]]) -> None:
    assert dict(judged[0].totals.setup_left_out) == {}


@pytest.mark.server
def test_filters_are_refused_neither_rarely_nor_mostly(judged: tuple[Run, list[Outcome]]) -> None:
    whole = judged[0].totals.whole
    assert 0.3 <= whole.share(whole.refused) <= 0.7


def test_the_worst_constructs_come_first() -> None:
    class Of:
        def __init__(self, **kinds: Kind) -> None:
            self.constructs = {name: Count() for name in kinds}
            self.features: dict[str, Count] = {}
            for name, kind in kinds.items():
                self.constructs[name].add(kind, refused=True)

    lines = table([Of(fine=Kind.AGREE, words=Kind.WORDING, bad=Kind.INVENTED), Of(state=Kind.SQLSTATE)])  # type: ignore[list-item]
    assert [line.split()[0] for line in lines] == ["bad", "state", "words", "fine"]


def _of(outcomes: list[Outcome], *kinds: Kind) -> list[str]:
    return [
        f"batch {outcome.batch.number}: {outcome.filter.statement}\n  {outcome.server}\n  {outcome.ours}"
        for outcome in outcomes
        if outcome.kind in kinds
    ]
