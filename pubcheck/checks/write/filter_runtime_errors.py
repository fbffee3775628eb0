"""Calls in a row filter that can fail on some row (PUB605). Decoding stops at that row each time it is started.

The analysed filter is read. A branch of CASE is skipped if its conditions read the same columns, because it runs only
where they hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.diagnostics import ServerAnswer, Severity
from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import DATE, FLOAT4, FLOAT8, INT2, INT4, INT8, JSONB, NUMERIC, TIMESTAMP
from pubcheck.postgres.primnodes import EXPLICIT_CAST, IMPLICIT, Expr, nodes

if TYPE_CHECKING:
    from pubcheck.postgres.session.syscache import SysCache

_CALLS = frozenset(("FuncExpr", "OpExpr", "ScalarArrayOpExpr", "RowCompareExpr", "NullIfExpr", "DistinctExpr"))
_TYPE_WORDS = {INT2: "smallint", INT4: "integer", INT8: "bigint"}
_JSONB_WORDS = {"bool": "boolean", "int2": "smallint", "int4": "integer", "int8": "bigint", "float4": "real"}
_JSONB_WORDS |= {"float8": "double precision", "numeric": "numeric"}
_CASTS = {"int2": (2, "smallint"), "int4": (4, "integer"), "int8": (8, "bigint"), "oid": (4, "OID")}
"""The size of the result in bytes and the server's name of its type, by the function of a cast."""
_WIDTH = {INT2: 2, INT4: 4, INT8: 8, NUMERIC: 99, FLOAT4: 99, FLOAT8: 99}

_DIVISION = lazy_compile(r"(int\d+|numeric_|float\d+|cash_|interval_)(div|mod)(_.*)?|mod|div")
_INTEGER = lazy_compile(r"int(\d)\d?(pl|mi|mul)")


class Danger(Struct, frozen=True):
    """A call that fails on some rows.

    It fails on the ``occasion``; or, if ``always``, whatever the values, and ``occasion`` says on which rows.
    ``guarded``: a condition before it, joined with AND or OR, reads the same columns and probably excludes those rows.
    ``answer`` is the server's error.
    """

    location: int
    occasion: str
    remedy: str
    answer: ServerAnswer
    severity: Severity = "warning"
    always: bool = False
    guarded: bool = False

    @property
    def description(self) -> str:
        return self.occasion if self.always else f"when {self.occasion}"


_ADVICE = "exclude such rows with a CASE"
_BOUNDS = "range lower bound must be less than or equal to range upper bound"
_ANY_VALUE = "for every value that is not NULL"
_REACHED = "the conditions before this part do not decide about a row"
_ESCAPE_AT_END = "LIKE pattern must not end with escape character"
_SYNTAX_OF_PATTERN = ("2201B", "invalid regular expression", "a pattern that is not a valid regular expression")
_BY_NAME: dict[str, tuple[str, str, str]] = {
    # pg_proc.proname: SQLSTATE, the server's message, on which values
    "sqrt": ("2201F", "cannot take square root of a negative number", "a negative number"),
    "dsqrt": ("2201F", "cannot take square root of a negative number", "a negative number"),
    "ln": ("2201E", "cannot take logarithm of zero", "zero or a negative number"),
    "log": ("2201E", "cannot take logarithm of zero", "zero or a negative number"),
    "log10": ("2201E", "cannot take logarithm of zero", "zero or a negative number"),
    "exp": ("22003", "value out of range: overflow", "a large number"),
    "factorial": ("22003", "value overflows numeric format", "a large number"),
    "acos": ("22003", "input is out of range", "a number beyond 1"),
    "asin": ("22003", "input is out of range", "a number beyond 1"),
    "chr": ("54000", "requested character too large for encoding", "a number that is not a character"),
    "make_date": ("22008", "date field value out of range", "numbers that are not a valid date"),
    "make_time": ("22008", "time field value out of range", "numbers that are not a valid time"),
    "make_timestamp": ("22008", "date field value out of range", "numbers that are not a valid timestamp"),
    "jsonb_array_length": ("22023", "cannot get array length of a non-array", "jsonb that is not an array"),
    "json_array_length": ("22023", "cannot get array length of a non-array", "json that is not an array"),
    "jsonb_delete": ("22023", "cannot delete from scalar", "jsonb that is a scalar"),
    "get_byte": ("2202E", "index out of valid range", "a value that is too short"),
    "get_bit": ("2202E", "index out of valid range", "a value that is too short"),
    "set_byte": ("2202E", "index out of valid range", "a value that is too short"),
    "set_bit": ("2202E", "index out of valid range", "a value that is too short"),
    "convert_from": ("22021", "invalid byte sequence for encoding", "bytes that are not valid text"),
    "decode": ("22023", "invalid symbol found while decoding", "text that is not encoded in that way"),
    "bitand": ("22026", "cannot AND bit strings of different sizes", "bit strings of another size"),
    "bitor": ("22026", "cannot OR bit strings of different sizes", "bit strings of another size"),
    "bitxor": ("22026", "cannot XOR bit strings of different sizes", "bit strings of another size"),
}
_POWERS = frozenset(("power", "pow", "dpow", "numeric_power"))
_RANGES = lazy_compile(r"(int4|int8|num|date|ts|tstz)range")
_PARTS_OF_TIME = frozenset(("extract", "date_part"))
_PATTERNS = lazy_compile(r"(text|name|bpchar)(ic)?regex(eq|ne)|regexp_.*")
_LIKES = lazy_compile(r"(text|name|bpchar|bytea)(ic)?n?like|like|notlike")


