"""Statements that change no rows: VACUUM and ANALYZE change only what the catalog says about a table."""

from __future__ import annotations

from pubcheck.postgres.ddl import apply
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor.definitions import apply_definition, log_statement
from pubcheck.simulate.executor.targets import named_relation
from pubcheck.simulate.not_followed import NotFollowed


def vacuum(session: Backend, node: Node) -> Result:
    """VACUUM and ANALYZE of tables; of all tables if none is named."""
    if node.get("is_vacuumcmd") and not session.current.implicit:
        raise ServerError("25001", "VACUUM cannot run inside a transaction block")
    for item in node.get("rels", ()):
        named_relation(session, item["VacuumRelation"]["relation"])
    log_statement(session, "VacuumStmt", node)
    return NOTHING


def reindex(session: Backend, node: Node) -> Result:
    """REINDEX TABLE gives the table's indexes new files."""
    if node["kind"] != "REINDEX_OBJECT_TABLE" or "params" in node:
        raise NotFollowed("REINDEX of anything but a table, or with options")
    apply_definition(session, "ReindexStmt", node)
    return NOTHING


def nothing(session: Backend, node: Node) -> Result:
    return NOTHING


def lock(session: Backend, node: Node) -> Result:
    """LOCK TABLE: nobody waits here, and an access exclusive lock of a table needs a transaction id."""
    if session.current.implicit:
        raise ServerError("25P01", "LOCK TABLE can only be used in transaction blocks")
    for item in node["relations"]:
        named_relation(session, item["RangeVar"])
    if node.get("mode") == 8:
        session.top_xid()
    return nothing(session, node)


def explain(session: Backend, node: Node) -> Result:
    """EXPLAIN, which runs nothing without ANALYZE."""
    if any(item["DefElem"]["defname"] == "analyze" for item in node.get("options", ())):
        raise NotFollowed("EXPLAIN ANALYZE")
    apply(session.catalog_session, "ExplainStmt", node)
    return NOTHING


def discard(session: Backend, node: Node) -> Result:
    """DISCARD PLANS and SEQUENCES."""
    if node["target"] == "DISCARD_SEQUENCES":
        session.sequence_values.clear()
        session.last_sequence = 0
    elif node["target"] != "DISCARD_PLANS":
        raise NotFollowed("DISCARD ALL and DISCARD TEMP")
    return NOTHING
