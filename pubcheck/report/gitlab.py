"""GitLab's Code Quality report: a JSON array of findings, as its documentation of the report's format describes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pubcheck.diagnostics import Severity
from pubcheck.findings import Entry, Report, encode
from pubcheck.fingerprints import fingerprints
from pubcheck.report.plain_text import described

_SEVERITIES: Mapping[Severity, str] = {"error": "major", "warning": "minor", "note": "info"}


def render(report: Report) -> Iterator[str]:
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
        "severity": _SEVERITIES[entry.severity],
        "location": {"path": entry.path, "positions": {"begin": begin, "end": end}},
    }
