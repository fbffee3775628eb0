"""Findings about the time after CREATE PUBLICATION: one function a rule, run once over a unit's final state."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.context import CHECKS as CHECKS
from pubcheck.checks.context import Check, RuleContext, RuleFinding
from pubcheck.checks.history import (
    cascades,
    dropped_identity_index,
    migration_tool_tables,
    published_names,
    recreated,
    unpublished,
)
from pubcheck.checks.silent import filters, overlapping_publications, partitions, publication_scope
from pubcheck.checks.subscribe import subscriptions
from pubcheck.faults import Faults

MODULES = (
    cascades,
    dropped_identity_index,
    filters,
    migration_tool_tables,
    overlapping_publications,
    partitions,
    publication_scope,
    published_names,
    recreated,
    subscriptions,
    unpublished,
)
"""The modules of checks of the final state; importing them fills ``CHECKS``."""


def run_final_state_rules(context: RuleContext, codes: frozenset[str], faults: Faults) -> Iterator[RuleFinding]:
    """Yield the findings of the rules with these codes, rule by rule."""
    for code, check in sorted(CHECKS.items()):
        if code in codes:
            yield from _run(check, context, faults)


_ATTEMPTS = 20
"""Publications and members at which a rule may fail before it is given up for the unit."""


def _run(check: Check, context: RuleContext, faults: Faults) -> list[RuleFinding]:
    """Return the findings of a rule. If it fails at a publication or a member, it runs again without that row."""
    findings: list[RuleFinding] = []
    context.left_out.clear()
    while len(context.left_out) < _ATTEMPTS:
        findings.clear()
        context.at = None
        try:
            findings.extend(check(context))
        except Exception as error:
            subject = context.visited()
            faults.report(error, subject.place if subject is not None else None)
            if subject is not None:
                context.left_out.add(id(subject))
                continue
        break
    return findings
