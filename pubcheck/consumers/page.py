"""The page of a consumer, and the list of all: lines of text for `pubcheck consumers`."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from pubcheck.consumers import NAMES
from pubcheck.consumers.profiles import Claim, Strength, contradictions, id_of, load

_WIDTH = 100
_HEADINGS: dict[Strength, str] = {"must": "It demands", "should": "It recommends", "effect": "What it does"}


def listing() -> Iterator[str]:
    """Yield a line for each consumer: its id, its name, and the numbers of its claims and of those with a check."""
    width = max(map(len, NAMES))
    for key in NAMES:
        consumer = load(key)
        checked = sum(bool(claim.demands) for claim in consumer.claims)
        claims = f"{checked} of {len(consumer.claims)} claims checked"
        yield f"{key:<{width}}  {consumer.name}, {consumer.category}: {claims}\n"


def page(key: str) -> Iterator[str]:
    """Yield the lines about one consumer: what it reads, its modes, and its claims with their evidence."""
    consumer = load(key)
    own_claims = {claim.id for claim in consumer.claims}
    key = id_of(key)
    yield f"{consumer.product} ({key})\n"
    yield f"  {consumer.category}; plugin {consumer.plugin}\n"
    yield f"  reads: {consumer.reads}\n"
    if consumer.publication_names:
        yield f"  a publication of this name is taken to be its own: {', '.join(consumer.publication_names)}\n"
    if consumer.modes:
        yield "\nModes\n"
        for mode in consumer.modes:
            yield f"  {key}:{mode.id}  {mode.says}\n"
    for strength, heading in _HEADINGS.items():
        claims = [claim for claim in consumer.claims if claim.strength == strength]
        if claims:
            yield f"\n{heading}\n"
        for claim in claims:
            yield from _claim(claim)
    yield from _conflicts(consumer.name, own_claims)


def _claim(claim: Claim) -> Iterator[str]:
    inferred = ", inferred" if claim.inferred else ""
    modes = f"; only {', '.join(claim.modes)}" if claim.modes else ""
    checked = "" if claim.demands else "; not checked: no SQL file shows it"
    yield _wrapped(f"{claim.id}  {claim.says}", "  ", "      ")
    yield f"      {claim.evidence}{inferred}{modes}{checked}\n"
    if claim.breaks:
        yield _wrapped(f"otherwise: {claim.breaks}", "      ", "        ")
    if claim.message:
        yield _wrapped(f'prints: "{claim.message}"', "      ", "        ")
    for source in claim.sources:
        yield f"      {source.address}\n"


def _conflicts(name: str, own: set[str]) -> Iterator[str]:
    lines = []
    for contradiction in contradictions():
        for side, other in (
            (contradiction.first, contradiction.second),
            (contradiction.second, contradiction.first),
        ):
            if own.intersection(side.claims):
                others = sorted({NAMES[claim.rpartition("-")[0]] for claim in other.claims} - {name})
                text = f"{contradiction.id}  {contradiction.title}: not with {', '.join(others)}"
                lines.append(_wrapped(text, "  ", "      "))
    if lines:
        yield "\nContradictions\n"
        yield from dict.fromkeys(lines)


def _wrapped(text: str, first: str, rest: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=first, subsequent_indent=rest, break_long_words=False) + "\n"
