"""`pubcheck audit`: the linter over a corpus, as a Spark job."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import click

from pubcheck.cli.app import FOUND, Command, NoInput, complain, completes, fail_on_assumed_option, fail_on_option, show
from pubcheck.cli.input_options import config_option, configuration
from pubcheck.cli.output_files import put
from pubcheck.cli.spark import (
    check_installed,
    conf_option,
    failed,
    failures,
    master_option,
    pair,
    progress_of,
    reason,
    remote_option,
)
from pubcheck.config import Config, ConfigError, read_size
from pubcheck.diagnostics import SEVERITIES
from pubcheck.discovery.walk import readable
from pubcheck.rulebook import RULES
from pubcheck.source import escape

if TYPE_CHECKING:
    from pubcheck.report.audit_document import Audit, Change
    from pubcheck.spark.inputs import Input
    from pubcheck.spark.summary import Summary


def _size(value: str) -> int:
    """Return a number of bytes, such as 512K or 32M."""
    try:
        return read_size(value)
    except ConfigError as error:
        raise click.BadParameter(str(error)) from None


@click.command(
    cls=Command,
    short_help="Lint many repositories as a Spark job.",
    epilog="""\b
Examples:
  pubcheck audit repositories/ --output audit
  pubcheck audit 'mirror/*/*' --output audit --since latest --fail-on error
  pubcheck audit stack.parquet --input-format parquet --preset the-stack \\
    --output audit
  pubcheck audit code.files --input-format table --output s3a://lake/audit

