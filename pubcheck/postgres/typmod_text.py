"""The packing and output of type modifiers (the typmodout functions; utils/adt/format_type.c)."""

from __future__ import annotations

from pubcheck.postgres.oids import BPCHAR, INTERVAL, NUMERIC, TIME, TIMESTAMP, TIMESTAMPTZ, TIMETZ, VARCHAR

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
