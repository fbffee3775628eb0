"""`pubcheck files`: the files that would be read, as which unit, in which order, and why."""

from __future__ import annotations

import os
from collections.abc import Iterator

import click
import msgspec

from pubcheck import __version__
from pubcheck.cli.app import Command, color_option, completes, use_color
from pubcheck.cli.input_options import (
    Inputs,
    config_option,
    discover,
    exclude_option,
    force_exclude_option,
    reads_units,
    schema_option,
    stdin_option,
    together_option,
)
from pubcheck.cli.output_files import output_option, write_output
from pubcheck.discovery.file_types import DiscoveredUnit, File
from pubcheck.discovery.units import Discovery
from pubcheck.report import count
from pubcheck.source import escape


@click.command(
    cls=Command,
    short_help="Show which files are read, as which unit, and why.",
    epilog="""\b
Examples:
  pubcheck files
  pubcheck files --format json services/ | jq '.units[].name'
  pubcheck files supabase/migrations/20240101000000_orders.sql

\b
Exit status: 0, even if nothing would be read; 2 bad arguments or
configuration.""",
)
@click.argument("paths", nargs=-1, metavar="[PATH]...", shell_complete=completes("files"))
@together_option
@schema_option
@exclude_option
@force_exclude_option
@click.option(
    "--format",
    "format_",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="Output format.",
)
@stdin_option
@config_option
@output_option
@color_option
@reads_units()
def command(inputs: Inputs, format_: str, output: str | None, color: str) -> int:
    """Show the files that `lint` would read with the same arguments: their units, their order and the reason.

    Without a PATH, the folder of the configuration is shown if it names units, else the current folder.

    Context files are replayed but not reported on. Rollback files are skipped.
    """
    discovery = discover(inputs)
    as_json = format_ == "json"
    text = _json(discovery) if as_json else _text(discovery, color=use_color(color, output))
    return write_output(output, text, for_people=not as_json)


def _json(discovery: Discovery) -> Iterator[str]:
    units = [
        {
            "name": unit.name,
            "convention": unit.convention,
            "reason": unit.reason,
            "postgres": unit.postgres,
            "files": [
                {"path": file.label, "view": file.view, "context": file.context, "problem": _problem(file)}
                for file in unit.files
            ],
        }
        for unit in discovery.units
    ]
    skipped = [{"path": label, "reason": reason} for label, reason in discovery.skipped]
    document = {"pubcheck": __version__, "schema_version": 1, "units": units, "passed_over": skipped}
    yield msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _problem(file: File) -> str | None:
    """Return why a file cannot be read, as far as is known without reading it."""
    if file.error is not None or file.content is not None:
        return file.error
    try:
        os.stat(file.path)
    except OSError as error:
        return error.strerror
    except ValueError as error:
        return str(error)
    return None


def _text(discovery: Discovery, *, color: bool) -> Iterator[str]:
    def styled(text: str, **style: bool) -> str:
        return click.style(text, **style) if color else text

    for unit in discovery.units:
        majors = f", PostgreSQL {', '.join(map(str, unit.postgres))}" if unit.postgres else ""
        yield f"{styled(escape(unit.name), bold=True)}  {unit.convention}: {escape(unit.reason)}{majors}\n"
        width = len(str(len(unit.files)))
        for number, file in enumerate(unit.files, 1):
            notes = [file.view] if file.view != "sql" else []
            notes += ["context"] if file.context else []
            notes += [problem] if (problem := _problem(file)) else []
            note = f"  ({escape(', '.join(notes))})" if notes else ""
            yield f"  {number:{width}}  {styled(escape(file.label), dim=file.context)}{note}\n"
    if discovery.skipped:
        yield f"{styled('skipped', bold=True)}\n"
        for label, reason in discovery.skipped:
            yield f"  {escape(label)}  ({escape(reason)})\n"
    yield _closing(discovery.units, len(discovery.skipped))


def _closing(units: list[DiscoveredUnit], passed_over: int) -> str:
    files = len({file.path for unit in units for file in unit.files})
    more = f", {passed_over} skipped" if passed_over else ""
    return f"{count(files, 'file', 'd')} in {count(len(units), 'unit', 'd')}{more}\n"
