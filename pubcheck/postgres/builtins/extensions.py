"""Objects of PostgreSQL's own extensions (contrib), taken from servers by ``tools/builtins/extension_snapshot.py``."""

from __future__ import annotations

import os
from functools import cache

from msgspec import Raw, Struct
from msgspec.json import Decoder

from pubcheck.bundled_texts import read_data

Reference = int | str
"""An oid of initdb's, one of the extension's own below 0, or a required extension's by name."""


class ExtensionType(Struct, frozen=True, array_like=True, gc=False):
    name: str
    kind: str
    category: str
    array: int = 0
    element: Reference = 0
    subscript: str = ""
    collation: int = 0
    preferred: int = 0
    base: Reference = 0
    typmod: int = -1
    not_null: int = 0
    checked: int = 0


class ExtensionProc(Struct, frozen=True, array_like=True, gc=False):
    name: str
    arguments: tuple[Reference, ...]
    returns: Reference
    volatility: str = "i"
    strict: int = 1
    kind: str = "f"
    returns_set: int = 0
    variadic: Reference = 0
    defaults: int = 0
    modes: str = ""
    names: tuple[str, ...] = ()
    parameters: tuple[Reference, ...] = ()
    in_pg_catalog: int = 0


class ExtensionOperator(Struct, frozen=True, array_like=True, gc=False):
    name: str
    left: Reference
    right: Reference
    returns: Reference = 16
    function: int = 0
    negator: int = 0


class ExtensionCast(Struct, frozen=True, array_like=True, gc=False):
    source: Reference
    target: Reference
    function: int
    context: str
    method: str = "f"


class ExtensionClass(Struct, frozen=True, array_like=True, gc=False):
    """A default operator class of btree (b) or hash (h); ``family`` numbers the families of one extension."""

    family: int
    method: str
    type: Reference
    operators: tuple[tuple[Reference, Reference, int, int], ...]
    functions: tuple[tuple[Reference, Reference, int], ...]


class ExtensionRelation(Struct, frozen=True, array_like=True, gc=False):
    """A view, or the relation of a composite type; ``types`` are (type, typmod, collation) of the columns."""

    name: str
    kind: str
    columns: tuple[str, ...]
    types: tuple[tuple[Reference, int, int], ...]


class Contents(Struct, frozen=True, array_like=True, gc=False):
    """An extension at the version that the server installs. ``others`` are (kind, name, 1 where it has a schema)."""

    version: str
    requires: tuple[str, ...]
    schema: str
    relocatable: bool
    types: tuple[ExtensionType, ...]
    procs: tuple[ExtensionProc, ...]
    operators: tuple[ExtensionOperator, ...]
    casts: tuple[ExtensionCast, ...]
    classes: tuple[ExtensionClass, ...]
    relations: tuple[ExtensionRelation, ...]
    others: tuple[tuple[str, str, int], ...]


class _File(Struct, frozen=True):
    servers: dict[str, str]
    extensions: dict[str, list[tuple[int, Raw]]]


@cache
def _file() -> _File:
    return Decoder(_File).decode(read_data(os.path.join(os.path.dirname(__file__), "extensions.json")))


@cache
def contents(major: int, name: str) -> Contents | None:
    """Return the objects that CREATE EXTENSION creates in that major; None if they are not known."""
    file = _file()
    bit = 1 << list(file.servers).index(str(major))
    for majors, raw in file.extensions.get(name, ()):
        if majors & bit:
            return Decoder(Contents).decode(raw)
    return None
