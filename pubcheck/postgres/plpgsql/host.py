"""What an interpreter needs of whoever applies its statements, and what passes between them."""

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
    """What is known of a statement before it is done.

    ``doubtful``: whether it is run is not known; ``unsure``: one before it may have failed; ``handled``: there are
    handlers around it, so that nobody would hear of it if it failed. ``in_branch``: it runs if the branch around it
    does, whose effects the interpreter compares as a whole.
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
    """More statements than are followed."""


class Host(Protocol):
    """Who applies statements and keeps what is found; what an interpreter needs of the fold."""

    session: Session

    def do(self, inner: Inner, name: str, node: Node, standing: ExecutionContext) -> bool | ServerError:
        """Apply one statement: whether that rests on nothing unseen, or the refusal that is only assumed.

        Raises Raised where it is certainly refused.
        """
        ...

    def unfollowed(self, inner: Inner | None, known: str | None) -> None:
        """Something runs that is not followed; ``known`` is what is known of its text."""
        ...

    def mark(self) -> Any:
        """A point to go back to."""
        ...

    def undo(self, mark: Any) -> None:
        """Take back what was done and found since ``mark``."""
        ...

    def assume_since(self, mark: Any) -> None:
        """What was done since ``mark`` has perhaps been undone."""
        ...

    def skip(self, mark: Any) -> None:
        """The branch that began at ``mark`` was perhaps skipped: what it changed is there by assumption."""
        ...

    def start_alternative(self, mark: Any) -> Any:
        """A branch that began at ``mark`` is over, and another one is run instead of it.

        Return the replica identities that it set; they are as before the branch again.
        """
        ...

    def join(self, alternatives: Sequence[Any], *, complete: bool) -> None:
        """One of these branches was run, each as ``start_alternative`` returned it; ``complete``: certainly one."""
        ...

    def finish(self, *, commit: bool) -> bool:
        """COMMIT or ROLLBACK within the block; False where the block is part of a transaction."""
        ...

    def swallowed(self, raised: Raised) -> None:
        """A certain refusal is caught by a handler for everything and not spoken of."""
        ...
