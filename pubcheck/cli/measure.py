"""`pubcheck measure`: what the publications of a schema would publish of its tables' data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click
from msgspec.structs import replace

from pubcheck import __version__
from pubcheck.cli.app import FOUND, Command, complain, completes
from pubcheck.cli.input_options import (
    Inputs,
    complete_option,
    config_option,
    postgres_option,
    reads_units,
    require_inputs,
    schema_option,
    stdin_option,
    together_option,
    units_to_read,
)
from pubcheck.cli.output_files import output_option, write_output
from pubcheck.cli.spark import (
    check_installed,
    conf_option,
    failed,
    failures,
    master_option,
    pair,
    progress_of,
    remote_option,
)
from pubcheck.config import ConfigError
from pubcheck.faults import failure_text
from pubcheck.findings import Resolver

if TYPE_CHECKING:
    from pubcheck.discovery.read import Reading
    from pubcheck.engine.linter import Followed
    from pubcheck.findings import Entry
    from pubcheck.measure.plan import Measurable
    from pubcheck.report.measure import TableRows

_MOST_NAMED = 10
"""Statements that are named when they are refused."""


@click.command(
    cls=Command,
    short_help="Count the rows of a table that its publications would publish.",
    epilog="""\b
Examples:
  pubcheck measure schema.sql --data app.orders=orders.parquet
  pubcheck measure db/ --data orders=orders.csv --data customers=customers.csv
  pubcheck measure schema.sql --data orders=table:shop.orders

\b
Exit status: 0; 1 if the result is incomplete, because a statement about a
publication is refused or a file cannot be read; 2 bad arguments, no input, or
data that do not fit the table.""",
)
@click.argument("paths", nargs=-1, required=True, metavar="SCHEMA...", shell_complete=completes("files"))
@click.option(
    "--data",
    "data",
    type=pair,
    multiple=True,
    required=True,
    metavar="TABLE=PATH",
    help="The rows of a table: Parquet, CSV or TSV with a header, JSON lines, or table: and the name of a table of"
    " Spark's catalog. Repeatable.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Format of the report.",
)
@postgres_option
@complete_option
@together_option
@schema_option
@stdin_option
@config_option
@master_option
@remote_option
@conf_option
@output_option
@click.option("-q", "--quiet", is_flag=True, help="Print no progress.")
@reads_units(one_major=True)
def command(
    inputs: Inputs,
    data: tuple[tuple[str, str], ...],
    format_: str,
    master: str | None,
    remote: str | None,
    conf: tuple[tuple[str, str], ...],
    output: str | None,
    quiet: bool,
) -> int:
    """Count the rows of a table that each publication would publish, from the table's data, with Spark.

    For each publication the report gives the rows of the initial copy and of INSERT, and the rows that are not
    published because the row filter is NULL. For all publications together it gives the rows that several of them
    publish, and the rows that none publishes. A filter is evaluated only if Spark gives the server's answer for every
    row; otherwise the report gives the reason.
    """
    require_inputs(*inputs.paths)
    units = units_to_read(inputs)
    if len(units) > 1:
        names = ", ".join(unit.name for unit in units[:_MOST_NAMED])
        raise click.UsageError(f"SCHEMA contains {len(units)} units ({names}): name one, or use --together")

    from pubcheck.engine.linter import Linter
    from pubcheck.lint_files import lint_files

    config = replace(inputs.config, postgres=inputs.config.postgres[-1:], select=(), ignore=())
    linted = lint_files(units[0], Linter(config), follow=True)
    followed = linted.followed
    if followed is None:
        return complain(failure_text(linted.faults) or "")

    from pubcheck.measure.plan import NoTable, measurable
    from pubcheck.report import measure as report

    try:
        tables = [measurable(followed.replays[-1], followed.statements, name) for name, _ in data]
    except NoTable as error:
        raise ConfigError(f"--data: {error}") from None
    check_installed("measuring")
    try:
        counted = _counted(data, tables, master, remote, conf, quiet=quiet)
    except failures() as error:
        return failed(error)
    document = report.Measurement(__version__, report.SCHEMA_VERSION, followed.result.postgres[-1], counted)
    as_json = format_ == "json"
    text = [report.json(document)] if as_json else [f"{line}\n" for line in report.text(document)]
    written = write_output(output, text, for_people=not as_json)
    missing = _missing(linted.reading, followed)
    for entry in missing[:_MOST_NAMED]:
        click.echo(f"pubcheck: left out: {entry.path}:{entry.line}: {entry.message} [{entry.rule}]", err=True)
    if len(missing) > _MOST_NAMED:
        click.echo(f"pubcheck: left out: {len(missing) - _MOST_NAMED} more; `pubcheck lint` shows them", err=True)
    crash = failure_text((*linted.faults, *followed.replays[-1].faults.faults))
    return complain(crash) if crash else written or (FOUND if missing else 0)


def _counted(
    data: Sequence[tuple[str, str]],
    tables: Sequence[Measurable],
    master: str | None,
    remote: str | None,
    conf: Sequence[tuple[str, str]],
    *,
    quiet: bool,
) -> tuple[TableRows, ...]:
    """Return Spark's counts of the tables' data. Raise ConfigError for data that do not fit a table."""
    from pubcheck.spark.measure import BadData, Data, measure
    from pubcheck.spark.session import release, session

    # Java does the work, and one line reports its errors.
    local = {"spark.log.level": "OFF", "spark.driver.extraJavaOptions": "-XX:+UseParallelGC"}
    spark = session("pubcheck measure", master, remote, dict(conf), local)
    counted = []
    try:
        with progress_of(spark, quiet=quiet) as progress:
            for (name, where), table in zip(data, tables, strict=True):
                progress(f"counting {table.name}")
                counted.append(measure(spark, Data(name, where), table))
    except BadData as error:
        raise ConfigError(f"--data: {error}") from None
    finally:
        release(spark)
    return tuple(counted)


def _missing(reading: Reading, followed: Followed) -> Sequence[Entry]:
    """Return the findings that make the final state incomplete: statements about publications that are certainly
    refused, and files that cannot be read."""
    refused = [row for row in followed.result.diagnostics if row.phase == "ddl" and row.server is not None]
    findings = Resolver(excerpts=False).findings([*reading.diagnostics, *refused])
    entries = [finding.entry for finding in sorted(findings, key=lambda finding: finding.order)]
    return [entry for entry in entries if (entry.severity, entry.certainty) == ("error", "certain")]
