"""What consumers do with a publication without failing: claims that hold of most publications."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.consumers.demand_rules import EFFECTS, of_claim, readable
from pubcheck.checks.consumers.existence import effects_of_missing
from pubcheck.checks.context import RuleContext, RuleFinding, finds


@finds(EFFECTS)
def effects(context: RuleContext) -> Iterator[RuleFinding]:
    """Yield what each consumer does with what a publication offers, and without its publication."""
    for subject in readable(context):
        for claim in subject.reader.claims(context.catalog.major.number):
            for demand in claim.demands if claim.strength == "effect" else ():
                yield from of_claim(subject, claim, demand, EFFECTS)
    yield from effects_of_missing(context)
