"""Linting in several processes, whatever happens to one of them."""

from __future__ import annotations

import os

from pubcheck.cli.work import Outcome, Task, died, in_processes
from pubcheck.config import Config
from pubcheck.sources.files import File, Plan


def work(task: Task) -> Outcome:
    """Stands in for linting: counts the characters of the file's name, and dies of the name "die"."""
    label = task.plan.files[0].label
    if label == "die":
        os._exit(9)
    return Outcome((), (18,), 1, len(label))


def tasks(*labels: str) -> list[Task]:
    return [Task(Plan(label, (File(label, label),), "file", ""), Config(), False) for label in labels]


def test_outcomes_come_in_the_order_of_the_tasks() -> None:
    given = tasks(*("x" * number for number in range(40)))
    assert [outcome.statements for outcome in in_processes(work, given, 2, died)] == list(range(40))


def test_a_task_that_kills_its_process_is_named_and_loses_no_other() -> None:
    outcomes = list(in_processes(work, tasks("a", "bb", "die", "cccc", "die", "ffffff"), 2, died))
    assert [outcome.statements for outcome in outcomes] == [1, 2, 0, 4, 0, 6]
    assert [outcome.crash for outcome in outcomes if outcome.crash] == [
        "internal error in die: the process that linted it died, perhaps for lack of memory"
    ] * 2
