"""What of a block is not known: whether a statement of it runs, and whether it, or all of it, failed."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.plpgsql.conditions import ALREADY, CONDITIONS, catches


class Uncertainty(Struct):
    """What is not known of the current statement, and of those before it.

    ``ways``: in how many ways it is not known whether it is run. ``fallen``: an error has perhaps ended all before it.
    ``shaky``: how many statements so far rest on something unseen, and so may have failed; ``risks``: how many may by
    the current data, where a handler around would take that. ``unproven``: something may have failed that nobody took,
    and so all of it never happened. ``handlers``: the conditions that the handlers of the blocks around take.
    ``compared``: a statement that is in doubt in this many ways is part of a branch whose effects are compared at its
    end with the state before it.
    """

    ways: int = 0
    fallen: bool = False
    shaky: int = 0
    risks: int = 0
    unproven: bool = False
    handlers: list[list[str]] = []
    compared: int = 0

    @property
    def at_hand(self) -> bool:
        """Whether it is not known that the current statement is run."""
        return self.ways > 0 or self.fallen

    @property
    def in_branch(self) -> bool:
        """Whether the current statement runs if the branch around it does."""
        return self.ways == self.compared > 0 and not self.fallen

    def after_risk(self) -> None:
        """The statements that follow run unless an error undid everything since the handler's block began: the block
        is compared as a whole."""
        self.compared += self.ways == self.compared
        self.ways += 1

    def taken(self, error: ServerError) -> bool:
        """Whether a handler around takes an error."""
        return any(catches(conditions, error.sqlstate) for conditions in self.handlers)

    def shake(self) -> None:
        """The current statement rests on something unseen."""
        self.shaky += 1
        self.unproven = True

    def risk(self) -> None:
        """The current statement may fail; what runs after it is in doubt only where somebody would take the error."""
        self.unproven = True
        if any(map(takes_data, self.handlers)):
            self.risks += 1

    def failed_perhaps(self, error: ServerError) -> None:
        """An error that perhaps ended the block with the handler for it, or else everything."""
        self.shake()
        if not self.taken(error):
            self.fallen = True


def takes_all(conditions: Sequence[str]) -> bool:
    return any(name.lower() == "others" for name in conditions)


def takes_data(conditions: Sequence[str]) -> bool:
    """Whether a handler takes any error that queries and changes of rows can end in."""
    return any(CONDITIONS.get(name.lower(), name) not in ALREADY for name in conditions)
