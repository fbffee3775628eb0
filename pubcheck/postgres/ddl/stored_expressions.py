"""Expressions in definitions: defaults, CHECK, GENERATED, keys and predicates of indexes, partition keys and bounds,
USING of a new type.
"""

from __future__ import annotations

from pubcheck.postgres.analysis.analyze import transform
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import find
from pubcheck.postgres.primnodes import Expr
from pubcheck.postgres.session import Session


def analyze_stored(session: Session, relation: Relation, tree: Node, clause: str) -> tuple[ParseState, Expr]:
    """Return an expression over a relation as the server analyses it, which calls it ``clause`` (ParseExprKindName).

    Raises ServerError if the server refuses it, Unknowable if that depends on something unknown.
    """
    refuse_out_of_place(tree, clause.removesuffix("s"))
    p = parse_state(session, relation)
    p.clause = clause
    return p, transform(p, tree)


def refuse_out_of_place(tree: Node, where: str, columns: str = "") -> None:
    """Raise ServerError 0A000 for a sub-select (transformSubLink), and for a column if ``columns`` names a clause that
    must not have one (transformColumnRef).
    """
    for kind, _ in find(tree, "SubLink", "ColumnRef") if columns else find(tree, "SubLink"):
        construct = f"subquery in {where}" if kind == "SubLink" else f"column reference in {columns}"
        raise ServerError("0A000", f"cannot use {construct}")
