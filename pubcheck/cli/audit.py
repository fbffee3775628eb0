"""`pubcheck audit`: the linter over a corpus, as a Spark job."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import click

from pubcheck.cli.app import Command, NoInput, completes, fail_on_assumed_option, fail_on_option
from pubcheck.cli.input_options import config_option, configured
from pubcheck.cli.spark import AuditRequest, check_installed, conf_option, master_option, pair, remote_option
from pubcheck.config import Config, ConfigError, read_size
from pubcheck.discovery.walk import readable
from pubcheck.spark.paths import local_path

if TYPE_CHECKING:
    from pubcheck.spark.inputs import Input


def _size(value: str) -> int:
    """Return a number of bytes, such as 512K or 32M."""
    try:
        return read_size(value)
    except ConfigError as error:
        raise click.BadParameter(str(error)) from None


def _export(value: str) -> tuple[str, str]:
    """Return the format and the folder of FORMAT:DIR."""
    format_name, _, where = value.partition(":")
    if format_name not in ("csv", "parquet", "sarif") or not where:
        raise click.BadParameter(f"{value!r} must be csv:DIR, parquet:DIR or sarif:DIR")
    return format_name, where


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
    help="Kind of INPUT: files (a folder of repositories, or a pattern that matches them), objects (a folder of "
    "repositories in an object store, listed and read by tasks), archives (a folder of .zip and .tar files, one a "
    "repository), table (a catalog table), or a Spark data source such as parquet, json, csv or delta.",
)
@click.option("--repo-column", metavar="NAME", help="Column with the name of the repository.  [default: repository]")
@click.option("--path-column", metavar="NAME", help="Column with the path of the file.  [default: path]")
@click.option("--content-column", metavar="NAME", help="Column with the content of the file.  [default: content]")
@click.option(
    "--commit-column",
    metavar="NAME",
    help="Column with the commit, or another version of a file or repository. With --since, a repository is not read if"
    " its commits are the same.",
)
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
    "--retry-quarantine",
    is_flag=True,
    help="Lint everything again that the run of --since (default: latest) quarantined, whatever the reason, for example"
    " with other limits; copy the rest.",
)
@click.option(
    "--stream",
    is_flag=True,
    help="Audit the rows that INPUT, a table or a folder of a data source, has got since the last time, as one run per"
    " micro-batch.",
)
@click.option(
    "--stream-interval",
    metavar="TIME",
    help="With --stream: go on, and look for new rows at this interval, such as '1 minute'.",
)
@click.option("--dry-run", is_flag=True, help="Print how much there is to read, and end.")
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
@click.option(
    "--survey",
    is_flag=True,
    help="Count features of publications, rules and consumers, with confidence intervals: the table survey, and"
    " DIR/survey.html if DIR is local.",
)
@click.option(
    "--export",
    "exports",
    type=_export,
    multiple=True,
    metavar="FORMAT:DIR",
    help="Write the findings to a folder as well: as csv, as parquet, or as sarif, a file for each repository."
    " Repeatable.",
)
@click.option(
    "--merge-into",
    metavar="TABLE",
    help="Merge the findings into this table of Spark's catalog, which must support MERGE, such as one of Delta Lake"
    " or Iceberg.",
)
@click.option("--no-report", is_flag=True, help="Write no report.")
@click.option("-q", "--quiet", is_flag=True, help="Print no progress and no summary.")
@configured
def command(
    config: Config,
    input_: str,
    input_format: str,
    repo_column: str | None,
    path_column: str | None,
    content_column: str | None,
    commit_column: str | None,
    preset: str | None,
    options: tuple[tuple[str, str], ...],
    master: str | None,
    remote: str | None,
    conf: tuple[tuple[str, str], ...],
    **job_options: Any,
) -> int:
    """Lint the units of many repositories and write the findings as Parquet tables and as an HTML report.

    Every file and every unit ends as linted, nothing to lint (its repository names no publication, subscription or
    replica identity) or quarantined (with the reason). A unit that crashes, takes too long or is too large does not
    affect the others.
    """
    request = AuditRequest(**job_options)
    if request.run is not None and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", request.run):
        raise ConfigError(
            f"--run: {request.run!r} is not a valid ID: use at most 100 letters, digits, dots, hyphens and underscores"
        )
    if request.report is not None and request.no_report:
        raise click.UsageError("--report and --no-report cannot be combined")
    if request.report is not None and not os.path.isdir(os.path.dirname(request.report) or "."):
        raise click.FileError(request.report, "the folder does not exist")
    if request.report is not None and os.path.isdir(request.report):
        raise click.FileError(request.report, "it is a folder")
    _check_output(request.output)
    check_installed("the audit")
    if config.units and not request.quiet:
        click.echo("pubcheck: ignoring [[unit]]: it applies to one repository, not to a corpus", err=True)
    columns = (repo_column, path_column, content_column, commit_column)
    source = _input(input_, input_format, columns, preset, dict(options), config)

    from pubcheck.cli.audit_run import run_audit

    if request.streams:
        _check_stream(request, input_format)
    return run_audit(request, source, config, master, remote, dict(conf))


def _check_output(output: str) -> None:
    """Raise ConfigError for a folder that Spark cannot write to."""
    if not local_path(output).removeprefix("file://"):
        raise ConfigError("--output: missing folder")
    try:
        output.encode()
    except UnicodeEncodeError:
        raise ConfigError(f"--output: {output!r} is not valid UTF-8; Spark requires UTF-8 paths") from None
    if os.path.isfile(local_path(output)):
        raise ConfigError(f"--output: {output} is a file, not a folder")


def _check_stream(request: AuditRequest, input_format: str) -> None:
    """Raise UsageError for options that do not go with --stream."""
    if input_format in ("files", "objects", "archives"):
        raise click.UsageError("--stream needs a table: name its kind with --input-format, such as parquet or delta")
    if request.since or request.retry_quarantine or request.dry_run:
        raise click.UsageError("--stream cannot be combined with --since, --retry-quarantine or --dry-run")


def _input(
    where: str,
    input_format: str,
    columns: tuple[str | None, ...],
    preset: str | None,
    options: dict[str, str],
    config: Config,
) -> Input:
    from pubcheck.discovery.walk import fixed_part
    from pubcheck.spark.folder_input import FolderInput
    from pubcheck.spark.object_input import ObjectInput
    from pubcheck.spark.sources import PRESETS, TableColumns, TableInput

    if input_format in ("files", "objects", "archives") and (preset or any(columns) or options):
        raise ConfigError("columns, presets and options apply to tables: name the kind of INPUT with --input-format")
    if input_format in ("objects", "archives"):
        return ObjectInput(where, archives=input_format == "archives")
    if input_format == "files":
        where = local_path(where)
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
    repository, path, content, commit = columns
    chosen = TableColumns(repository or base.repository, path or base.path, content or base.content, commit)
    return TableInput(where, input_format, chosen, options)
