"""The types that the cases of this folder name, in a SysCache that needs no DDL to know them."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Column, Type
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.syscache import SysCache
from pubcheck.postgres.session.type_lookups import Naming

SCHEMA = """
    CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy', 'so so');
    CREATE DOMAIN short AS varchar(3);
    CREATE DOMAIN filled AS integer NOT NULL;
    CREATE DOMAIN price AS numeric(4, 2);
    CREATE DOMAIN flags AS bit(4);
    CREATE DOMAIN moods AS mood[];
    CREATE DOMAIN positive AS integer CHECK (VALUE > 0);
    CREATE TYPE spot AS (x integer, name text, tags integer[]);
    CREATE TYPE floatrange AS RANGE (subtype = float8);
    CREATE TYPE uuidrange AS RANGE (subtype = uuid);
    CREATE TYPE inetrange AS RANGE (subtype = inet);
"""
"""What the recording server has besides its own types, in schema public."""

_PG_CATALOG, _PUBLIC = 11, 2200


def _type(oid: int, name: str, kind: str = "b", **facts: Any) -> Type:
    return Type(oid, name, _PUBLIC if oid >= 16384 else _PG_CATALOG, 10, kind, seen=True, **facts)


_RANGES = {"floatrange": (16420, 701), "uuidrange": (16422, 2950), "inetrange": (16424, 869)}
_SPOT = _type(16412, "spot", "c", relation=16413, array=16414)
_USER = (
    _type(16400, "mood", "e", labels=("sad", "ok", "happy", "so so"), array=16401),
    _type(16401, "_mood", element=16400, subscript="a"),
    _type(16402, "short", "d", base=1043, typmod=7, array=16403),
    _type(16403, "_short", element=16402, subscript="a"),
    _type(16404, "filled", "d", base=23, not_null=True, array=16405),
    _type(16405, "_filled", element=16404, subscript="a"),
    _type(16406, "price", "d", base=1700, typmod=(4 << 16 | 2) + 4, array=16407),
    _type(16407, "_price", element=16406, subscript="a"),
    _type(16408, "flags", "d", base=1560, typmod=4, array=16409),
    _type(16409, "_flags", element=16408, subscript="a"),
    _type(16410, "moods", "d", base=16401),
    _type(16411, "positive", "d", base=23, checked=True),
    _SPOT,
    _type(16414, "_spot", element=16412, subscript="a"),
)


_TYPES = {row.oid: row for row in _USER} | {
    oid: _type(oid, name, "r", base=subtype) for name, (oid, subtype) in _RANGES.items()
}


def oids(major: int) -> dict[str, int]:
    """Types by name; arrays as pg_type has them (_int4)."""
    return builtins(major).types["pg_catalog"] | {row.name: row.oid for row in _TYPES.values()}


class Cache(SysCache):
    """A SysCache that has these types besides the built-in ones."""

    def __init__(self, major: int, *, complete: bool = True) -> None:
        super().__init__(Session(Catalog(major), complete=complete))

    def type(self, oid: int) -> Type:
        return _TYPES.get(oid) or super().type(oid)

    def fields(self, oid: int) -> tuple[Column, ...]:
        if _TYPES.get(oid) is _SPOT:
            return (
                Column(1, "x", 23), Column(2, "gone", 0, dropped=True), Column(3, "name", 25), Column(4, "tags", 1007)
            )  # fmt: skip
        return super().fields(oid)

    def format_type(self, oid: int, typmod: int | None = None, naming: Naming | None = None) -> str:
        return _TYPES[oid].name if oid in _TYPES else super().format_type(oid, typmod, naming)
