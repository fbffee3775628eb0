"""`pubcheck verify`: whether a captured stream conforms to a schema and its publications."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from pubcheck.cli.app import FOUND, color_option, complain, completes, fail_on_assumed_option, fail_on_option, use_color
from pubcheck.cli.input_options import (
    Inputs,
    complete_option,
    config_option,
    reads_units,
    require_inputs,
    schema_option,
    together_option,
)
from pubcheck.cli.output_files import Output, Reports, reports_of, reports_option, write_reports
from pubcheck.cli.publisher_options import (
    chosen_publications,
    framing_option,
    linted_schema,
    name_values,
    option_option,
    publication_option,
    refuse_databases,
    stream_options,
)
from pubcheck.cli.spark import MessageTable, TableFailure, message_table, table_options, verify_table
from pubcheck.discovery.file_types import STDIN
from pubcheck.findings import Report
from pubcheck.report import FOR_PEOPLE, FORMATS, render
from pubcheck.source import Source, decode

if TYPE_CHECKING:
    from pubcheck.config import Config
    from pubcheck.discovery.read import Reading
    from pubcheck.findings import Finding
    from pubcheck.lint_files import LintedUnit
    from pubcheck.stream.framing.rows import Frame
    from pubcheck.verify import Checks, Options, Publisher
    from pubcheck.verify.against_script import Simulation

_MOST = 1000
"""Findings that are reported; the rest are counted."""


@click.command(
    short_help="Check a captured stream against a schema and its publications.",
    epilog="""\b
Examples:
  pubcheck verify schema.sql stream.txt --publication eu
  pubcheck verify db/ stream.bin --publication eu,us --option proto_version=2
  pubcheck verify schema.sql stream.txt --publication eu --script work.sql
  pubcheck verify schema.sql - --publication eu --format json < stream.txt

