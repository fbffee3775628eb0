"""How statements end: in the next statement, or in a certain or possible signal that leads elsewhere."""

from __future__ import annotations

from msgspec import Struct


class Signal(Struct, frozen=True):
    """RETURN, EXIT or CONTINUE: where control goes instead of the next statement."""

    kind: str
    label: str = ""


class Completion(Struct):
    """How a list of statements ends: in one certain signal, or in several possible ones."""

    certain: Signal | None = None
    perhaps: list[Signal] = []


ON = Completion()


def all_signals(completion: Completion) -> list[Signal]:
    return [*completion.perhaps, completion.certain] if completion.certain is not None else completion.perhaps
