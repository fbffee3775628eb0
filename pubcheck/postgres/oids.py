"""The types that name and type resolution know by heart: their pg_type oids, which are the same in every major
(catalog/pg_type.dat), and their modifiers (the typmodout functions; utils/adt/format_type.c).
"""

from __future__ import annotations

BOOL, BYTEA, CHAR, NAME, INT8, INT2, INT2VECTOR, INT4 = 16, 17, 18, 19, 20, 21, 22, 23
TEXT, OID, TID, XID, CID, OIDVECTOR, JSON, XML = 25, 26, 27, 28, 29, 30, 114, 142
FLOAT4, FLOAT8, UNKNOWN, TEXT_ARRAY, BPCHAR, VARCHAR = 700, 701, 705, 1009, 1042, 1043
DATE, TIME, TIMESTAMP, TIMESTAMPTZ, INTERVAL, TIMETZ = 1082, 1083, 1114, 1184, 1186, 1266
BIT, VARBIT, NUMERIC, RECORD, CSTRING, VOID, RECORD_ARRAY = 1560, 1562, 1700, 2249, 2275, 2278, 2287
JSONB, JSONPATH, UUID, EVENT_TRIGGER, INTERNAL, REFCURSOR = 3802, 4072, 2950, 3838, 2281, 1790
XID8, OID8, MONEY, PG_LSN, PG_SNAPSHOT, TXID_SNAPSHOT, ACLITEM = 5069, 6437, 790, 3220, 5038, 2970, 1033
INET, CIDR, MACADDR, MACADDR8, TSVECTOR, TSQUERY = 869, 650, 829, 774, 3614, 3615
POINT, LSEG, PATH, BOX, POLYGON, LINE, CIRCLE = 600, 601, 602, 603, 604, 628, 718
REGPROC, REGPROCEDURE, REGOPER, REGOPERATOR, REGCLASS, REGTYPE = 24, 2202, 2203, 2204, 2205, 2206
REGCONFIG, REGDICTIONARY, REGNAMESPACE, REGROLE, REGCOLLATION, REGDATABASE = 3734, 3769, 4089, 4096, 4191, 6490

ANY, ANYARRAY, ANYELEMENT, ANYNONARRAY, ANYENUM = 2276, 2277, 2283, 2776, 3500
ANYRANGE, ANYMULTIRANGE = 3831, 4537
ANYCOMPATIBLE, ANYCOMPATIBLEARRAY, ANYCOMPATIBLENONARRAY = 5077, 5078, 5079
ANYCOMPATIBLERANGE, ANYCOMPATIBLEMULTIRANGE = 5080, 4538


def named(names: str) -> frozenset[int]:
    """Return the types of these names, as they are written above."""
    return frozenset(globals()[name] for name in names.split())


SIMPLE_FAMILY = frozenset((ANYELEMENT, ANYNONARRAY, ANYENUM, ANYARRAY, ANYRANGE, ANYMULTIRANGE))
"""IsPolymorphicTypeFamily1: every argument must be of the very same type."""
COMPATIBLE_FAMILY = frozenset(
    (ANYCOMPATIBLE, ANYCOMPATIBLEARRAY, ANYCOMPATIBLENONARRAY, ANYCOMPATIBLERANGE, ANYCOMPATIBLEMULTIRANGE)
)
"""IsPolymorphicTypeFamily2: the arguments are brought to a common type."""
POLYMORPHIC = SIMPLE_FAMILY | COMPATIBLE_FAMILY

SQL_NAMES = {
    BIT: "bit",
    BOOL: "boolean",
    BPCHAR: "character",
    FLOAT4: "real",
    FLOAT8: "double precision",
    INT2: "smallint",
    INT4: "integer",
    INT8: "bigint",
    NUMERIC: "numeric",
    INTERVAL: "interval",
    JSON: "json",
    TIME: "time without time zone",
    TIMETZ: "time with time zone",
    TIMESTAMP: "timestamp without time zone",
    TIMESTAMPTZ: "timestamp with time zone",
    VARBIT: "bit varying",
    VARCHAR: "character varying",
}
"""format_type.c: types that SQL has its own words for."""


HEADER = 4
"""VARHDRSZ, which the typmods of texts and numeric are greater by."""
LENGTHS = {BPCHAR: "char", VARCHAR: "varchar"}
CLOCKS = {
    TIME: ("TIME", "", " without time zone"),
    TIMETZ: ("TIME", " WITH TIME ZONE", " with time zone"),
    TIMESTAMP: ("TIMESTAMP", "", " without time zone"),
    TIMESTAMPTZ: ("TIMESTAMP", " WITH TIME ZONE", " with time zone"),
}
_UNITS = {"year": 1 << 2, "month": 1 << 1, "day": 1 << 3, "hour": 1 << 10, "minute": 1 << 11, "second": 1 << 12}
FULL_RANGE, FULL_PRECISION = 0x7FFF, 0xFFFF


def _interval_fields() -> dict[int, str]:
    units = list(_UNITS)
    names = {FULL_RANGE: "", **{mask: f" {unit}" for unit, mask in _UNITS.items()}}
    for first, last in (("year", "month"), *((a, b) for a in units[2:] for b in units[units.index(a) + 1 :])):
        mask = sum(_UNITS[unit] for unit in units[units.index(first) : units.index(last) + 1])
        names[mask] = f" {first} to {last}"
    return names


INTERVAL_FIELDS = _interval_fields()
"""The restrictions of an interval: the mask and its text."""


def display(type_oid: int, typmod: int) -> str:
    """Return the text of a type modifier as the typmodout function writes it; empty if there is none."""
    if typmod < 0:
        return ""
    if type_oid in CLOCKS:
        return f"({typmod}){CLOCKS[type_oid][2]}"
    if type_oid in LENGTHS:
        return f"({typmod - HEADER})" if typmod > HEADER else ""
    if type_oid == NUMERIC:
        if typmod < HEADER:
            return ""
        packed = typmod - HEADER
        return f"({packed >> 16 & 0xFFFF},{((packed & 0x7FF) ^ 1024) - 1024})"
    if type_oid == INTERVAL:
        precision = typmod & 0xFFFF
        fields = INTERVAL_FIELDS.get(typmod >> 16 & FULL_RANGE, "")
        return fields if precision == FULL_PRECISION else f"{fields}({precision})"
    return f"({typmod})"
