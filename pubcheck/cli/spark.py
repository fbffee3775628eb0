"""Options and errors shared by the commands that run Spark; `decode` and `verify` of messages in a table."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct

from pubcheck.cli.app import NoInput, complain, completes

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pyspark.sql import DataFrame, SparkSession

    from pubcheck.diagnostics import Certainty, Severity
    from pubcheck.spark.steps import Progress
    from pubcheck.spark.verify_messages import Job
    from pubcheck.stream.decode import Streaming
    from pubcheck.verify import StreamFinding


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


# Captured messages in a table or a Parquet folder: `decode` and `verify` as Spark jobs.

_Command = TypeVar("_Command", bound=Callable[..., object])
_ROLES: Mapping[str, str] = {
    "slot": "the slot that the message is from",
    "order": "the order of a slot's messages; Parquet files without it are taken in the order of their names",
    "lsn": "the position",
    "xid": "the transaction ID",
    "data": "the message: binary, or hex",
}
_DEFAULTS = {"order": "ordinal"}


class TableFailure(Exception):
    """A table could not be read or written; the text says why."""


class MessageTable(Struct, frozen=True):
    """Where messages are (``format``: `table` or a data source), where the result goes, and Spark's address."""

    source: str
    format: str
    output: str | None
    columns: Mapping[str, str]
    options: Mapping[str, str]
    master: str | None
    remote: str | None
    conf: Mapping[str, str]


def table_options(command: _Command) -> _Command:
    """Add the options for a table; the command gets a `MessageTable` without ``source``, None without --from."""
    options: list[Callable[[Any], Any]] = [
        click.option(
            "--from",
            "from_",
            metavar="FORMAT",
            help="Read the capture with Spark, as a table of messages: table (one of the catalog), parquet, json, or"
            " another data source of Spark's.",
        ),
        click.option(
            "--to",
            "to",
            metavar="DIR",
            shell_complete=completes("folders"),
            help="With --from: write the result as Parquet to this folder.",
        ),
        *(
            click.option(
                f"--{role}-column",
                metavar="NAME",
                help=f"With --from: the column with {meaning}.  [default: {_DEFAULTS.get(role, role)}]",
            )
            for role, meaning in _ROLES.items()
        ),
        click.option(
            "--source-option",
            "source_options",
            type=pair,
            multiple=True,
            metavar="K=V",
            help="With --from: an option of the data source. Repeatable.",
        ),
        master_option,
        remote_option,
        conf_option,
    ]
    for option in reversed(options):
        command = option(command)
    return command


def message_table(source: str, options: Mapping[str, Any]) -> MessageTable | None:
    """Return the table of these options; None for a file. Raises UsageError and NoInput."""
    columns = {role: options[f"{role}_column"] for role in _ROLES if options[f"{role}_column"] is not None}
    if options["from_"] is None:
        if options["to"] is not None or columns or options["source_options"]:
            raise click.UsageError("--to and the options about columns need --from, which reads a table")
        return None
    check_installed("--from")
    if options["from_"] != "table" and "://" not in source and "*" not in source and not os.path.exists(source):
        raise NoInput(f"no input: there is no {source}")
    return MessageTable(
        source,
        options["from_"],
        None if options["to"] is None else _absolute(options["to"]),
        columns,
        dict(options["source_options"]),
        options["master"],
        options["remote"],
        dict(options["conf"]),
    )


def _absolute(path: str) -> str:
    """Return a path of this machine from its root: Spark's Java may have been started in another folder."""
    return path if "://" in path else os.path.abspath(path)


@contextmanager
def spark_messages(table: MessageTable) -> Iterator[DataFrame]:
    """Give the messages of a table while Spark runs. Raises TableFailure."""
    from pubcheck.spark.inputs import BadInput
    from pubcheck.spark.session import release, session
    from pubcheck.spark.sources import MessageColumns, read_messages

    try:
        spark = session("pubcheck", table.master, table.remote, table.conf)
        try:
            with progress_of(spark, quiet=False):
                where = table.source if table.format == "table" else _absolute(table.source)
                yield read_messages(spark, where, table.format, MessageColumns(**table.columns), table.options)
        finally:
            release(spark)
    except BadInput as error:
        raise TableFailure(str(error)) from None
    except failures() as error:
        raise TableFailure(f"the Spark job failed: {reason(str(error))}") from None


def decode_table(table: MessageTable, folder: str, streaming: Streaming | None) -> int:
    """Write the messages of a table, decoded, to a folder. Return how many are malformed. Raises TableFailure."""
    from pyspark.sql import functions as F

    from pubcheck.spark.decode_messages import decode_messages

    with spark_messages(table) as messages:
        decode_messages(messages, streaming).write.mode("overwrite").parquet(folder)
        written = messages.sparkSession.read.parquet(folder)
        return written.where(F.col("error").isNotNull()).count()


class TableFindings(Struct, frozen=True):
    """The findings about a table: their number by severity and certainty, and the first with their slots."""

    messages: int
    counts: Mapping[tuple[Severity, Certainty], int]
    findings: list[tuple[str, StreamFinding]]


def verify_table(table: MessageTable, job: Job, most: int) -> TableFindings:
    """Verify the messages of a table, and write all findings to its output, if it has one. ``most`` of them are
    returned. Raises TableFailure."""
    from pubcheck.spark.verify_messages import finding_of, verify_messages

    with spark_messages(table) as messages:
        findings = verify_messages(messages, job)
        if table.output is None:
            findings = findings.persist()
        else:
            findings.write.mode("overwrite").parquet(table.output)
            findings = messages.sparkSession.read.parquet(table.output)
        counts = {(row[0], row[1]): row[2] for row in findings.groupBy("severity", "certainty").count().collect()}
        shown = findings.orderBy("slot", "number", "rule").limit(most).collect()
        return TableFindings(messages.count(), counts, [(row["slot"], finding_of(row.asDict())) for row in shown])