\b
Exit status: the same as `pubcheck lint`. An unreadable or non-text file
counts as a finding (PUB001, PUB002) unless its repository has nothing to
lint; other quarantined items do not fail a run.""",
)
@click.argument("input_", metavar="INPUT", shell_complete=completes("files"))
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="DIR",
    shell_complete=completes("folders"),
    help="Folder for the tables: DIR/<table>/run=<id>/.",
)
@click.option(
    "--input-format",
    "input_format",
    default="files",
    metavar="FORMAT",
    show_default=True,
    help="Kind of INPUT: files (a folder of repositories, or a pattern that matches them), table (a catalog "
    "table), or a Spark data source such as parquet, json, csv or delta.",
)
@click.option("--repo-column", metavar="NAME", help="Column with the name of the repository.  [default: repository]")
@click.option("--path-column", metavar="NAME", help="Column with the path of the file.  [default: path]")
@click.option("--content-column", metavar="NAME", help="Column with the content of the file.  [default: content]")
@click.option(
    "--preset", metavar="NAME", help="Columns of a well-known corpus: the-stack, github-code or bigquery-github."
)
@click.option(
    "--option", "options", type=pair, multiple=True, metavar="K=V", help="Option of the data source. Repeatable."
)
@click.option(
    "--since",
    metavar="RUN",
    help="Copy the findings of repositories that have not changed since this run in DIR. latest selects the most recent"
    " run of INPUT, or the most recent run of any input. A repository is not read if its files have the same names,"
    " sizes, times and inodes.",
)
@click.option(
    "--run",
    metavar="ID",
    help="Run ID. An existing run with the same ID is replaced.  [default: the time, and a random number]",
)
@click.option(
    "--max-file-size", type=_size, default="32M", show_default=True, metavar="SIZE", help="Largest file to lint."
)
@click.option(
    "--max-unit-size", type=_size, default="128M", show_default=True, metavar="SIZE", help="Largest unit to lint."
)
@click.option(
    "--unit-timeout",
    type=click.FloatRange(min=0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="Longest time for one unit.",
)
@click.option(
    "--unit-memory", type=_size, default="2G", show_default=True, metavar="SIZE", help="Most memory for one unit."
)
@click.option("--postgres", metavar="MAJORS", help="PostgreSQL versions to check, as in `pubcheck lint`.")
@click.option(
    "--select", multiple=True, metavar="CODE", shell_complete=completes("codes"), help="Report only these rules."
)
@click.option(
    "--ignore", multiple=True, metavar="CODE", shell_complete=completes("codes"), help="Do not report these rules."
)
@click.option("--complete/--no-complete", default=None, help="Each unit is a complete database.")
@fail_on_option
@fail_on_assumed_option
@config_option
@master_option
@remote_option
@conf_option
@click.option(
    "--report",
    metavar="FILE",
    shell_complete=completes("files"),
    help="Write the HTML report to this file.  [default: DIR/report.html if DIR is local]",
)
@click.option("--no-report", is_flag=True, help="Write no report.")
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary.")
def command(
    input_: str,
    output: str,
    input_format: str,
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
    """Lint the units of many repositories and write the findings as Parquet tables and as an HTML report.

    Every file and every unit ends as linted, nothing to lint (its repository names no publication, subscription or
    replica identity) or quarantined (with the reason). A unit that crashes, takes too long or is too large does not
    affect the others.
    """
    config = configuration(
        {
            "postgres": postgres,
            "select": select,
            "ignore": ignore,
            "complete": complete,
            "fail-on": fail_on,
            "fail-on-assumed": fail_on_assumed,
        },
        config_path,
    )
    if run is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", run):
        raise ConfigError(
            f"--run: {run!r} is not a valid ID: use at most 100 letters, digits, dots, hyphens and underscores"
        )
    if report is not None and no_report:
        raise click.UsageError("--report and --no-report cannot be combined")
    if report is not None and not os.path.isdir(os.path.dirname(report) or "."):
        raise click.FileError(report, "the folder does not exist")
    if report is not None and os.path.isdir(report):
        raise click.FileError(report, "it is a folder")
    if not output.removeprefix("file://"):
        raise ConfigError("--output: missing folder")
    try:
        output.encode()
    except UnicodeEncodeError:
        raise ConfigError(f"--output: {output!r} is not valid UTF-8; Spark requires UTF-8 paths") from None
    if os.path.isfile(output.removeprefix("file://")):
        raise ConfigError(f"--output: {output} is a file, not a folder")
    check_installed("the audit")
    if config.units and not quiet:
        click.echo("pubcheck: ignoring [[unit]]: it applies to one repository, not to a corpus", err=True)
    columns = (repo_column, path_column, content_column)
    source = _input(input_, input_format, columns, preset, dict(options), config)

    from pubcheck.engine.linter import Linter
    from pubcheck.spark.inputs import BadInput, EmptyInput
    from pubcheck.spark.job import Options, audit
    from pubcheck.spark.lint_process import Limits
    from pubcheck.spark.report_data import collect
    from pubcheck.spark.session import release, session
    from pubcheck.spark.store import NoRun, Store
    from pubcheck.spark.summary import Lost

    try:
        spark = session("pubcheck audit", master, remote, dict(conf))
        try:
            store = Store(spark, output)
            audit_options = Options(
                run=run or _new_id(),
                since=store.find(since, source.name) if since else None,
                largest_file=max_file_size,
                largest_unit=max_unit_size,
                limits=Limits(unit_timeout, unit_memory),
            )
            with progress_of(spark, quiet=quiet) as progress:
                summary = audit(spark, source, store, Linter(config), audit_options, progress)
                page = None if no_report else report or _page_in(output, audit_options.run)
                document, unwritten = None, None
                if page is not None:
                    from pubcheck.report import audit_html

                    progress("writing the report")
                    try:
                        document = collect(store, audit_options.run)
                        put(page, audit_html.render(document))
                    except OSError as error:
                        unwritten, page = f"{page}: {error.strerror or error}", None
                    except failures() as error:
                        unwritten, page = reason(str(error)), None
        finally:
            release(spark)
    except EmptyInput as error:
        raise NoInput(str(error)) from None
    except BadInput as error:
        raise ConfigError(str(error)) from None
    except NoRun as error:
        raise ConfigError(f"--since: {error}") from None
    except Lost as error:
        return complain(str(error))
    except failures() as error:
        return failed(error)
    if not quiet:
        show(f"{line}\n" for line in summarised(summary, output, page, document))
    if unwritten is not None:
        return complain(f"the run is complete, but its report could not be written: {unwritten}")
    failing = any(config.fails_run(severity, certainty) for _, severity, certainty, _ in summary.rules)
    return FOUND if failing else 0


def _input(
    where: str,
    input_format: str,
    columns: tuple[str | None, ...],
    preset: str | None,
    options: dict[str, str],
    config: Config,
) -> Input:
    from pubcheck.discovery.repositories import fixed_part
    from pubcheck.spark.folder_input import FolderInput
    from pubcheck.spark.table_input import PRESETS, TableColumns, TableInput

    if input_format == "files":
        if preset or any(columns) or options:
            raise ConfigError(
                "columns, presets and options apply to tables: name the kind of INPUT with --input-format"
            )
        if not os.path.exists(where) and fixed_part(where) is None:
            raise NoInput(f"no input: there is no {where}")
        if os.path.isfile(where) and not readable([os.path.basename(where)]):
            raise ConfigError(
                f"{where} is not an SQL file: if its rows are files, add --input-format, such as --input-format parquet"
            )
        return FolderInput(where, config)
    base = TableColumns("repository", "path", "content")
    if preset is not None:
        if preset not in PRESETS:
            raise ConfigError(f"--preset: there is no preset {preset}; choose from {', '.join(PRESETS)}")
        base = PRESETS[preset]
    repository, path, content = columns
    chosen = TableColumns(repository or base.repository, path or base.path, content or base.content)
    return TableInput(where, input_format, chosen, options)


def _new_id() -> str:
    """Return the time, and what no other run has that starts in the same second."""
    from datetime import UTC, datetime
    from secrets import token_hex

    return f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{token_hex(4)}"


def _page_in(output: str, run: str) -> str | None:
    """Return the report's default path: in DIR, if DIR is a folder of this machine."""
    local = output.removeprefix("file://")
    return os.path.join(local, "report.html") if os.path.isdir(os.path.join(local, "runs", f"run={run}")) else None


