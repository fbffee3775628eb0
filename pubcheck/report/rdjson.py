"""The Reviewdog Diagnostic Format, with which reviewdog comments on pull requests of several hosts.

Places are lines: columns of the format count bytes of UTF-8, which a report does not know.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from pubcheck.diagnostics import Severity
from pubcheck.findings import Entry, Report
from pubcheck.report.plain_text import described

_SEVERITIES: Mapping[Severity, str] = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def render(report: Report) -> Iterator[str]:
    """Return the report in pieces."""
    document = {"source": {"name": "pubcheck"}, "diagnostics": [_diagnostic(row.entry) for row in report.findings]}
    yield msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def _diagnostic(entry: Entry) -> dict[str, object]:
    lines = {} if entry.live else {"range": {"start": {"line": entry.line}, "end": {"line": entry.end_line}}}
    return {
        "message": described(entry),
        "location": {"path": entry.path, **lines},
        "severity": _SEVERITIES[entry.severity],
        "code": {"value": entry.rule, **({"url": entry.url} if entry.url else {})},
    }
