"""`pubcheck lint`: what the server will refuse, now or later."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence, Set

import click
from msgspec import Struct
from msgspec.structs import replace

from pubcheck import rulebook
from pubcheck.cli.app import (
    FOUND,
    Command,
    NoInput,
    color_option,
    complain,
    completes,
    fail_on_assumed_option,
    fail_on_option,
    use_color,
)
from pubcheck.cli.input_options import (
    Inputs,
    complete_option,
    config_option,
    consumer_option,
    discover,
    exclude_option,
    force_exclude_option,
    no_input,
    reads_units,
    schema_option,
    skipped_messages,
    statement_size_option,
    stdin_option,
    together_option,
    variables_option,
)
from pubcheck.cli.lint_unit import Outcome, Task, died, lint_unit, with_all_publications
from pubcheck.cli.output_files import (
    STDOUT,
    Output,
    diff_of,
    put,
    reports_of,
    reports_option,
    write_output,
    write_reports,
    write_rewritten,
)
from pubcheck.cli.process_pool import Workers
from pubcheck.config import Config, ConfigError
from pubcheck.diagnostics import SEVERITIES, Severity
from pubcheck.discovery.file_types import LISTINGS, STDIN, DiscoveredUnit
from pubcheck.findings import Report, report
from pubcheck.postgres.versions import DEFAULT_MAJOR
from pubcheck.report import FOR_PEOPLE, FORMATS, count, render
from pubcheck.report.statistics import causes
from pubcheck.rulebook import ALWAYS

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.autofix import Rewritten
    from pubcheck.baseline import Baseline
    from pubcheck.cli.lint_unit import Change, Outcome


@click.command(
    cls=Command,
    short_help="Check which statements and later writes PostgreSQL refuses.",
    epilog="""\b
Examples:
  pubcheck lint schema.sql
  pubcheck lint --postgres 15,18 --complete migrations/
  pubcheck lint --together roles.sql schema.sql publications.sql
  pg_dump -s shop | pubcheck lint --stdin-filename shop.sql -
  pubcheck lint --format json db/ > pubcheck.json
  pubcheck lint --output sarif:pubcheck.sarif --output junit:pubcheck.xml db/
  pubcheck lint --diff db/
  pubcheck lint --write-baseline known.json db/

