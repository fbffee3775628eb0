"""The budget of an evaluation. Beyond it a value is unknown, like a value that depends on an unknown object.

Evaluating a user's expression spends from a ``Budget``: a step for each operation, and the size of each result. It
counts and does not read the clock, so that results are the same on every machine. A function that makes a large value
out of small ones calls ``room`` first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pubcheck.postgres.errors import Unknowable

LARGEST = 1 << 20
"""Characters, bytes or elements of a value. The server accepts up to 1 GB, but such constants do not occur."""
WORK = 1 << 26
"""The budget of one evaluation."""
STEP = 64
"""The cost of a step; each character, byte or element of a value costs 1."""


class Budget:
    """The remaining budget of one evaluation: of a filter over all tried rows, or of a block and the statements it
    runs."""

    __slots__ = ("left",)

    def __init__(self, work: int = WORK) -> None:
        self.left = work

    def spend(self, amount: int = STEP) -> None:
        """Raises Unknowable when nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise too_long()

    def bounded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return the function with a budget: each call and its result are charged."""

        def call(*values: Any) -> Any:
            result = function(*values)
            if result is True or result is False:
                # Most calls of a row filter, which verifying a stream evaluates for each row.
                self.left -= STEP
                if self.left < 0:
                    raise too_long()
                return result
            size = len(result) if isinstance(result, str | bytes) else len(getattr(result, "elements", ()))
            if size > LARGEST:
                raise too_large()
            self.spend(STEP + size)
            return result

        return call


def replaced(text: str, old: str, new: str, times: int = -1) -> str:
    """Return the text with ``old`` replaced by ``new``. Raises Unknowable if the result is too large."""
    if len(new) > len(old):
        count = text.count(old) if times < 0 else times
        room(len(text) + count * (len(new) - len(old)))
    return text.replace(old, new, times)


def joined(separator: str, texts: Sequence[str]) -> str:
    """The texts with a separator between them. Raises Unknowable where that is too large."""
    room(len(separator) * len(texts) + sum(map(len, texts)))
    return separator.join(texts)


def room(size: int) -> None:
    """Raise Unknowable if a value of that size is too large."""
    if size > LARGEST:
        raise too_large()


def too_long() -> Unknowable:
    return Unknowable("what takes so long to evaluate")


def too_large() -> Unknowable:
    return Unknowable("a value of more than 1 MB")
