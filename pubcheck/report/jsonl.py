"""The diagnostics of the JSON document, one a line and nothing else: for tools that read a stream."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.findings import Report, encode


def render(report: Report) -> Iterator[str]:
    """Return the report in pieces, one diagnostic each."""
    for finding in report.findings:
        yield encode(finding.entry).decode() + "\n"
