"""Runs PL/pgSQL over the catalog, as far as everything that it reads is known (src/pl/plpgsql/src/pl_exec.c).

Certain statements run as on the server. If a condition is unknown, both branches are run *in doubt*: their statements
are applied, and everything that follows from them is assumed. Statements that cannot be followed are reported to the
host.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from pubcheck.postgres.catalog.routines import Routine
from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql import calls, control, exceptions, execution, loops
from pubcheck.postgres.plpgsql.control_flow import Completion
from pubcheck.postgres.plpgsql.host import Host, Inner
from pubcheck.postgres.plpgsql.machine import Machine, Work
from pubcheck.postgres.source_text import Text

_WORKS: Mapping[str, Work] = {
    "PLpgSQL_stmt_assert": exceptions.assert_statement,
    "PLpgSQL_stmt_assign": execution.assign,
    "PLpgSQL_stmt_block": control.run_block,
    "PLpgSQL_stmt_call": execution.call_procedure,
    "PLpgSQL_stmt_case": control.case,
    "PLpgSQL_stmt_close": execution.close,
    "PLpgSQL_stmt_commit": partial(control.transaction, commit=True),
    "PLpgSQL_stmt_dynexecute": execution.execute,
    "PLpgSQL_stmt_dynfors": loops.for_dynamic,
    "PLpgSQL_stmt_execsql": execution.plain_statement,
    "PLpgSQL_stmt_exit": control.exit_or_continue,
    "PLpgSQL_stmt_fetch": execution.fetch,
    "PLpgSQL_stmt_forc": loops.for_cursor,
    "PLpgSQL_stmt_foreach_a": loops.foreach,
    "PLpgSQL_stmt_fori": loops.for_integers,
    "PLpgSQL_stmt_fors": loops.for_rows,
    "PLpgSQL_stmt_getdiag": exceptions.diagnostics,
    "PLpgSQL_stmt_if": control.branch,
    "PLpgSQL_stmt_loop": loops.repeat,
    "PLpgSQL_stmt_open": execution.open_cursor,
    "PLpgSQL_stmt_perform": execution.perform,
    "PLpgSQL_stmt_raise": exceptions.raise_statement,
    "PLpgSQL_stmt_return": control.return_statement,
    "PLpgSQL_stmt_return_next": control.return_next,
    "PLpgSQL_stmt_return_query": control.return_query,
    "PLpgSQL_stmt_rollback": partial(control.transaction, commit=False),
    "PLpgSQL_stmt_while": loops.repeat,
    "case_not_found": control.case_not_found,
}


class Interpreter(Machine):
    """Runs one top-level statement: a DO block, or a call of functions."""

    works = _WORKS

    def __init__(self, host: Host, routine_of: Callable[[Proc], Routine | None]) -> None:
        super().__init__(host, routine_of)
        self.evaluator.caller = partial(calls.call_in_expression, self)

    def apply(self, inner: Inner, name: str, node: Node) -> None:
        execution.apply(self, inner, name, node)

    def followed_functions(self, statement: Node) -> list[int]:
        return calls.followed_functions(self, statement) if self.session.catalog.routines else []

    def run_block(self, node: Node, outermost: bool = False) -> Completion:
        return control.run_block(self, node, outermost)

    def rehearse(self, routine: Routine) -> None:
        """Run a function that nothing calls, in doubt and without arguments. Raises NotParsed, TooDeep."""
        self.uncertainty.branches += 1
        self.begun = self.host.mark()
        calls.run_body(self, routine, None, None)

    def statement(self, text: Text, name: str, node: Node, number: tuple[int, ...] = ()) -> None:
        """Run SELECT or CALL at the top level, which calls functions. Raises Raised."""
        self.begun = self.host.mark()
        self.apply(Inner(text, number), name, node)
