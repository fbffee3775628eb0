"""Statements that psql sends as one query, with ``\\;`` between them.

They run in a transaction of their own where none is open, and an error undoes all of them (postgres.c:
exec_simple_query; xact.c: BeginImplicitTransactionBlock).
"""

from __future__ import annotations

from collections.abc import Sequence

from pubcheck.engine.replay import Replay
from pubcheck.statement_index import StatementText


class Batch:
    """The statements of one query so far."""

    def __init__(self) -> None:
        self._failed: set[int] = set()
        self._began: set[int] = set()
        """The replays in which no transaction was open when the query began."""
        self._entered = False

    def enter(self, replays: Sequence[Replay], statement: StatementText, source: int) -> list[Replay]:
        """Return the replays in which the next statement runs: none of the query failed there before."""
        running = [replay for replay in replays if id(replay) not in self._failed]
        for replay in running:
            if replay.session.transaction is None:
                if not self._entered:
                    self._began.add(id(replay))
                replay.apply(statement, source, "TransactionStmt", {"kind": "TRANS_STMT_BEGIN", "implicit": True})
            replay.refused = False
        self._entered = True
        return running

    def undo_refused(self, replays: Sequence[Replay], statement: StatementText, source: int) -> None:
        """Undo the query in those of the replays that refused its last statement.

        In a transaction of the script only the statement is left out, as it is of any other in it.
        """
        for replay in replays:
            if replay.refused and replay.session.implicit:
                self._undo(replay, statement, source)

    def undo_unread(self, replays: Sequence[Replay], statement: StatementText, source: int) -> None:
        """Undo the query because of a syntax error, for which the server runs none of it, no BEGIN either."""
        for replay in replays:
            if id(replay) in self._began:
                self._undo(replay, statement, source)

    def _undo(self, replay: Replay, statement: StatementText, source: int) -> None:
        self._failed.add(id(replay))
        replay.apply(statement, source, "TransactionStmt", {"kind": "TRANS_STMT_ROLLBACK"})

    def end(self, replays: Sequence[Replay], statement: StatementText, source: int) -> None:
        """Commit what the query did."""
        for replay in replays:
            if replay.session.implicit:
                replay.apply(statement, source, "TransactionStmt", {"kind": "TRANS_STMT_COMMIT"})
