"""The session of Spark that a command works in."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

from pyspark.logger import PySparkLogger
from pyspark.sql import SparkSession


def session(
    name: str,
    master: str | None,
    remote: str | None,
    conf: Mapping[str, str],
    local: Mapping[str, str] | None = None,
) -> SparkSession:
    """The session that spark-submit or a notebook has made, else one as asked for, else a local one.

    ``conf`` is what the user says, ``local`` what a local session has otherwise than the audit's.
    """
    global _found
    silence()
    _found = SparkSession.getActiveSession()
    builder = SparkSession.builder
    for key, value in conf.items():
        builder = builder.config(key, value)
    if remote is not None:
        if remote.startswith("local"):  # a server of its own on this machine
            os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        return builder.remote(remote).getOrCreate()
    if master is not None:
        builder = builder.master(master)
    given = {"MASTER", "SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED", "PYSPARK_GATEWAY_PORT"}
    if given.isdisjoint(os.environ) and SparkSession.getActiveSession() is None:
        # The workers are to be this Python, which has pubcheck, and not the first one of the path.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        if master is None and "spark.master" not in conf:
            builder = builder.master("local[*,4]")  # [*] alone: a worker that is killed ends the job
        settings = {
            "spark.log.level": "ERROR",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",  # the progress is shown by pubcheck
            # The work is Python's. What Java's second compiler, and a collector that runs beside, take from it in a run
            # of minutes they never give back. The code of the first alone gets 48 MB, which a session fills, and after
            # that nothing is compiled.
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m"
            " -XX:+UseParallelGC",
            # 200, made for clusters, would be the greater part of a small run.
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 4)),
        }
        for key, value in {**settings, **(local or {})}.items():
            if key not in conf:
                builder = builder.config(key, value)
    return builder.appName(name).getOrCreate()


def silence() -> None:
    """Keeps PySpark from writing, as JSON, what it raises as well."""
    for logger in ("DataFrameQueryContextLogger", "SQLQueryContextLogger"):
        # They must be loggers of its own: it hands them what no other takes.
        PySparkLogger.getLogger(logger).addFilter(lambda record: False)


_found: SparkSession | None = None
"""A session that was there before."""


def release(spark: SparkSession) -> None:
    """Stops a session that ``session`` made. One that was there before goes on, and so does that of a job of
    Databricks, which fails when it is stopped."""
    if _found is None and "DATABRICKS_RUNTIME_VERSION" not in os.environ:
        spark.stop()
