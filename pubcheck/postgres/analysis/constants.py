"""Constants as the scanner reads them, and the functions that the grammar spells without parentheses.

Follows make_const in parser/parse_node.c and transformSQLValueFunction in parser/parse_expr.c.
"""

from __future__ import annotations

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres import input
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import BIT, BOOL, INT4, INT8, NAME, NUMERIC
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import UNKNOWN, Expr
from pubcheck.postgres.sql_value_functions import name_of, type_of

_INTEGER = lazy_compile(r"[+-]?(?:[0-9][0-9_]*|0[xX][0-9a-fA-F_]+|0[oO][0-7_]+|0[bB][01_]+)")
_DECIMAL = lazy_compile(r"([+-]?)0*([0-9]*)")
NAME_COLLATION = 950
"""typcollation of name: "C"."""


def constant(p: ParseState, body: Node) -> Expr:
    """An A_Const. Raises ServerError 22003 for a number that numeric cannot hold, 22P02 for a bit string's digit."""
    location: int = body.get("location", -1)
    if "sval" in body:
        return Expr("Const", UNKNOWN, [], location, value=body["sval"].get("sval", ""))
    if "ival" in body:
        return Expr("Const", INT4, [], location, value=body["ival"].get("ival", 0))
    if "boolval" in body:
        return Expr("Const", BOOL, [], location, value=body["boolval"].get("boolval", False))
    if "fval" in body:
        return _number(p, body["fval"].get("fval", "0"), location)
    if "bsval" in body:
        return _read(p, BIT, body["bsval"].get("bsval", ""), location)
    return Expr("Const", UNKNOWN, [], location, null=True)


def _number(p: ParseState, text: str, location: int) -> Expr:
    """Digits with a point or an exponent, or more of them than an int4 holds."""
    if _INTEGER.fullmatch(text):
        digits = text.replace("_", "")
        decimal = _DECIMAL.fullmatch(digits)
        # Python converts only so many decimal digits; twenty are beyond an int8 however they go on.
        value = int(digits, 0) if decimal is None else int(decimal[1] + (decimal[2][:20] or "0"))
        if -(1 << 31) <= value < 1 << 31:
            return Expr("Const", INT4, [], location, value=value)
        if -(1 << 63) <= value < 1 << 63:
            return Expr("Const", INT8, [], location, value=value)
    return _read(p, NUMERIC, text, location)


def _read(p: ParseState, oid: int, text: str, location: int) -> Expr:
    try:
        value = input.read(p.inputs, oid, text)
    except ServerError as error:
        if error.location is None and location >= 0:
            error.location = error.culprit = location
        raise
    return Expr("Const", oid, [], location, value=value)


_MAX_PRECISION = 6
"""MAX_TIME_PRECISION, MAX_TIMESTAMP_PRECISION; more digits are taken for as many, with a warning."""


def value_function(p: ParseState, body: Node) -> Expr:
    """Analyse CURRENT_DATE, LOCALTIME(2), CURRENT_USER and similar."""
    op: str = body["op"]
    typmod: int = body.get("typmod", 0 if op.endswith("_N") else -1)
    oid = type_of(op)
    return Expr(
        "SQLValueFunction",
        oid,
        [],
        body.get("location", -1),
        typmod=min(typmod, _MAX_PRECISION),
        collation=NAME_COLLATION if oid == NAME else 0,
        value=name_of(op),
    )
