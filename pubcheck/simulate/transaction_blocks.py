"""BEGIN, COMMIT, ROLLBACK, savepoints and two-phase commit (tcop/utility.c, access/transam/xact.c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.prepared_transactions import commit_prepared, prepare_transaction, rollback_prepared

if TYPE_CHECKING:
    from pubcheck.simulate.session import Result, ServerSession


def run(session: ServerSession, node: Node) -> Result:
    """A TransactionStmt."""
    from pubcheck.simulate.session import NOTHING

    _STATEMENTS[node["kind"]](session, node)
    return NOTHING


def _begin(session: ServerSession, node: Node) -> None:
    if session.transaction is not None:
        _refuse_failed(session)
        return  # a warning: there is already a transaction in progress
    session.begin()
    set_characteristics(session, node)


def set_characteristics(session: ServerSession, node: Node) -> None:
    """ISOLATION LEVEL and READ ONLY of BEGIN."""
    for item in node.get("options", ()):
        option = item["DefElem"]
        if option["defname"] == "transaction_isolation":
            level = option["arg"]["A_Const"]["sval"]["sval"]
            session.current.isolation = level if level in ("repeatable read", "serializable") else ""
        elif option["defname"] == "transaction_read_only":
            value = option["arg"]["A_Const"].get("ival", {}).get("ival", 0)
            session.catalog_session.set("transaction_read_only", bool(value), local=True)


def _commit(session: ServerSession, node: Node) -> None:
    transaction = session.transaction
    if transaction is None:
        if node.get("chain"):
            raise ServerError("25P01", "COMMIT AND CHAIN can only be used in transaction blocks")
        return  # a warning: there is no transaction in progress
    if transaction.failed:
        session.rollback()
    else:
        session.commit()
    _chain(session, node, transaction.isolation)


def _rollback(session: ServerSession, node: Node) -> None:
    transaction = session.transaction
    if transaction is None:
        if node.get("chain"):
            raise ServerError("25P01", "ROLLBACK AND CHAIN can only be used in transaction blocks")
        return
    session.rollback()
    _chain(session, node, transaction.isolation)


def _chain(session: ServerSession, node: Node, isolation: str) -> None:
    if node.get("chain"):
        session.begin().isolation = isolation


def _refuse_failed(session: ServerSession) -> None:
    from pubcheck.simulate.session import in_failed_transaction

    if session.transaction is not None and session.transaction.failed:
        raise in_failed_transaction()


def _require_block(session: ServerSession, command: str) -> None:
    if session.transaction is None:
        raise ServerError("25P01", f"{command} can only be used in transaction blocks")


def _savepoint(session: ServerSession, node: Node) -> None:
    _refuse_failed(session)
    _require_block(session, "SAVEPOINT")
    session.savepoint(node["savepoint_name"])


def _release(session: ServerSession, node: Node) -> None:
    _refuse_failed(session)
    _require_block(session, "RELEASE SAVEPOINT")
    name = node["savepoint_name"]
    session.release(_place(session, name))
    session.catalog_session.release(name)


def _rollback_to(session: ServerSession, node: Node) -> None:
    _require_block(session, "ROLLBACK TO SAVEPOINT")
    name = node["savepoint_name"]
    session.rollback_to(_place(session, name))
    session.catalog_session.rollback_to(name)


def _place(session: ServerSession, name: str) -> int:
    at = session.current.level_named(name)
    if at is None:
        raise ServerError("3B001", f'savepoint "{name}" does not exist')
    return at


_STATEMENTS: dict[str, Callable[[ServerSession, Node], None]] = {
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
