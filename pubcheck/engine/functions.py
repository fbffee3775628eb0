"""Functions as top-level statements create them, and those that nothing calls."""

from __future__ import annotations

from contextlib import suppress

from msgspec.structs import replace

from pubcheck.engine.blocks import BlockRunner, compile_error, created_function, refused_body
from pubcheck.engine.replay import Execution, Replay
from pubcheck.postgres.catalog.tables import Routine
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import TooDeep
from pubcheck.postgres.plpgsql.compile_errors import NotParsed
from pubcheck.postgres.plpgsql.frames import Exhausted, Raised
from pubcheck.postgres.plpgsql.interpret import Interpreter


class FunctionDefinition(Execution):
    """CREATE FUNCTION as a top-level statement. Its body is checked if it is about publications (plpgsql_validator)."""

    def check_body(self, name: str, mark: int, *, perhaps_refused: bool) -> None:
        """Raises ServerError 42601."""
        replay = self.replay
        function = created_function(replay, mark)
        failure = refused_body(replay, function) if function is not None and function.about else None
        if function is not None and failure is not None:
            error = compile_error(self.statement.text, function.body, failure)
            refused = Raised(error, None, compiled=True)
            runner = BlockRunner(replay, self.statement, self.source)
            runner.refuse(refused, replay.session.basis)
            raise ServerError(error.sqlstate, error.message)


# Functions about publications that nothing calls are run as uncertain; then their changes are undone.

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
