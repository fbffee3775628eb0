"""SET of settings that rows depend on; others are the catalog session's, or have no effect here."""

from __future__ import annotations

from pubcheck.postgres.ddl import apply
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.transaction_blocks import set_characteristics


def set_variable(session: Backend, node: Node) -> Result:
    name = node.get("name", "").lower()
    if node["kind"] == "VAR_SET_MULTI" and node["name"] == "TRANSACTION":
        set_characteristics(session, {"options": node.get("args", ())})
    if name == "session_replication_role":
        value = ""
        if node["kind"] == "VAR_SET_VALUE":
            value = node["args"][0]["A_Const"]["sval"]["sval"].lower()
        session.settings[name] = value
    apply(session.catalog_session, "VariableSetStmt", node)
    return NOTHING


def set_constraints(session: Backend, node: Node) -> Result:
    """SET CONSTRAINTS: IMMEDIATE also checks what was deferred (AfterTriggerSetState)."""
    transaction, deferred = session.current, node.get("deferred", False)
    names = [item["RangeVar"]["relname"] for item in node.get("constraints", ())]
    for name in names:
        _refuse_not_deferrable(session, name)
    if transaction.implicit:
        return NOTHING  # a warning: it can only be used in transaction blocks
    transaction.timings = {**transaction.timings, **dict.fromkeys(names, deferred)} if names else {"": deferred}
    if deferred or not transaction.deferred:
        return NOTHING
    if names:
        raise NotFollowed("SET CONSTRAINTS of some constraints while checks are deferred")
    session.run_deferred()
    return NOTHING


def _refuse_not_deferrable(session: Backend, name: str) -> None:
    rows = [row for row in session.database.catalog.constraints.values() if row.name == name]
    if not rows:
        raise ServerError("42704", f'constraint "{name}" does not exist')
    if not any(row.deferrable for row in rows):
        raise ServerError("42809", f'constraint "{name}" is not deferrable')
