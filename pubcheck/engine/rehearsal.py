"""Functions about publications that nothing in the files calls: what they say is run, with doubt, and taken back."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from pubcheck.engine.blocks import BlockRunner
from pubcheck.engine.replay import Replay
from pubcheck.postgres.catalog.routines import Routine
from pubcheck.postgres.parse import TooDeep
from pubcheck.postgres.plpgsql.compile_errors import NotParsed
from pubcheck.postgres.plpgsql.host import Exhausted, Raised
from pubcheck.postgres.plpgsql.interpret import Interpreter

_GIVEN_UP = (NotParsed, TooDeep, Exhausted, RecursionError, Raised)
"""With what following a function that nothing calls may end."""


def rehearse(fold: Replay) -> None:
    """Runs what functions that nothing called say about publications, in doubt, and takes it all back."""
    session, catalog = fold.session, fold.catalog
    if session.transaction is not None:
        session.commit()
    for oid, found in list(catalog.routines.items()):
        if not isinstance(found, Routine) or oid in fold.called or oid not in catalog.procs:
            continue
        if not found.about or found.source >= len(fold.statements.sources):
            continue
        statement = fold.statements[found.source, found.statement]
        catalog.journal.entries.clear()
        session.begin()
        inside = BlockRunner(fold, statement, found.source)
        inside.rehearsing = True
        kept = session.blind, session.healed, session.identified, session.joined, set(session.doubted)
        mark = inside.mark()
        with fold.faults.guard(statement):
            interpreter = Interpreter(inside, inside.routine_of)
            interpreter.atomic = True
            with suppress(*_GIVEN_UP):
                interpreter.rehearse(_at_its_place(inside, found))
        catalog.journal.undo(mark.entries)
        catalog.journal.undone.clear()
        session.rollback()
        session.blind, session.healed, session.identified, session.joined, session.doubted = kept


def _at_its_place(inside: BlockRunner, found: Routine) -> Routine:
    """A routine whose body has offsets in the source."""
    return replace(found, body=inside.text.within(found.body))
