"""Logging commands of Azure Pipelines, which shows errors and warnings in the summary of a run.

There is no command for notes: they are lines of the log. Escapes are those of the agent's CommandStringConvertor.
"""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.findings import Report
from pubcheck.report.causes import by_statement, headline
from pubcheck.source import escape

_ESCAPES = str.maketrans({"%": "%AZP25", ";": "%3B", "\r": "%0D", "\n": "%0A", "]": "%5D"})


def render(report: Report) -> Iterator[str]:
    """Return the report in pieces, one command for each rule and statement."""
    for group in by_statement(report.findings):
        entry = group[0].entry
        assumed = " (assumed)" if entry.certainty == "assumed" else ""
        text = f"{headline(group)}{assumed}"
        if entry.severity == "note":
            yield f"{escape(entry.place)}: note[{entry.rule}]: {escape(text)}\n"
            continue
        place = [("type", entry.severity), ("sourcepath", entry.path)]
        if not entry.live:
            place += [("linenumber", str(entry.line)), ("columnnumber", str(entry.column))]
        properties = ";".join(f"{name}={_escaped(value)}" for name, value in (*place, ("code", entry.rule)))
        yield f"##vso[task.logissue {properties}]{_escaped(text)}\n"


def _escaped(text: str) -> str:
    return "%0A".join(escape(line).translate(_ESCAPES) for line in text.split("\n"))
