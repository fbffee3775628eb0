"""`pubcheck decode`: the messages of a captured stream."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from pubcheck.cli.app import FOUND, WRONG, complain, completes
from pubcheck.cli.input_options import Inputs, complete_option, config_option, configuration, require_inputs
from pubcheck.cli.output_files import output_option, write_output
from pubcheck.cli.publisher_options import (
    chosen_publications,
    framing_option,
    linted_schema,
    option_option,
    publication_option,
    stream_options,
)
from pubcheck.cli.spark import MessageTable, TableFailure, decode_table, message_table, table_options
from pubcheck.discovery.file_types import STDIN
from pubcheck.postgres.versions import DEFAULT_MAJOR

if TYPE_CHECKING:
    from pubcheck.config import Config
    from pubcheck.stream import FramingError
    from pubcheck.stream.decode import Streaming
    from pubcheck.stream.render.events import Events
    from pubcheck.verify.relations import UnnamedRelations

_FORMATS = ("text", "jsonl", "debezium", "hex", "fields")
_MOST = 100
"""Errors that are shown; the rest are counted."""


@click.command(
    short_help="Show the messages of a captured stream.",
    epilog="""\b
Examples:
  pubcheck decode stream.txt
  pubcheck decode --format jsonl stream.bin | jq 'select(.kind == "update")'
  pubcheck decode --schema schema.sql --publication eu stream.txt
  psql -Atf peek.sql shop | pubcheck decode --format debezium -

\b
Exit status: 0; 1 a message is malformed or a row cannot be read; 2 bad
arguments, no message, a capture in no known framing, or an internal error.""",
)
@click.argument("path", metavar="CAPTURE", shell_complete=completes("files"))
@click.option(
    "--format",
    "format_",
    type=click.Choice(_FORMATS),
    default="text",
    show_default=True,
    help="jsonl: an object for each message. debezium: Debezium's envelope, for each change. hex: bytes that decode"
    " reads again. fields: the bytes of each field, explained.",
)
@output_option
@framing_option
@option_option
@click.option(
    "--schema",
    metavar="SCHEMA",
    shell_complete=completes("files"),
    help="A schema. It names the columns of changes whose Relation message is not in the capture, if they fit only one"
    " published table.",
)
@publication_option
@click.option(
    "--postgres",
    metavar="MAJOR",
    help="PostgreSQL version of the publisher.  [default: the last version in the configuration, the version in a"
    " pg_dump header, or 18]",
)
@complete_option
@config_option
@table_options
def command(
    path: str,
    format_: str,
    output: str | None,
    framing: str | None,
    options: dict[str, str],
    schema: str | None,
    publications: tuple[str, ...],
    postgres: str | None,
    complete: bool | None,
    config_path: str | None,
    **of_table: Any,
) -> int:
    """Show the messages of a captured stream of logical replication, one after the other.

    CAPTURE is a file, or - for standard input: rows of pg_logical_slot_peek_binary_changes as psql or COPY prints
    them, hex, JSON lines, Parquet, XLogData messages, or a file of pg_recvlogical. A malformed message is reported,
    and the rest is decoded; the messages in a file of pg_recvlogical have no lengths, so there decoding ends. Of the
    options, only streaming=parallel matters: it makes Stream Abort longer. With --from, CAPTURE is a table of the
    messages of many slots, which Spark reads.
    """
    streaming = stream_options(options).streaming if options else None
    table = message_table(path, of_table)
    if table is not None:
        return _decode_table(table, streaming, schema=schema, output=output)
    require_inputs(path, schema or STDIN)
    if schema is None and publications:
        raise click.UsageError("--publication needs --schema")
    if schema == path == STDIN:
        raise click.UsageError("standard input cannot be both CAPTURE and the schema")
    config = configuration({"postgres": postgres, "complete": complete}, config_path)
    if postgres is not None and len(config.postgres) > 1:
        raise click.UsageError("--postgres: decode takes one version at a time")

    unnamed = None if schema is None else _unnamed(schema, publications, config, majors=postgres is not None)

    from pubcheck.postgres.session import type_namer
    from pubcheck.stream.render.events import Events

    namer = type_namer(config.postgres[-1] if config.postgres else DEFAULT_MAJOR)
    events = Events(streaming, None if unnamed is None else unnamed.match, namer)
    run = _Run(events, format_, "<stdin>" if path == STDIN else path)
    pieces = run.pieces(path, framing, streaming)
    unwritten = write_output(output, pieces, for_people=format_ in ("text", "fields"))
    return unwritten or run.end(() if unnamed is None else unnamed.notes())


def _decode_table(table: MessageTable, streaming: Streaming | None, *, schema: str | None, output: str | None) -> int:
    if table.output is None:
        raise click.UsageError("--from needs --to, the folder for the decoded messages")
    if schema is not None or output is not None:
        raise click.UsageError("--schema and --output need a capture in a file, not a table (--from)")
    try:
        malformed = decode_table(table, table.output, streaming)
    except TableFailure as error:
        return complain(str(error))
    if malformed:
        are = "1 message is" if malformed == 1 else f"{malformed:,} messages are"
        click.echo(f"pubcheck: {are} malformed: see the column error in {table.output}", err=True)
    return FOUND if malformed else 0


def _unnamed(schema: str, publications: tuple[str, ...], config: Config, *, majors: bool) -> UnnamedRelations:
    """Return what knows the published relations of a schema. Raises NoInput and UsageError."""
    followed = linted_schema(Inputs(config, (schema,), majors=majors)).followed
    assert followed is not None
    names = chosen_publications(publications, followed)

    from pubcheck.verify import Publisher, State
    from pubcheck.verify.relations import UnnamedRelations

    return UnnamedRelations(Publisher([State(followed.replays[-1].session, names)]))


class _Run:
    """The decoding of one capture."""

    def __init__(self, events: Events, format_: str, label: str) -> None:
        self._events = events
        self._format = format_
        self._label = label
        self._messages = self._errors = 0
        self._unreadable = False

    def pieces(self, path: str, framing: str | None, streaming: Streaming | None) -> Iterator[str]:
        """Yield the text of each message. Errors are written to standard error."""
        from pubcheck.stream import FramingError, Malformed, read
        from pubcheck.stream.render import RENDERERS

        render, events = RENDERERS[self._format], self._events
        source = sys.stdin.buffer if path == STDIN else path
        try:
            for frame in read(source, framing, streaming=streaming, report=self._report):
                self._messages += 1
                try:
                    event = events.event(frame)
                except Malformed as fault:
                    self._report(f"{frame.place}: {fault}")
                else:
                    yield from render(event, events)
        except FramingError as error:
            self._unreadable = error.place is None
            self._report(error)
        except OSError as error:
            self._unreadable = True
            self._report(error.strerror or str(error))

    def _report(self, error: FramingError | str) -> None:
        self._errors += 1
        if self._errors <= _MOST:
            click.echo(f"pubcheck: {self._label}: {error}", err=True)

    def end(self, notes: Iterable[str]) -> int:
        """Write the notes, and return the exit status."""
        for note in notes:
            click.echo(f"pubcheck: {note}", err=True)
        if self._errors > _MOST:
            click.echo(f"pubcheck: {self._label}: {self._errors - _MOST:,} more errors are not shown", err=True)
        if self._unreadable:
            return WRONG
        if not self._messages and not self._errors:
            return complain(f"no input: {self._label} holds no message")
        return FOUND if self._errors else 0
