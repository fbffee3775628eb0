"""The session of Spark that a command works in."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from tempfile import TemporaryFile
from threading import Lock

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession


def session(
    name: str,
    master: str | None,
    remote: str | None,
    conf: Mapping[str, str],
    local: Mapping[str, str] | None = None,
) -> SparkSession:
    """Return the session that spark-submit or a notebook has made, else one as asked for, else a local one.

    ``conf`` is what the user says, ``local`` what a local session has otherwise than the audit's.
    """
    global _reused_session
    silence()
    _reused_session = SparkSession.getActiveSession()
    builder = SparkSession.builder
    for key, value in conf.items():
        builder = builder.config(key, value)
    if remote is not None:
        if remote.startswith("local"):  # a server of its own on this machine
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        return _started(builder.remote(remote), aside=remote.startswith("local") and LEVEL not in conf)
    if master is not None:
        builder = builder.master(master)
    environment = {"MASTER", "SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "PYSPARK_GATEWAY_PORT"}
    if environment.isdisjoint(os.environ) and SparkSession.getActiveSession() is None:
        # The workers are to be this Python, which has pubcheck, and not the first one of the path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        if master is None and "spark.master" not in conf:
            builder = builder.master("local[*,4]")  # [*] alone: a worker that is killed ends the job
        settings = {
            LEVEL: "ERROR",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",  # the progress is shown by pubcheck
            "spark.driver.memory": f"{_driver_memory()}m",
            # What the driver remembers of tasks that have ended does not grow with the corpus.
            "spark.ui.retainedTasks": "1000",
            "spark.sql.ui.retainedExecutions": "50",
            "spark.driver.extraJavaOptions": _JAVA,
            # 200, made for clusters, would be the greater part of a small run.
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 4)),
        }
        if master is not None and master.startswith("local-cluster"):  # its executors are processes of this machine too
            settings["spark.executor.extraJavaOptions"] = _JAVA
        for key, value in {**settings, **(local or {})}.items():
            if key not in conf:
                builder = builder.config(key, value)
    return _started(builder.appName(name), aside="PYSPARK_GATEWAY_PORT" not in os.environ and LEVEL not in conf)


_JAVA = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseParallelGC"
"""The work is Python's. In a run of minutes, Java's second compiler and a collector that runs next to it take more time
from it than they save. The code of the first compiler alone would get 48 MB, which a session fills, and after that
nothing is compiled."""


def _driver_memory() -> int:
    """Return the megabytes of Java's heap in a local session: a row of a table is in memory as a whole, some times, and
    a file may have hundreds of megabytes."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20
    except (AttributeError, ValueError, OSError):  # Windows has no such numbers
        return 1024
    return max(1024, min(4096, memory // 4))


def _started(builder: SparkSession.Builder, *, aside: bool) -> SparkSession:
    """Return the session of a builder. ``aside``: what a Java that is started for it writes is kept, and not shown."""
    if not aside or _reused_session is not None:
        return builder.getOrCreate()
    with _kept_log():
        return builder.getOrCreate()


LEVEL = "spark.log.level"
"""The setting by which a user asks for the log."""


class _Log:
    """The standard error of this process's Java; ``start`` is where its greetings end."""

    def __init__(self) -> None:
        self.file = TemporaryFile()  # noqa: SIM115 - open to the end
        self.start = 0

    def size(self) -> int:
        return os.fstat(self.file.fileno()).st_size


_log: _Log | None = None


@contextmanager
def _kept_log() -> Iterator[None]:
    """Lets processes that are started meanwhile, as that of Java, write their errors to a file of no name."""
    global _log
    _log = _log or _Log()
    _log.start = _log.size()
    sys.stderr.flush()
    shown = os.dup(2)
    os.dup2(_log.file.fileno(), 2)
    try:
        yield
        _log.start = _log.size()
    finally:
        sys.stderr.flush()
        os.dup2(shown, 2)
        os.close(shown)


def log() -> list[str]:
    """Return the last lines that Java wrote since the session was there, or why there is none. To be shown after a
    failure."""
    if _log is None or not hasattr(os, "pread"):  # Windows has none
        return []
    # The file is Java's too, with one position for both.
    written = os.pread(_log.file.fileno(), _SHOWN, max(_log.start, _log.size() - _SHOWN))
    return written.decode(errors="replace").splitlines()


_SHOWN = 16_000
"""Bytes of a log that are shown: a few errors with their traces."""


def silence() -> None:
    """Keep PySpark from writing, as JSON, what it raises as well."""
    for logger in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        # They must be loggers of its own: it hands them what no other takes.
        PySparkLogger.getLogger(logger).addFilter(lambda record: False)


_reused_session: SparkSession | None = None
"""A session that was there before."""


def release(spark: SparkSession) -> None:
    """Stop a session that ``session`` made. One that was there before goes on, and so does that of a job of
    Databricks, which fails when it is stopped."""
    if _reused_session is None and "DATABRICKS_RUNTIME_VERSION" not in os.environ:
        spark.stop()


@contextmanager
def settings(spark: SparkSession, values: Mapping[str, str]) -> Iterator[None]:
    """Change settings of a session while the block runs. Blocks that run at once change them once, and the last one
    restores what there was before the first."""
    keys = [(id(spark), name) for name in values]
    with _changing:
        for key, (name, value) in zip(keys, values.items(), strict=True):
            blocks, before = _changed.get(key) or (0, spark.conf.get(name, None))
            _changed[key] = blocks + 1, before
            spark.conf.set(name, value)
    try:
        yield
    finally:
        with _changing:
            for key, name in zip(keys, values, strict=True):
                blocks, before = _changed.pop(key)
                if blocks > 1:
                    _changed[key] = blocks - 1, before
                elif before is None:
                    spark.conf.unset(name)
                else:
                    spark.conf.set(name, before)


_changing = Lock()
_changed: dict[tuple[int, str], tuple[int, str | None]] = {}
"""For each session and setting, the number of blocks that change it, and its value before them."""
