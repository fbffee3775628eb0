"""PL/pgSQL over rows: DO blocks and the bodies of functions and procedures, with their cursors (plpgsql/pl_exec.c;
exec_stmt_open, exec_stmt_fetch, exec_stmt_forc; pquery.c: PortalRunFetch).

Variables are columns of a query level that is around all queries of the block. A cursor sees the rows as they are when
it is opened, so all of them are read then.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import INT4
from pubcheck.postgres.parse import Node, parse
from pubcheck.postgres.parse_tree import dictionaries
from pubcheck.postgres.plpgsql.compile_errors import NotParsed
from pubcheck.postgres.plpgsql.control_flow import catches
from pubcheck.postgres.plpgsql.parse import program
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor import block_statements
from pubcheck.simulate.executor.block_state import BlockState, Body, Exited, Returned, declared_scalar
from pubcheck.simulate.executor.block_statements import over_rows, require_order
from pubcheck.simulate.executor.block_variables import without_row_types
from pubcheck.simulate.executor.expressions import is_volatile
from pubcheck.simulate.executor.statement_scope import statement_scope
from pubcheck.simulate.not_followed import NotFollowed

_SCROLL = 2
_FORWARD, _BACKWARD, _ABSOLUTE = range(3)
_ALL = (1 << 31) - 1


class Cursor(Struct):
    """The rows of a cursor and its place among them: 0 is before the first one, and one more than their number is
    after the last."""

    result: Result
    scrolls: bool
    place: int = 0

    def move(self, direction: int, count: int) -> int:
        """Move the cursor. Return how many rows it passed, and the one it is on. Raises NotFollowed for a move backward
        of a cursor without SCROLL: the plan decides whether it is allowed."""
        end = len(self.result.rows) + 1
        if direction == _ABSOLUTE:
            place = count if count >= 0 else end + count
        else:
            place = self.place + (-count if direction == _BACKWARD else count)
        place = max(0, min(place, end))
        if place < self.place and not self.scrolls:
            raise NotFollowed("a move backward of a cursor without SCROLL")
        former, self.place = self.place, place
        if direction == _ABSOLUTE or place == former:
            return int(0 < place < end)
        return abs(place - former) - (place in (0, end))

    @property
    def row(self) -> tuple[Any, ...] | None:
        return self.result.rows[self.place - 1] if 0 < self.place <= len(self.result.rows) else None


def open_(block: BlockState, node: Node) -> None:
    name, declaration = _variable(block, node)
    if name in block.cursors:
        raise ServerError("42P03", f'cursor "{name}" already in use')
    options = node.get("cursor_options", 0) | declaration.get("cursor_options", 0)
    block.cursors[name] = Cursor(_rows(block, node, name, declaration), bool(options & _SCROLL))
    block.opened_cursors.add(name)


def fetch(block: BlockState, node: Node) -> None:
    """FETCH and MOVE."""
    cursor = _opened(block, node)
    count = node.get("how_many", 1)
    if "expr" in node:
        count = block.value(node["expr"]["PLpgSQL_expr"]["query"], INT4)
        if count is None:
            raise ServerError("22004", "relative or absolute cursor position is null")
    if len(cursor.result.rows) > 1:
        require_order(cursor.result)
    block.count = cursor.move(node.get("direction", _FORWARD), min(count, _ALL))
    if not node.get("is_move"):
        block.variables.store_result(node["target"], cursor.result, cursor.row)
    block.set_found(block.count > 0)


def close(block: BlockState, node: Node) -> None:
    _opened(block, node)
    del block.cursors[_variable(block, node)[0]]


def for_rows_of_cursor(block: BlockState, node: Node) -> None:
    """FOR ... IN a cursor, which is open during the loop."""
    open_(block, node)
    name = _variable(block, node)[0]
    try:
        over_rows(block, node, block.cursors[name].result)
    finally:
        block.cursors.pop(name, None)


def _variable(block: BlockState, node: Node) -> tuple[str, Node]:
    """The name of a cursor's variable, and its declaration."""
    declaration = block.body.program.variables[node.get("curvar", 0)][1]
    return declaration["refname"], declaration


