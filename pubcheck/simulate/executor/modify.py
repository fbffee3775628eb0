"""INSERT, UPDATE, DELETE and MERGE as statements."""

from __future__ import annotations

from collections.abc import Sequence

from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.statement_scope import Changes, CommonTable, prepare_changes, statement_scope


def run_changes(session: Backend, kind: str, node: Node) -> Result:
    """Run a statement that changes rows, and what its row triggers and foreign keys do afterwards."""
    scope = statement_scope(session, node)
    changes = prepare_changes(session, kind, node, scope)
    return complete(session, changes, scope.common_tables)


def complete(session: Backend, changes: Changes, common_tables: Sequence[CommonTable] = ()) -> Result:
    """Run prepared changes to their end, then what they queue."""
    outer, session.after = session.after, []
    transitions, session.transitions = session.transitions, {}
    try:
        rows = tuple(changes.run())
        for common in common_tables:
            common.finish()
        session.fire_after()
    finally:
        session.after, session.transitions = outer, transitions
    names = tuple(output.name for output in changes.outputs)
    types = tuple(output.type for output in changes.outputs)
    return Result(names, types, rows if names else (), len(rows), changes_rows=True)
