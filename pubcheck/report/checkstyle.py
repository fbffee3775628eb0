"""Checkstyle's XML, which many tools read: a file element a file, an error element a finding."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby

from pubcheck.diagnostics import Severity
from pubcheck.findings import Report
from pubcheck.report.plain_text import described
from pubcheck.report.xml_escape import HEADER, attributes

_SEVERITIES: Mapping[Severity, str] = {"error": "error", "warning": "warning", "note": "info"}


def render(report: Report) -> Iterator[str]:
    """Return the report in pieces, one finding each."""
    yield f'{HEADER}<checkstyle version="4.3">\n'
    for path, group in groupby((finding.entry for finding in report.findings), key=lambda entry: entry.path):
        yield f"  <file{attributes(name=path)}>\n"
        for entry in group:
            place = "" if entry.live else attributes(line=entry.line, column=entry.column)
            place += attributes(severity=_SEVERITIES[entry.severity])
            details = attributes(message=described(entry), source=f"pubcheck.{entry.rule}")
            yield f"    <error{place}{details}/>\n"
        yield "  </file>\n"
    yield "</checkstyle>\n"
