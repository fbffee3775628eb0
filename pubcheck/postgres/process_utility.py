"""Run one statement with the event triggers that it fires (tcop/utility.c: ProcessUtility)."""

from __future__ import annotations

from pubcheck.postgres.ddl import apply
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.connection import EVENT_TRIGGERS

MAY_BE_REFUSED = "whether an event trigger refuses this statement"
_CREATE = "CreateEventTrigStmt"


def apply_with_triggers(session: Session, name: str, node: Node) -> bool:
    """Apply a statement and fire its event triggers. Return whether one of them may refuse it."""
    if session.held is not None and name != "TransactionStmt":
        session.commit()
    if EVENT_TRIGGERS not in session.catalog.settings and name != _CREATE:
        apply(session, name, node)
        return False
    # Loaded only where there are event triggers.
    from pubcheck.postgres.plpgsql.event_triggers import assume_effects, refuse_end, refuse_start

    perhaps = refuse_start(session, name, node)
    if perhaps:
        session.assume(session.catalog.reasons.current(MAY_BE_REFUSED))
    journal = session.catalog.journal
    mark = journal.mark()
    apply(session, name, node)
    if name == _CREATE:
        assume_effects(session, node["trigname"])
    return refuse_end(session, name, node, journal.entries[mark:]) or perhaps
