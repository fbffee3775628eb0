"""What evaluating may take: beyond that a value is not known, as is one that rests on what is not visible.

Whoever evaluates an expression of somebody else's has a ``Budget`` and spends from it: a step for each thing done, and
the size of each value made. It counts, and looks at no clock, so that a run finds the same wherever it runs. What makes
a large value out of small ones asks for ``room`` before it does.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pubcheck.postgres.errors import Unknowable

LARGEST = 1 << 20
"""Characters, bytes or elements of a value. The server takes up to 1 GB, but nobody writes such constants."""
WORK = 1 << 26
"""What one evaluation may spend."""
STEP = 64
"""What a step costs; of a value each character, byte or element costs 1."""


class Budget:
    """What is left for one evaluation: of a filter over all rows that are tried, or of a block and what it runs."""

    __slots__ = ("left",)

    def __init__(self, work: int = WORK) -> None:
        self.left = work

    def spend(self, amount: int = STEP) -> None:
        """Raises Unknowable when nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise Unknowable("what takes so long to evaluate")

    def bounded(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function, with each call and what it makes paid for."""

        def call(*values: Any) -> Any:
            result = function(*values)
            size = len(result) if isinstance(result, str | bytes) else len(getattr(result, "elements", ()))
            if size > LARGEST:
                raise too_large()
            self.spend(STEP + size)
            return result

        return call


def replaced(text: str, old: str, new: str, times: int = -1) -> str:
    """The text with one for another. Raises Unknowable where that is too large."""
    if len(new) > len(old):
        count = text.count(old) if times < 0 else times
        room(len(text) + count * (len(new) - len(old)))
    return text.replace(old, new, times)


def joined(separator: str, texts: Sequence[str]) -> str:
    """The texts with a separator between them. Raises Unknowable where that is too large."""
    room(len(separator) * len(texts) + sum(map(len, texts)))
    return separator.join(texts)


def room(size: int) -> None:
    """Raises Unknowable where a value of that size is not to be made."""
    if size > LARGEST:
        raise too_large()


def too_large() -> Unknowable:
    return Unknowable("a value of more than 1 MB")
