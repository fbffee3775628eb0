"""The number of findings of each rule: one line per rule, or the same as JSON."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from pubcheck.diagnostics import SEVERITIES, Severity
from pubcheck.findings import Report, encode
from pubcheck.report.causes import causes


class Count(Struct, frozen=True):
    """The findings of a rule, UPDATE and DELETE of one cause as one.

    ``severity`` is that of the worst, ``fixable`` counts those with a fix to apply.
    """

    rule: str
    name: str
    severity: Severity
    count: int
    assumed: int
    fixable: int


def counts(report: Report) -> list[Count]:
    """Return a count for each rule that found something, the most frequent first."""
    by_rule: dict[str, Count] = {}
    for cause in causes(report.findings):
        entry = cause[0].entry
        old = by_rule.get(entry.rule) or Count(entry.rule, entry.name, entry.severity, 0, 0, 0)
        by_rule[entry.rule] = Count(
            entry.rule,
            entry.name,
            max(old.severity, entry.severity, key=SEVERITIES.index),
            old.count + 1,
            old.assumed + (entry.certainty == "assumed"),
            old.fixable + any(fix.applicability != "display" for finding in cause for fix in finding.entry.fixes),
        )
    return sorted(by_rule.values(), key=lambda count: (-count.count, count.rule))


def render(report: Report) -> Iterator[str]:
    """Return a table for people; empty where nothing was found."""
    rows = counts(report)
    width = max((len(str(row.count)) for row in rows), default=0)
    for row in rows:
        notes = [f"{row.assumed} assumed"] if row.assumed else []
        notes += [f"{row.fixable} with a fix"] if row.fixable else []
        more = f" ({', '.join(notes)})" if notes else ""
        yield f"{row.count:>{width}}  {row.rule}  {row.severity:<7}  {row.name}{more}\n"


def render_json(report: Report) -> Iterator[str]:
    yield encode(counts(report)).decode() + "\n"
