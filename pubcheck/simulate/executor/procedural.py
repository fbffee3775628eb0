"""PL/pgSQL over rows: DO blocks and the bodies of functions and procedures (plpgsql/pl_exec.c).

Variables are columns of a query level that is around all queries of the block.
"""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.namespace_items import Item, Nested, Output
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.newer_grammar import parse_with
from pubcheck.postgres.oids import BOOL, INT4
from pubcheck.postgres.parse import Node, parse
from pubcheck.postgres.plpgsql.compile_errors import NotParsed
from pubcheck.postgres.plpgsql.conditions import catches, sqlstate_of
from pubcheck.postgres.plpgsql.parse import Program, program, typname
from pubcheck.postgres.primnodes import IMPLICIT, nodes
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.expressions import Scope, compile_expression, frame_of
from pubcheck.simulate.executor.select import rows_of
from pubcheck.simulate.not_followed import NotFollowed

_EXCEPTION = 21
"""elog_level of RAISE EXCEPTION."""


class Returned(Exception):
    """RETURN, with the name or the expression that is returned, and its value in a function that has a result."""

    def __init__(self, expression: str, value: Any = None) -> None:
        super().__init__(expression)
        self.expression, self.value = expression, value


class Exited(Exception):
    """EXIT or CONTINUE."""

    def __init__(self, is_exit: bool, label: str) -> None:
        super().__init__(label)
        self.is_exit, self.label = is_exit, label


