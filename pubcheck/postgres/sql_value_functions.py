"""The functions that the grammar spells without parentheses, and their types (parser/parse_expr.c:
transformSQLValueFunction)."""

from __future__ import annotations

from pubcheck.postgres.oids import DATE, NAME, TIME, TIMESTAMP, TIMESTAMPTZ, TIMETZ

_TYPES = {
    "CURRENT_DATE": DATE,
    "CURRENT_TIME": TIMETZ,
    "CURRENT_TIMESTAMP": TIMESTAMPTZ,
    "LOCALTIME": TIME,
    "LOCALTIMESTAMP": TIMESTAMP,
}


def name_of(op: str) -> str:
    """The function that the ``op`` of a SQLValueFunction means, with a precision or without."""
    return op.removeprefix("SVFOP_").removesuffix("_N")


def type_of(op: str) -> int:
    """Its type; all but the times are names: of roles, the database, the schema."""
    return _TYPES.get(name_of(op), NAME)
