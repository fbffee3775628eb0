"""GitHub's workflow commands, which a job writes to its log and GitHub shows beside the lines of a pull request.

Commands, their properties and their escapes are those of "Workflow commands for GitHub Actions" and of the runner's
ActionCommand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pubcheck.diagnostics import Severity
from pubcheck.report.document import Report
from pubcheck.report.prose import described
from pubcheck.report.text import escape

_COMMANDS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render(report: Report) -> Iterator[str]:
    """The report in pieces, one command each."""
    for finding in report.findings:
        entry = finding.entry
        place = [("file", entry.path), ("line", entry.line)]
        if entry.line == entry.end_line:  # GitHub takes columns only of a single line
            place += [("col", entry.column), ("endColumn", max(entry.column, entry.end_column - 1))]
        else:
            place += [("endLine", entry.end_line)]
        place += [("title", f"{entry.rule} {entry.name}")]
        properties = ",".join(f"{key}={_property(str(value))}" for key, value in place)
        yield f"::{_COMMANDS[entry.severity]} {properties}::{_data(described(entry))}\n"


def _data(text: str) -> str:
    """A text as a command's data; what a terminal would obey is shown, for the log is looked at in terminals too."""
    return "%0A".join(escape(line.replace("%", "%25").replace("\r", "%0D")) for line in text.split("\n"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
