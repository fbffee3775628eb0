"""How statements end: in the next one, or in a signal that leads elsewhere, for certain or perhaps."""

from __future__ import annotations

from msgspec import Struct


class Signal(Struct, frozen=True):
    """RETURN, EXIT, CONTINUE: where control goes instead of the next statement."""

    kind: str
    label: str = ""


class Completion(Struct):
    """How a list of statements ends: in a signal for certain, and in others perhaps."""

    certain: Signal | None = None
    perhaps: list[Signal] = []


ON = Completion()


def everything(way: Completion) -> list[Signal]:
    return [*way.perhaps, way.certain] if way.certain is not None else way.perhaps
