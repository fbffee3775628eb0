"""The interface between an interpreter and the host that applies its statements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.source_text import Text


class Inner(Struct, frozen=True):
    """A statement inside another one: its text at its place, and its number there (``embedded``)."""

    text: Text
    number: tuple[int, ...]


Excuse = Callable[[ServerError, bool], bool]
"""Whether an assumed refusal is suppressed; the flag says that a name is merely unknown."""


class ExecutionContext(Struct, frozen=True):
    """The circumstances in which a statement is applied.

    ``doubtful``: it may not run. ``unsure``: a statement before it may have failed. ``handled``: a handler around it
    would hide its failure. ``in_branch``: it runs if the branch around it does; the interpreter compares the effects of
    the branch as a whole.
    """

    doubtful: bool
    unsure: bool
    handled: bool
    excuse: Excuse
    in_branch: bool = False


class Raised(Exception):
    """An ERROR that leaves the block. ``inner`` is the statement that raised it, None for the block's own.

    ``compiled``: the body was refused before anything ran.
    """

    def __init__(self, error: ServerError, inner: Inner | None, *, compiled: bool = False) -> None:
        super().__init__(error.message)
        self.error = error
        self.inner = inner
        self.compiled = compiled


class Exhausted(Exception):
    """The limit of statements that are followed is reached."""


class Host(Protocol):
    """The host of an interpreter: it applies statements and keeps findings."""

    session: Session

    def do(self, inner: Inner, name: str, node: Node, context: ExecutionContext) -> bool | ServerError:
        """Apply one statement. Return whether it depends on nothing unknown, or the assumed refusal.

        Raises Raised if it is certainly refused.
        """
        ...

    def unfollowed(self, inner: Inner | None, known: str | None) -> None:
        """Note that something runs that is not followed; ``known`` is the known part of its text."""
        ...

    def mark(self) -> Any:
        """Return a point that ``undo`` can go back to."""
        ...

    def undo(self, mark: Any) -> None:
        """Undo all changes and drop all findings since ``mark``."""
        ...

    def assume_since(self, mark: Any) -> None:
        """Mark the changes since ``mark`` as assumed: they may have been undone."""
        ...

    def skip(self, mark: Any) -> None:
        """Mark the changes of the branch that began at ``mark`` as assumed: it may have been skipped."""
        ...

    def start_alternative(self, mark: Any) -> Any:
        """End a branch that began at ``mark``, and start the one that runs instead of it.

        Return the replica identities that it set; they are as before the branch again.
        """
        ...

    def join(self, alternatives: Sequence[Any], *, complete: bool) -> None:
        """Join alternative branches, each as ``start_alternative`` returned it; ``complete``: one of them certainly
        ran.
        """
        ...

    def finish(self, *, commit: bool) -> bool:
        """Run COMMIT or ROLLBACK within the block; False if the block is part of a transaction."""
        ...

    def swallowed(self, raised: Raised) -> None:
        """Note that a handler for everything caught a certain refusal and hides it."""
        ...
