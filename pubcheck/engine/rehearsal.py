"""Check functions about publications that nothing calls: run them as uncertain, then undo their changes."""

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
"""Exceptions with which such a run may end."""


def rehearse(replay: Replay) -> None:
    """Run the functions about publications that nothing called, as uncertain, and undo their changes."""
    session, catalog = replay.session, replay.catalog
    if session.transaction is not None:
        session.commit()
    for oid, routine in list(catalog.routines.items()):
        if not isinstance(routine, Routine) or oid in replay.called_functions or oid not in catalog.procs:
            continue
        if not routine.about or routine.source >= len(replay.statements.sources):
            continue
        statement = replay.statements[routine.source, routine.statement]
        catalog.journal.clear()
        session.begin()
        runner = BlockRunner(replay, statement, routine.source)
        runner.rehearsing = True
        mark = runner.mark()
        with session.rehearsed(), replay.faults.guard(statement):
            interpreter = Interpreter(runner, runner.routine_of)
            interpreter.atomic = True
            with suppress(*_GIVEN_UP):
                interpreter.rehearse(_at_its_place(runner, routine))
        catalog.journal.undo(mark.entries)
        catalog.journal.undone.clear()
        session.rollback()


def _at_its_place(runner: BlockRunner, routine: Routine) -> Routine:
    """Return a routine whose body has offsets in the source."""
    return replace(routine, body=runner.text.within(routine.body))
