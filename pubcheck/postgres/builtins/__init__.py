"""The types and relations that initdb creates in each major, from snapshots of real servers (see ``snapshot``).

Names only, because every run needs them. The details for name resolution are in ``objects``, loaded on the first
filter.
"""

from __future__ import annotations

import os
from functools import cache, cached_property
from typing import TypeVar

from msgspec import Raw, Struct
from msgspec.json import decode

T = TypeVar("T")


class KnownRelation(Struct, frozen=True, array_like=True, gc=False):
    """``to_type`` and ``to_array`` are the distances from the oid to those of the row type and of the array type over
    it; 0 where there is none. They are small, and mostly equal in all majors."""

    oid: int
    kind: str
    to_type: int = 0
    to_array: int = 0

    @property
    def type(self) -> int:
        """The oid of the row type, or 0."""
        return self.oid + self.to_type if self.to_type else 0

    @property
    def array(self) -> int:
        """The oid of the array type over the row type, or 0."""
        return self.oid + self.to_array if self.to_array else 0


TypeRow = tuple[int, int]
"""The oids of a type and of the array type over it, 0 where there is none."""


class Snapshot(Struct, frozen=True):
    """The names of one major. ``server`` says which server it was taken from.

    ``types``: schema -> name -> row, without row types and arrays. ``relations``: schema -> name -> row. ``columns``:
    those of the relations of information_schema.
    """

    server: str
    types: dict[str, dict[str, TypeRow]]
    relations: dict[str, dict[str, KnownRelation]]
    columns: dict[str, tuple[str, ...]]


class Changes(Struct, frozen=True):
    """How a major differs from the first one in the file; None is a name that the major does not have."""

    server: str
    types: dict[str, dict[str, TypeRow | None]]
    relations: dict[str, dict[str, KnownRelation | None]]
    columns: dict[str, tuple[str, ...] | None]


class Builtins:
    """Look-ups over one major's snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self.types: dict[str, dict[str, int]] = {}
        """schema -> name -> oid."""
        for schema, types in snapshot.types.items():
            named = self.types[schema] = {}
            for name, (oid, array) in types.items():
                named[name] = oid
                if array:
                    named["_" + name] = array
        for schema, relations in snapshot.relations.items():
            named = self.types.setdefault(schema, {})
            for name, relation in relations.items():
                if relation.to_array:
                    named[name] = relation.oid + relation.to_type
                    named[f"_{name}"[:63]] = relation.oid + relation.to_array

    def type(self, schema: str, name: str) -> int:
        """A type's oid, or 0."""
        return self.types.get(schema, {}).get(name, 0)

    @cached_property
    def _names(self) -> dict[int, tuple[str, str]]:
        return {oid: (schema, name) for schema, named in self.types.items() for name, oid in named.items()}

    def type_named(self, oid: int) -> tuple[str, str] | None:
        """(schema, name) of a type, or None."""
        return self._names.get(oid)

    @cached_property
    def _arrays(self) -> dict[int, int]:
        arrays = {oid: array for named in self._snapshot.types.values() for oid, array in named.values()}
        for relations in self._snapshot.relations.values():
            arrays.update((row.type, row.array) for row in relations.values() if row.array)
        return arrays

    def array_of(self, oid: int) -> int:
        """The oid of the array type over a type (an array of an array is the same array), or 0."""
        return self._arrays.get(oid, 0) or oid

    def relation(self, schema: str, name: str) -> KnownRelation | None:
        """A relation that every database has."""
        return self._snapshot.relations.get(schema, {}).get(name)

    def columns(self, name: str) -> tuple[str, ...]:
        """The columns of a relation of information_schema; none for others."""
        return self._snapshot.columns.get(name, ())

    @cached_property
    def _relations(self) -> dict[int, tuple[str, str]]:
        return {
            row.oid: (schema, name)
            for schema, relations in self._snapshot.relations.items()
            for name, row in relations.items()
        }

    def relation_named(self, oid: int) -> tuple[str, str] | None:
        """(schema, name) of a relation, or None."""
        return self._relations.get(oid)

    def relation_of_type(self, oid: int) -> tuple[str, str, KnownRelation] | None:
        """(schema, name, row) of the relation whose row type, or the array over it, this is."""
        named = self.type_named(oid)
        if named is None:
            return None
        schema, name = named
        for candidate in (name, name[1:]):
            row = self.relation(schema, candidate)
            if row is not None and oid in (row.type, row.array):
                return schema, candidate, row
        return None


def sections() -> dict[int, Raw]:
    """Return the snapshot of the first major in the file, and the changes of each other major."""
    # Not through importlib.resources: its import costs 6 ms.
    with open(os.path.join(os.path.dirname(__file__), "names.json"), "rb") as file:
        return decode(file.read(), type=dict[int, Raw])


def snapshot(major: int) -> Snapshot:
    """Read the names of a major."""
    majors = sections()
    first_major = next(iter(majors))
    first = decode(majors[first_major], type=Snapshot)
    if major == first_major:
        return first
    changes = decode(majors[major], type=Changes)
    return Snapshot(
        changes.server,
        {schema: _changed(names, changes.types[schema]) for schema, names in first.types.items()},
        {schema: _changed(names, changes.relations[schema]) for schema, names in first.relations.items()},
        _changed(first.columns, changes.columns),
    )


def _changed(names: dict[str, T], changes: dict[str, T | None]) -> dict[str, T]:
    return {name: row for name, row in (names | changes).items() if row is not None}


@cache
def builtins(major: int) -> Builtins:
    """The built-in objects of a major; read on first use."""
    return Builtins(snapshot(major))
