"""The relation that INSERT, UPDATE or DELETE names, and the tables whose rows it changes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pubcheck.checks.write.replica_identity import refusals
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.not_followed import NotFollowed

if TYPE_CHECKING:
    from pubcheck.simulate.session import ServerSession


def target_relation(session: ServerSession, rv: Node) -> Relation:
    """The named relation. Raises ServerError 42P01, 42809 and the like."""
    catalog_session = session.catalog_session
    row = catalog_session.find_relation(rv)
    if row is None:
        name = ".".join(rv[part] for part in ("schemaname", "relname") if part in rv)
        raise ServerError("42P01", f'relation "{name}" does not exist', location=rv.get("location"))
    if row.kind not in "rp":
        raise NotFollowed(f'changes of "{row.name}", which is not a table')
    return row


def refuse_write(session: ServerSession, table: Table, operation: Any) -> None:
    """Raise the error of an UPDATE or DELETE that the replica identity does not allow (CheckCmdReplicaIdentity)."""
    causes = refusals(session.database.catalog, table.relation).get(operation)
    if causes:
        server = causes[0].server
        raise ServerError(server.sqlstate, server.message, detail=server.detail, hint=server.hint)


def members(session: ServerSession, relation: Relation, rv: Node) -> Iterator[Table]:
    """The tables whose rows a statement changes, in the order of the planner's expansion."""
    catalog = session.database.catalog
    oids = catalog.descendants(relation.oid) if rv.get("inh", True) or relation.kind == "p" else [relation.oid]
    for oid in oids:
        row = catalog.relations[oid]
        if row.kind == "r":
            yield table_of(session, row)
