"""SELECT, INSERT, UPDATE, DELETE and MERGE as statements, with all that they cause."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.query import plan
from pubcheck.simulate.executor.statement_scope import Changes, CommonTable, prepare_changes, statement_scope

Row = tuple[Any, ...]


def rows_of(session: Backend, node: Node) -> Result:
    """The rows of a query."""
    scope = statement_scope(session, node)
    inner = Nested(scope)
    body = {key: value for key, value in node.items() if key != "withClause"}
    outputs = analyze_query(inner, {"SelectStmt": body})
    if outputs is None:
        raise Unknowable("the columns of a SELECT")
    query = plan(session, inner)
    rows = _run(session, query.run, scope.common_tables)
    return Result(query.names, query.types, rows, len(rows), in_order=query.in_order or query.certain)


def run_changes(session: Backend, kind: str, node: Node) -> Result:
    """Run a statement that changes rows, and what its row triggers and foreign keys do afterwards."""
    scope = statement_scope(session, node)
    changes = prepare_changes(session, kind, node, scope)
    return complete(session, changes, scope.common_tables)


def complete(session: Backend, changes: Changes, common_tables: Sequence[CommonTable] = ()) -> Result:
    """Run prepared changes to their end, then what they queue."""
    rows = _run(session, changes.run, common_tables)
    names = tuple(output.name for output in changes.outputs)
    types = tuple(output.type for output in changes.outputs)
    return Result(names, types, rows if names else (), len(rows), changes_rows=True)


def _run(session: Backend, run: Callable[[], Iterable[Row]], common_tables: Sequence[CommonTable]) -> tuple[Row, ...]:
    outer, session.after = session.after, []
    transitions, session.transitions = session.transitions, {}
    try:
        rows = tuple(run())
        for common in common_tables:
            common.finish()
        session.fire_after()
    finally:
        session.after, session.transitions = outer, transitions
    return rows
