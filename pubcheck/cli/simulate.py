"""`pubcheck simulate`: the messages that a slot would send of a script's changes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from pubcheck.cli.app import complain
from pubcheck.cli.output_files import STDOUT, put
from pubcheck.postgres.versions import BY_NUMBER
from pubcheck.source import Source

if TYPE_CHECKING:
    from pubcheck.simulate.runs import Run

_FORMATS = ("text", "jsonl", "debezium", "hex")
_STDIN = "-"


def _majors(_context: click.Context, _option: click.Parameter, text: str) -> tuple[int, ...]:
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isdigit() and int(part) in BY_NUMBER for part in parts):
        raise click.BadParameter(f"{text!r} is not a list of versions such as 15,18")
    return tuple(dict.fromkeys(map(int, parts)))


def _options(_context: click.Context, _option: click.Parameter, texts: tuple[str, ...]) -> dict[str, str]:
    options = {}
    for text in texts:
        name, sign, value = text.partition("=")
        if not sign or not name:
            raise click.BadParameter(f"{text!r} is not NAME=VALUE")
        options[name] = value
    return options


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
psql does without ON_ERROR_STOP. Transaction ids, positions and times are made
up.

\b
Exit status: 0; 1 if decoding fails, as it would on the server; 2 bad
arguments, or a statement that pubcheck cannot follow.""",
)
@click.argument("schema", metavar="SCHEMA")
@click.argument("script", metavar="SCRIPT")
@click.option(
    "--publication",
    "publications",
    multiple=True,
    metavar="NAME[,NAME]",
    help="The publications that a subscription asks for. Repeatable.  [default: all that SCHEMA creates]",
)
@click.option(
    "--postgres",
    "majors",
    default="18",
    callback=_majors,
    metavar="MAJOR[,MAJOR]",
    show_default=True,
    help="PostgreSQL versions. Versions with the same messages are shown together.",
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
    callback=_options,
    metavar="NAME=VALUE",
    help="An option of the plugin, such as binary=on or include-xids=0. Repeatable.  [default of pgoutput's"
    " proto_version: the version's newest]",
)
@click.option(
    "--set",
    "settings",
    multiple=True,
    callback=_options,
    metavar="NAME=VALUE",
    help="A setting of the session that reads the slot, such as timezone=UTC. Repeatable.",
)
@click.option("--work-mem", metavar="SIZE", help="logical_decoding_work_mem, such as 64kB.  [default: 64MB]")
@click.option(
    "--read",
    "reading",
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
@click.option("-o", "--output", metavar="FILE", help="Write to this file instead of standard output.")
def command(
    schema: str,
    script: str,
    publications: tuple[str, ...],
    majors: tuple[int, ...],
    plugin: str,
    options: dict[str, str],
    settings: dict[str, str],
    work_mem: str | None,
    reading: str,
    format_: str,
    output: str | None,
) -> int:
    """Show the messages that a slot would send of the changes in SCRIPT, on the database of SCHEMA."""
    if plugin == "test_decoding" and (format_ in ("jsonl", "debezium") or publications):
        option = "--publication" if publications else f"--format {format_}"
        return complain(f"{option} is for pgoutput only")
    if len(majors) > 1 and format_ != "text":
        return complain(f"--format {format_} takes one version at a time")
    sources = [Source(_label(path), _text(path)) for path in (schema, script)]
    from pubcheck.simulate.not_followed import NotFollowed
    from pubcheck.simulate.runs import Request, run

    if work_mem is not None:
        settings = {**settings, "logical_decoding_work_mem": work_mem}
    request = Request(sources[0], sources[1], plugin, publications, options, settings, live=reading == "live")
    runs: list[Run] = []
    for major in majors:
        try:
            runs.append(run(request, major))
        except NotFollowed as reason:
            return complain(f"{reason} (PostgreSQL {major})" if len(majors) > 1 else str(reason))
    return _show(runs, format_, output)


def _label(path: str) -> str:
    return "<stdin>" if path == _STDIN else path


def _text(path: str) -> str:
    try:
        if path == _STDIN:
            return sys.stdin.buffer.read().decode()
        with open(path, encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise click.ClickException(f"{path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise click.ClickException(f"{path} is not valid UTF-8") from None


def _show(runs: Sequence[Run], format_: str, output: str | None) -> int:
    groups: dict[tuple[str, tuple[str, ...]], list[Run]] = {}
    for one in runs:
        groups.setdefault(("".join(_rendered(one, format_)), tuple(one.notices)), []).append(one)
    pieces: list[str] = []
    for (text, notices), group in groups.items():
        heading = "PostgreSQL " + ", ".join(str(one.major) for one in group)
        prefix = f"{heading}: " if len(groups) > 1 else ""
        for notice in notices:
            click.echo(prefix + notice, err=True)
        pieces += [f"-- {heading}\n", text, "\n"] if len(runs) > 1 else [text]
    if output is None or output == STDOUT:
        sys.stdout.write("".join(pieces))
    else:
        put(output, pieces)
    return 1 if any(one.failed for one in runs) else 0


def _rendered(one: Run, format_: str) -> Iterator[str]:
    if one.plugin != "pgoutput":
        from pubcheck.stream.lsn import format_lsn

        for lsn, xid, data in one.rows:
            shown = data.hex() if format_ == "hex" else data.decode("utf-8", "backslashreplace")
            yield f"{format_lsn(lsn):<11} {xid:<7} {shown}\n"
        return
    from pubcheck.postgres.session.type_names import type_namer
    from pubcheck.stream.framing.frame import Frame, Place
    from pubcheck.stream.render import RENDERERS
    from pubcheck.stream.render.events import Events

    events = Events(one.streaming, type_name=type_namer(one.major))
    for number, (lsn, xid, data) in enumerate(one.rows, 1):
        yield from RENDERERS[format_](events.event(Frame(lsn, xid, data, Place(number))), events)
