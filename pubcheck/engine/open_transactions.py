"""A transaction that is open where a script ends."""

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
from pubcheck.statement_index import Statements

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
