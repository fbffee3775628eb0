"""Calls as the planner rewrites them (optimizer/util/clauses.c): arguments at their places, bodies of functions in SQL
in the place of the call."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.analysis.pathways import find_pathway
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.oids import TEXT
from pubcheck.postgres.primnodes import EXPLICIT_CAST, UNKNOWN, Expr
from pubcheck.postgres.session.syscache import SysCache

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
