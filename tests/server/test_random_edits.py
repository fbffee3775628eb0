"""The findings after random edits, which a process that keeps the state before the edited file answers."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from pubcheck.config import Config
from pubcheck.server.analyst import Analyst, Failed
from tests.server import random_session
from tests.server.client import ServerProcess
from tests.server.random_edits import Edits, differences


@pytest.mark.parametrize("seed", [1, 2])
def test_findings_are_those_of_a_fresh_lint(seed: int) -> None:
    assert not differences(seed, 40)


@pytest.mark.slow
def test_findings_are_those_of_a_fresh_lint_after_many_edits() -> None:
    assert not differences(3, 200)


def test_a_process_that_dies_is_started_again() -> None:
    unit, config = Edits(1).unit(), Config()
    analyst = Analyst()
    before = analyst.findings(unit, config)
    (process,) = multiprocessing.active_children()
    process.kill()
    process.join()
    with pytest.raises(Failed, match="died"):
        analyst.findings(unit, config)
    assert analyst.findings(unit, config) == before
    analyst.close()


@pytest.mark.slow
def test_an_editor_shows_what_a_fresh_lint_finds_after_bursts_of_edits(process: ServerProcess, tmp_path: Path) -> None:
    assert not random_session.differences(process, tmp_path, seed=1, bursts=6)
