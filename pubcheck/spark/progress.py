"""The progress on a terminal while Spark works: the step, how many of its tasks are done, and its duration.

Spark counts tasks, not units. The tasks of linting have equal cost, so that their share is that of the work.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from threading import Event, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from pyspark.sql.utils import is_remote
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from pubcheck.spark.steps import Counters

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.console import Console

_EVERY = 0.3
"""Seconds between two questions to Spark."""


class SparkProgress:
    """Shows steps on a terminal: called with what is begun, in a `with` block."""

    def __init__(self, spark: SparkSession, console: Console) -> None:
        self._bar = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[tasks]}"),
            TimeElapsedColumn(),
            console=console,
            transient=True,
        )
        self._console = console
        self._step, self._begun = "", 0.0
        self.counters = None if is_remote() else Counters(spark)
        self._task = self._bar.add_task("starting", total=None, tasks="")
        self._watch = _watch(spark)

    def __enter__(self) -> SparkProgress:
        self._bar.start()
        self._stop = self._watch(self._update)
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()
        if not any(error):
            self._end()
        self._bar.stop()

    def __call__(self, step: str) -> None:
        self._end()
        self._step, self._begun = step, monotonic()
        self._bar.reset(self._task, description=step, total=None, tasks="")

    def _end(self) -> None:
        if self._step:
            text = f"pubcheck: {self._step} ({monotonic() - self._begun:.1f} s)"
            self._console.print(text, markup=False, highlight=False, style="dim")

    def _update(self, completed: int, total: int) -> None:
        """Show how many tasks of the running stages are done."""
        counted = f", {self.counters}" if str(self.counters or "") else ""
        tasks = f"{completed:,}/{total:,} tasks{counted}"
        self._bar.update(self._task, total=total or None, completed=completed, tasks=tasks)


Report = Callable[[int, int], None]
Watch = Callable[[Report], Callable[[], None]]
"""Begins to tell how many tasks are done of how many; what it gives ends that."""


def _watch(spark: SparkSession) -> Watch:
    return _of_server(spark) if is_remote() else _of_driver(spark)


def _of_server(spark: SparkSession) -> Watch:
    """Spark Connect tells by itself."""

    def watch(tell: Report) -> Callable[[], None]:
        def handle(
            stages: Iterable[Any] | None, inflight_tasks: int, operation_id: str | None, completed: bool
        ) -> None:
            running = [stage for stage in stages or () if not stage.done]
            if running:
                tell(
                    sum(running_stage.num_completed_tasks for running_stage in running),
                    sum(running_stage.num_tasks for running_stage in running),
                )

        # Any callable will do, though the type is a class of its own.
        spark.registerProgressHandler(handle)  # type: ignore[arg-type]
        return lambda: spark.removeProgressHandler(handle)  # type: ignore[arg-type]

    return watch


def _of_driver(spark: SparkSession) -> Watch:
    """Watch a session of this machine: its driver is polled."""

    def watch(tell: Report) -> Callable[[], None]:
        tracker, ended = spark.sparkContext.statusTracker(), Event()

        def ask() -> None:
            while not ended.wait(_EVERY):
                infos = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
                running = [info for info in infos if info is not None]
                if running:
                    tell(sum(info.numCompletedTasks for info in running), sum(info.numTasks for info in running))

        thread = Thread(target=ask, name="pubcheck progress", daemon=True)
        thread.start()

        def stop() -> None:
            ended.set()
            thread.join(5)

        return stop

    return watch
