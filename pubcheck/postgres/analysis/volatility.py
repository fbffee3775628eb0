"""The volatility of the functions that an expression's nodes call (nodes/nodeFuncs.c: check_functions_in_node;
optimizer/util/clauses.c: contain_mutable_functions).
"""

from __future__ import annotations

from pubcheck.postgres.analysis.pathways import find_pathway
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.oids import TEXT
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.session.syscache import SysCache

IMMUTABLE, PERHAPS, MUTABLE = range(3)
"""PERHAPS is the answer for an SQL function, whose body the planner may put in its place."""

_BY_TEXT = frozenset((1285, 1290, 2003, 2004))
"""quote_literal, quote_nullable and || of anything: SQL functions that cast it to text and do the rest with that."""


def mutability(cache: SysCache, node: Expr) -> int:
    """The mutability of the functions that a node itself calls. Raises Unknowable."""
    if node.node == "SQLValueFunction":
        return MUTABLE
    if node.node == "CoerceViaIO":
        return max(_io(cache, node.args[0].type, out=True), _io(cache, node.type, out=False))
    return max((_of_function(cache, node, oid) for oid in node.functions if oid), default=IMMUTABLE)


def _of_function(cache: SysCache, node: Expr, oid: int) -> int:
    if oid in _BY_TEXT:
        return max(_as_text(cache, arg.type) for arg in node.args)
    row = cache.proc(oid)
    if row.volatility == "i":
        return IMMUTABLE
    return PERHAPS if row.inlined else MUTABLE


def _as_text(cache: SysCache, oid: int) -> int:
    """The mutability of a cast of a type to text."""
    how, function = find_pathway(cache, TEXT, oid, "e")
    if how == "function":
        return IMMUTABLE if cache.proc(function).volatility == "i" else MUTABLE
    return _io(cache, oid, out=True) if how == "io" else IMMUTABLE


def _io(cache: SysCache, oid: int, *, out: bool) -> int:
    """Return the volatility of a type's input or output function.

    Those of the unit's types are the server's own, and stable: of enums, ranges, rows and arrays. Raises Unknowable for
    a base type.
    """
    oid, _ = cache.base_type(oid)
    if oid >= FIRST_NORMAL_OID:
        row = cache.type(oid)
        if row.kind in "ecrm" or row.category == "A":
            return MUTABLE
        raise Unknowable(f'the functions of type "{row.name}"')
    function = cache.io_functions(oid)[out]
    return IMMUTABLE if not function or cache.proc(function).volatility == "i" else MUTABLE
