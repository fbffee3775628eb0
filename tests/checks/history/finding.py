"""Findings of one rule in a unit of several files."""

from __future__ import annotations

from pubcheck.diagnostics import Diagnostic
from tests.support.linting import lint, run

TABLES = """\
CREATE TABLE t (id int PRIMARY KEY, a int, b text);
CREATE TABLE u (id int PRIMARY KEY, a int);
CREATE TABLE v (id int PRIMARY KEY);
"""


def of(rule: str, *texts: str, major: int = 18) -> list[Diagnostic]:
    """What a rule finds, whether it is on by default or not."""
    return [finding for finding in run(*texts, postgres=(major,), select=("PUB",)).diagnostics if finding.rule == rule]


def only(rule: str, *texts: str, major: int = 18) -> Diagnostic:
    (finding,) = of(rule, *texts, major=major)
    return finding


def beside(rule: str, *texts: str) -> list[str]:
    """The rules that speak by default and above a note, but for one."""
    return [finding.rule for finding in lint(*texts) if finding.severity != "note" and finding.rule != rule]


def places(diagnostic: Diagnostic) -> list[tuple[str, str]]:
    """The file and the words of each further place."""
    return [(span.source.label, span.message) for span in diagnostic.related]
