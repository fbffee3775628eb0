"""REPACK (commands/repack.c). CONCURRENTLY reads the changes of other sessions from the log, and finds their rows by
the replica identity. It changes nothing that is kept here.
"""

from __future__ import annotations

from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

_ON = 'cannot execute REPACK (CONCURRENTLY) on relation "{relation}"'


def repack(session: Session, node: Node) -> None:
    """Raises ServerError for a table that CONCURRENTLY does not take."""
    if not node["concurrent"]:
        return
    session.refuse_in_transaction("REPACK (CONCURRENTLY)")
    if "relation" not in node:
        return
    row = session.relation(node["relation"])
    refusal = _refusal(session, row)
    if refusal is None:
        return
    session.rests_on(row)
    refusal.culprit, refusal.relation = node["relation"].get("location"), session.qualified(row)
    raise refusal


def _refusal(session: Session, row: Relation) -> ServerError | None:
    name = row.name
    if row.kind == "p":
        message = "REPACK (CONCURRENTLY) is not supported for partitioned tables"
        hint = "Consider running the command on individual partitions."
        return ServerError("0A000", message, key="repack-partitioned", hint=hint, relation=name)
    if row.persistence != "p":
        hint = "REPACK (CONCURRENTLY) is only allowed for permanent relations."
        return ServerError("55000", _ON, key="repack-not-permanent", hint=hint, relation=name)
    if row.identity in "fn":
        word = "FULL" if row.identity == "f" else "NOTHING"
        detail = f"REPACK (CONCURRENTLY) does not support tables with REPLICA IDENTITY {word}."
        return ServerError("55000", _ON, key="repack-identity", detail=detail, relation=name, identity=word)
    catalog = session.catalog
    keys = [catalog.indexes[oid] for oid in catalog.key_indexes_of.get(row.oid)]
    if any(index.identity if row.identity == "i" else index.primary and index.immediate for index in keys):
        return None
    if row.identity == "d" and any(index.primary for index in keys):
        return ServerError(
            "0A000",
            _ON,
            key="repack-deferrable",
            detail="REPACK (CONCURRENTLY) does not support deferrable primary keys.",
            hint="Use ALTER TABLE ... REPLICA IDENTITY USING INDEX to designate another index as replica identity.",
            relation=name,
        )
    hint = f'Relation "{name}" has no identity index.'
    return ServerError("55000", _ON, key="repack-without-index", hint=hint, relation=name)
