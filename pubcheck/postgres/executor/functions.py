"""The functions of pg_proc oids: the environment of their evaluation, their errors, and their implementations, which
are found by name and argument types in a module for each family. ``pubcheck.postgres.datum`` has the values.

A family's ``FUNCTIONS`` are functions of values that are not NULL (of any, where pg_proc says that the function is not
strict), under the function's name, or its name and argument types where it has several. Its ``MAKERS`` return such a
function for a call: for functions that depend on types or collations.

Before that, calls are as the planner rewrites them (optimizer/util/clauses.c): arguments at their places, bodies of
functions in SQL in the place of the call. Steps of a compiled expression are functions of a row.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from pubcheck.postgres.analysis.pathways import find_pathway
from pubcheck.postgres.budget import Budget
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.input import InputContext
from pubcheck.postgres.oids import TEXT
from pubcheck.postgres.output import OutputContext
from pubcheck.postgres.primnodes import EXPLICIT_CAST, UNKNOWN, Expr
from pubcheck.postgres.session.syscache import SysCache

if TYPE_CHECKING:
    from pubcheck.postgres.catalog.rows import Proc
    from pubcheck.postgres.primnodes import Expr
from collections.abc import Mapping, Sequence

from pubcheck.postgres.datum import Array


class Context:
    """The environment of an evaluation, besides the row.

    ``inputs`` is the context of reading literals: the major, the system caches, the settings. ``defaults``: a setting
    that is not set there has the server's default; otherwise what depends on it is Unknowable. ``locale`` is the
    database's collation and character classes ("C", "C.UTF-8", "en_US.UTF-8"...), None if it is unknown: results that
    depend on it are Unknowable then. ``budget`` is for all rows together.
    """

    __slots__ = ("_output", "budget", "cache", "defaults", "inputs", "locale", "major")

    def __init__(
        self, inputs: InputContext, locale: str | None = None, budget: Budget | None = None, *, defaults: bool = False
    ) -> None:
        self.inputs = inputs
        self.cache = inputs.cache
        self.major = inputs.major
        self.locale = locale
        self.budget = budget or Budget()
        self.defaults = defaults
        self._output: OutputContext | None = None

    @property
    def output(self) -> OutputContext:
        """The context of writing values as text."""
        if self._output is None:
            self._output = OutputContext(self.major.number, self.cache, self._setting)
        return self._output

    def _setting(self, name: str) -> Any:
        value = self.inputs.setting(name)
        if value is None and not self.defaults and name != "search_path":
            raise Unknowable(f"the setting {name}")
        return value


def evaluation_error(sqlstate: str, message: str, detail: str | None = None, hint: str | None = None) -> ServerError:
    """An ERROR that is raised for a row, while changes are decoded."""
    return ServerError(sqlstate, message, key="row-error", detail=detail, hint=hint)


def out_of_range(type_name: str, sqlstate: str = "22003") -> ServerError:
    return evaluation_error(sqlstate, f"{type_name} out of range")


def division_by_zero() -> ServerError:
    return evaluation_error("22012", "division by zero")


def substring(value: Any, start: int, length: int | None = None) -> Any:
    """text_substring and bytea_substring: ``start`` counts from 1 and may lie before the beginning."""
    if length is None:
        return value[max(start, 1) - 1 :]
    if length < 0:
        raise evaluation_error("22011", "negative substring length not allowed")
    return value[max(start, 1) - 1 : max(start + length, 1) - 1]


def overlay(value: Any, by: Any, start: int, length: int | None = None) -> Any:
    """text_overlay and bytea_overlay."""
    if start <= 0:
        raise evaluation_error("22011", "negative substring length not allowed")
    after = start + (len(by) if length is None else length)
    if not -(1 << 31) <= after < 1 << 31:
        raise evaluation_error("22003", "integer out of range")
    return value[: start - 1] + by + value[max(after, 1) - 1 :]


Order = Callable[[Any, Any], int]


Function = Callable[..., Any]


class Call(NamedTuple):
    """A call of ``proc`` by ``expr``."""

    context: Context
    expr: Expr
    proc: Proc

    @property
    def collation(self) -> int:
        return self.expr.input_collation


Maker = Callable[[Call], Function]


class Implementation(NamedTuple):
    """``strict``: NULL is given for a constant NULL; ``guarded``: and the function is called without NULLs only.

    What ``function`` does is paid for; who calls ``plain`` pays.
    """

    plain: Function
    function: Function
    strict: bool
    guarded: bool


_FAMILIES = {
    family: frozenset(types.split())
    for family, types in {
        "integers": "int2 int4 int8 oid bool xid cid xid8 pg_lsn money regproc regclass regtype anyenum",
        "floats": "float4 float8",
        "numeric": "numeric",
        "text": "text varchar bpchar name char any anyelement anyarray",
        "binary": "bytea bit varbit uuid macaddr macaddr8 inet cidr",
        "datetime": "date time timetz timestamp timestamptz interval",
        "json": "json jsonb",
        "json_building": "any anyelement anyarray record _text json jsonb",
        "regexp_functions": "text",
        "arrays": "anyarray anycompatiblearray anycompatible anyelement any",
        "ranges": "anyrange anymultirange int4range int8range numrange daterange tsrange tstzrange",
    }.items()
}
_AFTERWARDS = ("text", "binary", "hashing", "arrays", "json_building")
"""Families that may have functions of any type."""

_INLINED = frozenset(("date_part(text,date)", "substring(text,text,text)"))
"""Functions in SQL that the planner puts the body of in their place: a part of it may fail though another is NULL."""


def implementation(context: Context, call: Call) -> Implementation:
    """Return the implementation of a function. One that is not implemented raises Unknowable when it is called."""
    proc = call.proc
    if proc.oid >= FIRST_NORMAL_OID:
        raise Unknowable(f"what the function {proc.name} gives")
    names = [context.cache.type(oid).name for oid in proc.arguments]
    signature = f"{proc.name}({','.join(names)})"
    families = [family for name in names for family, types in _FAMILIES.items() if name in types]
    families += [f for f, types in _FAMILIES.items() if context.cache.type(proc.returns).name in types]
    for family in dict.fromkeys((*families, *_AFTERWARDS)):
        module: Any = import_module(f"pubcheck.postgres.executor.{family}")
        functions, makers = (getattr(module, table, {}) for table in ("FUNCTIONS", "MAKERS"))
        for name in (signature, proc.name):
            function = functions.get(name)
            if function is None and name in makers:
                function = _implementation(makers[name], call)
            if function is not None:
                paid = context.budget.bounded(function)
                return Implementation(function, paid, proc.strict, proc.strict and signature not in _INLINED)
    unknown = _unknown(Unknowable(f"what {signature} gives"))
    return Implementation(unknown, unknown, proc.strict, proc.strict and signature not in _INLINED)


def _implementation(maker: Maker, call: Call) -> Function:
    try:
        return maker(call)
    except Unknowable as unknown:
        return _unknown(unknown)


def _unknown(unknown: Unknowable) -> Function:
    def function(*values: Any) -> Any:
        raise unknown.with_traceback(None)

    return function


_TEXTCAT, _QUOTE_LITERAL, _QUOTE_NULLABLE = 1258, 1283, 1289
_OF_TEXTS = {2003: _TEXTCAT, 2004: _TEXTCAT, 1285: _QUOTE_LITERAL, 1290: _QUOTE_NULLABLE}
"""textanycat, anytextcat, quote_literal(anyelement), quote_nullable(anyelement) -> the function of texts."""


def inlined(cache: SysCache, expr: Expr) -> Expr:
    """A call with the function's body in its place; any other call as it is."""
    body = _OF_TEXTS.get(expr.functions[0])
    if body is None:
        return expr
    return replace(expr, args=[_as_text(cache, argument) for argument in expr.args], functions=(body,))


