"""Consumers that are configured for a publication that does not exist."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.consumers.demand_rules import EFFECTS, claim_of
from pubcheck.checks.context import NOT_ELSEWHERE, RuleContext, RuleFinding, finds, order
from pubcheck.consumers.demands import Exists
from pubcheck.consumers.options import ConsumerUse
from pubcheck.consumers.profiles import Claim, load
from pubcheck.postgres.catalog.rows import Place
from pubcheck.postgres.identifiers import identifier


@finds("PUB901")
def missing(context: RuleContext) -> Iterator[RuleFinding]:
    """Publications that the configuration names and that the files drop, or never create."""
    return missing_publications(context, "PUB901")


def missing_publications(context: RuleContext, code: str) -> Iterator[RuleFinding]:
    """Yield the findings about such publications under a rule: those that only tell an effect, or the others."""
    major, names = context.catalog.major.number, context.catalog.publication_names
    for use in context.consumers:
        consumer = load(use.consumer)
        modes = frozenset(use.modes) or consumer.default_modes
        for name in use.publications:
            if "*" in name or name in names:
                continue
            for claim in consumer.claims:
                wanted = any(isinstance(demand, Exists) for demand in claim.demands)
                is_effect = claim.strength == "effect"
                if wanted and claim.holds_in(modes, major) and is_effect == (code == EFFECTS):
                    yield from _finding(context, use, claim, name, code)


def _finding(context: RuleContext, use: ConsumerUse, claim: Claim, name: str, code: str) -> Iterator[RuleFinding]:
    dropped = context.history.gone_publications.get(name)
    place = dropped or _first_publication(context)
    if place is None:
        return
    certain = dropped is not None or (context.session.complete and not context.session.blind)
    yield RuleFinding(
        rule=code,
        message=f'there is no publication "{name}"; {load(use.consumer).name}: {claim.breaks or claim.says}',
        help=f"CREATE PUBLICATION {identifier(name)} FOR TABLE ...",
        place=place,
        certain=certain,
        publications=(name,),
        severity=claim.severity,
        assumptions=() if certain else (NOT_ELSEWHERE,),
        claim=claim_of(use.consumer, claim),
    )


def _first_publication(context: RuleContext) -> Place | None:
    places = [place for row in context.catalog.publications.values() if (place := context.place_of(row)) is not None]
    return min(places, key=order, default=None)
