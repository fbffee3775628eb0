"""Formats that code hosts show in a job's log or next to a change: those of GitHub, GitLab, Azure and Reviewdog."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
from msgspec import UNSET

from pubcheck.diagnostics import SEVERITIES, Severity
from pubcheck.findings import Entry, Finding, Report, encode
from pubcheck.fingerprints import fingerprints
from pubcheck.report.statistics import by_statement, causes, headline, message, objects_of
from pubcheck.report.text import described, summary
from pubcheck.source import escape

# GitHub's workflow commands, which a job writes to its log and GitHub shows next to the lines of a pull request.
# Commands, their properties and their escapes are those of "Workflow commands for GitHub Actions" and of the runner's
# ActionCommand.

_NAMED = 3
"""Further objects that an annotation names before it counts the rest."""

_COMMANDS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "note": "notice"}


def render_github(report: Report) -> Iterator[str]:
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
        yield f"::{_COMMANDS[entry.severity]} {properties}::{_data(_annotation(group))}\n"


def _annotation(group: Sequence[Finding]) -> str:
    """Return the message and the best remedy: there is little room next to a line."""
    entry, others = group[0].entry, objects_of(group)[1:]
    assumed = " (assumed)" if entry.certainty == "assumed" else ""
    listed = "" if entry.database_object is UNSET else f"{entry.place}: "
    text = f"{listed}{headline(group)}{assumed}"
    if others:
        unlisted = len(others) - _NAMED
        more = f" and {unlisted} more" if unlisted > 0 else ""
        text += f"\nThe same is true of {', '.join(others[:_NAMED])}{more}"
    write = group[0].write
    if write is not None and len(write.remedies) > 1:
        return "\n".join([text, f"Help: {write.goal}", write.remedies[0].line])
    return f"{text}\nHelp: {entry.help}" if entry.help else text


def _data(text: str) -> str:
    """Return a text as a command's data, with control characters shown: logs are read in terminals too."""
    return "%0A".join(escape(line.replace("%", "%25").replace("\r", "%0D")) for line in text.split("\n"))


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


# Logging commands of Azure Pipelines, which shows errors and warnings in the summary of a run. There is no command for
# notes: they are lines of the log. Escapes are those of the agent's CommandStringConvertor.

_AZURE_ESCAPES = str.maketrans({"%": "%AZP25", ";": "%3B", "\r": "%0D", "\n": "%0A", "]": "%5D"})


def render_azure(report: Report) -> Iterator[str]:
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
        properties = ";".join(f"{name}={_logged(value)}" for name, value in (*place, ("code", entry.rule)))
        yield f"##vso[task.logissue {properties}]{_logged(text)}\n"


def _logged(text: str) -> str:
    return "%0A".join(escape(line).translate(_AZURE_ESCAPES) for line in text.split("\n"))


# GitLab's Code Quality report: a JSON array of findings, as its documentation of the report's format describes it.

_GITLAB_SEVERITIES: Mapping[Severity, str] = {"error": "major", "warning": "minor", "note": "info"}


def render_gitlab(report: Report) -> Iterator[str]:
    """Return the report in pieces, one finding a line."""
    entries = [finding.entry for finding in report.findings]
    separator = "[\n"
    for entry, fingerprint in zip(entries, fingerprints(entries), strict=True):
        yield separator + encode(_issue(entry, fingerprint)).decode()
        separator = ",\n"
    yield "\n]\n" if entries else "[]\n"


def _issue(entry: Entry, fingerprint: str) -> dict[str, object]:
    begin = {"line": entry.line, "column": entry.column}
    end = {"line": entry.end_line, "column": entry.end_column}
    return {
        "description": described(entry),
        "check_name": entry.rule,
        "fingerprint": fingerprint,
        "severity": _GITLAB_SEVERITIES[entry.severity],
        "location": {"path": entry.path, "positions": {"begin": begin, "end": end}},
    }


# The Reviewdog Diagnostic Format, with which reviewdog comments on pull requests of several hosts. Places are lines:
# columns of the format count bytes of UTF-8, which a report does not know.

_RDJSON_SEVERITIES: Mapping[Severity, str] = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def render_rdjson(report: Report) -> Iterator[str]:
    """Return the report in pieces."""
    document = {"source": {"name": "pubcheck"}, "diagnostics": [_diagnostic(row.entry) for row in report.findings]}
    yield msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _diagnostic(entry: Entry) -> dict[str, object]:
    lines = {} if entry.live else {"range": {"start": {"line": entry.line}, "end": {"line": entry.end_line}}}
    return {
        "message": described(entry),
        "location": {"path": entry.path, **lines},
        "severity": _RDJSON_SEVERITIES[entry.severity],
        "code": {"value": entry.rule, **({"url": entry.url} if entry.url else {})},
    }


# Markdown for the summary of a job or a comment on a pull request: a table of findings, the worst first. GitHub
# cuts a summary of a step at 1 MiB, so only the first findings are listed.

_LISTED = 200
"""Findings in the table."""
_MEANINGFUL = re.compile(r"([\\`*_{}\[\]<>|#~&!])")
"""Characters that may mean something to Markdown, or begin HTML."""
_REFERENCE = re.compile(r"(@|#)(?=\w)")
"""What hosts take for the name of a user, who gets a mail, or the number of an issue: also where it is escaped."""
_SIGNS = {"error": "🔴", "warning": "🟠", "note": "🔵"}


def render_markdown(report: Report) -> Iterator[str]:
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
    return f"| {_SIGNS[entry.severity]} {entry.severity} | {rule} {entry.name} | {_text(entry.place)} | {finding} |\n"


def _text(text: str) -> str:
    """Return a text that Markdown shows as it is, on one line."""
    return "<br>".join(
        _REFERENCE.sub(r"\1<!-- -->", _MEANINGFUL.sub(r"\\\1", escape(line))) for line in text.splitlines()
    )