def _as_text(cache: SysCache, expr: Expr) -> Expr:
    if expr.type == UNKNOWN:
        return expr
    path, function = find_pathway(cache, TEXT, expr.type, "e")
    if path == "relabel":
        return expr
    if path == "function":
        return Expr("FuncExpr", TEXT, [expr], expr.location, functions=(function,), form=EXPLICIT_CAST)
    return Expr("CoerceViaIO", TEXT, [expr], expr.location)


_DEFAULTS = {"make_interval": 0}
"""The value of every argument that a call in named notation leaves out, by the function's name."""


def placed(cache: SysCache, expr: Expr) -> list[Expr]:
    """The arguments of a call at their places; a named one may be at another (reorder_function_arguments)."""
    if not any(argument.node == "NamedArgExpr" for argument in expr.args):
        return expr.args
    proc = cache.proc(expr.functions[0])
    names = list(proc.argument_names)
    places = {
        names.index(argument.value) if argument.node == "NamedArgExpr" else number: argument
        for number, argument in enumerate(expr.args)
    }
    absent = Expr("Const", 0, value=_DEFAULTS.get(proc.name))
    if absent.value is None and max(places) >= len(places):
        raise Unknowable(f"a call of {proc.name} that leaves arguments out")
    return [places.get(number, absent) for number in range(max(places) + 1)]


