"""How constructs are written down: kind by kind, each construct a function under a name."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from tests.differential.filters.expressions import Maker
from tests.differential.filters.trees import Tree

Construct = Callable[[Maker, int], "Tree | None"]
"""Makes a tree over a maker's table to a depth; None where the database has nothing to make it of."""


class Entry(Struct, frozen=True):
    """A construct: how often it is drawn, and the first major whose grammar has it."""

    make: Construct
    weight: float
    since: int


class Kind(dict[str, Entry]):
    """The constructs of a kind by name, in the order in which they are written."""

    def construct(self, name: str, weight: float = 1.0, since: int = 15) -> Callable[[Construct], Construct]:
        def put(make: Construct) -> Construct:
            self[name] = Entry(make, weight, since)
            return make

        return put
