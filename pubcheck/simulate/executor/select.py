"""SELECT as a statement: its rows, and the effect of the functions that it calls."""

from __future__ import annotations

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.query import plan
from pubcheck.simulate.executor.statement_scope import statement_scope


def rows_of(session: Backend, node: Node) -> Result:
    """The rows of a query."""
    scope = statement_scope(session, node)
    inner = Nested(scope)
    body = {key: value for key, value in node.items() if key != "withClause"}
    outputs = analyze_query(inner, {"SelectStmt": body})
    if outputs is None:
        raise Unknowable("the columns of a SELECT")
    query = plan(session, inner)
    outer, session.after = session.after, []
    transitions, session.transitions = session.transitions, {}
    try:
        rows = tuple(query.run())
        for common in scope.common_tables:
            common.finish()
        session.fire_after()
    finally:
        session.after, session.transitions = outer, transitions
    return Result(query.names, query.types, rows, len(rows), in_order=query.in_order or query.certain)
