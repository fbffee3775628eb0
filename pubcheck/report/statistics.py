"""Findings as people count them: UPDATE and DELETE that are refused for one cause are one. The number of each rule."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import UNSET, Struct
from msgspec.structs import replace

from pubcheck.diagnostics import SEVERITIES, Severity
from pubcheck.findings import Entry, Finding, Report, encode


def causes(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings, an UPDATE and a DELETE together that one cause has refused; in the order of the first of each."""
    groups: list[list[Finding]] = []
    waiting: dict[object, list[Finding]] = {}
    for finding in findings:
        entry = finding.entry
        if not is_cause(entry):
            groups.append([finding])
            continue
        key = (
            *(finding.unit, entry.rule, entry.severity, entry.certainty, entry.postgres, entry.object),
            *(entry.publications, entry.path, entry.line, entry.column, entry.statement),
        )
        partner = waiting.get(key)
        if partner is not None and partner[0].entry.operation != entry.operation:
            partner.append(finding)
            del waiting[key]
        else:
            waiting[key] = [finding]
            groups.append(waiting[key])
    return groups


def by_statement(findings: Iterable[Finding]) -> list[list[Finding]]:
    """Findings of one rule about the objects of one statement together; in the order of the first of each."""
    groups: dict[object, list[Finding]] = {}
    for number, finding in enumerate(findings):
        entry = finding.entry
        statement, listed = entry.statement, entry.database_object
        if (statement is not None or listed is not UNSET) and entry.object is not None:
            standing = (finding.unit, entry.rule, entry.severity, entry.certainty, entry.postgres)
            place = (statement.index, statement.embedded) if statement is not None else listed
            groups.setdefault((entry.path, place, *standing), []).append(finding)
        else:
            groups[number] = [finding]
    return list(groups.values())


def headline(group: Sequence[Finding]) -> str:
    """Return the message about a group's first table and publication: of UPDATE and DELETE if both are refused."""
    first = group[0].entry
    alike = (row for row in group[1:] if row.write is not None and row.entry.object == first.object)
    return message([group[0], *(finding for finding in alike if finding.entry.publications == first.publications)])


def objects_of(group: Iterable[Finding]) -> list[str]:
    """Return the objects that the findings of a group are about, each once."""
    return list(dict.fromkeys(finding.entry.object for finding in group if finding.entry.object))


def is_cause(entry: Entry) -> bool:
    """Return whether a finding is one cause for which a write is refused."""
    return entry.phase == "write" and entry.server is not None and entry.operation in ("update", "delete")


def message(cause: Sequence[Finding]) -> str:
    """Return one headline for the findings of a cause: "UPDATE of t and DELETE from t will fail: ..."."""
    first, alike = cause[0].write, {finding.write for finding in cause}
    if first is None or None in alike or len({write.reason for write in alike if write is not None}) > 1:
        return cause[0].entry.message
    statements = dict.fromkeys(finding.write.statement for finding in cause if finding.write is not None)
    return replace(first, statement=" and ".join(statements)).message


# The number of findings of each rule: one line per rule, or the same as JSON.


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
