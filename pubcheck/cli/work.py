"""Linting one unit, as it also happens in a worker process: files in, findings out, nothing raised."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from pubcheck import rulebook
from pubcheck.config import Config
from pubcheck.report.document import Finding, Resolver
from pubcheck.sources.paths import File, read_unit


class Task(Struct, frozen=True):
    """A unit to lint. ``excerpts``: whether its findings shall carry the lines to show with them."""

    files: tuple[File, ...]
    config: Config
    excerpts: bool


class Outcome(Struct, frozen=True):
    """What came of a unit: findings, over what, and in ``crash`` what to tell of an error of pubcheck's own."""

    findings: tuple[Finding, ...]
    postgres: tuple[int, ...]
    files: int
    statements: int
    crash: str | None = None


def lint_unit(task: Task) -> Outcome:
    """Reads and lints a unit. A crash of the engine loses this unit's diagnostics, not those of reading its files."""
    from pubcheck.linter import Linter, Unit
    from pubcheck.postgres.versions import DEFAULT_MAJOR

    config = task.config
    majors = config.postgres or (DEFAULT_MAJOR,)
    reading = read_unit(task.files, majors)
    diagnostics, statements, crash = list(reading.diagnostics), 0, None
    if reading.sources:
        try:
            result = Linter(config).lint(Unit(reading.sources))
        except Exception as error:
            from pubcheck.cli.app import internal_error

            crash = internal_error(f" in {_named(task.files)}", error)
        else:
            diagnostics += result.diagnostics
            statements, majors = result.statements, result.postgres
    reported = rulebook.selected(config.select, config.ignore)
    findings = Resolver(excerpts=task.excerpts).findings(each for each in diagnostics if each.rule in reported)
    return Outcome(tuple(findings), majors, len(task.files), statements, crash)


def _named(files: Sequence[File]) -> str:
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return files[0].label + more


def lint_units(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    """The outcomes in the order of the tasks; with several ``jobs`` in as many processes (0: one a core)."""
    if jobs == 0:
        import os

        cores = getattr(os, "sched_getaffinity", None)
        jobs = len(cores(0)) if cores else os.cpu_count() or 1
    jobs = min(jobs, len(tasks))
    if jobs <= 1:
        yield from map(lint_unit, tasks)
        return
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # spawn: the one way of starting a process that every platform has and that copies no thread's locks.
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(lint_unit, tasks, chunksize=max(1, min(32, len(tasks) // (jobs * 4))))
