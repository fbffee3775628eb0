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
        self._refused: dict[int, int] = {}
        """By replay that refuses the query for a syntax error, and runs none of it: the statement that has it."""

    def refuse(self, statement: int, replays: Sequence[Replay]) -> None:
        """Note that the syntax of a statement of the query is refused in these replays."""
        for replay in replays:
            self._refused.setdefault(id(replay), statement)

    def is_refused(self, replays: Sequence[Replay]) -> bool:
        """Return whether all these replays refuse the query."""
        return all(id(replay) in self._refused for replay in replays)

    def enter(self, replays: Sequence[Replay], statement: StatementText, source: int) -> list[Replay]:
        """Return the replays in which the next statement runs: none of the query failed there before.

        In those that refuse the query only the statement with the error does, which reports it.
        """
        running: list[Replay] = []
        for replay in replays:
            refused = self._refused.get(id(replay))
            if id(replay) in self._failed or refused not in (None, statement.index):
                continue
            running.append(replay)
            if refused is None and replay.session.transaction is None:
                replay.apply(statement, source, "TransactionStmt", {"kind": "TRANS_STMT_BEGIN", "implicit": True})
            replay.refused = False
        return running

    def undo_refused(self, replays: Sequence[Replay], statement: StatementText, source: int) -> None:
        """Undo the query in those of the replays that refused its last statement.

        In a transaction of the script only the statement is left out, as it is of any other in it.
        """
        for replay in replays:
            if replay.refused and replay.session.implicit:
                self._failed.add(id(replay))
                replay.apply(statement, source, "TransactionStmt", {"kind": "TRANS_STMT_ROLLBACK"})

    def end(self, replays: Sequence[Replay], statement: StatementText, source: int) -> None:
        """Commit what the query did."""
        for replay in replays:
            if replay.session.implicit:
                replay.apply(statement, source, "TransactionStmt", {"kind": "TRANS_STMT_COMMIT"})
