"""INSERT, UPDATE, DELETE and MERGE as statements."""

from __future__ import annotations

from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.prepare import prepare_changes
from pubcheck.simulate.executor.statement_scope import statement_scope


def run_changes(session: Backend, kind: str, node: Node) -> Result:
    """Run a statement that changes rows, and what its row triggers and foreign keys do afterwards."""
    outer, session.after = session.after, []
    try:
        scope = statement_scope(session, node)
        changes = prepare_changes(session, kind, node, scope)
        rows = tuple(changes.run())
        for common in scope.common_tables:
            common.finish()
        session.fire_after()
    finally:
        session.after = outer
    names = tuple(output.name for output in changes.outputs)
    types = tuple(output.type for output in changes.outputs)
    return Result(names, types, rows if names else (), len(rows), changes_rows=True)
