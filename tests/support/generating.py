"""What generators of random scripts and expressions share."""

from __future__ import annotations

from random import Random


class Choices:
    """Choices out of a random source: the same for the same seed."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share


def quoted(text: str) -> str:
    """The text as a literal of standard_conforming_strings."""
    return "'" + text.replace("'", "''") + "'"
