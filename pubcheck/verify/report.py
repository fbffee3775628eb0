"""Findings about a stream as reports show them."""

from __future__ import annotations

from pubcheck.findings import Entry, Finding, StreamPlace, url_of
from pubcheck.rulebook import RULES
from pubcheck.stream import format_lsn
from pubcheck.verify.verifier import StreamFinding

_OF_A_RELATION = frozenset(("Insert", "Update", "Delete"))


def headline(finding: StreamFinding) -> str:
    """Return the message of a finding: which message it is about, what is wrong with it, and where it is."""
    subject = finding.kind or "message"
    if finding.object is not None and subject in _OF_A_RELATION:
        subject += f" of {finding.object}"
    return f"{subject} {finding.message} ({place(finding)})"


def place(finding: StreamFinding) -> str:
    """Return where a message is in its stream: its number and its position."""
    if not finding.number:
        return "not in the capture"
    parts = [f"message {finding.number}"]
    if finding.lsn:
        parts.append(f"at {format_lsn(finding.lsn)}")
    return " ".join(parts)


def entry_of(finding: StreamFinding, path: str, major: int, docs_url: str = "") -> Finding:
    """Return a finding for the reports; ``path`` is the capture's. A binary capture has no lines: it is all line 1."""
    rule = RULES[finding.rule]
    line = finding.line or 1
    return Finding(
        Entry(
            rule=rule.code,
            name=rule.name,
            phase=rule.phase,
            severity=finding.severity or rule.severity,
            certainty="certain" if finding.assumption is None else "assumed",
            postgres=(major,),
            message=headline(finding),
            help=finding.help,
            path=path,
            line=line,
            column=1,
            end_line=line,
            end_column=1,
            related=(),
            statement=None,
            object=finding.object,
            publication=finding.publications[0] if finding.publications else None,
            publications=finding.publications,
            operation=finding.operation,
            server=None,
            notices=(),
            fixes=(),
            assumptions=() if finding.assumption is None else (finding.assumption,),
            url=url_of(docs_url, rule.code, rule.name),
            stream=StreamPlace(
                finding.number,
                finding.kind,
                None if finding.lsn is None else format_lsn(finding.lsn),
                finding.xid,
                finding.offset,
            ),
        )
    )
