"""PREPARE TRANSACTION, COMMIT PREPARED and ROLLBACK PREPARED (access/transam/twophase.c).

A prepared transaction belongs to no session. Here a separate session holds it, so that the others do not see
its definitions and rows, as with any open transaction.
"""

from __future__ import annotations

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.catalog_copies import unpark
from pubcheck.simulate.log import Prepare


def prepare_transaction(session: Backend, node: Node) -> None:
    """PREPARE TRANSACTION. Outside of a block it does nothing; a failed block is rolled back."""
    gid, database, transaction = node["gid"], session.database, session.transaction
    if transaction is None:
        return
    if transaction.failed:
        session.rollback()
        return
    if gid in database.prepared:
        session.rollback()
        raise ServerError("42710", f'transaction identifier "{gid}" is already in use')
    session.run_deferred_at_end()
    if transaction.used_temporary:
        message = "cannot PREPARE a transaction that has operated on temporary objects"
        session.rollback()
        raise ServerError("0A000", message)
    xid = session.top_xid()
    ids = session.all_ids(transaction)
    database.append(
        Prepare,
        100,
        xid=xid,
        top=xid,
        origin=session.origin,
        time=database.time(),
        gid=gid,
        subtransactions=tuple(ids[1:]),
        **session.origin_position(),
    )
    holder = type(session)(database, f"prepared transaction {gid}")  # parks the session's definitions
    database.sessions[holder.name] = holder
    parked = session.take_parked()
    unpark(database.catalog, parked, database.catalog.journal.entries.append)
    if parked:
        database.versions.note_change()
    holder.transaction, session.transaction = transaction, None
    holder.catalog_session.transaction = session.catalog_session.transaction
    database.prepared[gid] = holder
    database.activate(session)
    session.catalog_session.commit()
    database.versions.journal_cleared()


def commit_prepared(session: Backend, node: Node) -> None:
    holder = _holder(session, node, "COMMIT PREPARED")
    holder.commit()
    session.origin_time = holder.origin_time
    _end(session, holder)


def rollback_prepared(session: Backend, node: Node) -> None:
    holder = _holder(session, node, "ROLLBACK PREPARED")
    holder.rollback()
    _end(session, holder)


def _holder(session: Backend, node: Node, command: str) -> Backend:
    gid, database = node["gid"], session.database
    if session.transaction is not None:
        session.refuse_failed()
        raise ServerError("25001", f"{command} cannot run inside a transaction block")
    holder: Backend | None = database.prepared.pop(gid, None)
    if holder is None:
        raise ServerError("42704", f'prepared transaction with identifier "{gid}" does not exist')
    holder.current.gid = gid
    holder.origin = session.origin
    holder.origin_lsn, holder.origin_time = session.origin_lsn, session.origin_time
    database.activate(holder)
    return holder


def _end(session: Backend, holder: Backend) -> None:
    session.database.activate(session)
    session.database.close(holder)
