"""Linting one unit, as it also happens in a worker process: files in, findings out, nothing raised."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from msgspec import Struct

from pubcheck.config import Config
from pubcheck.report.document import Finding
from pubcheck.sources.files import Plan

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor
    from typing import Any, Literal, TypeVar

    T = TypeVar("T")
    R = TypeVar("R")

    from pubcheck.baseline import Baseline
    from pubcheck.fix import Rewritten
    from pubcheck.unit import Judged


class Task(Struct, frozen=True):
    """A unit to lint. ``excerpts``: whether its findings shall carry the lines to show with them. ``change``: what is
    to be done about those that ``baseline`` does not know.
    """

    plan: Plan
    config: Config
    excerpts: bool
    baseline: Baseline | None = None
    change: Literal["fix", "unsafe-fix", "ignore"] | None = None


class Outcome(Struct, frozen=True):
    """What came of a unit: findings, over what, and in ``crash`` what to tell of an error of pubcheck's own.

    ``known`` are the fingerprints of findings that the baseline knows, which are not among ``findings``. ``rewritten``
    are the files as the change that was asked for makes them, ``done`` how many findings of each rule it took care of.
    """

    findings: tuple[Finding, ...]
    postgres: tuple[int, ...]
    files: int
    statements: int
    crash: str | None = None
    known: tuple[str, ...] = ()
    rewritten: tuple[Rewritten, ...] = ()
    done: tuple[tuple[str, int], ...] = ()


def lint_unit(task: Task) -> Outcome:
    """Reads and lints a unit. A crash of the engine loses this unit's diagnostics, not those of reading its files."""
    from pubcheck.linter import Linter
    from pubcheck.unit import judge

    linter = Linter(task.config)
    rewritten: tuple[Rewritten, ...] = ()
    done: tuple[tuple[str, int], ...] = ()
    if task.change is None:
        judged = judge(task.plan, linter, excerpts=task.excerpts)
    else:
        judged, rewritten, done = _changed(task, lambda plan: judge(plan, linter, excerpts=task.excerpts))
    findings: tuple[Finding, ...] = judged.findings
    known: tuple[str, ...] = ()
    if task.baseline is not None:
        findings, known = task.baseline.split(findings)
    crash = None
    if judged.error is not None:
        from pubcheck.cli.app import internal_error

        crash = internal_error(f" in {named(task.plan)}", judged.error)
    files = own_files(task.plan)
    return Outcome(findings, judged.postgres, files, judged.statements, crash, known, rewritten, done)


def _changed(
    task: Task, judge: Callable[[Plan], Judged]
) -> tuple[Judged, tuple[Rewritten, ...], tuple[tuple[str, int], ...]]:
    from pubcheck.fix import add_ignores, everything, fix

    wanted = everything if task.baseline is None else task.baseline.unknown
    if task.change == "ignore":
        changes = add_ignores(task.plan, judge, wanted=wanted)
    else:
        changes = fix(task.plan, judge, unsafe=task.change == "unsafe-fix", wanted=wanted)
    return changes.judged, changes.files, changes.done


def own_files(plan: Plan) -> int:
    """How many files of a unit are reported about."""
    return sum(not file.context for file in plan.files)


def named(plan: Plan) -> str:
    """A unit by its first file."""
    files = plan.files
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return files[0].label + more


def lint_units(tasks: Sequence[Task], jobs: int) -> Iterator[Outcome]:
    """The outcomes in the order of the tasks; with several ``jobs`` in as many processes (0: one a core)."""
    yield from spread(lint_unit, tasks, jobs, died)


def spread(work: Callable[[T], R], tasks: Sequence[T], jobs: int, died: Callable[[T], R]) -> Iterator[R]:
    """What ``work`` makes of each task, in their order; as ``in_processes`` where there is more than one job.

    ``jobs`` of 0 are one a core.
    """
    if jobs == 0:
        import os

        cores = getattr(os, "sched_getaffinity", None)
        jobs = len(cores(0)) if cores else os.cpu_count() or 1
    jobs = min(jobs, len(tasks))
    yield from map(work, tasks) if jobs <= 1 else in_processes(work, tasks, jobs, died)


def in_processes(work: Callable[[T], R], tasks: Sequence[T], jobs: int, died: Callable[[T], R]) -> Iterator[R]:
    """The outcomes of ``work`` in the order of the tasks; ``died`` makes that of a task that kills its process.

    ``work`` must be a function of a module's top level.
    """
    from concurrent.futures.process import BrokenProcessPool
    from functools import partial

    done = 0
    while done < len(tasks):
        pool = _pool(tasks, jobs)
        chunk = max(1, min(32, (len(tasks) - done) // (jobs * 4)))
        try:
            with (
                _interrupts_later()
            ):  # map starts the processes; one interrupted in its start would tell of it at length
                outcomes = pool.map(partial(_nth, work), range(done, len(tasks)), chunksize=chunk)
            for outcome in outcomes:
                yield outcome
                done += 1
        except BrokenProcessPool:
            # Whose process it was is not known, only that all before it are done: the next task is tried alone.
            with _pool(tasks[done : done + 1], 1) as alone:
                try:
                    yield alone.submit(_nth, work, 0).result()
                except BrokenProcessPool:
                    yield died(tasks[done])
            done += 1
        else:
            # Waited for here: a pool that ends while the interpreter does may find its pipe closed, and tells of it.
            pool.shutdown()
        finally:
            pool.shutdown(wait=False, cancel_futures=True)


def _pool(tasks: Sequence[object], jobs: int) -> ProcessPoolExecutor:
    """Processes that have the tasks and are asked for them by number.

    A queue of tasks would fill its pipe, and a pool that waits to write to processes that died never ends.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # spawn: the one way of starting a process that every platform has and that copies no thread's locks.
    return ProcessPoolExecutor(jobs, get_context("spawn"), initializer=_begin, initargs=(tuple(tasks),))


_given: tuple[Any, ...] = ()
"""The tasks of a worker process."""


def _begin(tasks: tuple[object, ...]) -> None:
    import signal

    global _given
    _given = tasks
    # A terminal sends Ctrl-C to every process. A worker that died of it could leave the pool waiting; what it is at is
    # short, and nothing more is handed out.
    signal.signal(signal.SIGINT, signal.SIG_IGN)


@contextmanager
def _interrupts_later() -> Iterator[None]:
    """Holds Ctrl-C back, in this process and those that it starts, where the system can."""
    import signal

    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _nth(work: Callable[[Any], R], number: int) -> R:
    return work(_given[number])


def died(task: Task) -> Outcome:
    """The outcome of a task whose process died."""
    crash = f"internal error in {named(task.plan)}: the process that linted it died, perhaps for lack of memory"
    return Outcome((), task.config.postgres, own_files(task.plan), 0, crash)
