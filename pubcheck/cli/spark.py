"""Options and errors shared by the commands that run Spark."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click
from msgspec import Struct

from pubcheck.cli.app import complain

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

    from pubcheck.spark.steps import Progress


def pair(option: str) -> tuple[str, str]:
    """Return the key and the value of KEY=VALUE."""
    key, equals, text = option.partition("=")
    if not key or not equals:
        raise click.BadParameter(f"{option!r} must be KEY=VALUE")
    return key, text


master_option = click.option(
    "--master", metavar="URL", help="Spark master, such as local[4].  [default: spark-submit's, or local[*]]"
)
remote_option = click.option("--remote", metavar="URL", help="Spark Connect server, such as sc://host.")
conf_option = click.option("--conf", type=pair, multiple=True, metavar="K=V", help="Spark setting. Repeatable.")


class AuditRequest(Struct, frozen=True, kw_only=True):
    """The options of `pubcheck audit` that the job and its results depend on, by their names."""

    output: str
    run: str | None
    since: str | None
    retry_quarantine: bool
    stream: bool
    stream_interval: str | None
    dry_run: bool
    max_file_size: int
    max_unit_size: int
    unit_timeout: float
    unit_memory: int
    report: str | None
    no_report: bool
    exports: tuple[tuple[str, str], ...]
    merge_into: str | None
    survey: bool
    quiet: bool

    @property
    def streams(self) -> bool:
        return self.stream or self.stream_interval is not None


def check_installed(feature: str) -> None:
    """Raise UsageError if PySpark is not installed."""
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise click.UsageError(f"{feature} needs PySpark: pip install 'pubcheck[spark]'") from None


def progress_of(spark: SparkSession, *, quiet: bool) -> AbstractContextManager[Progress]:
    """Show the steps of a job on a terminal, and nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        from pubcheck.spark.steps import Silent

        return nullcontext(Silent())
    from rich.console import Console

    from pubcheck.spark.progress import SparkProgress

    return SparkProgress(spark, Console(stderr=True))


def failures() -> tuple[type[Exception], ...]:
    """Return the exceptions that Spark raises, also when its Java dies."""
    from pyspark.errors import PySparkException

    try:
        from py4j.protocol import Py4JError
    except ImportError:  # a client of Spark Connect alone
        return (PySparkException,)
    return PySparkException, Py4JError


def failed(error: Exception) -> int:
    """Report why a job of Spark failed, after the lines that Java wrote. Return the exit status."""
    from pubcheck.spark.session import log

    for line in log():
        click.echo(line, err=True)
    return complain(f"the Spark job failed: {reason(str(error))}")


def reason(error: str) -> str:
    """Return the line of an error of Spark that says what was wrong: the last of a Python traceback, else the last
    cause that Java names, else what Java raised, else the first."""
    lines = [line.strip() for line in error.splitlines() if line.strip() and not line.startswith("\tat ")]
    first, traceback = lines[0] if lines else "no reason given", "Traceback (most recent call last):"
    if traceback in lines:
        return lines[-1]
    causes = [line.partition(": ")[2] for line in lines if line.startswith((": ", "Caused by: "))]
    return causes[-1].partition(": ")[2] or causes[-1] if causes else first
