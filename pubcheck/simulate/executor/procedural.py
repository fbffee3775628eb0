"""PL/pgSQL over rows: DO blocks and the bodies of functions and procedures (plpgsql/pl_exec.c).

Variables are columns of a query level that is around all queries of the block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql.compile_errors import NotParsed
from pubcheck.postgres.plpgsql.conditions import catches
from pubcheck.postgres.plpgsql.parse import program
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor import block_cursors, block_statements
from pubcheck.simulate.executor.block_state import BlockState, Body, Exited, Returned
from pubcheck.simulate.executor.block_variables import without_row_types
from pubcheck.simulate.not_followed import NotFollowed


class Block(BlockState):
    """A body that runs in a session, with all kinds of statements."""

    def run(self) -> Returned | None:
        """Run the body. Return its RETURN."""
        self.declare()
        try:
            with self.session.inside(self.variables.level):
                self.set_defaults(1 << 30)
                self.block({"body": self.body.program.body, "exceptions": self.body.program.exceptions})
        except Returned as returned:
            return returned
        return None

    def statements(self, body: list[Node]) -> None:
        for item in body:
            ((kind, node),) = item.items()
            handler = _HANDLERS.get(kind)
            if handler is None:
                raise NotFollowed(f"the statement {kind.removeprefix('PLpgSQL_stmt_').upper()} of a block")
            handler(self, node)

    def inner_block(self, node: Node) -> None:
        """A block in a block: its variables get their defaults each time."""
        self.set_defaults(node.get("lineno", 0), self.body.program.floors.get(id(node), 0))
        try:
            self.block(node)
        except Exited as exited:
            if not exited.is_exit or not exited.label or exited.label != node.get("label"):
                raise

    def block(self, node: Node) -> None:
        handlers = (node.get("exceptions") or {}).get("PLpgSQL_exception_block")
        if handlers is None:
            self.statements(node.get("body", []))
            return
        session = self.session
        session.savepoint("")
        place = len(session.current.levels) - 1
        try:
            self.statements(node.get("body", []))
        except ServerError as error:
            session.rollback_to(place)
            session.catalog_session.rollback_to("")
            session.release(place)
            session.catalog_session.release("")
            self._handle(handlers["exc_list"], error)
            return
        except (Returned, Exited):
            session.release(place)
            session.catalog_session.release("")
            raise
        session.release(place)
        session.catalog_session.release("")

    def _handle(self, handlers: list[Node], error: ServerError) -> None:
        for item in handlers:
            handler = item["PLpgSQL_exception"]
            if not catches(
                (condition["PLpgSQL_condition"]["condname"] for condition in handler["conditions"]), error.sqlstate
            ):
                continue
            self.caught.append(error)
            for name, text in (("sqlstate", error.sqlstate), ("sqlerrm", error.message)):
                if name in self.variables.scalars:
                    self.variables.set(name, text)
            try:
                self.statements(handler.get("action", []))
            finally:
                self.caught.pop()
            return
        raise error


_HANDLERS: dict[str, Callable[[Any, Node], None]] = {
    "PLpgSQL_stmt_assert": block_statements.assert_,
    "PLpgSQL_stmt_assign": BlockState.assignment,
    "PLpgSQL_stmt_block": Block.inner_block,
    "PLpgSQL_stmt_call": block_statements.perform,
    "PLpgSQL_stmt_case": block_statements.case,
    "PLpgSQL_stmt_close": block_cursors.close,
    "PLpgSQL_stmt_commit": lambda block, node: block_statements.end_transaction(block, commits=True),
    "PLpgSQL_stmt_dynexecute": block_statements.execute,
    "PLpgSQL_stmt_dynfors": block_statements.for_rows_of_text,
    "PLpgSQL_stmt_execsql": block_statements.sql,
    "PLpgSQL_stmt_exit": block_statements.exit_,
    "PLpgSQL_stmt_foreach_a": block_statements.for_each,
    "PLpgSQL_stmt_fetch": block_cursors.fetch,
    "PLpgSQL_stmt_forc": block_cursors.for_rows_of_cursor,
    "PLpgSQL_stmt_fori": block_statements.for_integers,
    "PLpgSQL_stmt_fors": block_statements.for_rows,
    "PLpgSQL_stmt_getdiag": block_statements.diagnostics,
    "PLpgSQL_stmt_if": block_statements.if_,
    "PLpgSQL_stmt_loop": block_statements.loop,
    "PLpgSQL_stmt_open": block_cursors.open_,
    "PLpgSQL_stmt_perform": block_statements.perform,
    "PLpgSQL_stmt_raise": block_statements.raise_,
    "PLpgSQL_stmt_return": block_statements.return_,
    "PLpgSQL_stmt_rollback": lambda block, node: block_statements.end_transaction(block, commits=False),
    "PLpgSQL_stmt_while": block_statements.while_,
}


def body_of(header: str, text: str, *, newer: bool) -> Body:
    """The program of a body; ``newer``: also with the grammar of 19. Raises ServerError where it does not compile."""
    if "#variable_conflict" in text:
        raise NotFollowed("a block with #variable_conflict")
    try:
        return Body(program(header, without_row_types(text), newer=newer), text)
    except NotParsed as refused:
        if refused.sqlstate is None:
            raise NotFollowed(f"a block ({refused.message})") from None
        raise ServerError(refused.sqlstate, refused.message) from None


def run_block(session: Backend, text: str) -> None:
    """A DO block."""
    body = body_of("DO", text, newer=session.database.catalog.major.newer_grammar)
    Block(session, body, atomic=not session.current.implicit).run()


def do(session: Backend, node: Node) -> Result:
    arguments = {item["DefElem"]["defname"]: item["DefElem"]["arg"] for item in node["args"]}
    language = arguments.get("language", {}).get("String", {}).get("sval", "plpgsql")
    if language != "plpgsql":
        raise NotFollowed(f"a DO block in {language}")
    run_block(session, arguments["as"]["String"]["sval"])
    return NOTHING
