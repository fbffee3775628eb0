"""The steps of an audit: shown as progress, named and counted in Spark's UI, and measured for the table `metrics`."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Any, Protocol

from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote


class Counters:
    """Units that were linted, and their findings of each kind, as the tasks that have ended report them: Spark's
    accumulators. A task that Spark runs twice counts twice, so they are only shown."""

    def __init__(self, spark: SparkSession) -> None:
        self.units, self.errors, self.warnings = (spark.sparkContext.accumulator(0) for _ in range(3))

    def __str__(self) -> str:
        if not self.units.value:
            return ""
        return f"{self.units.value:,} units, {self.errors.value:,} errors, {self.warnings.value:,} warnings"


class Progress(Protocol):
    """Called with the text of a step that begins. ``counters`` are shown next to it, if there are any."""

    counters: Counters | None

    def __call__(self, step: str, /) -> None: ...


class Silent:
    """Shows nothing."""

    counters: Counters | None = None

    def __call__(self, step: str, /) -> None:
        pass


class Steps:
    """The steps of a run. Called with the name of a step that begins, and its text for people; a `with` block ends the
    last one."""

    def __init__(self, spark: SparkSession, run: str, progress: Callable[[str], None]) -> None:
        self.progress = progress
        self._group = f"pubcheck audit {run}"
        # A client of Spark Connect can neither name jobs nor measure them.
        self._context = None if is_remote() else spark.sparkContext
        self._seconds: dict[str, float] = {}
        self._jobs: dict[int, str] = {}
        self._step, self._begun = "", 0.0

    def __enter__(self) -> Steps:
        return self

    def __exit__(self, *error: object) -> None:
        self._end()
        if self._context is not None:
            self._context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
            self._context.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]

    def __call__(self, step: str, text: str) -> None:
        self._end()
        self._step, self._begun = step, monotonic()
        self.describe(text)
        self.progress(text)

    def describe(self, text: str) -> None:
        """Name the jobs that this thread starts from now on."""
        if self._context is not None:
            self._context.setJobGroup(self._group, f"pubcheck: {text}")

    def metrics(self) -> dict[str, float]:
        """Return the costs of each step, for the table `metrics`: its seconds, and of its tasks their number, their
        seconds, and the bytes that they read and shuffled, as Spark's UI has them."""
        self._end()
        metrics = {f"seconds_step_{step}": seconds for step, seconds in self._seconds.items()}
        for job, step in self._jobs.items():
            for name, cost in self._costs(job).items():
                metrics[f"{name}_step_{step}"] = metrics.get(f"{name}_step_{step}", 0.0) + cost
        return metrics

    def _end(self) -> None:
        if self._step:
            self._seconds[self._step] = self._seconds.get(self._step, 0.0) + monotonic() - self._begun
            if self._context is not None:
                for job in self._context.statusTracker().getJobIdsForGroup(self._group):
                    self._jobs.setdefault(job, self._step)
            self._step = ""

    def _costs(self, job: int) -> dict[str, float]:
        """Return the costs of a job, as far as Spark still knows its stages."""
        assert self._context is not None
        info = self._context.statusTracker().getJobInfo(job)
        costs = dict.fromkeys(("tasks", "seconds_tasks", "bytes_read", "bytes_shuffled"), 0.0)
        for number in info.stageIds if info is not None else ():
            stage = self._stage(number)
            if stage is not None:
                costs["tasks"] += stage.numCompleteTasks()
                costs["seconds_tasks"] += stage.executorRunTime() / 1000
                costs["bytes_read"] += stage.inputBytes()
                costs["bytes_shuffled"] += stage.shuffleWriteBytes()
        return costs

    def _stage(self, number: int) -> Any | None:
        from py4j.protocol import Py4JError

        assert self._context is not None
        try:
            return self._context._jsc.sc().statusStore().lastStageAttempt(number)
        except Py4JError:  # skipped, or too old to be kept
            return None