\b
Exit status: 0 no finding fails the run; 1 a certain finding is at least as
severe as --fail-on, or a file cannot be read (with --diff: only if it shows a
change or a file cannot be read); 2 bad arguments or configuration, no input,
or an internal error.""",
)
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=completes("files"))
@click.option(
    "--postgres",
    metavar="MAJORS",
    help="PostgreSQL versions to check, such as 16 or 15,18.  [default: the version in a pg_dump header, or 18]",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(FORMATS),
    default=None,
    metavar="FORMAT",
    help=f"Format of the report: {', '.join(FORMATS)}.  [default: text]",
)
@reports_option
@click.option(
    "--select",
    multiple=True,
    metavar="CODE",
    shell_complete=completes("codes"),
    help="Report only these rules: codes or prefixes (PUB3), separated by commas. Repeatable.",
)
@click.option(
    "--extend-select", multiple=True, metavar="CODE", shell_complete=completes("codes"), help="Report these rules too."
)
@click.option(
    "--ignore",
    multiple=True,
    metavar="CODE",
    shell_complete=completes("codes"),
    help="Do not report these rules; the longer of two matching codes wins.",
)
@click.option(
    "--ignore-comments/--no-ignore-comments",
    "ignore_comments",
    default=None,
    help="Whether comments in the files ignore findings.  [default: they do]",
)
@consumer_option
@complete_option
@together_option
@schema_option
@variables_option
@exclude_option
@force_exclude_option
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=1,
    metavar="N",
    show_default=True,
    help="Number of units to lint in parallel; 0 means one per core.",
)
@click.option(
    "--min-severity",
    type=click.Choice(SEVERITIES),
    default="note",
    show_default=True,
    help="Report only findings that are at least as severe.",
)
@click.option("--certain-only", is_flag=True, help="Report only certain findings.")
@fail_on_option
@fail_on_assumed_option
@statement_size_option
@stdin_option
@config_option
@click.option("--statistics", is_flag=True, help="Print the number of findings per rule, as text or json.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 whatever the findings are.")
@click.option("--fix", is_flag=True, help="Apply safe fixes to the files and report the remaining findings.")
@click.option(
    "--unsafe-fixes",
    is_flag=True,
    help="With --fix or --diff: also apply fixes that guess or change more than the syntax.",
)
@click.option("--diff", is_flag=True, help="Show what --fix or --add-ignore would change, without writing.")
@click.option("--add-ignore", is_flag=True, help="Write comments that ignore the findings into the files.")
@click.option(
    "--baseline",
    metavar="FILE",
    shell_complete=completes("files"),
    help="Do not report findings recorded in this file.",
)
@click.option(
    "--write-baseline",
    metavar="FILE",
    shell_complete=completes("files"),
    help="Write all current findings to this baseline file.",
)
@color_option
@click.option("--watch", is_flag=True, help="Lint again whenever a file changes, until Ctrl-C.")
@click.option("--show-settings", is_flag=True, help="Print the settings of this run as TOML, and lint nothing.")
@click.option("--verbose", is_flag=True, help="Show all remedies and answers of the server, and all notes, as text.")
@click.option("-q", "--quiet", is_flag=True, help="Print no summary and no progress.")
@reads_units()
def command(
    inputs: Inputs,
    format_: str | None,
    outputs: tuple[Output, ...],
    jobs: int,
    min_severity: Severity,
    certain_only: bool,
    statistics: bool,
    exit_zero: bool,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    add_ignore: bool,
    baseline: str | None,
    write_baseline: str | None,
    color: str,
    watch: bool,
    show_settings: bool,
    verbose: bool,
    quiet: bool,
) -> int:
    """Check which statements PostgreSQL refuses because of a publication, and which later UPDATEs and DELETEs.

    A PATH is a folder, a file, or - for standard input. In a folder, migration files form units by their tool's naming
    conventions (`pubcheck files` shows them). A file is linted as part of its migration history if it has one. Without
    a PATH, the folder of the configuration is linted if it names units, else the current folder.

    A refused statement changes nothing, and the statements after it are still checked, even in the same transaction.
    """
    config = inputs.config
    reports = reports_of(format_, outputs)
    if show_settings:
        from pubcheck.cli import settings

        return write_output(reports.main, settings.render(config), for_people=True)
    if statistics and reports.format not in ("text", "json"):
        raise click.UsageError("--statistics needs --format text or json")
    change = _change(fix, unsafe_fixes, diff, add_ignore)
    if change and write_baseline:
        raise click.UsageError("--write-baseline cannot be combined with --fix or --add-ignore")
    if change and not diff and STDIN in inputs.paths:
        raise click.UsageError("standard input cannot be changed; use --diff to see the changes")
    context = click.get_current_context()
    if watch and context.obj is None:
        if change or write_baseline or STDIN in inputs.paths:
            raise click.UsageError("--watch cannot be combined with standard input, or with options that change files")
        return _watch(context, inputs.paths)
    known = None if write_baseline else _baseline(baseline, config)
    with context.obj or Workers(jobs) as workers:
        survey = discover(inputs, workers, quiet=quiet)
        units = survey.units
        if not (units or survey.named):
            raise NoInput(no_input(survey, inputs.paths))
        excerpts = "text" in reports.formats
        tasks = [Task(unit, config, excerpts, known, change) for unit in units]
        outcomes = with_all_publications(list(_watched(workers.map(lint_unit, tasks, died), len(tasks), quiet)))
    if write_baseline:
        return _record_findings(outcomes, write_baseline, quiet)
    rewritten = [file for outcome in outcomes for file in outcome.rewritten]
    unwritten = _written(rewritten) if rewritten and not diff else {}
    problems = [f"{label}: {reason}" for label, reason in unwritten.items()]
    problems += [outcome.crash for outcome in outcomes if outcome.crash]
    findings = _report(outcomes, config, min_severity, certain_only)
    if all(unit.convention in LISTINGS for unit in units):
        findings = replace(findings, noun="object", container="database")
    status = (
        FOUND if not exit_zero and (rewritten or _unreadable(findings) if diff else _fails(findings, config)) else 0
    )
    for_people = reports.format in FOR_PEOPLE and not diff
    colored = use_color(color, reports.main)
    if diff:
        main = _diff(rewritten)
    elif statistics:
        main = _statistics(findings, reports.format)
    else:
        main = render(findings, reports.format, color=colored, quiet=quiet, verbose=verbose)
    status = write_reports(reports, findings, main, for_people=for_people) or status
    if not quiet:
        run = LintRun(
            *(findings, outcomes, units, config, known, change),
            diff=diff,
            unwritten=frozenset(unwritten),
            variables=tuple(context.params["variables"]),
        )
        for line in (*(f"{notice}." for notice in skipped_messages(survey.named)), *closing_lines(run)):
            click.echo(line, err=not for_people or reports.main != STDOUT)
    return _complain_of(problems) or status


def _watch(context: click.Context, paths: tuple[str, ...]) -> int:
    """Run the command again and again, with workers that keep the state of units."""
    from pubcheck.cli.watch import WarmWorkers, watch

    def lint(workers: WarmWorkers) -> int:
        context.obj = workers
        assert command.callback is not None
        return int(context.invoke(command.callback, **context.params))

    settings = (context.params["config_path"], context.params["baseline"])
    return watch(lint, paths, [path for path in settings if path])


def _written(rewritten: Iterable[Rewritten]) -> dict[str, str]:
    """Write the changed files. Return the ones that could not be written, with the reasons."""
    return dict(write_rewritten(rewritten))


def _record_findings(outcomes: Sequence[Outcome], path: str, quiet: bool) -> int:
    """Write the baseline, unless a unit crashed, whose findings are not known; the exit status."""
    crashes = [outcome.crash for outcome in outcomes if outcome.crash]
    if not crashes:
        number = _write_baseline(path, outcomes)
        if not quiet:
            click.echo(f"{path}: {count(number, 'finding', 'd')} written", err=True)
    return _complain_of(crashes)


def _report(outcomes: Sequence[Outcome], config: Config, min_severity: Severity, certain_only: bool) -> Report:
    severities = SEVERITIES[SEVERITIES.index(min_severity) :]
    findings = [
        replace(finding, unit=number) if number else finding
        for number, outcome in enumerate(outcomes)
        for finding in outcome.findings
        if finding.entry.severity in severities and not (certain_only and finding.entry.certainty == "assumed")
    ]
    majors = {major for outcome in outcomes for major in outcome.postgres} or config.postgres or (DEFAULT_MAJOR,)
    files, statements = (sum(getattr(outcome, field) for outcome in outcomes) for field in ("files", "statements"))
    return report(findings, majors, files, statements)


def _complain_of(problems: Iterable[str]) -> int:
    """Tells of what went wrong; the exit status for it, 0 where nothing did."""
    return max(map(complain, problems), default=0)


def _change(fix: bool, unsafe_fixes: bool, diff: bool, add_ignore: bool) -> Change | None:
    """Return the change to the files that the options ask for."""
    if add_ignore and (fix or unsafe_fixes):
        raise click.UsageError("--add-ignore cannot be combined with --fix: run one after the other")
    if add_ignore:
        return "ignore"
    if unsafe_fixes and not (fix or diff):
        raise click.UsageError("--unsafe-fixes needs --fix or --diff")
    if fix or diff:
        return "unsafe-fix" if unsafe_fixes else "fix"
    return None


def _baseline(option: str | None, config: Config) -> Baseline | None:
    if not (option or config.baseline):
        return None
    from pubcheck import baseline

    return baseline.read(option) if option else baseline.of_config(config)


def _write_baseline(path: str, outcomes: Iterable[Outcome]) -> int:
    """Write a baseline that knows all findings; how many."""
    from pubcheck import baseline

    text, number = baseline.text([outcome.findings for outcome in outcomes], path)
    try:
        put(path, [text])
    except OSError as error:
        raise ConfigError(f"--write-baseline {path}: cannot be written: {error.strerror}") from None
    return number


def _diff(rewritten: list[Rewritten]) -> Iterator[str]:
    return diff_of(rewritten)


def _statistics(findings: Report, format_: str) -> Iterator[str]:
    from pubcheck.report.statistics import render as counted
    from pubcheck.report.statistics import render_json

    return counted(findings) if format_ == "text" else render_json(findings)


def _watched(outcomes: Iterator[Outcome], length: int, quiet: bool) -> Iterator[Outcome]:
    """Return the outcomes, with a progress bar on a terminal when there is more than one to wait for."""
    if quiet or length < 2 or not sys.stderr.isatty():
        yield from outcomes
        return
    with click.progressbar(outcomes, length=length, label="Linting", file=sys.stderr, show_eta=False) as bar:
        yield from bar


def _unreadable(report: Report) -> bool:
    """Return whether a file could not be linted."""
    return any(finding.entry.rule in ALWAYS for finding in report.findings)


def _fails(report: Report, config: Config) -> bool:
    entries = (finding.entry for finding in report.findings)
    return any(config.fails_run(entry.severity, entry.certainty) for entry in entries)


class LintRun(Struct, frozen=True):
    """A run and its result. ``unwritten`` are the labels of files that a change could not be written to,
    ``variables`` the names of psql's variables that the command line sets."""

    report: Report
    outcomes: Sequence[Outcome]
    units: Sequence[DiscoveredUnit]
    config: Config
    baseline: Baseline | None
    change: Change | None
    diff: bool
    unwritten: frozenset[str]
    variables: tuple[str, ...]


