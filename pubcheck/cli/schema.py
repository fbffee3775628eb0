"""`pubcheck schema`: the JSON Schemas of the configuration and of the documents that commands print."""

from __future__ import annotations

import json
from importlib.resources import files

import click

from pubcheck.cli.app import Command
from pubcheck.cli.output_files import output_option, write_output

_SHIPPED = {
    "lint": "report/schema.json",
    "explain": "explain/explain.schema.json",
    "measure": "report/measure.schema.json",
}


@click.command(
    cls=Command,
    short_help="Print a JSON Schema: of the configuration, or of JSON output.",
    epilog="""\b
Examples:
  pubcheck schema -o pubcheck.schema.json
  pubcheck schema pyproject
  pubcheck schema lint""",
)
@click.argument("name", type=click.Choice(["config", "pyproject", *_SHIPPED]), default="config", metavar="[NAME]")
@output_option
def command(name: str, output: str | None) -> int:
    """Print the JSON Schema of the configuration, or of a command's JSON output.

    NAME is config (pubcheck.toml, the default), pyproject (pyproject.toml), lint, explain or measure. Editors complete
    and check a configuration whose first line is `#:schema ./pubcheck.schema.json`.
    """
    if name in _SHIPPED:
        text = files("pubcheck").joinpath(_SHIPPED[name]).read_text("utf-8")
    else:
        # Loaded only where they are asked for.
        from pubcheck.config_schema import pyproject_schema, schema

        text = json.dumps(pyproject_schema() if name == "pyproject" else schema(), indent=2) + "\n"
    return write_output(output, [text], for_people=False)