class Block:
    """A body that runs in a session. ``records`` are NEW and OLD, ``result`` the type that a function returns.

    ``reads``: it reads rows as the statement that calls it does, and changes none. ``alone``: it does neither.
    ``called``: another block calls it.
    """

    result = 0
    reads = alone = called = False

    def __init__(self, session: Backend, body: Program, *, atomic: bool) -> None:
        self.session, self.body, self.atomic = session, body, atomic
        self.outer, session.variables = session.variables, None
        self.level = Nested(Scope(session))
        session.variables = self.outer
        self.types: dict[str, int] = {}
        self.names: list[str] = []
        self.values: list[Any] = []
        self.row: list[Any] = []
        self.variables = Item("", [])
        self.variables.name_visible = False
        self.records: dict[str, Any] = {}

    def add_record(self, name: str, relation: Relation, row: Any) -> None:
        """NEW or OLD."""
        self.records[name] = row
        cache = self.session.catalog_session.syscache
        columns = [
            Output(c.name, c.type, c.typmod, c.collation or cache.type(c.type).collation) for c in relation.live()
        ]
        item = Item(name, columns, relation=relation, alias=True)
        item.columns_visible = False
        self.level.items.append(item)
        self.level.entries.append(item)
        self.row.append(row)

    def add_variable(self, name: str, type_oid: int, value: Any) -> None:
        self.types[name] = type_oid
        self.names.append(name)
        self.values.append(value)

    def run(self) -> Returned | None:
        """Run the body. Return its RETURN."""
        for kind, node in self.body.variables:
            self._declare(kind, node)
        cache = self.session.catalog_session.syscache
        self.variables.columns = [
            Output(name, self.types[name], collation=cache.type(self.types[name]).collation) for name in self.names
        ]
        self.level.variables = self.variables
        self.level.items.append(self.variables)
        self.level.entries.append(self.variables)
        self.row.append(self.values)
        frame_of(self.level).row = self.row
        session = self.session
        session.variables = self.level
        try:
            for kind, node in self.body.variables:
                if kind == "PLpgSQL_var" and "default_val" in node:
                    self._assign(node["refname"], node["default_val"]["PLpgSQL_expr"]["query"])
            self._block({"body": self.body.body, "exceptions": self.body.exceptions})
        except Returned as returned:
            return returned
        finally:
            session.variables = self.outer
        return None

    def _declare(self, kind: str, node: Node) -> None:
        name = node.get("refname", "")
        if kind in ("PLpgSQL_recfield", "PLpgSQL_row") or name in self.types or name in self.records:
            return
        if kind != "PLpgSQL_var":
            if name not in ("new", "old"):
                raise NotFollowed(f'the variable "{name}"')
            return
        written = typname(node)
        if name in ("sqlstate", "sqlerrm"):
            return
        parsed = parse(f"SELECT NULL::{written}" if written else "SELECT NULL::text")
        assert parsed is not None
        cast = parsed[1]["targetList"][0]["ResTarget"]["val"]["TypeCast"]["typeName"]
        self.add_variable(name, self.session.catalog_session.type_oid(cast), None)

    # Statements.

    def _statements(self, body: list[Node]) -> None:
        for item in body:
            ((kind, node),) = item.items()
            handler = _HANDLERS.get(kind)
            if handler is None:
                raise NotFollowed(f"the statement {kind.removeprefix('PLpgSQL_stmt_').upper()} of a block")
            handler(self, node)

    def _block(self, node: Node) -> None:
        handlers = (node.get("exceptions") or {}).get("PLpgSQL_exception_block")
        if handlers is None:
            self._statements(node.get("body", []))
            return
        session = self.session
        session.savepoint("")
        at = len(session.current.levels) - 1
        try:
            self._statements(node.get("body", []))
        except ServerError as error:
            session.rollback_to(at)
            session.catalog_session.rollback_to("")
            session.release(at)
            session.catalog_session.release("")
            for item in handlers["exc_list"]:
                handler = item["PLpgSQL_exception"]
                if _catches(handler, error):
                    self._statements(handler.get("action", []))
                    return
            raise
        except (Returned, Exited):
            session.release(at)
            session.catalog_session.release("")
            raise
        session.release(at)
        session.catalog_session.release("")

    def _sql(self, node: Node) -> None:
        query = node["sqlstmt"]["PLpgSQL_expr"]["query"]
        result = self._run(query)
        self._set_found(result.count > 0 or bool(result.rows))
        if not node.get("into"):
            return
        fields = node.get("target", {}).get("PLpgSQL_row", {}).get("fields")
        if fields is None:
            raise NotFollowed("SELECT INTO a record")
        if node.get("strict") and len(result.rows) != 1:
            state, many = ("P0002", "no rows") if not result.rows else ("P0003", "more than one row")
            raise ServerError(state, f"query returned {many}")
        row = result.rows[0] if result.rows else (None,) * len(fields)
        for field, value, type_oid in zip(fields, row, result.types or (0,) * len(row), strict=False):
            self._store(field["name"], value, type_oid)

    def _run(self, query: str) -> Result:
        parsed = parse_with(self.session.database.catalog.major.newer_grammar, query)
        if parsed is None:
            return Result()
        if self.reads:
            if parsed[0] != "SelectStmt" or self.alone:
                raise NotFollowed("a function that reads or changes rows, called for each row or by an expression")
            return rows_of(self.session, parsed[1])
        self.session.increment_command()
        return self.session.run_parsed(*parsed, query)

    def _set_found(self, found: bool) -> None:
        if "found" in self.types:
            self.values[self.names.index("found")] = found

    def _perform(self, node: Node) -> None:
        result = self._run(node["expr"]["PLpgSQL_expr"]["query"])
        self._set_found(bool(result.rows))

    def _execute(self, node: Node) -> None:
        if node.get("params") or node.get("into"):
            raise NotFollowed("EXECUTE with USING or INTO")
        text = self._value(node["query"]["PLpgSQL_expr"]["query"])
        if text is None:
            raise ServerError("22004", "query string argument of EXECUTE is null")
        outer, self.session.variables = self.session.variables, None
        try:
            self._run(text)
        finally:
            self.session.variables = outer

    def _assignment(self, node: Node) -> None:
        target, _, expression = node["expr"]["PLpgSQL_expr"]["query"].partition(":=")
        if not expression:
            target, _, expression = target.partition("=")
        self._assign(target.strip().lower(), expression)

    def _assign(self, target: str, expression: str) -> None:
        record, _, field = target.partition(".")
        if field and record in self.records:
            item = next(item for item in self.level.items if item.name == record)
            assert item.relation is not None
            column = item.relation.column(field)
            if column is None:
                raise ServerError("42703", f'record "{record}" has no field "{field}"')
            self.records[record][column.number] = self._value(expression, column.type, column.typmod)
        elif target in self.types:
            self.values[self.names.index(target)] = self._value(expression, self.types[target])
        else:
            raise NotFollowed(f'an assignment to "{target}"')

    def _store(self, name: str, value: Any, type_oid: int) -> None:
        if name not in self.types or (value is not None and type_oid != self.types[name]):
            raise NotFollowed(f'an assignment to "{name}"')
        self.values[self.names.index(name)] = value

    def _value(self, expression: str, type_oid: int = 0, typmod: int = -1) -> Any:
        """The value of an expression, as a type if one is given."""
        parsed = parse(f"SELECT {expression}")
        assert parsed is not None
        query = parsed[1]
        if query.keys() - {"targetList", "limitOption", "op"} or len(query["targetList"]) != 1:
            raise NotFollowed("an expression of a block that is a query")
        session = self.session
        scope = Scope(session)
        scope.clause = "SELECT"
        expr = scope.transform(query["targetList"][0]["ResTarget"]["val"])
        if type_oid:
            coerced = coerce_to_target_type(scope, expr, expr.type, type_oid, typmod, "a", IMPLICIT, -1)
            if coerced is None:
                raise NotFollowed("an assignment of a value of another type")
            expr = coerced
        assign_collations(scope, expr)
        if self.reads:
            if self.alone and any(node.node == "SubLink" for node in nodes(expr)):
                raise NotFollowed("a volatile function that reads rows, called for each row or by an expression")
            return compile_expression(session, scope, expr)(())
        session.increment_command()
        scope.is_run_once = True
        outer, session.running = session.running, session.snapshot()
        try:
            return compile_expression(session, scope, expr)(())
        finally:
            session.running = outer

    def _if(self, node: Node) -> None:
        others = (item["PLpgSQL_if_elsif"] for item in node.get("elsif_list", []))
        branches = [(node["cond"], node.get("then_body", [])), *((o["cond"], o.get("stmts", [])) for o in others)]
        for condition, body in branches:
            if self._value(condition["PLpgSQL_expr"]["query"], BOOL) is True:
                self._statements(body)
                return
        self._statements(node.get("else_body", []))

    def _looped(self, node: Node) -> bool:
        """Run a loop's body once. Return whether the loop goes on."""
        self.session.spend_step()
        try:
            self._statements(node.get("body", []))
        except Exited as exited:
            if exited.label and exited.label != node.get("label", ""):
                raise
            return not exited.is_exit
        return True

    def _loop(self, node: Node) -> None:
        while self._looped(node):
            pass

    def _while(self, node: Node) -> None:
        while self._value(node["cond"]["PLpgSQL_expr"]["query"], BOOL) is True and self._looped(node):
            pass

    def _for_integers(self, node: Node) -> None:
        name = node["var"]["PLpgSQL_var"]["refname"]
        low, high = (self._value(node[side]["PLpgSQL_expr"]["query"], INT4) for side in ("lower", "upper"))
        step = self._value(node["step"]["PLpgSQL_expr"]["query"], INT4) if "step" in node else 1
        if low is None or high is None or step is None:
            raise ServerError("22004", "lower bound of FOR loop cannot be null")
        values = range(low, high - 1, -step) if node.get("reverse") else range(low, high + 1, step)
        place = self.names.index(name)
        for value in values:
            self.values[place] = value
            if not self._looped(node):
                break

    def _exit(self, node: Node) -> None:
        if "cond" in node and self._value(node["cond"]["PLpgSQL_expr"]["query"], BOOL) is not True:
            return
        raise Exited(bool(node.get("is_exit")), node.get("label", ""))

    def _return(self, node: Node) -> None:
        expression = node.get("expr", {}).get("PLpgSQL_expr", {}).get("query", "")
        raise Returned(expression, self._value(expression, self.result) if self.result and expression else None)

    def _raise(self, node: Node) -> None:
        if node.get("elog_level", _EXCEPTION) < _EXCEPTION:
            return
        if node.get("options") or "message" not in node:
            raise NotFollowed("RAISE with options")
        message = node["message"]
        for parameter in node.get("params", []):
            expression = parameter["PLpgSQL_expr"]["query"]
            value = self._value(f"({expression})::text")
            message = message.replace("%", "<NULL>" if value is None else value, 1)
        state = sqlstate_of(node.get("condname", "")) or "P0001"
        raise ServerError(state, message.replace("%%", "%"))

    def _end_transaction(self, *, commits: bool) -> None:
        session = self.session
        if self.called:
            raise NotFollowed("COMMIT or ROLLBACK in a procedure that a block calls")
        if self.atomic or len(session.current.levels) > 1:
            raise ServerError("2D000", "invalid transaction termination")
        session.fire_after()
        if commits:
            session.commit()
        else:
            session.rollback()
        session.begin(implicit=True)
        session.running = session.snapshot()


