"""Where control goes after a statement, whether a statement runs, and whether it, or the whole block, failed."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.plpgsql.conditions import ALREADY, CONDITIONS, catches


class Signal(Struct, frozen=True):
    """RETURN, EXIT or CONTINUE: where control goes instead of the next statement."""

    kind: str
    label: str = ""


class Completion(Struct):
    """The end of a list of statements: one certain signal, or several possible ones."""

    certain: Signal | None = None
    perhaps: list[Signal] = []


ON = Completion()


def all_signals(completion: Completion) -> list[Signal]:
    return [*completion.perhaps, completion.certain] if completion.certain is not None else completion.perhaps


class BlockUncertainty(Struct):
    """The uncertainty of the current statement and of those before it.

    ``branches``: the number of open branches that may or may not run. ``maybe_aborted``: an error may
    have ended everything before. ``unknown_dependencies``: the number of statements so far that depend on something
    unknown, and so may have failed. ``risks``: the number that may fail because of the data, where a handler would
    catch that. ``maybe_undone``: a statement may have failed without a handler, which undoes everything. ``handlers``:
    the conditions of the handlers around. ``compared``: the number of branches whose effects are compared at their end
    with the state before them.
    """

    branches: int = 0
    maybe_aborted: bool = False
    unknown_dependencies: int = 0
    risks: int = 0
    maybe_undone: bool = False
    handlers: list[list[str]] = []
    compared: int = 0

    @property
    def is_uncertain(self) -> bool:
        """Whether the current statement may not run."""
        return self.branches > 0 or self.maybe_aborted

    @property
    def in_branch(self) -> bool:
        """Whether the current statement runs if the branch around it does."""
        return self.branches == self.compared > 0 and not self.maybe_aborted

    def after_risk(self) -> None:
        """Open a branch for the statements that follow a risky one.

        They run unless an error undid everything since the handler's block began: the block is compared as a whole.
        """
        self.compared += self.branches == self.compared
        self.branches += 1

    def is_caught(self, error: ServerError) -> bool:
        """Return whether a handler around catches an error."""
        return any(catches(conditions, error.sqlstate) for conditions in self.handlers)

    def depend_on_unknown(self) -> None:
        """Note that the current statement depends on something unknown."""
        self.unknown_dependencies += 1
        self.maybe_undone = True

    def assume_risk(self) -> None:
        """Note that the current statement may fail.

        The statements after it are uncertain only if a handler would catch the error.
        """
        self.maybe_undone = True
        if any(map(catches_data_errors, self.handlers)):
            self.risks += 1

    def assume_failure(self, error: ServerError) -> None:
        """Note an error that may have ended the block with its handler, or else everything."""
        self.depend_on_unknown()
        if not self.is_caught(error):
            self.maybe_aborted = True


def catches_all(conditions: Sequence[str]) -> bool:
    return any(name.lower() == "others" for name in conditions)


def catches_data_errors(conditions: Sequence[str]) -> bool:
    """Return whether a handler catches any error that queries and changes of rows can raise."""
    return any(CONDITIONS.get(name.lower(), name) not in ALREADY for name in conditions)
