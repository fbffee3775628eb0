"""Formats that are XML 1.0, which many tools read: those of Checkstyle and JUnit."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import groupby
from xml.sax.saxutils import escape, quoteattr

from pubcheck.diagnostics import Severity
from pubcheck.findings import Entry, Report
from pubcheck.report.text import described

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

_HEADER = '<?xml version="1.0" encoding="UTF-8"?>\n'


def _allowed(text: str) -> str:
    """Return a text with what XML 1.0 cannot hold, escaped or not, written as in Python."""
    return _FORBIDDEN.sub(lambda match: match[0].encode("unicode_escape", "surrogatepass").decode(), text)


def _attributes(**values: object) -> str:
    """Attributes of an element, each with a blank before it; a line end stays one."""
    return "".join(f" {name}={quoteattr(_allowed(str(value)))}" for name, value in values.items())


# Checkstyle's XML, which many tools read: a file element a file, an error element a finding.

_SEVERITIES: Mapping[Severity, str] = {"error": "error", "warning": "warning", "note": "info"}


def render_checkstyle(report: Report) -> Iterator[str]:
    """Return the report in pieces, one finding each."""
    yield f'{_HEADER}<checkstyle version="4.3">\n'
    for path, group in groupby((finding.entry for finding in report.findings), key=lambda entry: entry.path):
        yield f"  <file{_attributes(name=path)}>\n"
        for entry in group:
            place = "" if entry.live else _attributes(line=entry.line, column=entry.column)
            place += _attributes(severity=_SEVERITIES[entry.severity])
            details = _attributes(message=described(entry), source=f"pubcheck.{entry.rule}")
            yield f"    <error{place}{details}/>\n"
        yield "  </file>\n"
    yield "</checkstyle>\n"


# JUnit's XML, which CI servers show as tests: a suite a file, a case a finding. Certain errors and warnings, which fail
# a run by default, are failed cases; the others have passed and say what they have to say as output. Without findings
# there is one case, for some readers refuse an empty report.


def render_junit(report: Report) -> Iterator[str]:
    """Return the report in pieces, one finding each."""
    entries = [finding.entry for finding in report.findings]
    counts = _attributes(tests=len(entries) or 1, failures=sum(map(_failed, entries)), errors=0)
    yield f"{_HEADER}<testsuites{_attributes(name='pubcheck')}{counts}>\n"
    for path, group in groupby(entries, key=lambda entry: entry.path):
        cases = list(group)
        suite = _attributes(name=path, tests=len(cases), failures=sum(map(_failed, cases)), errors=0)
        yield f"  <testsuite{suite}>\n"
        yield from map(_case, cases)
        yield "  </testsuite>\n"
    if not entries:
        yield f"  <testsuite{_attributes(name='pubcheck', tests=1, failures=0, errors=0)}>\n"
        yield f"    <testcase{_attributes(name='no findings', classname='pubcheck')}/>\n  </testsuite>\n"
    yield "</testsuites>\n"


def _failed(entry: Entry) -> bool:
    return entry.severity != "note" and entry.certainty == "certain"


def _case(entry: Entry) -> str:
    where = entry.place.removeprefix(entry.path).removeprefix(":").strip()
    name = f"{entry.rule} {entry.name} at {where}"
    place = _attributes(name=name, classname=entry.path)
    if not entry.live:
        place += _attributes(file=entry.path, line=entry.line)
    text = escape(_allowed(described(entry)))
    if _failed(entry):
        result = f"<failure{_attributes(type=entry.severity, message=entry.message)}>{text}</failure>"
    else:
        result = f"<system-out>{text}</system-out>"
    return f"    <testcase{place}>\n      {result}\n    </testcase>\n"
