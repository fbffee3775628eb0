"""SARIF 2.1.0 (OASIS), which GitHub's code scanning and editors read."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from msgspec import UNSET

from pubcheck import __version__
from pubcheck.diagnostics import SEVERITIES, Certainty, Severity
from pubcheck.findings import Entry, FixEntry, Related, Report, encode
from pubcheck.fingerprints import fingerprints
from pubcheck.report.text import described
from pubcheck.rulebook import RULES, page, summary

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_Object = dict[str, Any]


def render(report: Report) -> Iterator[str]:
    """Return the report in pieces, one result a line. SARIF's levels are our severities."""
    entries = [finding.entry for finding in report.findings]
    codes = sorted({entry.rule for entry in entries})
    driver = {
        "name": "pubcheck",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(code, entries) for code in codes],
    }
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints"}
    head = encode({"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}).decode()
    yield head.removesuffix("}]}") + ',"results":['
    separator = "\n"
    for entry, fingerprint in zip(entries, fingerprints(entries), strict=True):
        yield separator + encode(_result(entry, codes.index(entry.rule), fingerprint)).decode()
        separator = ",\n"
    yield "\n]}]}\n" if entries else "]}]}\n"


def _rule(code: str, entries: Sequence[Entry]) -> _Object:
    rule = RULES.get(code)
    if rule is None:  # a finding of another version
        return {"id": code, "name": next(entry.name for entry in entries if entry.rule == code)}
    text = page(code)
    own = [entry for entry in entries if entry.rule == code]
    described: _Object = {
        "id": code,
        "name": rule.name,
        "shortDescription": {"text": rule.name.replace("-", " ")},
        "fullDescription": {"text": summary(code)},
        "help": {"text": text, "markdown": text},
        "defaultConfiguration": {"level": rule.severity},
        "properties": {
            "phase": rule.phase,
            "sqlstate": rule.sqlstate,
            "tags": ["postgresql", rule.phase],
            "problem.severity": _PROBLEMS[max((entry.severity for entry in own), key=SEVERITIES.index)],
            "precision": _precision({entry.certainty for entry in own}),
        },
    }
    url = next((entry.url for entry in own if entry.url), None)
    return described if url is None else {**described, "helpUri": url}


_PROBLEMS: Mapping[Severity, str] = {"error": "error", "warning": "warning", "note": "recommendation"}
"""Severities in the words of GitHub's code scanning, which it reads of the rule."""


def _precision(certainties: set[Certainty]) -> str:
    """Return a rule's precision in GitHub's terms, by the certainty of its findings in this report."""
    if certainties == {"certain"}:
        return "very-high"
    return "high" if "certain" in certainties else "medium"


def _result(entry: Entry, rule: int, fingerprint: str) -> _Object:
    result: _Object = {
        "ruleId": entry.rule,
        "ruleIndex": rule,
        "level": entry.severity,
        "message": {"text": described(entry)},
        "locations": [_location(entry)],
        "partialFingerprints": {"pubcheck/v1": fingerprint},
    }
    if entry.related:
        result["relatedLocations"] = [
            {"id": number, **_location(place), "message": {"text": place.message or "see here"}}
            for number, place in enumerate(entry.related, 1)
        ]
    fixes = [_fix(fix) for fix in entry.fixes if fix.edits]
    if fixes:
        result["fixes"] = fixes
    result["properties"] = {
        "precision": _precision({entry.certainty}),
        "certainty": entry.certainty,
        "assumptions": entry.assumptions,
        "phase": entry.phase,
        "postgres": entry.postgres,
        "object": entry.object,
        "publications": entry.publications,
        "operation": entry.operation,
        "server": entry.server,
        "after": entry.after,
        "afterCount": entry.after_count,
        **({} if entry.stream is UNSET else {"stream": entry.stream}),
        **({} if entry.consumer is UNSET else {"consumer": entry.consumer}),
    }
    return result


def _fix(fix: FixEntry) -> _Object:
    paths = dict.fromkeys(edit.path for edit in fix.edits)
    changes = [
        {
            "artifactLocation": {"uri": _uri(path)},
            "replacements": [
                {
                    "deletedRegion": _region(edit.line, edit.column, edit.end_line, edit.end_column),
                    "insertedContent": {"text": edit.text},
                }
                for edit in fix.edits
                if edit.path == path
            ],
        }
        for path in paths
    ]
    return {"description": {"text": fix.title}, "artifactChanges": changes}


def _location(place: Entry | Related) -> _Object:
    region = _region(place.line, place.column, place.end_line, place.end_column)
    physical = {"artifactLocation": {"uri": _uri(place.path)}, "region": region}
    if place.database_object is UNSET:
        return {"physicalLocation": physical}
    logical = {"fullyQualifiedName": place.database_object}
    if place.live:
        return {"logicalLocations": [{**logical, "decoratedName": f"{place.path}: {place.database_object}"}]}
    return {"physicalLocation": physical, "logicalLocations": [logical]}


def _region(line: int, column: int, end_line: int, end_column: int) -> _Object:
    return {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}


def _uri(path: str) -> str:
    """Return a path as a URI reference; a relative one stays so, for a reader starts at the checkout."""
    prefix = "file://" if os.path.isabs(path) else ""
    return prefix + quote(path, safe="/~", errors="surrogatepass")
