"""BEGIN, COMMIT, ROLLBACK, savepoints and two-phase commit (tcop/utility.c, access/transam/xact.c, twophase.c).

A prepared transaction belongs to no session. Here a separate session holds it, so that the others do not see
its definitions and rows, as with any open transaction.
"""

from __future__ import annotations

from collections.abc import Callable

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.server_state import Prepare, unpark


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
    session.append(
        Prepare,
        100,
        xid=xid,
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


def run(session: Backend, node: Node) -> Result:
    """A TransactionStmt."""
    _STATEMENTS[node["kind"]](session, node)
    return NOTHING


def _begin(session: Backend, node: Node) -> None:
    if session.transaction is not None:
        session.refuse_failed()
        return  # a warning: there is already a transaction in progress
    session.begin()
    set_characteristics(session, node)


def set_characteristics(session: Backend, node: Node) -> None:
    """ISOLATION LEVEL and READ ONLY of BEGIN."""
    for item in node.get("options", ()):
        option = item["DefElem"]
        if option["defname"] == "transaction_isolation":
            level = option["arg"]["A_Const"]["sval"]["sval"]
            session.current.isolation = level if level in ("repeatable read", "serializable") else ""
        elif option["defname"] == "transaction_read_only":
            value = option["arg"]["A_Const"].get("ival", {}).get("ival", 0)
            session.catalog_session.set("transaction_read_only", bool(value), local=True)


def _commit(session: Backend, node: Node) -> None:
    failed = session.transaction is not None and session.transaction.failed
    _end_block(session, node, "COMMIT", session.rollback if failed else session.commit)


def _rollback(session: Backend, node: Node) -> None:
    _end_block(session, node, "ROLLBACK", session.rollback)


def _end_block(session: Backend, node: Node, command: str, end: Callable[[], None]) -> None:
    transaction, chain = session.transaction, node.get("chain")
    if transaction is not None:
        end()
        if chain:
            session.begin().isolation = transaction.isolation
    elif chain:
        raise ServerError("25P01", f"{command} AND CHAIN can only be used in transaction blocks")


def _require_block(session: Backend, command: str) -> None:
    if session.transaction is None:
        raise ServerError("25P01", f"{command} can only be used in transaction blocks")


def _savepoint(session: Backend, node: Node) -> None:
    session.refuse_failed()
    _require_block(session, "SAVEPOINT")
    session.savepoint(node["savepoint_name"])


def _release(session: Backend, node: Node) -> None:
    session.refuse_failed()
    _require_block(session, "RELEASE SAVEPOINT")
    name = node["savepoint_name"]
    session.release(_place(session, name))
    session.catalog_session.release(name)


def _rollback_to(session: Backend, node: Node) -> None:
    _require_block(session, "ROLLBACK TO SAVEPOINT")
    name = node["savepoint_name"]
    session.rollback_to(_place(session, name))
    session.catalog_session.rollback_to(name)


def _place(session: Backend, name: str) -> int:
    level = session.current.level_named(name)
    if level is None:
        raise ServerError("3B001", f'savepoint "{name}" does not exist')
    return level


_STATEMENTS: dict[str, Callable[[Backend, Node], None]] = {
    "TRANS_STMT_BEGIN": _begin,
    "TRANS_STMT_START": _begin,
    "TRANS_STMT_COMMIT": _commit,
    "TRANS_STMT_ROLLBACK": _rollback,
    "TRANS_STMT_SAVEPOINT": _savepoint,
    "TRANS_STMT_RELEASE": _release,
    "TRANS_STMT_ROLLBACK_TO": _rollback_to,
    "TRANS_STMT_PREPARE": prepare_transaction,
    "TRANS_STMT_COMMIT_PREPARED": commit_prepared,
    "TRANS_STMT_ROLLBACK_PREPARED": rollback_prepared,
}