class _FilterReader:
    """A filter that is looked at: the columns that each part of it reads are found once, from below."""

    def __init__(self, cache: SysCache, expr: Expr) -> None:
        self.cache = cache
        self._columns: dict[int, frozenset[int]] = {}
        for node in reversed(list(nodes(expr))):
            read = {self._columns[id(arg)] for arg in node.args}
            if node.node == "Var":
                read.add(frozenset((node.value,)))
            self._columns[id(node)] = read.pop() if len(read) == 1 else frozenset().union(*read)

    def columns(self, expr: Expr) -> frozenset[int]:
        """The numbers of the columns that a part reads."""
        return self._columns[id(expr)]

    def is_constant(self, expr: Expr) -> bool:
        return not self._columns[id(expr)] and expr.node != "CaseTestExpr"


def dangers(cache: SysCache, expr: Expr) -> Iterator[Danger]:
    """The calls of a filter that can fail, in the order of the text; what CASE guards only where no row can pass."""
    reader = _FilterReader(cache, expr)
    todo: list[tuple[Expr, frozenset[int], frozenset[int], bool]] = [(expr, frozenset(), frozenset(), False)]
    while todo:
        # `kept`: the columns that the conditions of the CASEs around it read; `checked`: those of the AND or OR arms
        # before it; `skipped`: whether an arm before it can decide a row, so that it is not evaluated.
        node, outer, checked, skipped = todo.pop()
        if node.node in _CALLS:
            danger = _of_call(reader, node, checked)
            if danger is not None and (danger.always or not _is_guarded(reader, node, outer)):
                # The server evaluates a constant part before it looks at any row.
                reached = not skipped or reader.is_constant(node)
                yield danger if reached or not danger.always else replace(danger, occasion=_REACHED, always=False)
        below: list[tuple[Expr, frozenset[int], frozenset[int], bool]] = []
        if node.node == "CaseExpr":
            first = 1 if node.value else 0
            conditions: frozenset[int] = frozenset()
            for number, arg in enumerate(node.args):
                below.append(
                    (
                        arg,
                        outer | conditions if number > first else outer,
                        checked,
                        skipped or number > first,
                    )
                )
                if number < first or (number - first) % 2 == 0:
                    conditions |= reader.columns(arg)
        elif node.node == "BoolExpr" and node.value != "NOT":
            for number, arg in enumerate(node.args):
                below.append((arg, outer, checked, skipped or number > 0))
                checked = checked | reader.columns(arg)
        else:
            lazy = node.node == "CoalesceExpr"
            below = [(arg, outer, checked, skipped or (lazy and number > 0)) for number, arg in enumerate(node.args)]
        todo.extend(reversed(below))


def _is_guarded(reader: _FilterReader, expr: Expr, conditions: frozenset[int]) -> bool:
    danger = _of_call(reader, expr, conditions) if conditions else None
    return danger is not None and danger.guarded