def _catches(handler: Node, error: ServerError) -> bool:
    return catches((item["PLpgSQL_condition"]["condname"] for item in handler["conditions"]), error.sqlstate)


_HANDLERS: dict[str, Any] = {
    "PLpgSQL_stmt_assign": Block._assignment,
    "PLpgSQL_stmt_block": Block._block,
    "PLpgSQL_stmt_call": Block._perform,
    "PLpgSQL_stmt_commit": lambda block, node: block._end_transaction(commits=True),
    "PLpgSQL_stmt_dynexecute": Block._execute,
    "PLpgSQL_stmt_execsql": Block._sql,
    "PLpgSQL_stmt_exit": Block._exit,
    "PLpgSQL_stmt_fori": Block._for_integers,
    "PLpgSQL_stmt_if": Block._if,
    "PLpgSQL_stmt_loop": Block._loop,
    "PLpgSQL_stmt_perform": Block._perform,
    "PLpgSQL_stmt_raise": Block._raise,
    "PLpgSQL_stmt_return": Block._return,
    "PLpgSQL_stmt_rollback": lambda block, node: block._end_transaction(commits=False),
    "PLpgSQL_stmt_while": Block._while,
}


def body_of(header: str, text: str, *, newer: bool) -> Program:
    """The program of a body; ``newer``: also with the grammar of 19. Raises ServerError where it does not compile."""
    if "#variable_conflict" in text:
        raise NotFollowed("a block with #variable_conflict")
    try:
        return program(header, text, newer=newer)
    except NotParsed as refused:
        if refused.sqlstate is None:
            raise NotFollowed(f"a block ({refused.message})") from None
        raise ServerError(refused.sqlstate, refused.message) from None


def run_block(session: Backend, text: str) -> None:
    """A DO block."""
    body = body_of("DO", text, newer=session.database.catalog.major.newer_grammar)
    Block(session, body, atomic=not session.current.implicit).run()
