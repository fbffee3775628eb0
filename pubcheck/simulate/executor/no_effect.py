"""Statements that change neither the catalog nor rows."""

from __future__ import annotations

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import NOTHING, Backend, Result


def nothing(session: Backend, node: Node) -> Result:
    return NOTHING


def lock(session: Backend, node: Node) -> Result:
    """LOCK TABLE: nobody waits here, and an access exclusive lock of a table needs a transaction id."""
    if session.current.implicit:
        raise ServerError("25P01", "LOCK TABLE can only be used in transaction blocks")
    for item in node["relations"]:
        rv = item["RangeVar"]
        if session.catalog_session.find_relation(rv) is None:
            name = ".".join(rv[part] for part in ("schemaname", "relname") if part in rv)
            raise ServerError("42P01", f'relation "{name}" does not exist', location=rv.get("location"))
    if node.get("mode") == 8:
        session.top_xid()
    return nothing(session, node)
