"""Expressions whose value may never change: of generated columns and partition keys (optimizer/util/clauses.c:
contain_mutable_functions_after_planning).

The planner simplifies the expression first: it puts the bodies of SQL functions in their place, and leaves out what
constants decide. Where that may have taken a mutable function away, nothing is known.
"""

from __future__ import annotations

from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.expressions.coerce import find_pathway
from pubcheck.postgres.expressions.nodes import Expr, nodes
from pubcheck.postgres.expressions.state import ParseState
from pubcheck.postgres.oids import TEXT

IMMUTABLE, PERHAPS, MUTABLE = range(3)

_BY_TEXT = frozenset((1285, 1290, 2003, 2004))
"""quote_literal, quote_nullable and || of anything: SQL functions that cast it to text and do the rest with that."""


def refuse_mutable(p: ParseState, expr: Expr, message: str) -> None:
    """Raises ServerError 42P17 for an expression with a function that is not immutable, Unknowable where that is
    not known."""
    if all(_of_node(p, node) == IMMUTABLE for node in nodes(expr)):
        return
    try:
        known, _ = _mutability(p, expr)
    except RecursionError:
        known = PERHAPS
    if known == MUTABLE:
        raise ServerError("42P17", message)
    raise Unknowable("what the planner makes of the expression")


def _mutability(p: ParseState, node: Expr) -> tuple[int, bool]:
    """How mutable an expression is, and whether it is constant."""
    below = [_mutability(p, arg) for arg in node.args]
    worst = max((known for known, _ in below), default=IMMUTABLE)
    worst = max(worst, _of_node(p, node))
    if worst == MUTABLE and _may_vanish(node, [constant for _, constant in below]):
        worst = PERHAPS
    constant = node.node not in ("Var", "Param", "SubLink") and worst == IMMUTABLE and all(fixed for _, fixed in below)
    return worst, constant


def _may_vanish(node: Expr, constant: list[bool]) -> bool:
    """Whether constants among the arguments may decide for the others."""
    if node.node == "CaseExpr":
        return any(constant[:-1:2] if not node.value else constant)
    if node.node in ("BoolExpr", "CoalesceExpr"):
        return any(constant)
    return any(arg.node == "Const" and arg.null for arg in node.args)


def _of_node(p: ParseState, node: Expr) -> int:
    """What the functions that a node itself calls come to (check_functions_in_node)."""
    if node.node == "SQLValueFunction":
        return MUTABLE
    if node.node == "CoerceViaIO":
        return max(_io(p, node.args[0].type, out=True), _io(p, node.type, out=False))
    return max((_of_function(p, node, oid) for oid in node.functions if oid), default=IMMUTABLE)


def _of_function(p: ParseState, node: Expr, oid: int) -> int:
    if oid in _BY_TEXT:
        return max(_as_text(p, arg.type) for arg in node.args)
    row = p.cache.proc(oid)
    if row.volatility == "i":
        return IMMUTABLE
    return PERHAPS if row.inlined else MUTABLE


def _as_text(p: ParseState, oid: int) -> int:
    """What casting a value of a type to text comes to."""
    how, function = find_pathway(p.cache, TEXT, oid, "e")
    if how == "function":
        return IMMUTABLE if p.cache.proc(function).volatility == "i" else MUTABLE
    return _io(p, oid, out=True) if how == "io" else IMMUTABLE


def _io(p: ParseState, oid: int, *, out: bool) -> int:
    """Of a type's input or output function. Those of the unit's types are the server's own, and stable: of enums,
    ranges, rows and arrays. Raises Unknowable for a base type."""
    oid, _ = p.cache.base_type(oid)
    if oid >= FIRST_NORMAL_OID:
        row = p.cache.type(oid)
        if row.kind in "ecrm" or row.category == "A":
            return MUTABLE
        raise Unknowable(f'the functions of type "{row.name}"')
    function = p.cache.io_functions(oid)[out]
    return IMMUTABLE if not function or p.cache.proc(function).volatility == "i" else MUTABLE
