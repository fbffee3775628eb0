"""Expressions whose value may never change: of generated columns, partition keys and indexes (optimizer/util/clauses.c:
contain_mutable_functions_after_planning).

The planner simplifies the expression first: it removes branches that constants decide, and inlines the bodies of SQL
functions, which are not known here.
"""

from __future__ import annotations

from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.analysis.volatility import IMMUTABLE, MUTABLE, mutability
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.planner_folding import planned
from pubcheck.postgres.primnodes import Expr, nodes


def refuse_mutable(p: ParseState, expr: Expr, message: str) -> Expr:
    """Return the expression as the planner leaves it.

    Raises ServerError 42P17 for a function that is not immutable, the errors of constant folding, and Unknowable if
    either is not known.
    """
    left = planned(p, expr)
    worst = max((mutability(p.cache, node) for node in nodes(left)), default=IMMUTABLE)
    if worst == MUTABLE:
        raise ServerError("42P17", message)
    if worst != IMMUTABLE:
        raise Unknowable("what the planner makes of the expression")
    return left