def closing_lines(run: LintRun) -> Iterator[str]:
    yield from _applied(run)
    yield from _fixable(run)
    if run.baseline is not None:
        yield from _recorded(run, run.baseline)
    for name in run.variables:
        if not any(name in outcome.used_variables for outcome in run.outcomes):
            yield f"Not used: -v {name}; no file names :{name}."


def _applied(run: LintRun) -> Iterator[str]:
    applied = [fix for outcome in run.outcomes for fix in outcome.applied if run.unwritten.isdisjoint(fix.labels)]
    findings = sum(applied_fix.number for applied_fix in applied)
    files = len({file.label for outcome in run.outcomes for file in outcome.rewritten} - run.unwritten)
    if findings:
        verbs = {"ignore": ("Would ignore", "Ignored")}.get(run.change or "", ("Would fix", "Fixed"))
        yield f"{verbs[not run.diff]} {count(findings, 'finding', 'd')} in {count(files, 'file', 'd')}."


def _fixable(run: LintRun) -> Iterator[str]:
    labels = {file.label for unit in run.units for file in unit.files if not file.context}
    safe, unsafe = (_with_fix(run.report, applicability, labels) for applicability in ("safe", "unsafe"))
    if run.change is None and (safe or unsafe):
        parts = [f"{safe} with --fix"] if safe else []
        parts += [f"{unsafe}{' more' if safe else ''} with --fix --unsafe-fixes"] if unsafe else []
        yield f"Can be fixed: {', '.join(parts)}."
    elif run.change == "fix" and unsafe and not run.diff:
        yield f"Can be fixed: {unsafe} more with --unsafe-fixes."


