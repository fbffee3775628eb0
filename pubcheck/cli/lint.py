"""`pubcheck lint`: what the server will refuse, now or later."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

import click

from pubcheck.cli.app import FOUND, NoInput, color_option, complain, emit, forget_stdout, use_color
from pubcheck.cli.output import Output, OutputType, write
from pubcheck.cli.work import Outcome, Task, lint_units
from pubcheck.config import Config, from_options, load
from pubcheck.diagnostics import SEVERITIES
from pubcheck.report.document import Finding, report
from pubcheck.report.formats import FORMATS, render
from pubcheck.sources.files import STDIN, Plan
from pubcheck.sources.plans import find_plans


@click.command(
    short_help="What the server will refuse, now or later.",
    epilog="""\b
Examples:
  pubcheck lint schema.sql
  pubcheck lint --postgres 15,18 --complete migrations/
  pubcheck lint --together roles.sql schema.sql publications.sql
  pg_dump -s shop | pubcheck lint --stdin-filename shop.sql -
  pubcheck lint --format json db/ > pubcheck.json
  pubcheck lint --output sarif:pubcheck.sarif --output junit:pubcheck.xml db/

\b
Exit status: 0 nothing found that fails the run; 1 something certain was found that is at least
--fail-on; 2 bad arguments or configuration, no input, or an internal error.""",
)
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option(
    "--postgres",
    metavar="MAJORS",
    help="Majors to judge for, such as 16 or 15,18.  [default: 18, or what a pg_dump header says]",
)
@click.option(
    "--format", "format_", type=click.Choice(FORMATS), default="text", show_default=True, help="How to report."
)
@click.option(
    "--output",
    "outputs",
    type=OutputType(),
    multiple=True,
    metavar="FORMAT:FILE",
    help="Write a report of that format to a file as well; may be repeated.",
)
@click.option(
    "--select",
    multiple=True,
    metavar="CODE",
    help="Report these rules only: codes or beginnings (PUB3), repeated or joined by commas.",
)
@click.option(
    "--ignore", multiple=True, metavar="CODE", help="Do not report these rules; the longer of two codes wins."
)
@click.option(
    "--complete/--no-complete",
    default=None,
    help="The input is the whole database: what it does not make does not exist.",
)
@click.option("--together", is_flag=True, help="All paths are one database, in the order given.")
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=1,
    metavar="N",
    show_default=True,
    help="Databases to lint at a time; 0 means one a core.",
)
@click.option(
    "--fail-on",
    type=click.Choice(SEVERITIES),
    default=None,
    help="The least severity that fails the run.  [default: warning]",
)
@click.option("--fail-on-assumed/--no-fail-on-assumed", default=None, help="Let assumed findings fail the run too.")
@click.option(
    "--stdin-filename", metavar="NAME", default="<stdin>", help="What standard input is called in the report."
)
@click.option(
    "--config",
    "config_path",
    metavar="FILE",
    help="Configuration to read instead of the nearest pubcheck.toml or pyproject.toml.",
)
@color_option
@click.option("-q", "--quiet", is_flag=True, help="No closing line, no progress.")
def command(
    paths: tuple[str, ...],
    postgres: str | None,
    format_: str,
    outputs: tuple[Output, ...],
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    complete: bool | None,
    together: bool,
    jobs: int,
    fail_on: str | None,
    fail_on_assumed: bool | None,
    stdin_filename: str,
    config_path: str | None,
    color: str,
    quiet: bool,
) -> int:
    """Says what PostgreSQL will refuse because of a publication: the statement itself, or a later UPDATE or DELETE.

    A PATH is a file, which is a database of its own; a folder, in which each directory that holds .sql files is one
    database; or - for standard input.
    """
    given = {
        "postgres": postgres,
        "select": select or None,
        "ignore": ignore or None,
        "complete": complete,
        "fail-on": fail_on,
        "fail-on-assumed": fail_on_assumed,
    }
    options = {key: value for key, value in given.items() if value is not None}
    config = from_options(options, load(path=config_path), where="--")
    plans = _plans(paths, config, together, stdin_filename)
    excerpts = "text" in (format_, *(output.format for output in outputs))
    tasks = [Task(plan, config, excerpts) for plan in plans]
    outcomes = list(_watched(lint_units(tasks, jobs), len(tasks), quiet))

    findings = [finding for outcome in outcomes for finding in outcome.findings]
    majors = {major for outcome in outcomes for major in outcome.postgres}
    files, statements = (sum(getattr(outcome, field) for outcome in outcomes) for field in ("files", "statements"))
    status = FOUND if fails(findings, config) else 0
    found = report(findings, majors, files, statements)
    try:
        for output in outputs:
            write(found, output)
    except OSError as error:
        status = complain(f"--output: {error.filename}: {error.strerror}")
    try:
        for piece in render(found, format_, color=use_color(color), quiet=quiet):
            emit(piece)
        sys.stdout.flush()
    except BrokenPipeError:  # `| head`: what was found still decides
        forget_stdout()
    for crash in (outcome.crash for outcome in outcomes if outcome.crash):
        status = complain(crash)
    return status


def _plans(paths: tuple[str, ...], config: Config, together: bool, stdin_filename: str) -> list[Plan]:
    if not paths:
        raise NoInput("no input: give files, folders, or - for standard input")
    stdin = sys.stdin.buffer.read() if STDIN in paths else None
    plans = find_plans(paths, config, together=together, stdin=stdin, stdin_label=stdin_filename)
    if not plans:
        raise NoInput(f"no input: no .sql file under {', '.join(paths)}")
    return plans


def _watched(outcomes: Iterator[Outcome], length: int, quiet: bool) -> Iterator[Outcome]:
    """The outcomes, with a progress bar on a terminal when there is more than one to wait for."""
    if quiet or length < 2 or not sys.stderr.isatty():
        yield from outcomes
        return
    with click.progressbar(outcomes, length=length, label="Linting", file=sys.stderr, show_eta=False) as bar:
        yield from bar


def fails(findings: Iterable[Finding], config: Config) -> bool:
    """Whether something reported fails the run: at least ``fail_on``, and certain unless assumed counts too."""
    least = SEVERITIES.index(config.fail_on)
    return any(
        SEVERITIES.index(finding.entry.severity) >= least
        and (finding.entry.certainty == "certain" or config.fail_on_assumed)
        for finding in findings
    )
