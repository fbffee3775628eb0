"""Temporary objects, and when they are dropped (commands/tablecmds.c: PreCommit_on_commit_actions; catalog/namespace.c:
RemoveTempRelations).
"""

from __future__ import annotations

from pubcheck.postgres.catalog import FIRST_NORMAL_OID, PROC, RELATION, TEMPORARY, TYPE, Object
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.session import Session


def drop_at_commit(session: Session) -> None:
    """Drop the tables that were created ON COMMIT DROP, quietly."""
    catalog = session.catalog
    rows = [catalog.relations[oid] for oid in catalog.relations_in.get(TEMPORARY)]
    _drop(session, [(RELATION, row.oid, 0) for row in rows if row.on_commit_drop])


def drop_temporary(session: Session) -> None:
    """Drop all that is in the temporary schema, quietly."""
    catalog = session.catalog
    doomed: list[Object] = [
        (RELATION, oid, 0) for oid in catalog.relations_in.get(TEMPORARY) if catalog.relations[oid].kind in "rpvmfS"
    ]
    doomed += [
        (TYPE, oid, 0)
        for oid, row in catalog.types.items()
        if row.namespace == TEMPORARY and not row.relation and oid >= FIRST_NORMAL_OID
    ]
    doomed += [(PROC, oid, 0) for oid, proc in catalog.procs.items() if proc.namespace == TEMPORARY]
    _drop(session, doomed)


def _drop(session: Session, doomed: list[Object]) -> None:
    if doomed:
        notices = list(session.notices)
        perform_deletion(session, doomed, cascade=True)
        session.notices[:] = notices  # PERFORM_DELETION_QUIETLY
