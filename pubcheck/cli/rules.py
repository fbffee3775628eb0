"""`pubcheck rules`: the list of rules."""

from __future__ import annotations

import click
import msgspec

from pubcheck.cli.app import Command
from pubcheck.cli.output_files import output_option, write_output
from pubcheck.rulebook import RULES


@click.command(cls=Command, short_help="List the rules.")
@click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Output format."
)
@output_option
def command(format_: str, output: str | None) -> int:
    """List every rule with its code, severity, phase and name; + marks the rules that lint reports by default."""
    if format_ == "json":
        text = msgspec.json.format(msgspec.json.encode(list(RULES.values())), indent=2).decode() + "\n"
        return write_output(output, [text], for_people=False)
    lines = (
        f"{rule.code} {'+' if rule.default else ' '} {rule.severity:<7} {rule.phase:<9} {rule.name}\n"
        for rule in RULES.values()
    )
    return write_output(output, lines, for_people=True)