\b
Exit status: 0 no finding fails the run; 1 a certain finding is at least as
severe as --fail-on; 2 bad arguments, no input, a capture in no known framing,
or an internal error.""",
)
@click.argument("schema_path", metavar="SCHEMA", shell_complete=completes("files"))
@click.argument("stream", metavar="CAPTURE", shell_complete=completes("files"))
@publication_option
@option_option
@click.option(
    "--script",
    metavar="FILE",
    shell_complete=completes("files"),
    help="The statements that made the changes. The stream is compared with the one that they make; missing and"
    " unexpected messages are reported. A comment `-- session: b` begins the statements of another session.",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    callback=name_values,
    metavar="NAME=VALUE",
    help="With --script: a setting of the session that read the slot, such as timezone=UTC. Repeatable.",
)
@framing_option
@click.option(
    "--locale",
    metavar="LOCALE",
    help="The database's collation, such as C.UTF-8. Without it, row filters that depend on it are not evaluated.",
)
@click.option(
    "--postgres",
    metavar="MAJOR",
    help="PostgreSQL version of the publisher.  [default: the last version in the configuration, the version in a"
    " pg_dump header, or 18]",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    metavar="FORMAT",
    help=f"Format of the report: {', '.join(FORMATS)}.  [default: text]",
)
@reports_option
@complete_option
@together_option
@schema_option
@fail_on_option
@fail_on_assumed_option
@config_option
@color_option
@table_options
@click.option("-q", "--quiet", is_flag=True, help="Print no summary.")
@reads_units(one_major=True)
def command(
    inputs: Inputs,
    schema_path: str,
    stream: str,
    publications: tuple[str, ...],
    options: dict[str, str],
    script: str | None,
    settings: dict[str, str],
    framing: str | None,
    locale: str | None,
    format_: str,
    outputs: tuple[Output, ...],
    color: str,
    quiet: bool,
    **of_table: Any,
) -> int:
    """Check a captured stream of logical replication against a schema and its publications.

    Each message must be well-formed, in its place, and what the publications send: the relations as the schema has
    them, the published operations and columns, and rows that pass the row filters. CAPTURE is a file, or - for standard
    input, in any form that `pubcheck decode` reads. With --from it is a table of the messages of many slots, which
    Spark reads.
    """
    reports = reports_of(format_, outputs)
    if schema_path == stream == STDIN:
        raise click.UsageError("standard input cannot be both SCHEMA and CAPTURE")
    table = message_table(stream, of_table)
    if table is not None and script is not None:
        raise click.UsageError("--script needs a capture in a file, not a table (--from)")
    if settings and script is None:
        raise click.UsageError("--set needs --script, whose slot it is about")
    require_inputs(schema_path, *([stream] if table is None else []), *([script] if script is not None else []))
    linted = linted_schema(replace(inputs, paths=(schema_path,)))
    followed = linted.followed
    assert followed is not None
    names = chosen_publications(publications, followed)

    from pubcheck.verify import Publisher, State

    requested = stream_options(options)
    if script is None:
        publisher, simulation = Publisher([State(followed.replays[-1].session, names)]), None
    else:
        from pubcheck.simulate.not_followed import NotFollowed

        try:
            simulation = _simulated(linted, script, names, options, settings)
        except NotFollowed as error:
            return complain(f"--script: {error}")
        for line, refusal in simulation.refusals:
            click.echo(f"{script}:{line}: ERROR:  {refusal.message}", err=True)
        if simulation.error is not None:
            return complain(f"--script: decoding fails, as on the server: {simulation.error.message}")
        publisher = simulation.publisher
    run = _Run(publisher, requested, locale, inputs.config, simulation)
    if table is None:
        problem = run.read(stream, framing)
    else:
        problem = run.read_table(table, linted.reading, names, requested, locale)
    if problem is not None and not run.findings:
        return complain(problem)
    status = run.show(reports, color, quiet=quiet)
    return status if problem is None else complain(problem)


def _simulated(
    linted: LintedUnit,
    script: str,
    publications: Sequence[str],
    options: Mapping[str, str],
    settings: Mapping[str, str],
) -> Simulation:
    """Run the schema and a script. Raises NotFollowed, and UsageError for a script that cannot be read."""
    from pubcheck.simulate.script import steps
    from pubcheck.verify.against_script import simulate

    assert linted.followed is not None
    refuse_databases(linted.reading.sources)
    setup = [step for source in linted.reading.sources for step in steps(source)]
    try:
        with open(script, "rb") as file:
            text = decode(file.read())
    except OSError as error:
        raise click.UsageError(f"--script: {script}: {error.strerror}") from None
    if text.text is None:
        raise click.UsageError(f"--script: {script}: {text.problem}")
    major = linted.followed.replays[-1].catalog.major.number
    return simulate(major, setup, steps(Source(script, text.text)), publications, options, settings)


class _Run:
    """One capture, and its findings."""

    def __init__(
        self,
        publisher: Publisher,
        options: Options,
        locale: str | None,
        config: Config,
        simulation: Simulation | None,
    ) -> None:
        from pubcheck.verify import Verifier

        self._config, self._major = config, publisher.major
        self._streaming = options.streaming
        verifier = Verifier(publisher, options, locale)
        self._checks: Checks = verifier
        if simulation is not None:
            from pubcheck.verify.against_script import ScriptVerifier

            self._checks = ScriptVerifier(verifier, simulation)
        self.findings: list[Finding] = []
        self.messages = self.left_out = 0
        self._fails = False

    def read(self, path: str, framing: str | None) -> str | None:
        """Check the messages of a capture. Return why it cannot be read, or not to its end."""
        from pubcheck.stream.framing import read
        from pubcheck.stream.framing.rows import FramingError

        label = "<stdin>" if path == STDIN else path
        source = sys.stdin.buffer if path == STDIN else path
        try:
            frames = self._counted(read(source, framing, streaming=self._streaming))
            for finding in self._checks.check_many(frames):
                self._add(finding, label)
            for finding in self._checks.end():
                self._add(finding, label)
        except FramingError as error:
            return f"{label}: {error}"
        except OSError as error:
            return f"{label}: {error.strerror}"
        return None if self.messages else f"no input: {label} holds no message"

    def _counted(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        for frame in frames:
            self.messages += 1
            yield frame

    def read_table(
        self, table: MessageTable, schema: Reading, publications: Sequence[str], options: Options, locale: str | None
    ) -> str | None:
        """Check the messages of a table. Return why it cannot be read."""
        from pubcheck.engine.unit import Unit
        from pubcheck.spark.verify_messages import Job
        from pubcheck.verify.report import entry_of

        job = Job(
            Unit(schema.sources), replace(self._config, postgres=(self._major,)), tuple(publications), options, locale
        )
        try:
            verdict = verify_table(table, job, _MOST)
        except TableFailure as error:
            return str(error)
        self.messages, self._fails = verdict.messages, any(self._config.fails_run(*kind) for kind in verdict.counts)
        for slot, finding in verdict.findings:
            label = f"{table.source}:{slot}" if slot else table.source
            self.findings.append(entry_of(finding, label, self._major, self._config.docs_url))
        self.left_out = sum(verdict.counts.values()) - len(self.findings)
        return None if self.messages else f"no input: {table.source} holds no message"

    def _add(self, finding: object, label: str) -> None:
        from pubcheck.verify.report import entry_of
        from pubcheck.verify.verifier import StreamFinding

        assert isinstance(finding, StreamFinding)
        resolved = entry_of(finding, label, self._major, self._config.docs_url)
        self._fails = self._fails or self._config.fails_run(resolved.entry.severity, resolved.entry.certainty)
        if len(self.findings) < _MOST:
            self.findings.append(resolved)
        else:
            self.left_out += 1

    def show(self, reports: Reports, color: str, *, quiet: bool) -> int:
        """Write the reports, and return the exit status."""
        report = Report(tuple(self.findings), (self._major,), 1, self.messages, "message")
        pieces = render(report, reports.format, color=use_color(color, reports.main), quiet=quiet)
        status = write_reports(reports, report, pieces, for_people=reports.format in FOR_PEOPLE)
        if self.left_out:
            click.echo(f"pubcheck: {self.left_out:,} more findings are not shown", err=True)
        return status or (FOUND if self._fails else 0)
