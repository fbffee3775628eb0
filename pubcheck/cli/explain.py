"""`pubcheck explain`: what a subscriber will see of each table."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

import click
from msgspec import Struct
from msgspec.structs import replace

from pubcheck import __version__, rulebook
from pubcheck.cli.app import (
    FOUND,
    Command,
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
    postgres_option,
    reads_units,
    schema_option,
    statement_size_option,
    stdin_option,
    together_option,
    units_to_read,
    variables_option,
)
from pubcheck.cli.output_files import output_option, write_output
from pubcheck.cli.process_pool import Workers
from pubcheck.config import Config, suggestion
from pubcheck.discovery.file_types import LISTINGS, DiscoveredUnit
from pubcheck.engine.linter import Linter
from pubcheck.explain.build import Selection, build_unit
from pubcheck.explain.document import UnitExplained
from pubcheck.explain.filters_compared import sampler
from pubcheck.faults import failure_text, fault_of
from pubcheck.findings import Entry
from pubcheck.lint_files import lint_files
from pubcheck.postgres.versions import DEFAULT_MAJOR

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pubcheck.explain.build import Selection
    from pubcheck.explain.document import Explanation


@click.command(
    cls=Command,
    short_help="Show what a subscriber will see of each table.",
    epilog="""\b
Examples:
  pubcheck explain schema.sql
  pubcheck explain --publication eu --table orders db/
  pubcheck explain --subscription eu,us schema.sql
  pubcheck explain --format html -o publications.html schema.sql
  pg_dump -s shop | pubcheck explain --format json -

