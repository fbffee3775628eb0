"""`pubcheck rules`: the list of rules."""

from __future__ import annotations

import click
import msgspec

from pubcheck.cli.app import Command, show
from pubcheck.rulebook import RULES


@click.command(cls=Command, short_help="List the rules.")
@click.option(
    "--format", "format_", type=click.Choice(["text", "json"]), default="text", show_default=True, help="Output format."
)
def command(format_: str) -> None:
    """List every rule with its code, severity, phase and name; + marks the rules that lint reports by default."""
    if format_ == "json":
        show([msgspec.json.format(msgspec.json.encode(list(RULES.values())), indent=2).decode() + "\n"])
        return
    show(
        f"{rule.code} {'+' if rule.default else ' '} {rule.severity:<7} {rule.phase:<9} {rule.name}\n"
        for rule in RULES.values()
    )
