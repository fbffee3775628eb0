"""CREATE FUNCTION as a top-level statement."""

from __future__ import annotations

from pubcheck.engine.blocks import BlockRunner
from pubcheck.engine.function_bodies import compile_error, created_function, refused_body
from pubcheck.engine.replay import Execution
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.plpgsql.host import Raised


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
