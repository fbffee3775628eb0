"""The steps of an audit: shown as progress, named in Spark's UI, and timed."""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic

from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote


class Steps:
    """Called with the name of a step that begins, and its text for people. A `with` block ends the last one."""

    def __init__(self, spark: SparkSession, run: str, progress: Callable[[str], None]) -> None:
        self.progress = progress
        self._run = run
        # A client of Spark Connect cannot name jobs.
        self._context = None if is_remote() else spark.sparkContext
        self._seconds: dict[str, float] = {}
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
            self._context.setJobGroup(f"pubcheck audit {self._run}", f"pubcheck: {text}")

    def seconds(self) -> dict[str, float]:
        """Return the seconds of each step, for the table `metrics`."""
        self._end()
        return {f"seconds_step_{step}": seconds for step, seconds in self._seconds.items()}

    def _end(self) -> None:
        if self._step:
            self._seconds[self._step] = self._seconds.get(self._step, 0.0) + monotonic() - self._begun
            self._step = ""
