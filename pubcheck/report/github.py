"""GitHub's workflow commands, which a job writes to its log and GitHub shows next to the lines of a pull request.

Commands, their properties and their escapes are those of "Workflow commands for GitHub Actions" and of the runner's
ActionCommand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import UNSET

from pubcheck.diagnostics import Severity
from pubcheck.findings import Finding, Report
from pubcheck.report.causes import by_statement, headline, objects_of
from pubcheck.source import escape

NAMED = 3
"""Further objects that an annotation names before it counts the rest."""

_COMMANDS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report) -> Iterator[str]:
    """Return the report in pieces, one command for each rule and statement: GitHub shows ten of a kind in a step."""
    for group in by_statement(report.findings):
        entry = group[0].entry
        place: list[tuple[str, object]] = [] if entry.live else [("file", entry.path), ("line", entry.line)]
        if entry.live:
            pass
        elif entry.line == entry.end_line:  # GitHub takes columns only of a single line
            place += [("col", entry.column), ("endColumn", max(entry.column, entry.end_column - 1))]
        else:
            place += [("endLine", entry.end_line)]
        place += [("title", f"{entry.rule} {entry.name}")]
        properties = ",".join(f"{key}={_property(str(value))}" for key, value in place)
        yield f"::{_COMMANDS[entry.severity]} {properties}::{_data(_text(group))}\n"


def _text(group: Sequence[Finding]) -> str:
    """Return the message and the best remedy: there is little room next to a line."""
    entry, others = group[0].entry, objects_of(group)[1:]
    assumed = " (assumed)" if entry.certainty == "assumed" else ""
    listed = "" if entry.database_object is UNSET else f"{entry.place}: "
    text = f"{listed}{headline(group)}{assumed}"
    if others:
        unlisted = len(others) - NAMED
        more = f" and {unlisted} more" if unlisted > 0 else ""
        text += f"\nThe same is true of {', '.join(others[:NAMED])}{more}"
    write = group[0].write
    if write is not None and len(write.remedies) > 1:
        return "\n".join([text, f"Help: {write.goal}", write.remedies[0].line])
    return f"{text}\nHelp: {entry.help}" if entry.help else text


def _data(text: str) -> str:
    """Return a text as a command's data, with control characters shown: logs are read in terminals too."""
    return "%0A".join(escape(line.replace("%", "%25").replace("\r", "%0D")) for line in text.split("\n"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
