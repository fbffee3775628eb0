"""Streams compared transaction by transaction, so that one difference does not hide the agreement of what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from difflib import SequenceMatcher

from tests.streams.normalise import Row

Normalise = Callable[[Iterable[Row]], list[str]]


def differing_transactions(recorded: list[Row], simulated: list[Row], normalise: Normalise) -> tuple[set[int], int]:
    """Return the ids of the recorded transactions that the simulated stream does not have, and how many it has that
    were not recorded.

    The messages of a transaction are compared with ids and positions numbered within it; transactions are in the order
    of their first messages.
    """
    theirs, ours = _by_transaction(recorded), _by_transaction(simulated)
    their_texts = ["\n".join(normalise(rows)) for _, rows in theirs]
    our_texts = ["\n".join(normalise(rows)) for _, rows in ours]
    matcher = SequenceMatcher(None, their_texts, our_texts, autojunk=False)
    their_rest, our_rest = set(range(len(theirs))), set(range(len(ours)))
    for block in matcher.get_matching_blocks():
        their_rest -= set(range(block.a, block.a + block.size))
        our_rest -= set(range(block.b, block.b + block.size))
    return {theirs[place][0] for place in their_rest}, len(our_rest)


def _by_transaction(rows: list[Row]) -> list[tuple[int, list[Row]]]:
    """Group rows by the transaction id that the slot gives with them; each row without one is a group."""
    groups: dict[int, list[Row]] = {}
    for number, row in enumerate(rows):
        groups.setdefault(row[2] or -number - 1, []).append(row)
    return list(groups.items())
