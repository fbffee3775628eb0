"""What initdb makes: types and relations of each major, from snapshots of real servers (see ``snapshot``)."""

from __future__ import annotations

import os
from functools import cache

from msgspec import Struct
from msgspec.json import decode


class Snapshot(Struct, frozen=True):
    """A snapshot file. ``server`` says which server it was taken from.

    ``types``: schema -> name -> (oid, typtype, array oid). ``relations``: schema -> name -> (oid, relkind, columns).
    """

    server: str
    types: dict[str, dict[str, tuple[int, str, int]]]
    relations: dict[str, dict[str, tuple[int, str, list[str]]]]


class Builtins:
    """Look-ups over one major's snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.types = {(schema, name): row[0] for schema, named in snapshot.types.items() for name, row in named.items()}
        """(schema, name) -> oid."""
        self._names: dict[int, tuple[str, str]] | None = None
        self._arrays = {oid: array for named in snapshot.types.values() for oid, _, array in named.values()}

    def type(self, schema: str, name: str) -> int:
        """A type's oid, or 0."""
        return self.types.get((schema, name), 0)

    def type_named(self, oid: int) -> tuple[str, str] | None:
        """(schema, name) of a type, or None."""
        if self._names is None:
            self._names = {oid: name for name, oid in self.types.items()}
        return self._names.get(oid)

    def array_of(self, oid: int) -> int:
        """The oid of the array type over a type (an array of an array is the same array), or 0."""
        return self._arrays.get(oid, 0) or oid

    def relation(self, schema: str, name: str) -> tuple[int, str, list[str]] | None:
        """(oid, relkind, column names) of a relation that every database has."""
        return self._snapshot.relations.get(schema, {}).get(name)


@cache
def builtins(major: int) -> Builtins:
    """The built-in objects of a major; read on first use."""
    # Not through importlib.resources: its import costs 6 ms.
    with open(os.path.join(os.path.dirname(__file__), f"pg{major}.json"), "rb") as file:
        return Builtins(decode(file.read(), type=Snapshot))
