"""The relation and the columns that INSERT, UPDATE, DELETE or MERGE changes, where they certainly do not exist."""

from __future__ import annotations

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def missing_target(session: Session, name: str, node: Node) -> ServerError | None:
    """Return the server's error for a change of rows of a relation, or of columns, that certainly do not exist."""
    rv = node.get("relation")
    if rv is None or "catalogname" in rv:
        return None
    row = session.find_relation(rv)
    if row is None:
        if not session.complete or session.blind or session.extensions:
            return None
        relation_name = ".".join(rv[part] for part in ("schemaname", "relname") if part in rv)
        return ServerError("42P01", f'relation "{relation_name}" does not exist', location=rv.get("location"))
    if not row.seen or row.kind not in "rp" or session.blind or not row.columns:
        return None  # of the server's own catalogs no columns are kept
    targets = node.get(_TARGETS.get(name, ""), ())
    for target in targets:
        column = target["ResTarget"]["name"]
        if row.column(column) is None:
            message = f'column "{column}" of relation "{row.name}" does not exist'
            return ServerError("42703", message, location=target["ResTarget"].get("location"))
    return None


_TARGETS = {"InsertStmt": "cols", "UpdateStmt": "targetList"}
