"""`pubcheck audit`: the linter over a corpus, as a Spark job."""

from __future__ import annotations

import os
import re
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING

import click

from pubcheck.cli.app import FOUND, NoInput, complain, emit
from pubcheck.config import ConfigError, from_options, load
from pubcheck.diagnostics import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from pyspark.sql import SparkSession

    from pubcheck.report.audit_document import Audit, Change
    from pubcheck.spark.inputs import Input
    from pubcheck.spark.job import Summary

_SIZE = re.compile(r"(\d+)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)


def _size(given: str) -> int:
    """A number of bytes, such as 512K or 32M."""
    found = _SIZE.fullmatch(given.strip())
    if found is None:
        raise click.BadParameter(f"{given!r} is no size; write bytes, or such as 512K, 32M, 2G")
    return int(found[1]) << 10 * " KMGT".index(found[2].upper() or " ")


def _pair(given: str) -> tuple[str, str]:
    key, equals, text = given.partition("=")
    if not key or not equals:
        raise click.BadParameter(f"{given!r} must be KEY=VALUE")
    return key, text


@click.command(
    short_help="The linter over a corpus of repositories, as a Spark job.",
    epilog="""\b
Examples:
  pubcheck audit repositories/ --output audit
  pubcheck audit 'mirror/*/*' --output audit --since latest --fail-on error
  pubcheck audit files.parquet --format parquet --preset the-stack --output audit
  pubcheck audit lake.code.files --format table --repo-column repo --output s3a://lake/audit

\b
Exit status: as of `pubcheck lint`; what is quarantined does not fail a run.""",
)
@click.argument("input_", metavar="INPUT")
@click.option("--output", required=True, metavar="DIR", help="Where the tables are written: DIR/<table>/run=<id>/.")
@click.option(
    "--format",
    "format_",
    default="files",
    metavar="FORMAT",
    show_default=True,
    help="What INPUT is: files (a folder of repositories, or a pattern that matches them), table (a catalog table), or"
    " a data source of Spark, such as parquet, json, csv or delta.",
)
@click.option("--repo-column", metavar="NAME", help="Column that names the repository.  [default: repository]")
@click.option("--path-column", metavar="NAME", help="Column with the file's path.  [default: path]")
@click.option("--content-column", metavar="NAME", help="Column with its content.  [default: content]")
@click.option(
    "--preset", metavar="NAME", help="Columns of a well-known corpus: the-stack, github-code or bigquery-github."
)
@click.option("--option", "options", type=_pair, multiple=True, metavar="K=V", help="An option of the data source.")
@click.option("--since", metavar="RUN", help="Carry over what has not changed since that run in DIR, or since latest.")
@click.option("--run", metavar="ID", help="What this run is called; one of that name is replaced.  [default: the time]")
@click.option(
    "--max-file-size", type=_size, default="32M", show_default=True, metavar="SIZE", help="Largest file to lint."
)
@click.option(
    "--max-unit-size", type=_size, default="128M", show_default=True, metavar="SIZE", help="Largest database to lint."
)
@click.option(
    "--unit-timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Longest time for a database.",
)
@click.option(
    "--unit-memory", type=_size, default="2G", show_default=True, metavar="SIZE", help="Most memory for a database."
)
@click.option("--postgres", metavar="MAJORS", help="Majors to judge for, as in `pubcheck lint`.")
@click.option("--select", multiple=True, metavar="CODE", help="Report these rules only.")
@click.option("--ignore", multiple=True, metavar="CODE", help="Do not report these rules.")
@click.option("--complete/--no-complete", default=None, help="Each input is the whole database.")
@click.option("--fail-on", type=click.Choice(SEVERITIES), help="The least severity that fails.  [default: warning]")
@click.option("--fail-on-assumed/--no-fail-on-assumed", default=None, help="Let assumed findings fail the run too.")
@click.option("--config", "config_path", metavar="FILE", help="Configuration to read.")
@click.option("--master", metavar="URL", help="Spark master, such as local[4].  [default: spark-submit's, or local[*]]")
@click.option("--remote", metavar="URL", help="Spark Connect server, such as sc://host.")
@click.option("--conf", type=_pair, multiple=True, metavar="K=V", help="A setting of Spark.")
@click.option(
    "--report", metavar="FILE", help="Write the report here, a page.  [default: DIR/report.html if DIR is local]"
)
@click.option("--no-report", is_flag=True, help="Write no report.")
@click.option("-q", "--quiet", is_flag=True, help="No progress, no summary.")
def command(
    input_: str,
    output: str,
    format_: str,
    repo_column: str | None,
    path_column: str | None,
    content_column: str | None,
    preset: str | None,
    options: tuple[tuple[str, str], ...],
    since: str | None,
    run: str | None,
    max_file_size: int,
    max_unit_size: int,
    unit_timeout: float,
    unit_memory: int,
    postgres: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    complete: bool | None,
    fail_on: str | None,
    fail_on_assumed: bool | None,
    config_path: str | None,
    master: str | None,
    remote: str | None,
    conf: tuple[tuple[str, str], ...],
    report: str | None,
    no_report: bool,
    quiet: bool,
) -> int:
    """Lints the databases of many repositories and writes what it found as Parquet tables, and as a report to look at.

    Every file and every database ends in one of linted, nothing to lint (its repository holds no publication) and
    quarantined (with the reason: one that crashes, takes too long or is too large harms no other).
    """
    given = {
        "postgres": postgres,
        "select": select or None,
        "ignore": ignore or None,
        "complete": complete,
        "fail-on": fail_on,
        "fail-on-assumed": fail_on_assumed,
    }
    config = from_options(
        {key: value for key, value in given.items() if value is not None}, load(path=config_path), where="--"
    )
    if run is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", run):
        raise ConfigError(f"--run: {run!r} is no id: letters, digits, dots, hyphens and underscores")
    if report is not None and no_report:
        raise click.UsageError("--report and --no-report exclude each other")
    if report is not None and not os.path.isdir(os.path.dirname(report) or "."):
        raise click.FileError(report, "there is no such folder")
    try:
        import pyspark  # noqa: F401
    except ImportError:
        raise click.UsageError("the audit needs PySpark: pip install 'pubcheck[spark]'") from None
    columns = (repo_column, path_column, content_column)
    source = _input(input_, format_, columns, preset, dict(options))

    from pyspark.errors import PySparkException

    from pubcheck.linter import Linter
    from pubcheck.spark.child import Limits
    from pubcheck.spark.inputs import EmptyInput
    from pubcheck.spark.job import Options, audit, fails
    from pubcheck.spark.reporting import collect
    from pubcheck.spark.runs import NoRun, Store

    try:
        spark = _session(master, remote, dict(conf))
        try:
            store = Store(spark, output)
            wanted = Options(
                run=run or _now(),
                since=store.find(since) if since else None,
                largest_file=max_file_size,
                largest_unit=max_unit_size,
                limits=Limits(unit_timeout, unit_memory),
            )
            with _progress(spark, quiet) as progress:
                summary = audit(spark, source, store, Linter(config), wanted, progress)
                page = None if no_report else report or _page_in(output, wanted.run)
                document = None
                if page is not None:
                    progress("writing the report")
                    document = collect(store, wanted.run)
                    _write(document, page)
        finally:
            spark.stop()
    except EmptyInput as error:
        raise NoInput(str(error)) from None
    except NoRun as error:
        raise ConfigError(f"--since: {error}") from None
    except PySparkException as error:
        return complain(f"the Spark job failed: {reason(str(error))}")
    if not quiet:
        emit("\n".join(summarised(summary, output, page, document)) + "\n")
    return FOUND if fails(summary.rules, config) else 0


def reason(error: str) -> str:
    """The line of an error of Spark that says what was wrong: the last of a Python traceback, else the first."""
    lines = [line.strip() for line in error.splitlines() if line.strip() and not line.startswith("\tat ")]
    first, traceback = lines[0] if lines else "it does not say why", "Traceback (most recent call last):"
    return lines[-1] if traceback in lines else first


def _input(
    where: str, format_: str, columns: tuple[str | None, ...], preset: str | None, options: dict[str, str]
) -> Input:
    from pubcheck.spark.inputs import PRESETS, Columns, Folders, Rows

    if format_ == "files":
        if preset or any(columns) or options:
            raise ConfigError("columns, presets and options are of tables: say what INPUT is with --format")
        if not os.path.exists(where) and not any(character in where for character in "*?["):
            raise NoInput(f"no input: there is no {where}")
        return Folders(where)
    base = Columns("repository", "path", "content")
    if preset is not None:
        if preset not in PRESETS:
            raise ConfigError(f"--preset: there is no {preset}; there are {', '.join(PRESETS)}")
        base = PRESETS[preset]
    repository, path, content = columns
    chosen = Columns(repository or base.repository, path or base.path, content or base.content)
    return Rows(where, format_, chosen, options)


def _session(master: str | None, remote: str | None, conf: dict[str, str]) -> SparkSession:
    """The session that spark-submit or a notebook has made, else one as asked for, else a local one."""
    from pyspark.sql import SparkSession

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
        local = {
            "spark.log.level": "ERROR",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",  # the progress is shown here
            # 200, made for clusters, would be the greater part of a small run.
            "spark.sql.shuffle.partitions": str(2 * (os.cpu_count() or 4)),
        }
        for key, value in local.items():
            if key not in conf:
                builder = builder.config(key, value)
    return builder.appName("pubcheck audit").getOrCreate()


def _now() -> str:
    from datetime import UTC, datetime

    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")


def _progress(spark: SparkSession, quiet: bool) -> AbstractContextManager[Callable[[str], None]]:
    """Shows the steps of the job on a terminal, and nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        return nullcontext(lambda step: None)
    from rich.console import Console

    from pubcheck.spark.progress import Shown

    return Shown(spark, Console(stderr=True))


def _page_in(output: str, run: str) -> str | None:
    """Where the report goes unless told: into DIR, where that is a folder of this machine, to which the run went."""
    local = output.removeprefix("file://")
    return os.path.join(local, "report.html") if os.path.isdir(os.path.join(local, "runs", f"run={run}")) else None


def _write(document: Audit, page: str) -> None:
    from pubcheck.report import audit_html

    text = "".join(audit_html.render(document))
    try:
        with open(page, "w", encoding="utf-8", errors="backslashreplace", newline="\n") as file:
            file.write(text)
    except OSError as error:
        raise click.FileError(page, error.strerror) from None


def summarised(summary: Summary, output: str, page: str | None = None, document: Audit | None = None) -> list[str]:
    """What is told of a run on the terminal, line by line."""
    from pubcheck.report.text import escape
    from pubcheck.rulebook import RULES

    count = {name: int(value) for name, value in summary.metrics.items()}
    lines = [
        f"{count['units']:,} units of {count['repositories']:,} repositories,"
        f" {count['files']:,} files, {count['statements']:,} statements"
    ]
    for end in ("linted", "nothing_to_lint", "quarantined"):
        line = f"  {end.replace('_', ' '):16}{count[f'units_{end}']:>10,} units {count[f'files_{end}']:>10,} files"
        if end == "linted" and count["units_carried"]:
            line += f" ({count['units_carried']:,} units carried over)"
        lines.append(line)
    for reason, times in summary.quarantine.items():
        lines.append(f"    {reason:14}{times:>10,}")
    severities = ((severity, count[f"{severity}s"]) for severity in reversed(SEVERITIES))
    lines.append(", ".join(f"{times:,} {severity}{'s' if times != 1 else ''}" for severity, times in severities))
    for rule, severity, certainty, times in sorted(summary.rules, key=lambda row: (-row[3], row)):
        name = RULES[rule].name if rule in RULES else ""
        lines.append(f"  {rule} {severity:8}{certainty:8}{times:>10,}  {name}")
    if document is not None:
        lines += _compared(document.change)
        worst = [each for each in document.worst if each.errors or each.warnings][:_WORST]
        if worst:
            lines.append("    errors warnings  in")
        lines += [f"  {each.errors:>8,} {each.warnings:>8,}  {escape(each.name)}" for each in worst]
    lines.append(f"The tables are {output}/*/run={summary.run}, made in {summary.metrics['seconds']:.1f} seconds.")
    if page is not None:
        lines.append(f"The report is {page}.")
    return lines


_WORST = 5
"""Repositories that the summary names."""


def _compared(change: Change | None) -> list[str]:
    if change is None:
        return []
    new, gone, same = (sum(getattr(rule, what) for rule in change.rules) for what in ("new", "gone", "same"))
    other = "" if change.alike else ", which another pubcheck or configuration made"
    return [f"{new:,} new, {gone:,} gone and {same:,} the same as in run {change.run}{other}"]
