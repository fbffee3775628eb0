"""VACUUM and ANALYZE: they change what the catalog says about a table."""

from __future__ import annotations

from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor.definitions import apply_definition, log_statement
from pubcheck.simulate.not_followed import NotFollowed


def vacuum(session: Backend, node: Node) -> Result:
    """VACUUM and ANALYZE of tables; of all tables if none is named."""
    if node.get("is_vacuumcmd") and not session.current.implicit:
        raise ServerError("25001", "VACUUM cannot run inside a transaction block")
    relations: list[Relation] = []
    for item in node.get("rels", ()):
        rv = item["VacuumRelation"]["relation"]
        row = session.catalog_session.find_relation(rv)
        if row is None:
            name = ".".join(rv[part] for part in ("schemaname", "relname") if part in rv)
            raise ServerError("42P01", f'relation "{name}" does not exist', location=rv.get("location"))
        relations.append(row)
    log_statement(session, "VacuumStmt", node)
    return NOTHING


def reindex(session: Backend, node: Node) -> Result:
    """REINDEX TABLE gives the table's indexes new files."""
    if node["kind"] != "REINDEX_OBJECT_TABLE" or "params" in node:
        raise NotFollowed("REINDEX of anything but a table, or with options")
    apply_definition(session, "ReindexStmt", node)
    return NOTHING
