"""The part of a row filter that the server evaluates.

The planner removes conditions that constants decide. NOT NULL columns decide some tests before the other arguments are
reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import BOOL
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.session import Session

if TYPE_CHECKING:
    from pubcheck.postgres.session.syscache import SysCache

_COMPARISONS = frozenset(("=", "<>", "<", ">", "<=", ">="))


def evaluated_part(session: Session, relation: Relation, expr: Expr) -> Expr:
    """Return the filter without the parts that are evaluated on no row; all of it where that is not known, or where
    the server fails before it looks at any row."""
    # Loaded only where a part of a filter can fail.
    from pubcheck.postgres.analysis.row_filter import parse_state
    from pubcheck.postgres.executor.planner_folding import planned

    p = parse_state(session, relation)
    try:
        planned(p, expr)
        return planned(p, _decided(session.syscache, relation, expr))
    except (ServerError, Unknowable, RecursionError):
        return expr


def _decided(cache: SysCache, relation: Relation, expr: Expr) -> Expr:
    """The expression with the tests that NOT NULL columns decide."""
    if expr.node == "NullTest" and _is_never_null(cache, relation, expr.args[0]):
        return Expr("Const", BOOL, location=expr.location, value=expr.value == "IS_NOT_NULL")
    args = [_decided(cache, relation, arg) for arg in expr.args]
    if expr.node == "CoalesceExpr":
        last = next((count for count, arg in enumerate(args, 1) if _is_never_null(cache, relation, arg)), len(args))
        args = args[:last]
    return replace(expr, args=args) if args else expr


def _is_never_null(cache: SysCache, relation: Relation, expr: Expr) -> bool:
    if expr.node == "Var":
        column = relation.columns[expr.value - 1] if expr.value > 0 else None
        return column is not None and column.not_null and column.generated != "v"
    if expr.node == "Const":
        return not expr.null
    if expr.node == "OpExpr" and cache.operator(expr.operators[0]).name in _COMPARISONS:
        return all(_is_never_null(cache, relation, arg) for arg in expr.args)
    return expr.node == "RelabelType" and _is_never_null(cache, relation, expr.args[0])
