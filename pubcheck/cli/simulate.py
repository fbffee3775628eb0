"""`pubcheck simulate`: the messages that a slot would send of a script's changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import click

from pubcheck.cli.app import FOUND, complain, completes
from pubcheck.cli.input_options import Inputs, config_option, configuration, require_inputs, together_option
from pubcheck.cli.output_files import output_option, write_output
from pubcheck.cli.publisher_options import name_values, publication_names, refuse_databases, schema_unit
from pubcheck.discovery.file_types import STDIN
from pubcheck.source import Source, decode

if TYPE_CHECKING:
    from pubcheck.simulate.database import Run

_UNREADABLE = ("PUB001", "PUB002")
_FORMATS = ("text", "jsonl", "debezium", "hex")


@click.command(
    short_help="Show the messages that a slot would send of a script's changes.",
    epilog="""\b
Examples:
  pubcheck simulate schema.sql work.sql --publication eu
  pubcheck simulate schema.sql work.sql --publication eu,us --postgres 15,18
  pubcheck simulate schema.sql work.sql --publication eu --work-mem 64kB \\
      --option streaming=parallel
  pubcheck simulate schema.sql work.sql --plugin test_decoding

\b
SCHEMA runs first, then the slot is created, then SCRIPT runs, statement by
statement as in psql. `-- session: b` on a line of its own, or \\session b, says
in which session the following statements run. Data of COPY ... FROM STDIN
follow the statement and end with \\. on a line of its own. A statement that the
server would refuse is reported on standard error, and the script goes on, as
in psql, unless it has \\set ON_ERROR_STOP on. Transaction ids, positions and
times are made up.

