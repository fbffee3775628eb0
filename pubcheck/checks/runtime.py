"""What of a row filter can fail on some row: decoding then stops at that row, and starts again in vain.

Looked at is the analysed filter; what a CASE guards is passed over: its branches run only where the condition says so.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct

from pubcheck.diagnostics import ServerAnswer, Severity
from pubcheck.patterns import pattern_later
from pubcheck.postgres.expressions.nodes import Expr
from pubcheck.postgres.oids import FLOAT4, FLOAT8, INT2, INT4, INT8, JSONB, NUMERIC

if TYPE_CHECKING:
    from pubcheck.postgres.syscache import SysCache

_CALLS = frozenset(("FuncExpr", "OpExpr", "ScalarArrayOpExpr", "RowCompareExpr", "NullIfExpr", "DistinctExpr"))
_TYPE_WORDS = {INT2: "smallint", INT4: "integer", INT8: "bigint"}
_JSONB_WORDS = {"bool": "boolean", "int2": "smallint", "int4": "integer", "int8": "bigint", "float4": "real"}
_JSONB_WORDS |= {"float8": "double precision", "numeric": "numeric"}
_WIDTH = {INT2: 2, INT4: 4, INT8: 8, NUMERIC: 99, FLOAT4: 99, FLOAT8: 99}

_DIVISION = pattern_later(r"(int\d+|numeric_|float\d+|cash_|interval_)(div|mod)(_.*)?|mod|div")
_INTEGER = pattern_later(r"int(\d)\d?(pl|mi|mul)")


class Danger(Struct, frozen=True):
    """A call that fails on some rows. ``always``: on every row. ``guarded``: what stands before it with AND or OR reads
    the same columns and probably keeps those rows away. ``answer`` is what the server says then."""

    location: int
    what: str
    way_out: str
    answer: ServerAnswer
    severity: Severity = "warning"
    always: bool = False
    guarded: bool = False


_SYNTAX_OF_PATTERN = ("2201B", "invalid regular expression", "a pattern that is no valid regular expression")
_BY_NAME: dict[str, tuple[str, str, str]] = {
    # pg_proc.proname: SQLSTATE, the server's message, on which values
    "sqrt": ("2201F", "cannot take square root of a negative number", "a negative number"),
    "dsqrt": ("2201F", "cannot take square root of a negative number", "a negative number"),
    "ln": ("2201E", "cannot take logarithm of zero", "zero or a negative number"),
    "log": ("2201E", "cannot take logarithm of zero", "zero or a negative number"),
    "log10": ("2201E", "cannot take logarithm of zero", "zero or a negative number"),
    "power": ("22003", "value out of range: overflow", "large numbers, or zero to a negative power"),
    "pow": ("22003", "value out of range: overflow", "large numbers, or zero to a negative power"),
    "dpow": ("22003", "value out of range: overflow", "large numbers, or zero to a negative power"),
    "numeric_power": ("22003", "value overflows numeric format", "large numbers, or zero to a negative power"),
    "exp": ("22003", "value out of range: overflow", "a large number"),
    "factorial": ("22003", "value overflows numeric format", "a large number"),
    "acos": ("22003", "input is out of range", "a number beyond 1"),
    "asin": ("22003", "input is out of range", "a number beyond 1"),
    "chr": ("54000", "requested character too large for encoding", "a number that is no character"),
    "make_date": ("22008", "date field value out of range", "numbers that make no date"),
    "make_time": ("22008", "time field value out of range", "numbers that make no time"),
    "make_timestamp": ("22008", "date field value out of range", "numbers that make no timestamp"),
    "jsonb_array_length": ("22023", "cannot get array length of a non-array", "jsonb that is no array"),
    "json_array_length": ("22023", "cannot get array length of a non-array", "json that is no array"),
    "jsonb_delete": ("22023", "cannot delete from scalar", "jsonb that is a scalar"),
    "get_byte": ("2202E", "index out of valid range", "a value that is too short"),
    "get_bit": ("2202E", "index out of valid range", "a value that is too short"),
    "set_byte": ("2202E", "index out of valid range", "a value that is too short"),
    "set_bit": ("2202E", "index out of valid range", "a value that is too short"),
    "convert_from": ("22021", "invalid byte sequence for encoding", "bytes that are no text"),
    "decode": ("22023", "invalid symbol found while decoding", "text that is not so encoded"),
    "bitand": ("22026", "cannot AND bit strings of different sizes", "bit strings of another size"),
    "bitor": ("22026", "cannot OR bit strings of different sizes", "bit strings of another size"),
    "bitxor": ("22026", "cannot XOR bit strings of different sizes", "bit strings of another size"),
}
_PATTERNS = pattern_later(r"(text|name|bpchar)(ic)?regex(eq|ne)|regexp_.*")
_LIKES = pattern_later(r"(text|name|bpchar|bytea)(ic)?n?like|like|notlike")


def dangers(cache: SysCache, expr: Expr) -> Iterator[Danger]:
    """The calls of a filter that can fail, in the order of the text; what CASE guards only where no row can pass."""
    todo: list[tuple[Expr, bool, frozenset[int]]] = [(expr, False, frozenset())]
    while todo:
        at, in_case, checked = todo.pop()
        if at.node in _CALLS:
            danger = _of_call(cache, at, checked)
            if danger is not None and (danger.always or not in_case):
                yield danger
        below: list[tuple[Expr, bool, frozenset[int]]] = []
        if at.node == "CaseExpr":
            first = 1 if at.value else 0
            below = [(arg, in_case or number > first, checked) for number, arg in enumerate(at.args)]
        elif at.node == "BoolExpr" and at.value != "NOT":
            for arg in at.args:
                below.append((arg, in_case, checked))
                checked = checked | _columns(arg)
        else:
            below = [(arg, in_case, checked) for arg in at.args]
        todo.extend(reversed(below))


def _of_call(cache: SysCache, expr: Expr, checked: frozenset[int]) -> Danger | None:
    if not expr.functions:
        return None
    name = cache.proc(expr.functions[0]).name
    location = expr.start if expr.location < 0 else expr.location
    if _DIVISION.fullmatch(name) and len(expr.args) == 2:
        return _division(expr, location, checked)
    argument = expr.args[0]
    if _is_constant(expr):
        return None
    guarded = bool(_columns(expr)) and _columns(expr) <= checked
    if len(expr.args) >= 1 and argument.type == JSONB and name in _JSONB_WORDS:
        answer = ServerAnswer("22023", f"cannot cast jsonb string to type {_JSONB_WORDS[name]}")
        way = "test jsonb_typeof(...) in a CASE before the cast, or compare the text (->>) instead"
        return Danger(location, "jsonb of another type is cast to " + _JSONB_WORDS[name], way, answer, guarded=guarded)
    if name in ("int2", "int4", "int8") and _WIDTH.get(argument.type, 0) > _WIDTH[expr.type]:
        word = _TYPE_WORDS[expr.type]
        way = "compare without the cast: the constant can have the column's type"
        answer = ServerAnswer("22003", f"{word} out of range")
        return Danger(location, f"a number too large for {word} is cast", way, answer, guarded=guarded)
    if _INTEGER.fullmatch(name):
        word = _TYPE_WORDS.get(expr.type, "integer")
        way = "compute in a wider type (a::bigint, a::numeric), or move the arithmetic to the constant's side"
        answer = ServerAnswer("22003", f"{word} out of range")
        return Danger(location, f"{word} arithmetic overflows", way, answer, "note", guarded=guarded)
    return _by_name(name, expr, location, guarded=guarded)


def _by_name(name: str, expr: Expr, location: int, *, guarded: bool) -> Danger | None:
    known = _BY_NAME.get(name)
    if known is None and len(expr.args) > 1 and not _is_constant(expr.args[1]):
        if _PATTERNS.fullmatch(name):
            known = _SYNTAX_OF_PATTERN
        elif _LIKES.fullmatch(name):
            known = ("22025", "LIKE pattern must not end with escape character", "a pattern that ends with a backslash")
    if name in ("substring", "substr") and len(expr.args) == 3 and not _is_constant(expr.args[2]):
        known = ("22011", "negative substring length not allowed", "a negative length")
    if known is None:
        return None
    sqlstate, message, values = known
    way = "let a CASE keep such rows away from it"
    return Danger(location, f"{name}() is given {values}", way, ServerAnswer(sqlstate, message), guarded=guarded)


def _division(expr: Expr, location: int, checked: frozenset[int]) -> Danger | None:
    divisor = expr.args[1]
    zero = _zero(divisor)
    if zero is False:
        return None
    answer = ServerAnswer("22012", "division by zero")
    if zero:
        return Danger(location, "it divides by zero", "write another divisor", answer, always=True)
    way = "write CASE WHEN ... = 0 THEN false ELSE ... END, or divide by NULLIF(..., 0), which gives NULL"
    columns = _columns(divisor)
    return Danger(location, "the divisor is zero", way, answer, guarded=bool(columns) and columns <= checked)


def _zero(expr: Expr) -> bool | None:
    """Whether a divisor is zero: True, False (never, or NULL), or None: on some rows."""
    if expr.node == "Const":
        if expr.null:
            return False
        try:
            return float(expr.value) == 0
        except (TypeError, ValueError):
            return None
    if expr.node == "NullIfExpr":
        return False if _zero(expr.args[1]) else None
    if expr.node == "MinMaxExpr" and expr.value == "GREATEST":
        return False if any(_positive(arg) for arg in expr.args) else None
    if expr.node in ("FuncExpr", "OpExpr", "RelabelType") and len(expr.args) == 1:
        # A sign or a cast of a constant.
        return _zero(expr.args[0]) if _is_constant(expr) else None
    return None


def _positive(expr: Expr) -> bool:
    try:
        return expr.node == "Const" and not expr.null and float(expr.value) > 0
    except (TypeError, ValueError):
        return False


def _is_constant(expr: Expr) -> bool:
    return not _columns(expr) and expr.node != "CaseTestExpr"


def _columns(expr: Expr) -> frozenset[int]:
    found: set[int] = set()
    todo = [expr]
    while todo:
        at = todo.pop()
        if at.node == "Var":
            found.add(at.value)
        todo.extend(at.args)
    return frozenset(found)
