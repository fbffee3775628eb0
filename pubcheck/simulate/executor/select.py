"""SELECT as a statement: its rows, and the effect of the functions that it calls."""

from __future__ import annotations

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.query import plan
from pubcheck.simulate.executor.statement_scope import statement_scope
from pubcheck.simulate.log import Record
from pubcheck.simulate.not_followed import NotFollowed


def rows_of(session: Backend, node: Node) -> Result:
    """The rows of a query."""
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
    if "lockingClause" in node:
        _lock(session, len(rows))
    return Result(query.names, query.types, rows, len(rows))


def _lock(session: Backend, rows: int) -> None:
    """FOR UPDATE: each lock is logged, in a transaction with an id (heap_lock_tuple)."""
    others = (other for other in session.database.sessions.values() if other is not session)
    if any(other.transaction is not None for other in others):
        raise NotFollowed("SELECT ... FOR UPDATE while another transaction is open")
    for _ in range(rows):
        session.database.append(Record, 14, xid=session.xid(), top=session.current.top, origin=session.origin)
