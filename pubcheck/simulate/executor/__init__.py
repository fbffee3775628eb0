"""Statements over rows: one module for each kind of statement, named in one table."""

from __future__ import annotations

from collections.abc import Callable

from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.modify import run_changes
from pubcheck.simulate.executor.utility import define
from pubcheck.simulate.not_followed import NotFollowed

Handler = Callable[["Backend", Node], "Result"]

_HOMES = {
    "CheckPointStmt": "no_effect:nothing",
    "ClosePortalStmt": "no_effect:nothing",
    "ConstraintsSetStmt": "settings:set_constraints",
    "CopyStmt": "copy_from:copy",
    "DoStmt": "blocks:do",
    "ListenStmt": "no_effect:nothing",
    "LockStmt": "no_effect:lock",
    "NotifyStmt": "no_effect:nothing",
    "SelectStmt": "created_tables:select",
    "TruncateStmt": "truncate:truncate",
    "UnlistenStmt": "no_effect:nothing",
    "VacuumStmt": "maintenance:vacuum",
    "VariableSetStmt": "settings:set_variable",
    "VariableShowStmt": "no_effect:nothing",
}
_STATEMENTS: Deferred[str, Handler] = Deferred(__name__, _HOMES)
_RUN_OTHERS = frozenset(("CallStmt", "ExecuteStmt"))
_CHANGES = frozenset(("DeleteStmt", "InsertStmt", "MergeStmt", "UpdateStmt"))


def run_statement(session: Backend, name: str, node: Node, data: str | None) -> Result:
    """Run a statement of any kind but those that control transactions."""
    if name in _CHANGES:
        return run_changes(session, name, node)
    if name == "CopyStmt":
        node = {**node, "data": data}
    if name in _RUN_OTHERS or (name == "ExplainStmt" and _runs(node)):
        raise NotFollowed(f"the statement {name.removesuffix('Stmt').upper()}")
    if name in _HOMES:
        return _STATEMENTS[name](session, node)
    return define(session, name, node)


def _runs(node: Node) -> bool:
    """Whether EXPLAIN runs its statement."""
    return any(option["DefElem"]["defname"] == "analyze" for option in node.get("options", ()))