def _of_call(reader: _FilterReader, expr: Expr, checked: frozenset[int]) -> Danger | None:
    if not expr.functions:
        return None
    cache = reader.cache
    name = cache.proc(expr.functions[0]).name
    location = expr.start if expr.location < 0 else expr.location
    if ("div" in name or "mod" in name) and _DIVISION.fullmatch(name) and len(expr.args) == 2:
        return _division(reader, expr, location, checked)
    if reader.is_constant(expr):
        return None
    argument = expr.args[0]
    guarded = bool(reader.columns(expr)) and reader.columns(expr) <= checked
    if argument.type == JSONB and name in _JSONB_WORDS:
        answer = ServerAnswer("22023", f"cannot cast jsonb string to type {_JSONB_WORDS[name]}")
        advice = "test jsonb_typeof(...) in a CASE before the cast, or compare the text (->>) instead"
        return Danger(
            location, "jsonb of another type is cast to " + _JSONB_WORDS[name], advice, answer, guarded=guarded
        )
    # By the function and not by the type of the cast: int4() makes an oid, too, of a smallint.
    width, word = _CASTS.get(name, (99, ""))
    if _WIDTH.get(argument.type, 0) > width:
        if name != "oid" and _is_small_remainder(cache, argument, width):
            return None
        advice = "compare without the cast: the constant can have the column's type"
        answer = ServerAnswer("22003", f"{word} out of range")
        # Of a part of a moment it takes an infinite one, or seconds since 1970.
        part = bool(argument.functions) and cache.proc(argument.functions[0]).name in _PARTS_OF_TIME
        severity: Severity = "note" if part else "warning"
        return Danger(location, f"a number too large for {word} is cast", advice, answer, severity, guarded=guarded)
    if name.endswith(("pl", "mi", "mul")) and _INTEGER.fullmatch(name):
        word = _TYPE_WORDS.get(expr.type, "integer")
        advice = "compute in a wider type (a::bigint, a::numeric), or move the arithmetic to the constant's side"
        answer = ServerAnswer("22003", f"{word} out of range")
        return Danger(location, f"{word} arithmetic overflows", advice, answer, "note", guarded=guarded)
    if name.endswith("range") and _RANGES.fullmatch(name) and len(expr.args) > 1:
        occasion = f"{name}() is given a lower bound above the upper one"
        return Danger(location, occasion, _ADVICE, ServerAnswer("22000", _BOUNDS), "note", guarded=guarded)
    if name in _POWERS:
        return _power(cache, expr, location, guarded=guarded)
    always = _of_constant_pattern(name, expr, location) or _of_constant_unit(name, expr, location)
    return always or _by_name(reader, name, expr, location, guarded=guarded)


def _is_small_remainder(cache: SysCache, expr: Expr, width: int) -> bool:
    """Return whether it is what a division by a constant leaves over that fits into so many bytes."""
    if not expr.functions or cache.proc(expr.functions[0]).name not in ("int8mod", "mod"):
        return False
    divisor = _number(expr.args[-1])
    return divisor is not None and abs(divisor) <= 1 << (8 * width - 1)


_EXACT = 16
"""The largest power of a bigint that is surely a double precision number."""


def _power(cache: SysCache, expr: Expr, location: int, *, guarded: bool) -> Danger | None:
    """dpow and numeric_power."""
    base, exponent = expr.args
    known = _number(exponent)
    if known is None:
        values, answer = "large numbers, or zero to a negative power", ("22003", "value out of range: overflow")
    elif known < 0:
        values, answer = "zero", ("2201F", "zero raised to a negative power is undefined")
    elif not known.is_integer():
        values = "a negative number"
        answer = ("2201F", "a negative number raised to a non-integer power yields a complex result")
    elif known <= _EXACT and (expr.type == NUMERIC or _is_integer(base)):
        return None
    else:
        values, answer = "a large number", ("22003", "value out of range: overflow")
    name = cache.proc(expr.functions[0]).name
    severity: Severity = "note" if values == "a large number" else "warning"
    return Danger(location, f"{name}() is given {values}", _ADVICE, ServerAnswer(*answer), severity, guarded=guarded)


def _number(expr: Expr) -> float | None:
    """The value of a constant, by itself or cast."""
    while _is_cast(expr):
        expr = expr.args[0]
    try:
        return float(expr.value) if expr.node == "Const" and not expr.null else None
    except (TypeError, ValueError):
        return None


def _is_integer(expr: Expr) -> bool:
    while _is_cast(expr) and expr.type in (FLOAT8, NUMERIC):
        expr = expr.args[0]
    return expr.type in (INT2, INT4, INT8)


def _is_cast(expr: Expr) -> bool:
    return expr.node == "FuncExpr" and expr.form in (IMPLICIT, EXPLICIT_CAST) and len(expr.args) == 1


