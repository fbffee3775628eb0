"""What consumers do with a publication without failing, and without their publication: claims that hold of most
publications, and consumers that are configured for one that does not exist.
"""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.checks.consumers.demand_rules import EFFECTS, claim_of, of_claim, readable
from pubcheck.checks.consumers.readers import matches
from pubcheck.checks.context import NOT_ELSEWHERE, RuleContext, RuleFinding, finds, listed, order, quoted
from pubcheck.consumers.demands import Exists
from pubcheck.consumers.options import ConsumerUse
from pubcheck.consumers.profiles import Claim, load
from pubcheck.postgres.catalog.rows import Place
from pubcheck.postgres.identifiers import identifier

_SHOWN = 5
"""Existing publications that are named at most."""


@finds("PUB901")
def missing(context: RuleContext) -> Iterator[RuleFinding]:
    """Publications that the configuration names and that the files drop, or never create; one finding for each."""
    for use, name, claims in _missing(context):
        claim = next((claim for claim in claims if claim.strength != "effect"), None)
        yield from _finding(context, use, name, claim, "PUB901")


def effects_of_missing(context: RuleContext) -> Iterator[RuleFinding]:
    """Yield what consumers do without their publication."""
    for use, name, claims in _missing(context):
        for claim in claims:
            if claim.strength == "effect":
                yield from _finding(context, use, name, claim, EFFECTS)


def _missing(context: RuleContext) -> Iterator[tuple[ConsumerUse, str, list[Claim]]]:
    """Yield consumers, each publication that they are configured for and that does not exist, and their claims."""
    major, names = context.catalog.major.number, context.catalog.publication_names
    for use in context.consumers:
        consumer = load(use.consumer)
        modes = frozenset(use.modes) or consumer.default_modes
        for name in use.publications:
            if name not in names and not any(matches((name,), existing) for existing in names):
                claims = (claim for claim in consumer.claims if claim.holds_in(modes, major))
                yield (
                    use,
                    name,
                    [claim for claim in claims if any(isinstance(demand, Exists) for demand in claim.demands)],
                )


def _finding(
    context: RuleContext, use: ConsumerUse, name: str, claim: Claim | None, code: str
) -> Iterator[RuleFinding]:
    dropped = context.history.gone_publications.get(name)
    place = dropped or _first_publication(context)
    if place is None:
        return
    certain = dropped is not None or (context.session.complete and not context.session.blind)
    is_pattern = "*" in name
    lack = f'no publication matches "{name}"' if is_pattern else f'there is no publication "{name}"'
    consumer = load(use.consumer).name
    if claim is None:
        lack += f", which {consumer} is configured to read: nothing is checked for it"
    else:
        lack += f"; {consumer}: {claim.breaks or claim.says.removesuffix('.')}"
    known = sorted(context.catalog.publication_names)
    there_are = f" ({listed(quoted(known))} exist{'s' if len(known) == 1 else ''})" if len(known) <= _SHOWN else ""
    correct = f"correct the name where the consumer is configured{there_are}"
    yield RuleFinding(
        rule=code,
        message=lack,
        help=correct if is_pattern else f"{correct}, or CREATE PUBLICATION {identifier(name)} FOR TABLE ...",
        place=place,
        certain=certain,
        publications=(name,),
        severity=claim.severity if claim is not None else "warning",
        assumptions=() if certain else (NOT_ELSEWHERE,),
        claim=claim_of(use.consumer, claim) if claim is not None else None,
    )


def _first_publication(context: RuleContext) -> Place | None:
    places = [place for row in context.catalog.publications.values() if (place := context.place_of(row)) is not None]
    return min(places, key=order, default=None)


@finds(EFFECTS)
def effects(context: RuleContext) -> Iterator[RuleFinding]:
    """Yield what each consumer does with what a publication offers, and without its publication."""
    for subject in readable(context):
        for claim in subject.reader.claims(context.catalog.major.number):
            for demand in claim.demands if claim.strength == "effect" else ():
                yield from of_claim(subject, claim, demand, EFFECTS)
    yield from effects_of_missing(context)