def summarised(summary: Summary, output: str, page: str | None = None, document: Audit | None = None) -> list[str]:
    """Return the lines of a run's summary on the terminal."""

    count = {name: int(value) for name, value in summary.metrics.items()}
    lines = [
        f"{count['units']:,} units of {count['repositories']:,} repositories,"
        f" {count['files']:,} files, {count['statements']:,} statements"
        + (f"; {count['units_carried']:,} units carried over" if count["units_carried"] else "")
    ]
    for end in ("linted", "nothing_to_lint", "quarantined"):
        units, files = count[f"units_{end}"], count[f"files_{end}"]
        lines.append(f"  {end.replace('_', ' '):16}{units:>10,} units {files:>10,} files")
    for why, (units, files) in summary.quarantine.items():
        lines.append(f"    {why:14}{units:>10,} units {files:>10,} files")
    if skipped := count.get("rows_passed_over"):
        lines.append(f"{skipped:,} rows of the input are not files to read")
    lines += summary.notes
    severities = ((severity, count[f"{severity}s"]) for severity in reversed(SEVERITIES))
    lines.append(", ".join(f"{times:,} {severity}{'s' if times != 1 else ''}" for severity, times in severities))
    for rule, severity, certainty, times in sorted(summary.rules, key=lambda row: (-row[3], row)):
        name = RULES[rule].name if rule in RULES else ""
        lines.append(f"  {rule} {severity:8}{certainty:8}{times:>10,}  {name}")
    if document is not None:
        lines += _compared(document.change)
        worst = [repository for repository in document.worst if repository.errors or repository.warnings][:_WORST]
        if worst:
            lines.append("    errors warnings  in")
        lines += [
            f"  {repository.errors:>8,} {repository.warnings:>8,}  {escape(repository.name)}" for repository in worst
        ]
    lines.append(
        f"The tables are {escape(output)}/*/run={summary.run}, made in {summary.metrics['seconds']:.1f} seconds."
    )
    if page is not None:
        lines.append(f"The report is {escape(page)}.")
    return lines


_WORST = 5
"""Repositories that the summary names."""


def _compared(change: Change | None) -> list[str]:
    if change is None:
        return []
    new, gone, unchanged = (sum(getattr(rule, field) for rule in change.rules) for field in ("new", "gone", "same"))
    suffix = "" if change.alike else ", which used another pubcheck version or configuration"
    suffix += "" if change.input is None else f", which had another input, {change.input}"
    return [f"{new:,} new, {gone:,} gone and {unchanged:,} the same as in run {change.run}{suffix}"]
