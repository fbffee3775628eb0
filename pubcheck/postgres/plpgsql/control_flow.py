"""The ends of statements: the next statement follows, or a certain or possible signal leads elsewhere."""

from __future__ import annotations

from msgspec import Struct


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
