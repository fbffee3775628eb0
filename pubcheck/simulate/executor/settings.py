"""SET of settings that rows depend on; others are the catalog session's, or have no effect here."""

from __future__ import annotations

from pubcheck.postgres.ddl import apply
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import NOTHING, Backend, Result
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