Row = Mapping[int, Any]
"""Attribute number -> the value, None for NULL; it has every column that the filter reads."""
Step = Callable[[Row], Any]


class Constant:
    """A step whose value is known already."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, row: Row) -> Any:
        return self.value


def wrapped(step: Step, low: int) -> Step:
    """Return a step that reads 32 bits as another type, whose least value is ``low``."""

    def run(row: Row) -> Any:
        value = step(row)
        return None if value is None else (value - low) % (1 << 32) + low

    return run


def both(first: Step, second: Step, ending: bool, otherwise: bool | None) -> Step:
    """Return AND or OR of two arguments, the most common form."""

    def run(row: Row) -> bool | None:
        left = first(row)
        if left is ending:
            return bool(ending)
        right = second(row)
        if right is ending:
            return bool(ending)
        return None if left is None or right is None else otherwise

    return run


def applied(function: Function, args: Sequence[Step]) -> Step:
    """Return the call of a strict function: all arguments are evaluated, and it is called if none is NULL."""
    if len(args) == 2:
        left, right = args
        if isinstance(right, Constant):
            fixed = right.value

            def with_constant(row: Row) -> Any:
                value = left(row)
                return None if value is None else function(value, fixed)

            return with_constant

        def binary(row: Row) -> Any:
            first, second = left(row), right(row)
            return None if first is None or second is None else function(first, second)

        return binary
    if len(args) == 1:
        only = args[0]

        def unary(row: Row) -> Any:
            value = only(row)
            return None if value is None else function(value)

        return unary

    def many(row: Row) -> Any:
        values = [arg(row) for arg in args]
        return None if None in values else function(*values)

    return many


def applied_to_nulls(function: Function, args: Sequence[Step]) -> Step:
    """Return the call of a function that is not strict."""
    return lambda row: function(*[arg(row) for arg in args])


def nested(parts: list[Array | None]) -> Array:
    """Return ARRAY[] of arrays (ExecEvalArrayExpr): NULL and empty ones are skipped, the others have one shape."""
    arrays = [part for part in parts if part is not None and part.elements]
    if not arrays:
        return Array([])
    mismatch = evaluation_error("2202E", "multidimensional arrays must have array expressions with matching dimensions")
    shape = arrays[0].lengths, arrays[0].lowers
    if len(arrays) < len(parts) or any((part.lengths, part.lowers) != shape for part in arrays):
        raise mismatch
    if len(arrays[0].lengths) >= 6:
        raise evaluation_error("54000", "number of array dimensions (7) exceeds the maximum allowed (6)")
    elements = [element for part in arrays for element in part.elements]
    return Array(elements, (len(arrays), *arrays[0].lengths), (1, *arrays[0].lowers))
