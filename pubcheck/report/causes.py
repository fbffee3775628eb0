"""Findings for people: UPDATE and DELETE that are refused for one cause are one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec import UNSET

from pubcheck.findings import Entry, Finding

_FAILS = " will fail: "


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
    """Return the message about the first table and publication of a group: of UPDATE and DELETE, if both are
    refused."""
    first = group[0].entry
    entries = (finding.entry for finding in group if is_cause(finding.entry) and finding.entry.object == first.object)
    return message([first, *(entry for entry in entries if entry.publications == first.publications)])


def objects_of(group: Iterable[Finding]) -> list[str]:
    """Return the objects that the findings of a group are about, each once."""
    return list(dict.fromkeys(finding.entry.object for finding in group if finding.entry.object))


def is_cause(entry: Entry) -> bool:
    """Return whether a finding is one cause for which a write is refused."""
    return entry.phase == "write" and entry.server is not None and entry.operation in ("update", "delete")


def message(entries: Iterable[Entry]) -> str:
    """Return one headline for the findings of a cause: "UPDATE of t and DELETE from t will fail: ..."."""
    messages = list(dict.fromkeys(entry.message for entry in entries))
    parts = [parts_of_message.partition(_FAILS) for parts_of_message in messages]
    if len(messages) < 2 or len({reason for _, _, reason in parts}) > 1:
        return messages[0]
    return f"{' and '.join(head for head, _, _ in parts)}{_FAILS}{parts[0][2]}"
