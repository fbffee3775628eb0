"""Statements over rows: one module for each kind of statement, named in one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.parse import Node
from pubcheck.simulate.executor.definitions import define

if TYPE_CHECKING:
    from pubcheck.simulate.session import Result, ServerSession

Handler = Callable[["ServerSession", Node], "Result"]

_HOMES = {
    "DeleteStmt": "delete:delete",
    "InsertStmt": "insert:insert",
    "TruncateStmt": "truncate:truncate",
    "UpdateStmt": "update:update",
}
_STATEMENTS: Deferred[str, Handler] = Deferred(__name__, _HOMES)


def run_statement(session: ServerSession, name: str, node: Node, data: str | None) -> Result:
    """Run a statement of any kind but those that control transactions."""
    if name in _HOMES:
        return _STATEMENTS[name](session, node)
    return define(session, name, node)
