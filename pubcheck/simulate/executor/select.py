"""SELECT as a statement: its rows, and the effect of the functions that it calls."""

from __future__ import annotations

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.query import plan
from pubcheck.simulate.executor.statement_scope import statement_scope
from pubcheck.simulate.not_followed import NotFollowed


def rows_of(session: Backend, node: Node) -> Result:
    """The rows of a query. A row that is locked (FOR UPDATE) is not followed."""
    scope = statement_scope(session, node)
    inner = Nested(scope)
    body = {key: value for key, value in node.items() if key not in ("withClause", "lockingClause")}
    outputs = analyze_query(inner, {"SelectStmt": body})
    if outputs is None:
        raise Unknowable("the columns of a SELECT")
    query = plan(session, inner)
    outer, session.after = session.after, []
    try:
        rows = tuple(query.run())
        for common in scope.common_tables:
            common.finish()
        session.fire_after()
    finally:
        session.after = outer
    if "lockingClause" in node and rows:
        raise NotFollowed("SELECT ... FOR UPDATE")
    return Result(query.names, query.types, rows, len(rows))
