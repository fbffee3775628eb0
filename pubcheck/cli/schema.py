"""`pubcheck schema`: the JSON Schemas of the configuration, of the documents that commands print, and of profiles."""

from __future__ import annotations

import json
from importlib import import_module
from importlib.resources import files

import click

from pubcheck.cli.app import Command
from pubcheck.cli.output_files import output_option, write_output

_SCHEMAS = {
    "config": ("config_schema", "schema"),
    "pyproject": ("config_schema", "pyproject_schema"),
    "lint": ("", "report/schema.json"),
    "explain": ("explain.render_json", "schema"),
    "measure": ("report.measure", "schema"),
    "snapshot": ("live.document", "schema"),
    "consumer": ("consumers.profiles", "schema"),
}
"""The module with the function that makes each schema, or the file that holds it. Only the one asked for is loaded."""


@click.command(
    cls=Command,
    short_help="Print a JSON Schema: of the configuration, or of JSON output.",
    epilog="""\b
Examples:
  pubcheck schema -o pubcheck.schema.json
  pubcheck schema pyproject
  pubcheck schema lint""",
)
@click.argument("name", type=click.Choice(list(_SCHEMAS)), default="config", metavar="[NAME]")
@output_option
def command(name: str, output: str | None) -> int:
    """Print the JSON Schema of the configuration, or of a command's JSON output.

    NAME is config (pubcheck.toml, the default), pyproject (pyproject.toml), lint, explain, measure, snapshot (a file of
    `pubcheck snapshot`) or consumer (a profile of your own). Editors complete and check a configuration whose first
    line is `#:schema ./pubcheck.schema.json`.
    """
    module, source = _SCHEMAS[name]
    schema = getattr(import_module(f"pubcheck.{module}"), source)() if module else files("pubcheck") / source
    if isinstance(schema, dict):
        text = json.dumps(schema, indent=2) + "\n"
    else:
        text = schema.decode() if isinstance(schema, bytes) else schema.read_text("utf-8")
    return write_output(output, [text], for_people=False)
