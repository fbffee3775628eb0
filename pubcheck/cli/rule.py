"""`pubcheck rule CODE`: the page of a rule."""

from __future__ import annotations

import re
import sys

import click

from pubcheck import rulebook
from pubcheck.cli.app import color_option, show, use_color
from pubcheck.config import suggestion

_BOLD, _DIM, _CODE, _RESET = "\x1b[1m", "\x1b[2m", "\x1b[36m", "\x1b[0m"


@click.command(
    short_help="Show what a rule means and how to fix it.",
    epilog="""\b
Examples:
  pubcheck rule PUB301
  pubcheck rule relation-missing""",
)
@click.argument("code", metavar="CODE", required=False)
@color_option
def command(code: str | None, color: str) -> None:
    """Show the page of a rule, given by its code or its name. In a pipe the page is Markdown."""
    if code is None:
        raise click.UsageError("missing rule code or name; `pubcheck rules` lists them")
    rule = rulebook.find(code) or rulebook.find(f"PUB{code}")
    family = [known for known in rulebook.RULES if known.startswith(code.upper())]
    if rule is None and family:
        raise click.UsageError(f"{code} matches several rules: {', '.join(family)}")
    if rule is None:
        if code[:3].upper() == "PUB":
            # A code of no family is no misspelling of one of another.
            near = suggestion(code.upper(), [known for known in rulebook.RULES if known[3] == code[3:4]])
        else:
            near = suggestion(code.lower(), [rule.name for rule in rulebook.RULES.values()])
        raise click.UsageError(f"there is no rule {code}{near if 'mean' in near else '; `pubcheck rules` lists them'}")
    if use_color(color):
        show(f"{line}\n" for line in terminal(rulebook.body(rule.code).strip()))
    else:
        show([rulebook.body(rule.code) if sys.stdout.isatty() else rulebook.page(rule.code)])


def terminal(markdown: str) -> list[str]:
    """The lines of a page for a terminal: headings and emphasis shown instead of marked, code set apart."""
    lines, fenced = [], False
    for line in markdown.split("\n"):
        if line.startswith("```"):
            fenced = not fenced
            if majors := re.fullmatch(r"```text +(\d.*)", line):
                lines.append(f"    {_DIM}PostgreSQL {majors[1]}:{_RESET}")
            continue
        if fenced:
            lines.append(f"    {_CODE}{line}{_RESET}" if line else "")
        elif heading := re.match(r"#+ +(.*)", line):
            lines.append(f"{_BOLD}{heading[1]}{_RESET}")
        else:
            line = re.sub(
                r"\*\*(.+?)\*\*|(?<![\w*])\*(.+?)\*(?![\w*])", lambda m: f"{_BOLD}{m[1] or m[2]}{_RESET}", line
            )
            lines.append(re.sub(r"`([^`]+)`", rf"{_CODE}\1{_RESET}", line))
    return lines
