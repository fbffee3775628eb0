"""What consumers do with a publication without failing: claims that hold of most publications."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.consumers.demand_rules import EFFECTS, claims, of_claim
from pubcheck.checks.consumers.existence import effects_of_missing
from pubcheck.checks.context import RuleContext, RuleFinding, finds


@finds(EFFECTS)
def effects(context: RuleContext) -> Iterator[RuleFinding]:
    """Yield what each consumer does with what a publication offers, and without its publication."""
    for subject, claim in claims(context):
        if claim.strength == "effect":
            for demand in claim.demands:
                yield from of_claim(subject, claim, demand, EFFECTS)
    yield from effects_of_missing(context)