\b
Exit status: 0; 1 if decoding fails, as it would on the server, or an error
stops a script; 2 bad arguments, or a statement that pubcheck cannot follow.""",
)
@click.argument("schema", metavar="SCHEMA")
@click.argument("script", metavar="SCRIPT", shell_complete=completes("files"))
@click.option(
    "--publication",
    "publications",
    multiple=True,
    callback=publication_names,
    metavar="NAME[,NAME]",
    help="The publications that a subscription asks for. Repeatable.  [default: all that SCHEMA creates]",
)
@click.option(
    "--postgres",
    metavar="MAJOR[,MAJOR]",
    help="PostgreSQL versions. Versions with the same messages are shown together.  [default: those in the"
    " configuration, the version in a pg_dump header, or 18]",
)
@click.option(
    "--plugin",
    type=click.Choice(["pgoutput", "test_decoding"]),
    default="pgoutput",
    show_default=True,
    help="The slot's output plugin.",
)
@click.option(
    "--option",
    "options",
    multiple=True,
    callback=name_values,
    metavar="NAME=VALUE",
    help="An option of the plugin, such as binary=on or include-xids=0. Repeatable.  [default of pgoutput's"
    " proto_version: the version's newest]",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    callback=name_values,
    metavar="NAME=VALUE",
    help="A setting of the session that reads the slot, such as timezone=UTC. Repeatable.",
)
@click.option(
    "--clock",
    metavar="TIMESTAMP",
    help="The time at which SCRIPT begins, such as '2024-05-01 12:00'; in UTC unless it has an offset. Each transaction"
    " and each commit is a second later.  [default: commits have made-up times, and now() is not followed]",
)
@click.option(
    "--seed",
    type=int,
    metavar="NUMBER",
    help="Make up the values of random() and gen_random_uuid() from this number.  [default: they are not followed]",
)
@click.option("--work-mem", metavar="SIZE", help="logical_decoding_work_mem, such as 64kB.  [default: 64MB]")
@click.option(
    "--read",
    "when",
    type=click.Choice(["live", "afterwards"]),
    default="live",
    show_default=True,
    help="When the slot is read: after each statement, as a subscriber does, or once the script is done.",
)
@click.option(
    "--format",
    "format_",
    type=click.Choice(_FORMATS),
    default="text",
    show_default=True,
    help="Format of the messages; test_decoding's are text or hex.",
)
@output_option
@together_option
@config_option
def command(
    schema: str,
    script: str,
    publications: tuple[str, ...],
    postgres: str | None,
    plugin: str,
    options: dict[str, str],
    settings: dict[str, str],
    clock: str | None,
    seed: int | None,
    work_mem: str | None,
    when: str,
    format_: str,
    output: str | None,
    together: bool,
    config_path: str | None,
) -> int:
    """Show the messages that a slot would send of the changes in SCRIPT.

    SCHEMA is the file or folder that builds the database; one of the two may be -, standard input.
    """
    if plugin == "test_decoding" and (format_ in ("jsonl", "debezium") or publications):
        option = "--publication" if publications else f"--format {format_}"
        return complain(f"{option} is for pgoutput only")
    if schema == script == STDIN:
        raise click.UsageError("standard input cannot be both SCHEMA and SCRIPT")
    require_inputs(schema, script)
    config = configuration({"postgres": postgres}, config_path)
    unit = schema_unit(Inputs(config, (schema,), together, majors=postgres is not None))

    from pubcheck.engine.unit import majors_of
    from pubcheck.lint_files import read_files
    from pubcheck.postgres.errors import ServerError
    from pubcheck.simulate.database import Request, refuse_settings, run
    from pubcheck.simulate.not_followed import NotFollowed
    from pubcheck.simulate.script import steps

    if work_mem is not None:
        settings = {**settings, "logical_decoding_work_mem": work_mem}
    _, schema_to_run = read_files(unit, config)
    for diagnostic in schema_to_run.reading_notes:
        if diagnostic.rule in _UNREADABLE:
            return complain(f"{diagnostic.span.source.label}: {diagnostic.message}")
    refuse_databases(schema_to_run.sources)
    majors, _ = majors_of(schema_to_run, config)
    if len(majors) > 1 and format_ != "text":
        return complain(f"--format {format_} takes one version at a time")
    start, source = _microseconds(clock), _source(script)
    runs: list[Run] = []
    for major in majors:
        try:
            refuse_settings(settings, major)
            setup = [step for part in schema_to_run.sources for step in steps(part)]
            request = Request(
                setup,
                list(steps(source)),
                publications,
                plugin,
                options,
                settings,
                live=when == "live",
                clock=start,
                seed=seed,
            )
            runs.append(run(request, major))
        except ServerError as error:
            return complain(error.message)
        except NotFollowed as reason:
            return complain(f"{reason} (PostgreSQL {major})" if len(majors) > 1 else str(reason))
    return _show(runs, format_, output)


def _microseconds(text: str | None) -> int | None:
    """Return a time in microseconds since 2000. Raises UsageError."""
    if text is None:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise click.UsageError(f"--clock: {text!r} is not a time such as '2024-05-01 12:00'") from None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return (moment - datetime(2000, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)


def _source(path: str) -> Source:
    """Return a script. Raises ClickException."""
    label = "<stdin>" if path == STDIN else path
    try:
        if path == STDIN:
            content = sys.stdin.buffer.read()
        else:
            with open(path, "rb") as file:
                content = file.read()
    except OSError as error:
        raise click.ClickException(f"{label}: {error.strerror}") from None
    decoded = decode(content)
    if decoded.text is None:
        raise click.ClickException(f"{label}: {decoded.problem}")
    return Source(label, decoded.text)


def _show(runs: Sequence[Run], format_: str, output: str | None) -> int:
    groups: dict[tuple[str, tuple[str, ...]], list[Run]] = {}
    for run in runs:
        groups.setdefault(("".join(_rendered(run, format_)), tuple(run.notices)), []).append(run)
    pieces: list[str] = []
    for (text, notices), group in groups.items():
        heading = "PostgreSQL " + ", ".join(str(run.major) for run in group)
        prefix = f"{heading}: " if len(groups) > 1 else ""
        for notice in notices:
            click.echo(prefix + notice, err=True)
        pieces += [f"-- {heading}\n", text, "\n"] if len(runs) > 1 else [text]
    status = FOUND if any(run.failed for run in runs) else 0
    return write_output(output, pieces, for_people=True) or status


def _rendered(run: Run, format_: str) -> Iterator[str]:
    if run.plugin != "pgoutput":
        from pubcheck.stream.lsn import format_lsn

        for lsn, xid, data in run.rows:
            shown = data.hex() if format_ == "hex" else data.decode("utf-8", "backslashreplace")
            yield f"{format_lsn(lsn):<11} {xid:<7} {shown}\n"
        return
    from pubcheck.postgres.session import type_namer
    from pubcheck.stream.framing.rows import Frame, Place
    from pubcheck.stream.render import RENDERERS
    from pubcheck.stream.render.events import Events

    events = Events(run.streaming, type_name=type_namer(run.major))
    for number, (lsn, xid, data) in enumerate(run.rows, 1):
        yield from RENDERERS[format_](events.event(Frame(lsn, xid, data, Place(number))), events)
