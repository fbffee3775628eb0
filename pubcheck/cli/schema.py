"""`pubcheck schema`: the JSON Schemas of the configuration, of the documents that commands print, and of profiles."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from importlib.resources import files

import click

from pubcheck.cli.app import Command
from pubcheck.cli.output_files import output_option, write_output

# What makes a schema is imported only where that schema is asked for.


def _config() -> str:
    from pubcheck.config_schema import schema

    return json.dumps(schema(), indent=2) + "\n"


def _pyproject() -> str:
    from pubcheck.config_schema import pyproject_schema

    return json.dumps(pyproject_schema(), indent=2) + "\n"


def _lint() -> str:
    return files("pubcheck").joinpath("report/schema.json").read_text("utf-8")


def _explain() -> str:
    from pubcheck.explain.render_json import schema

    return schema().decode()


def _measure() -> str:
    from pubcheck.report.measure import schema

    return schema().decode()


def _snapshot() -> str:
    from pubcheck.live.document import schema

    return schema().decode()


def _consumer() -> str:
    from pubcheck.consumers.profiles import schema_text

    return schema_text()


_SCHEMAS: Mapping[str, Callable[[], str]] = {
    "config": _config,
    "pyproject": _pyproject,
    "lint": _lint,
    "explain": _explain,
    "measure": _measure,
    "snapshot": _snapshot,
    "consumer": _consumer,
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
@click.argument("name", type=click.Choice(list(_SCHEMAS)), default="config", metavar="[NAME]")
@output_option
def command(name: str, output: str | None) -> int:
    """Print the JSON Schema of the configuration, or of a command's JSON output.

    NAME is config (pubcheck.toml, the default), pyproject (pyproject.toml), lint, explain, measure, snapshot (a file of
    `pubcheck snapshot`) or consumer (a profile of your own). Editors complete and check a configuration whose first
    line is `#:schema ./pubcheck.schema.json`.
    """
    return write_output(output, [_SCHEMAS[name]()], for_people=False)
