"""The search for an assignment of cells to variables under which conditions give the answers asked for."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pubcheck.filter_logic.truth import Condition

_STEPS = 20_000
"""Assignments that are tried at most, partial ones too."""


class OutOfSteps(Exception):
    """There were more assignments than are tried."""


def assignments(sizes: Sequence[int], demands: Sequence[tuple[Condition, int]]) -> Iterator[list[int]]:
    """Yield assignments: the number of a cell for each variable, ``sizes`` being how many it has. Under each of them
    every condition may give one of the answers that are demanded of it, as bits. The list is reused.

    Raises OutOfSteps.
    """
    assignment = [-1] * len(sizes)
    steps = 0

    def possible() -> bool:
        return all(condition(assignment) & allowed for condition, allowed in demands)

    def extended(number: int) -> Iterator[list[int]]:
        nonlocal steps
        if number == len(sizes):
            yield assignment
            return
        for cell in range(sizes[number]):
            steps += 1
            if steps > _STEPS:
                raise OutOfSteps
            assignment[number] = cell
            if possible():
                yield from extended(number + 1)
        assignment[number] = -1

    if possible():
        yield from extended(0)