def _with_fix(report: Report, applicability: str, labels: Set[str]) -> int:
    """Return the number of findings whose best fix is of that applicability and changes only the files of these
    labels; UPDATE and DELETE of one cause count once."""
    fixes = [
        {fix.applicability for fix in group[0].entry.fixes if fix.edits and {edit.path for edit in fix.edits} <= labels}
        for group in causes(report.findings)
    ]
    return sum(applicability in group and (applicability == "safe" or "safe" not in group) for group in fixes)


def _recorded(run: LintRun, baseline: Baseline) -> Iterator[str]:
    from pubcheck.baseline import count_causes

    config = run.config
    known = {name for outcome in run.outcomes for name in outcome.known_fingerprints}
    labels = [file.label for unit in run.units for file in unit.files if not file.context]
    reported = rulebook.selected(config.select, config.ignore, config.extend_select)
    stale = baseline.stale(known, labels, reported, run.report.postgres) if run.change is None else []
    if known:
        number = count_causes(baseline.known[name] for name in known)
        yield f"Not shown: {count(number, 'finding', 'd')} recorded in {baseline.path}."
    if stale:
        yield (
            f"No longer found: {count(count_causes(stale), 'finding', 'd')} recorded in {baseline.path};"
            f" --write-baseline {baseline.path} removes them."
        )
