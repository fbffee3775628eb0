"""Processes side by side: tasks in, results out in order; one that dies loses only its current task."""

from __future__ import annotations

import gc
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from multiprocessing.connection import Connection
    from multiprocessing.process import BaseProcess
    from types import TracebackType
    from typing import Self, TypeVar

    T = TypeVar("T")
    R = TypeVar("R")

_MOST = 32
"""Tasks that a process is given at a time, so that it seldom waits for more."""
_EARLY = 4
"""Processes that are started before it is known how much there is to do."""


class Workers:
    """A pool of ``jobs`` processes (0: one per core), started when needed and kept until the end of the `with` block.

    With one job there is no process, and the tasks run here.
    """

    def __init__(self, jobs: int) -> None:
        self.jobs = jobs or cores()
        self._idle: list[_Process] = []
        self._busy: dict[Connection, _Process] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        every = [*self._idle, *self._busy.values()]
        for process in every:
            process.end()
        for process in every:
            process.wait()

    def start(self, number: int = _EARLY) -> None:
        """Start processes, at most so many and at most as many as there are jobs, before there is a task for them:
        what a start takes passes while something else is done."""
        if self.jobs > 1:
            with _interrupts_later():  # one that is interrupted while it starts would tell of it at length
                while len(self._idle) + len(self._busy) < min(number, self.jobs):
                    self._idle.append(_Process())

    def prepare(self, work: Callable[[], object]) -> None:
        """Run a function in each idle process before its next task, without waiting for it."""
        for process in self._idle:
            with suppress(OSError):  # one that died is met when it is given a task
                process.pipe.send((_once, (work,), False))

    def map(self, work: Callable[[T], R], tasks: Sequence[T], died: Callable[[T], R]) -> Iterator[R]:
        """Return the results of ``work``, a module-level function, for the tasks in their order.

        ``died`` gives the result for a task that kills its process. An exception of ``work`` is raised here.
        """
        jobs = min(self.jobs, len(tasks))
        if jobs <= 1:
            yield from map(work, tasks)
            return
        self.start(jobs)
        waiting = deque(range(len(tasks)))
        results: dict[int, R] = {}
        following = 0
        while following < len(tasks):
            for process in self._idle[:]:
                # Less and less at a time, so that all end together.
                length = max(1, min(_MOST, len(waiting) // (jobs * 4)))
                numbers = [waiting.popleft() for _ in range(min(length, len(waiting)))]
                if numbers:
                    self._give(process, work, tasks, numbers)
            for process in self._answering():
                number = process.numbers[0]
                try:
                    result, error = process.pipe.recv()
                except (EOFError, OSError):
                    results[number] = died(tasks[number])
                    waiting.extendleft(reversed(process.numbers[1:]))
                    self._replace(process)
                    continue
                if error is not None:
                    raise error
                results[number] = result
                del process.numbers[0]
                if not process.numbers:
                    self._idle.append(self._busy.pop(process.pipe))
            while following in results:
                yield results.pop(following)
                following += 1

    def _give(self, process: _Process, work: Callable[[T], R], tasks: Sequence[T], numbers: list[int]) -> None:
        """Give a task to an idle process. Only an idle one reads, so that the write ends."""
        with suppress(OSError):  # it died; that is met where its answer is read
            process.pipe.send((work, [tasks[number] for number in numbers], True))
        process.numbers = numbers
        self._idle.remove(process)
        self._busy[process.pipe] = process

    def _answering(self) -> list[_Process]:
        """Return the processes that have an answer, or have died; waits for one."""
        from multiprocessing.connection import wait

        return [self._busy[pipe] for pipe in wait(list(self._busy))]  # type: ignore[index]

    def _replace(self, process: _Process) -> None:
        del self._busy[process.pipe]
        process.end()
        process.wait()
        with _interrupts_later():
            self._idle.append(_Process())


class _Process:
    """A process, the pipe to it, and the ``numbers`` of the tasks that it has not answered yet."""

    def __init__(self) -> None:
        from multiprocessing import get_context

        # The one way of starting a process that every platform has and that copies no thread's locks.
        context = get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.numbers: list[int] = []
        self._process: BaseProcess = context.Process(target=_serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def end(self) -> None:
        """Kill the process, which has nothing to lose."""
        self.pipe.close()
        self._process.terminate()

    def wait(self) -> None:
        self._process.join()


def _serve(pipe: Connection) -> None:
    """Answer each task with its result or its exception until the parent closes the pipe."""
    import signal

    # A terminal sends Ctrl-C to every process; this one is ended by the one that started it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.set_threshold(500_000)  # as the command line does, and for its reason
    while True:
        try:
            work, tasks, answered = pipe.recv()
        except (EOFError, OSError):
            return
        for task in tasks:
            result, error = None, None
            try:
                result = work(task)
            except Exception as raised:
                error = raised
            if answered:
                pipe.send((result, error))


def _once(work: Callable[[], object]) -> None:
    work()


def cores() -> int:
    """Return the number of cores that this process may use."""
    usable = getattr(os, "sched_getaffinity", None)
    return len(usable(0)) if usable else os.cpu_count() or 1


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
