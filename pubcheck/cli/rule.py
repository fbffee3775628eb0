"""`pubcheck rule CODE`: the page of a rule."""

from __future__ import annotations

import click

from pubcheck import rulebook
from pubcheck.cli.app import Command, color_option, completes, use_color
from pubcheck.cli.output_files import output_option, write_output
from pubcheck.config import near_rule


@click.command(
    cls=Command,
    short_help="Show what a rule means and how to fix it.",
    epilog="""\b
Examples:
  pubcheck rule PUB301
  pubcheck rule relation-missing""",
)
@click.argument("code", metavar="CODE", required=False, shell_complete=completes("codes"))
@output_option
@color_option
def command(code: str | None, output: str | None, color: str) -> int:
    """Show the page of a rule, given by its code or its name. In a pipe or a file the page is Markdown."""
    if not (code and code.strip()):
        raise click.UsageError("missing rule code or name; `pubcheck rules` lists them")
    rule = rulebook.find(code) or rulebook.find(f"PUB{code}")
    family = [known for known in rulebook.RULES if known.startswith(code.upper())]
    if rule is None and family:
        raise click.UsageError(f"{code} matches several rules: {', '.join(family)}")
    if rule is None:
        raise click.UsageError(f"there is no rule {code}{near_rule(code)}")
    page = rulebook.page(rule.code)
    if use_color(color, output):
        from pubcheck.cli import rule_terminal

        page = rule_terminal.render(page)
    return write_output(output, [page], for_people=True)
