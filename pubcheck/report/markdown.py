"""Markdown for the summary of a job or a comment on a pull request: a table of findings, the worst first.

GitHub cuts a summary of a step at 1 MiB, so only the first findings are listed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pubcheck.diagnostics import SEVERITIES
from pubcheck.findings import Entry, Finding, Report
from pubcheck.report.causes import causes, message
from pubcheck.report.text import summary
from pubcheck.source import escape

_LISTED = 200
"""Findings in the table."""
_MEANINGFUL = re.compile(r"([\\`*_{}\[\]<>|#~&!])")
"""Characters that may mean something to Markdown, or begin HTML."""
_REFERENCE = re.compile(r"(@|#)(?=\w)")
"""What hosts take for the name of a user, who gets a mail, or the number of an issue: also where it is escaped."""
_SIGNS = {"error": "🔴", "warning": "🟠", "note": "🔵"}


def render(report: Report) -> Iterator[str]:
    """Return the report in pieces: a heading, and a table if there is a finding."""
    groups = causes(report.findings)
    yield f"### pubcheck\n\n{_text(summary(report))}\n"
    if not groups:
        return
    yield "\n| | rule | place | finding |\n|---|---|---|---|\n"
    worst_first = sorted(groups, key=lambda cause: -SEVERITIES.index(cause[0].entry.severity))
    for cause in worst_first[:_LISTED]:
        yield _row(cause)
    if len(groups) > _LISTED:
        yield f"\n{len(groups) - _LISTED:,} more are not listed.\n"


def _row(cause: list[Finding]) -> str:
    entry = cause[0].entry
    rule = f"[{entry.rule}]({entry.url})" if entry.url else entry.rule
    finding = _text(message(cause))
    if entry.certainty == "assumed":
        finding += " (assumed)"
    if entry.server is not None:
        finding += f"<br>PostgreSQL: ERROR {entry.server.sqlstate}: {_text(entry.server.message)}"
    return f"| {_SIGNS[entry.severity]} {entry.severity} | {rule} {entry.name} | {_place(entry)} | {finding} |\n"


def _place(entry: Entry) -> str:
    return _text(entry.place)


def _text(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return "<br>".join(
        _REFERENCE.sub(r"\1<!-- -->", _MEANINGFUL.sub(r"\\\1", escape(line))) for line in text.splitlines()
    )
