"""JUnit's XML, which CI servers show as tests: a suite a file, a case a finding.

Certain errors and warnings, which fail a run by default, are failed cases; the others have passed
and say what they have to say as output. Without findings there is one case, for some readers refuse an empty report.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from xml.sax.saxutils import escape

from pubcheck.findings import Entry, Report
from pubcheck.report.plain_text import described
from pubcheck.report.xml_escape import HEADER, allowed, attributes


def render(report: Report) -> Iterator[str]:
    """Return the report in pieces, one finding each."""
    entries = [finding.entry for finding in report.findings]
    counts = attributes(tests=len(entries) or 1, failures=sum(map(_failed, entries)), errors=0)
    yield f"{HEADER}<testsuites{attributes(name='pubcheck')}{counts}>\n"
    for path, group in groupby(entries, key=lambda entry: entry.path):
        cases = list(group)
        suite = attributes(name=path, tests=len(cases), failures=sum(map(_failed, cases)), errors=0)
        yield f"  <testsuite{suite}>\n"
        yield from map(_case, cases)
        yield "  </testsuite>\n"
    if not entries:
        yield f"  <testsuite{attributes(name='pubcheck', tests=1, failures=0, errors=0)}>\n"
        yield f"    <testcase{attributes(name='no findings', classname='pubcheck')}/>\n  </testsuite>\n"
    yield "</testsuites>\n"


def _failed(entry: Entry) -> bool:
    return entry.severity != "note" and entry.certainty == "certain"


def _case(entry: Entry) -> str:
    where = entry.place.removeprefix(entry.path).removeprefix(":").strip()
    name = f"{entry.rule} {entry.name} at {where}"
    place = attributes(name=name, classname=entry.path)
    if not entry.live:
        place += attributes(file=entry.path, line=entry.line)
    text = escape(allowed(described(entry)))
    if _failed(entry):
        result = f"<failure{attributes(type=entry.severity, message=entry.message)}>{text}</failure>"
    else:
        result = f"<system-out>{text}</system-out>"
    return f"    <testcase{place}>\n      {result}\n    </testcase>\n"
