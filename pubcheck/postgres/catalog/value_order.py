"""What orders the values of a unit's own types: the labels of enums, and default operator classes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from msgspec import Struct


class EnumLabels(Collection[str]):
    """The distinct labels of an enum, in order; immutable.

    What ``appended`` returns shares the storage of these labels, so that adding one takes constant time.
    """

    __slots__ = ("_count", "_numbers")

    def __init__(self, labels: Iterable[str] = ()) -> None:
        self._numbers = {label: number for number, label in enumerate(labels)}
        self._count = len(self._numbers)

    def appended(self, label: str) -> EnumLabels:
        """These labels and another one after them."""
        # Somebody else may have appended to the same storage: a statement that was undone.
        longer = EnumLabels(self if len(self._numbers) > self._count else ())
        if len(self._numbers) == self._count:
            longer._numbers = self._numbers
        longer._numbers[label] = self._count
        longer._count = self._count + 1
        return longer

    def index(self, label: str) -> int:
        """The number of a label that is among them, from 0."""
        return self._numbers[label]

    def __contains__(self, label: object) -> bool:
        return isinstance(label, str) and self._numbers.get(label, self._count) < self._count

    def __iter__(self) -> Iterator[str]:
        return islice(self._numbers, self._count)

    def __len__(self) -> int:
        return self._count

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EnumLabels) and (self is other or tuple(self) == tuple(other))

    def __hash__(self) -> int:
        return hash(tuple(self))


class OperatorClass(Struct, frozen=True, gc=False):
    """A default operator class that the unit created, with all members of its family.

    ``family`` is the family's oid, ``method`` b(tree), h(ash), gin or gist, ``type`` the class's input type.
    ``operators`` and ``functions`` are as in ``builtins.objects.FamilyRow``.
    """

    family: int
    method: str
    type: int
    operators: tuple[tuple[int, int, int, int], ...]
    functions: tuple[tuple[int, int, int], ...]


OPERATOR_CLASSES = "operator classes"
"""The setting of the catalog that holds the unit's OperatorClass rows."""