def _of_constant_unit(name: str, expr: Expr, location: int) -> Danger | None:
    """extract(yer FROM ...): which words are units the server knows when it runs it."""
    if name not in ("extract", "date_part", "date_trunc"):
        return None
    unit, moment = expr.args[:2]
    if unit.node != "Const" or not isinstance(unit.value, str):
        return None
    from pubcheck.postgres.executor.datetime.fields import FIELDS

    # date_part() of a date is that of its midnight.
    fields = FIELDS.get(TIMESTAMP if (name, moment.type) == ("date_part", DATE) else moment.type)
    try:
        if fields is not None:
            fields.named(unit.value)
    except ServerError as error:
        occasion, advice = _ANY_VALUE, "write a unit that the server knows"
        return Danger(location, occasion, advice, ServerAnswer(error.sqlstate, error.message), always=True)
    except Unknowable:
        pass
    return None


def _of_constant_pattern(name: str, expr: Expr, location: int) -> Danger | None:
    """A pattern that is none: the server reads it when it runs it, and LIKE no further than it has to."""
    pattern = expr.args[1] if len(expr.args) > 1 else expr
    if pattern.node != "Const" or not isinstance(pattern.value, str):
        return None
    if _LIKES.fullmatch(name) and (len(pattern.value) - len(pattern.value.rstrip("\\"))) % 2:
        occasion, advice = "a string begins like its pattern", "write \\\\ for a backslash at the end of a pattern"
        return Danger(location, occasion, advice, ServerAnswer("22025", _ESCAPE_AT_END))
    if not _PATTERNS.fullmatch(name) or len(expr.args) > (3 if name == "regexp_replace" else 2):
        return None  # with flags it may be an expression of another kind, or a plain text
    from pubcheck.postgres.input.jsonpath import refuse_regex

    try:
        refuse_regex(pattern.value)
    except ServerError as error:
        occasion, advice = _ANY_VALUE, "write a valid regular expression"
        return Danger(location, occasion, advice, ServerAnswer(error.sqlstate, error.message), always=True)
    return None


def _by_name(reader: _FilterReader, name: str, expr: Expr, location: int, *, guarded: bool) -> Danger | None:
    known = _BY_NAME.get(name)
    if known is None and len(expr.args) > 1 and not reader.is_constant(expr.args[1]):
        if _PATTERNS.fullmatch(name):
            known = _SYNTAX_OF_PATTERN
        elif _LIKES.fullmatch(name):
            known = ("22025", _ESCAPE_AT_END, "a pattern that ends with a backslash")
    if name in ("substring", "substr") and len(expr.args) == 3 and not reader.is_constant(expr.args[2]):
        known = ("22011", "negative substring length not allowed", "a negative length")
    if known is None:
        return None
    sqlstate, message, values = known
    return Danger(location, f"{name}() is given {values}", _ADVICE, ServerAnswer(sqlstate, message), guarded=guarded)


def _division(reader: _FilterReader, expr: Expr, location: int, checked: frozenset[int]) -> Danger | None:
    divisor = expr.args[1]
    zero = _zero(reader, divisor)
    if zero is False:
        return None
    answer = ServerAnswer("22012", "division by zero")
    if zero:
        occasion = "on every row" if reader.is_constant(expr) else _ANY_VALUE
        return Danger(location, occasion, "write another divisor", answer, always=True)
    advice = "write CASE WHEN ... = 0 THEN false ELSE ... END, or divide by NULLIF(..., 0), which gives NULL"
    columns = reader.columns(divisor)
    return Danger(location, "the divisor is zero", advice, answer, guarded=bool(columns) and columns <= checked)


def _zero(reader: _FilterReader, expr: Expr) -> bool | None:
    """Return whether a divisor is zero: True, False (never, or NULL), or None: on some rows."""
    if expr.node == "Const":
        if expr.null:
            return False
        try:
            return float(expr.value) == 0
        except (TypeError, ValueError):
            return None
    if expr.node == "NullIfExpr":
        return False if _zero(reader, expr.args[1]) else None
    if expr.node == "MinMaxExpr" and expr.value == "GREATEST":
        return False if any(_positive(arg) for arg in expr.args) else None
    if expr.node in ("FuncExpr", "OpExpr", "RelabelType") and len(expr.args) == 1:
        # A sign or a cast of a constant.
        return _zero(reader, expr.args[0]) if reader.is_constant(expr) else None
    return None


def _positive(expr: Expr) -> bool:
    try:
        return expr.node == "Const" and not expr.null and float(expr.value) > 0
    except (TypeError, ValueError):
        return False
