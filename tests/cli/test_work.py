"""Working in several processes, whatever happens to one of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pubcheck.cli.input_options import Inputs, discover
from pubcheck.cli.lint_unit import Outcome, Task, died
from pubcheck.cli.process_pool import Workers
from pubcheck.config import Config
from pubcheck.discovery.file_types import DiscoveredUnit, File


def work(task: Task) -> Outcome:
    """Stands in for linting: counts the characters of the file's name, and dies of the name "die"."""
    label = task.unit.files[0].label
    if label == "die":
        os._exit(9)
    return Outcome((), (18,), 1, len(label))


def tasks(*labels: str) -> list[Task]:
    return [Task(DiscoveredUnit(label, (File(label, label),), "file", ""), Config(), False) for label in labels]


def test_outcomes_come_in_the_order_of_the_tasks() -> None:
    queue = tasks(*("x" * number for number in range(40)))
    with Workers(2) as workers:
        assert [outcome.statements for outcome in workers.map(work, queue, died)] == list(range(40))


def test_a_task_that_kills_its_process_is_named_and_loses_no_other() -> None:
    with Workers(2) as workers:
        outcomes = list(workers.map(work, tasks("a", "bb", "die", "cccc", "die", "ffffff"), died))
    assert [outcome.statements for outcome in outcomes] == [1, 2, 0, 4, 0, 6]
    assert [outcome.crash for outcome in outcomes if outcome.crash] == [
        "internal error in die: the process that linted it died, perhaps for lack of memory"
    ] * 2


def die_at_once() -> None:
    os._exit(9)


def test_a_process_that_died_while_it_had_nothing_to_do_loses_one_task_at_most() -> None:
    with Workers(2) as workers:
        workers.start()
        workers.prepare(die_at_once)
        outcomes = list(workers.map(work, tasks(*("x" * number for number in range(20))), died))
    assert len(outcomes) == 20
    assert sum(outcome.crash is not None for outcome in outcomes) <= 2


def raised_by(task: Task) -> Outcome:
    raise ValueError(task.unit.name)


def test_what_a_task_raises_is_raised_here() -> None:
    with Workers(2) as workers, pytest.raises(ValueError, match="bad"):
        list(workers.map(raised_by, tasks("bad", "bad"), died))


def test_units_are_the_same_whoever_opens_the_files(tmp_path: Path) -> None:
    for number in range(700):
        (tmp_path / f"t{number}.sql").write_text(f"CREATE TABLE t{number} (id int PRIMARY KEY);\n")
    (tmp_path / "publication.sql").write_text("CREATE PUBLICATION p FOR TABLE t1, t2;\n")
    (tmp_path / "dump.sql").write_text("--\n-- PostgreSQL database dump\n--\n\n-- Dumped from database version 15.4\n")
    alone = discover(Inputs(Config(), (str(tmp_path),)))
    with Workers(2) as workers:
        shared = discover(Inputs(Config(), (str(tmp_path),)), workers)
    assert shared == alone
    assert {len(plan.files) for plan in alone.units} > {1}