\b
Exit status: 0 if `lint` would find nothing that fails the run; 1 if it would;
2 bad arguments or configuration, no input, or an internal error.""",
)
@click.argument("paths", nargs=-1, metavar="PATH...", shell_complete=completes("files"))
@postgres_option
@click.option(
    "--publication", "publications", multiple=True, metavar="NAME", help="Explain only this publication. Repeatable."
)
@click.option(
    "--table",
    "tables",
    multiple=True,
    metavar="NAME",
    help="Explain only this table, with or without schema. A partitioned table includes its partitions. Repeatable.",
)
@click.option(
    "--subscription",
    "--together-publications",
    "subscriptions",
    multiple=True,
    metavar="NAME,NAME",
    help="Explain one subscription to these publications. Repeatable.  [default: those that the input creates]",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json", "html"]),
    default="text",
    show_default=True,
    help="Format; html is one page with a drawing.",
)
@click.option("--stream", is_flag=True, help="Show the example rows as messages of the replication stream, too.")
@output_option
@consumer_option
@complete_option
@together_option
@schema_option
@variables_option
@click.option(
    "--jobs",
    type=click.IntRange(min=0),
    default=1,
    metavar="N",
    show_default=True,
    help="Number of units to explain in parallel; 0 means one per core.",
)
@fail_on_option
@fail_on_assumed_option
@statement_size_option
@stdin_option
@config_option
@color_option
@reads_units(one_major=True)
def command(
    inputs: Inputs,
    publications: tuple[str, ...],
    tables: tuple[str, ...],
    subscriptions: tuple[str, ...],
    format_: str,
    stream: bool,
    output: str | None,
    jobs: int,
    color: str,
) -> int:
    """Show what a subscriber will see of each publication and table: operations, rows, columns and names.

    A PATH is a folder, a file, or - for standard input. In a folder, migration files form units by their tool's naming
    conventions (`pubcheck files` shows them). A file is explained as part of its migration history if it has one.
    """
    from pubcheck.explain.build import Selection

    subscribed = tuple(tuple(part.strip() for part in text.split(",") if part.strip()) for text in subscriptions)
    selection = Selection(publications, tables, tuple(names for names in subscribed if names))
    with Workers(jobs) as workers:
        units = units_to_read(inputs, workers)
        explanation, crashes, failed = explain(units, inputs.config, selection, workers, messages=stream)
    _check(explanation, selection)
    status = FOUND if failed else 0
    pieces = _rendered(explanation, format_, color, inputs.config.docs_url, output)
    status = write_output(output, pieces, for_people=format_ == "text") or status
    for crash in crashes:
        status = complain(crash)
    return status


def explain(
    units: Sequence[DiscoveredUnit],
    config: Config,
    selection: Selection,
    workers: Workers,
    *,
    messages: bool = False,
) -> tuple[Explanation, list[str], bool]:
    """Return the document, messages about internal errors, and whether its findings fail the run.

    Units with an internal error are left out of the document."""
    from pubcheck.cli.explain import Task, died, explain_unit
    from pubcheck.explain.document import SCHEMA_VERSION, Explanation

    results = list(workers.map(explain_unit, [Task(unit, config, selection, messages) for unit in units], died))
    explained = tuple(result.unit for result in results if result.unit is not None)
    majors = [major for result in results for major in result.postgres]
    major = max(majors, default=(config.postgres or (DEFAULT_MAJOR,))[-1])
    files = sum(len(unit.files) for unit in units)
    statements = sum(result.statements for result in results)
    explanation = Explanation(__version__, SCHEMA_VERSION, major, files, statements, explained)
    if units and all(unit.convention in LISTINGS for unit in units):
        explanation = replace(explanation, noun="object", container="database")
    return explanation, [result.crash for result in results if result.crash], any(result.fails for result in results)


def _check(explanation: Explanation, selection: Selection) -> None:
    """Raise UsageError for a publication or a table that was asked for and that is nowhere."""
    if not explanation.units:
        return
    publication_names = sorted({name for unit in explanation.units for name in unit.all_publications})
    requested = [*selection.publications, *(name for names in selection.subscriptions for name in names)]
    for name in requested:
        if name not in publication_names:
            near = suggestion(name, publication_names) if publication_names else ": the input creates none"
            raise click.UsageError(f"there is no publication {name}{near}")
    tables = {table.name for unit in explanation.units for table in unit.tables}
    for name in selection.tables:
        if not any(name in (table, table.partition(".")[2]) for table in tables):
            raise click.UsageError(f"no publication publishes a table {name}")


def _rendered(explanation: Explanation, format_: str, color: str, docs_url: str, output: str | None) -> Iterator[str]:
    if format_ == "json":
        from pubcheck.explain import render_json

        return render_json.render(explanation)
    if format_ == "html":
        from pubcheck.explain import render_html

        return render_html.render(explanation, docs_url)
    from pubcheck.explain import render_text
    from pubcheck.explain.render_text import WIDTH

    if use_color(color, output):
        return render_text.render_rich(explanation)
    columns = os.environ.get("COLUMNS", "")
    return render_text.render(explanation, int(columns) if columns.isdecimal() else WIDTH)


class Task(Struct, frozen=True):
    """A unit to explain for the last major of the configuration."""

    unit: DiscoveredUnit
    config: Config
    selection: Selection
    messages: bool = False
    """Whether to add the example rows as messages of the stream."""


class Explained(Struct, frozen=True):
    """The explanation of a unit. ``fails``: whether it shows something that fails the run, as it would `lint`."""

    unit: UnitExplained | None
    postgres: tuple[int, ...] = ()
    statements: int = 0
    fails: bool = False
    crash: str | None = None


def explain_unit(task: Task) -> Explained:
    """Reads, lints and explains a unit. A unit that crashes the engine is left out."""
    unit = task.unit
    # All rules are selected: those that would fire on most correct publications are off in lint, but not here.
    config = replace(task.config, postgres=task.config.postgres[-1:], select=("PUB",), ignore=())
    linted = lint_files(unit, Linter(config), follow=True)
    followed = linted.followed
    if followed is None:
        return Explained(None, crash=failure_text(linted.faults))
    replay = followed.replays[-1]
    try:
        # The explanation is the same whichever files are context; only the exit status depends on them.
        labels = [file.label for file in unit.files]
        explanation = build_unit(
            replay, followed.statements, followed.findings, labels, task.selection, sampler(replay)
        )
        if task.messages:
            from pubcheck.verify.example_messages import with_messages

            explanation = with_messages(explanation, replay.session)
    except Exception as error:
        return Explained(None, crash=failure_text([fault_of(error, unit.title)]))
    failing = _fails(explanation, (finding.entry for finding in linted.findings), task.config)
    crash = failure_text((*linted.faults, *replay.faults.faults))
    return Explained(explanation, linted.postgres, followed.result.statements, failing, crash)


def died(task: Task) -> Explained:
    """Return the result of a task whose process died."""
    crash = f"internal error in {task.unit.title}: the process that explained it died, perhaps for lack of memory"
    return Explained(None, crash=crash)


def _fails(unit: UnitExplained, entries: Iterable[Entry], config: Config) -> bool:
    """Return whether a finding fails the run that `lint` would report and that the explanation shows. ``entries``
    are the unit's findings after ignore comments and settings."""
    reported = rulebook.selected(config.select, config.ignore, config.extend_select)
    answers = [answer for publication in unit.publications for answer in publication.answers]
    shown = {(finding.rule, finding.path, finding.line) for finding in unit.findings}
    for notes in (*(row.notes for row in unit.publications), *(answer.notes for answer in answers)):
        shown.update((note.rule, note.path, note.line) for note in notes)
    refused = {(refusal.rule, table) for answer in answers for refusal in answer.refused for table in answer.tables}
    return any(
        config.fails_run(entry.severity, entry.certainty)
        and entry.rule in reported
        and ((entry.rule, entry.path, entry.line) in shown or (entry.rule, entry.object) in refused)
        for entry in entries
    )
