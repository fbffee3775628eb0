"""GitLab's Code Quality report: a JSON array of findings, as its documentation of the report's format describes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from pubcheck.diagnostics import Severity
from pubcheck.findings import Entry, Report, encode
from pubcheck.fingerprints import fingerprints
from pubcheck.report.plain_text import described

_SEVERITIES: Mapping[Severity, str] = {"error": "major", "warning": "minor", "note": "info"}


class _Point(Struct, frozen=True):
    line: int
    column: int


class _Positions(Struct, frozen=True):
    begin: _Point
    end: _Point


class _Location(Struct, frozen=True):
    path: str
    positions: _Positions


class _Issue(Struct, frozen=True):
    description: str
    check_name: str
    fingerprint: str
    severity: str
    location: _Location


def render(report: Report) -> Iterator[str]:
    """Return the report in pieces, one finding a line."""
    entries = [finding.entry for finding in report.findings]
    separator = "[\n"
    for entry, fingerprint in zip(entries, fingerprints(entries), strict=True):
        yield separator + encode(_issue(entry, fingerprint)).decode()
        separator = ",\n"
    yield "\n]\n" if entries else "[]\n"


def _issue(entry: Entry, fingerprint: str) -> _Issue:
    begin, end = _Point(entry.line, entry.column), _Point(entry.end_line, entry.end_column)
    location = _Location(entry.path, _Positions(begin, end))
    return _Issue(described(entry), entry.rule, fingerprint, _SEVERITIES[entry.severity], location)
