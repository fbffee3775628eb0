"""Transactions of a script: the one that is open where it ends, and that of the statements that psql sends as one
query, with ``\\;`` between them.

Such statements run in a transaction of their own where none is open, and an error undoes all of them (postgres.c:
exec_simple_query; xact.c: BeginImplicitTransactionBlock).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pubcheck.engine.replay import Replay
from pubcheck.engine.unit import Notes, Unit
from pubcheck.postgres.catalog.rows import (
    Publication,
    PublicationExclusion,
    PublicationNamespace,
    PublicationRel,
    Relation,
    Subscription,
)
from pubcheck.postgres.session import Session
from pubcheck.rulebook import finder
from pubcheck.source import has_unknown_order
from pubcheck.statement_index import Statements, StatementText


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


_ABOUT_PUBLICATIONS = (Publication, PublicationRel, PublicationNamespace, PublicationExclusion, Subscription)
_OF_ONE_SESSION = ("", "file", "psql")
"""Conventions of units that psql runs in one session. Tools may commit what a file leaves open."""


@finder("PUB141")
def report_open(unit: Unit, replays: Sequence[Replay], statements: Statements, notes: Notes) -> None:
    """Report the transaction in which a script ends, if it changes publications or replica identities."""
    last = unit.sources[-1]
    alone = len(unit.sources) - unit.context == 1 or unit.convention == "psql"
    if unit.convention not in _OF_ONE_SESSION or not alone or last.view is not None or has_unknown_order(last):
        return
    by_place: dict[Any, list[int]] = {}
    for replay in replays:
        session = replay.session
        if session.begun is not None and not session.pretended and session.held is None and _has_changes(session):
            by_place.setdefault(session.begun, []).append(replay.major)
    for place, majors in by_place.items():
        statement = statements.at(place)
        notes.add(
            "PUB141",
            "assumed",
            "this transaction is not committed: the server rolls it back when the session ends",
            statement.span(0, len(statement.text.encode())),
            majors=majors,
            help="add COMMIT at the end of the file",
            statement=statement.ref(),
        )


def _has_changes(session: Session) -> bool:
    """Return whether the current transaction changed publications, subscriptions or replica identities."""
    begin = session.transaction[0][1] if session.transaction is not None else 0
    for heap, key, former in session.catalog.journal.entries[begin:]:
        row = heap.get(key)
        if isinstance(row, _ABOUT_PUBLICATIONS) or isinstance(former, _ABOUT_PUBLICATIONS):
            return True
        if isinstance(row, Relation) and isinstance(former, Relation) and row.identity != former.identity:
            return True
    return False