def _opened(block: BlockState, node: Node) -> Cursor:
    name, declaration = _variable(block, node)
    cursor: Cursor | None = block.cursors.get(name)
    if cursor is not None:
        return cursor
    major = block.session.database.catalog.major
    has_name = "cursor_explicit_expr" in declaration and not major.bound_cursors_unnamed
    if has_name or name in block.opened_cursors:
        raise ServerError("34000", f'cursor "{name}" does not exist')
    raise ServerError("22004", f'cursor variable "{name}" is null')


def _rows(block: BlockState, node: Node, name: str, declaration: Node) -> Result:
    program = block.body.program
    queries = (item.get("query") for item in dictionaries([program.body, program.exceptions]))
    if any(isinstance(query, str) and _mentions(name, query) for query in queries):
        raise NotFollowed(f'the name or the current row of the cursor "{name}"')
    if "dynquery" in node:
        return block.run_with(node["dynquery"]["PLpgSQL_expr"]["query"], node.get("params", []))
    query = (node.get("query") or declaration["cursor_explicit_expr"])["PLpgSQL_expr"]["query"]
    arguments = _arguments(block, node, declaration) if "argquery" in node else []
    try:
        _refuse_volatile(block, query)
        return block.run_query(query)
    finally:
        for argument in arguments:
            block.variables.remove_scalar(argument)


def _arguments(block: BlockState, node: Node, declaration: Node) -> list[str]:
    """Set the arguments of a cursor, which only its query sees."""
    values = block.run_query(f"SELECT {node['argquery']['PLpgSQL_expr']['query']}")
    variables, names = block.body.program.variables, []
    fields = variables[declaration["cursor_explicit_argrow"]][1]["fields"]
    for field, value, type_oid in zip(fields, values.rows[0], values.types, strict=True):
        name = field["name"]
        if name in block.variables.scalars or name in block.variables.records:
            raise NotFollowed(f'several variables "{name}"')
        declared_scalar(block, variables[field.get("varno", 0)][1])
        block.variables.store(name, value, type_oid)
        names.append(name)
    return names


def _refuse_volatile(block: BlockState, query: str) -> None:
    """Raise NotFollowed for a query whose functions are called as rows are fetched."""
    parsed = parse(query)
    if parsed is None or parsed[0] != "SelectStmt":
        raise NotFollowed("a cursor over another statement than SELECT")
    inner = Nested(statement_scope(block.session, parsed[1]))
    analyze_query(inner, {"SelectStmt": {key: value for key, value in parsed[1].items() if key != "withClause"}})
    parts = [target.expr for target in inner.query.targets] + ([inner.query.where] if inner.query.where else [])
    if any(is_volatile(block.session, expr) for expr in parts):
        raise NotFollowed("a volatile function in the query of a cursor")


def _mentions(name: str, query: str) -> bool:
    """Whether a text may use a variable, and not a column or table of that name."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?![\w.])", query, re.IGNORECASE) is not None


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
    "PLpgSQL_stmt_close": close,
    "PLpgSQL_stmt_commit": lambda block, node: block_statements.end_transaction(block, commits=True),
    "PLpgSQL_stmt_dynexecute": block_statements.execute,
    "PLpgSQL_stmt_dynfors": block_statements.for_rows_of_text,
    "PLpgSQL_stmt_execsql": block_statements.sql,
    "PLpgSQL_stmt_exit": block_statements.exit_,
    "PLpgSQL_stmt_foreach_a": block_statements.for_each,
    "PLpgSQL_stmt_fetch": fetch,
    "PLpgSQL_stmt_forc": for_rows_of_cursor,
    "PLpgSQL_stmt_fori": block_statements.for_integers,
    "PLpgSQL_stmt_fors": block_statements.for_rows,
    "PLpgSQL_stmt_getdiag": block_statements.diagnostics,
    "PLpgSQL_stmt_if": block_statements.if_,
    "PLpgSQL_stmt_loop": block_statements.loop,
    "PLpgSQL_stmt_open": open_,
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
