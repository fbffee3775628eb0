"""What there is after a DO block or a call: as the servers recorded it, case by case."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from pubcheck.config import Config
from pubcheck.engine.linter import Linter
from pubcheck.engine.unit import Unit
from pubcheck.source import Source
from tests.conformance.judging import FOLLOWED
from tests.differential.state import shown
from tests.support.cases import Case, load

CASES = [case for case in load("plpgsql*") if case.rule == "plpgsql"]


def _followed(case: Case, major: int) -> tuple[set[str], bool]:
    text = ";\n".join((*case.setup, case.statement))
    fold = Linter(Config(postgres=(major,), complete=True)).follow(Unit((Source("case.sql", text),))).replays[0]
    return shown(fold.catalog), fold.session.blind


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_the_state_after_a_block_is_that_of_the_servers(case: Case) -> None:
    for major in (15, 18):
        answer = case.answers[major]
        if answer.ok:
            (after,) = answer.then
            state, blind = _followed(case, major)
            assert state == {json.loads(row)[0] for row in after.rows or ()}
            assert not blind


@pytest.mark.parametrize("case", [case for case in CASES if not case.answers[18].ok], ids=lambda case: case.id)
def test_a_refused_block_leaves_nothing(case: Case) -> None:
    before, _ = _followed(replace(case, statement=""), 18)
    after, _ = _followed(case, 18)
    if "COMMIT;" in case.statement + "".join(case.setup) and case.id not in FOLLOWED:
        assert after > before  # what was committed stays
    else:
        assert after == before
