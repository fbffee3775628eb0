"""Defaults that the server refuses when they are written (catalog/heap.c: cookDefault).

Such a refusal is not reported; the table or column is then not created, or keeps its default.
"""

from __future__ import annotations

from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.certain_refusals import only_certain
from pubcheck.postgres.ddl.stored_expressions import analyze_stored
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import IMPLICIT
from pubcheck.postgres.session import Session


def refuse_default_value(session: Session, relation: Relation, column: Column, expression: Node) -> None:
    """Raise ServerError if the server certainly refuses a default."""
    with only_certain(session):
        p, expr = analyze_stored(session, relation, expression, "DEFAULT expressions")
        if coerce_to_target_type(p, expr, expr.type, column.type, column.typmod, "a", IMPLICIT, -1) is None:
            raise ServerError(
                "42804",
                f'column "{column.name}" is of type {session.syscache.format_type(column.type)} '
                f"but default expression is of type {session.syscache.format_type(expr.type)}",
                hint="You will need to rewrite or cast the expression.",
            )
        assign_collations(p, expr)


def refuse_default_of_rows(session: Session, relation: Relation, name: str, expression: Node) -> None:
    """Raise ServerError if a new column's default fails for the existing rows.

    The server evaluates its constants even if there is no row (ATExecAddColumn).
    """
    column = relation.column(name)
    if column is None:
        return
    # Loaded only where it does not show at a glance.
    from pubcheck.postgres.executor.planner_folding import planned

    with only_certain(session):
        p, expr = analyze_stored(session, relation, expression, "DEFAULT expressions")
        coerced = coerce_to_target_type(p, expr, expr.type, column.type, column.typmod, "a", IMPLICIT, -1)
        if coerced is not None:
            assign_collations(p, coerced)
            planned(p, coerced)
