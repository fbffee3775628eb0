"""What runs a PL/pgSQL body: its variables, its expressions, its queries."""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.newer_grammar import parse_with
from pubcheck.postgres.oids import BOOL, TEXT
from pubcheck.postgres.parse import Node, parse
from pubcheck.postgres.parse_tree import walk
from pubcheck.postgres.plpgsql.parse import Program, typname
from pubcheck.postgres.plpgsql.variables import Declaration, declaration_of
from pubcheck.postgres.primnodes import UNKNOWN, Expr
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.block_variables import Variables, declared_type
from pubcheck.simulate.executor.expressions import Scope, compile_expression, converted
from pubcheck.simulate.executor.prepared_statements import parameters_level, with_columns
from pubcheck.simulate.executor.statement_scope import rows_of
from pubcheck.simulate.not_followed import NotFollowed


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


class Body(Struct, frozen=True):
    """A body that was parsed, and its text."""

    program: Program
    text: str


class BlockState:
    """A body that runs in a session. ``result`` is the type that a function returns.

    ``reads``: it reads rows as the statement that calls it does, and changes none. ``called``: another block calls it.
    ``caught`` are the errors whose handlers run. ``count`` is ROW_COUNT.
    """

    result = 0
    reads = called = False
    count = 0

    def __init__(self, session: Backend, body: Body, *, atomic: bool) -> None:
        self.session, self.body, self.atomic = session, body, atomic
        self.variables = Variables(session)
        self.caught: list[ServerError] = []
        self.cursors: dict[str, Any] = {}
        """The open cursors by their variables."""
        self.opened_cursors: set[str] = set()

    def statements(self, body: list[Node]) -> None:
        """Run statements."""
        raise NotImplementedError

    # Variables.

    def declare(self) -> None:
        """Make the variables of the body and of the blocks in it."""
        arguments = _arguments_of_cursors(self.body.program)
        cursor_loops = (loop for kind, loop in walk(self.body.program.body) if kind == "PLpgSQL_stmt_forc")
        loops = {loop["var"].get("PLpgSQL_rec", {}).get("dno", -1) for loop in cursor_loops}
        for number, (kind, node) in enumerate(self.body.program.variables):
            name = node.get("refname", "")
            if number in arguments:
                continue
            known = name in self.variables.scalars or name in self.variables.records
            if kind in ("PLpgSQL_recfield", "PLpgSQL_row") or (name in ("new", "old") and "lineno" not in node):
                continue
            if known and "lineno" in node and kind != "PLpgSQL_var" and number not in loops:
                raise NotFollowed(f'several variables "{name}"')
            if not known:
                self._declare(kind, name, node)

    def _declare(self, kind: str, name: str, node: Node) -> None:
        declaration = declaration_of(self.body.text, node)
        session = self.session
        if declaration is None:
            if kind == "PLpgSQL_rec":
                self.variables.add_record(name, None)
            else:
                written = typname(node)
                type_oid, typmod = declared_type(session, written) if written else (TEXT, -1)
                self.variables.add_scalar(name, type_oid, typmod=typmod)
            return
        type_oid, typmod, relation = self._declared(declaration)
        if relation is not None:
            self.variables.add_record(name, relation)
        else:
            self.variables.add_scalar(name, type_oid, typmod=typmod, not_null=bool(node.get("notnull")))

    def _declared(self, declaration: Declaration) -> tuple[int, int, Relation | None]:
        """The type of a declaration with its modifier, or the relation whose rows it names."""
        session = self.session
        parts = declaration.parts
        if declaration.reference == "rowtype":
            return 0, -1, _relation(session, parts)
        if declaration.reference == "type":
            if len(parts) == 1 and parts[0] in self.variables.scalars:
                scalar = self.variables.scalars[parts[0]]
                return scalar.type, scalar.typmod, None
            column = _relation(session, parts[:-1]).column(parts[-1]) if len(parts) > 1 else None
            if column is None:
                raise NotFollowed(f"a variable of type {declaration.text}%TYPE")
            return column.type, column.typmod, None
        modifiers = _MODIFIERS.match(self.body.text, declaration.end)
        array = "[]" if declaration.reference == "[]" else ""
        type_oid, typmod = declared_type(session, declaration.text + (modifiers[0] if modifiers else "") + array)
        if session.catalog_session.syscache.type(type_oid).kind == "c":
            return 0, -1, _relation(session, parts)
        return type_oid, typmod, None

    def set_defaults(self, line: int, floor: int = -1) -> None:
        """Set the variables that are declared after one line, up to another, to their defaults."""
        for kind, node in self.body.program.variables:
            if kind != "PLpgSQL_var" or "lineno" not in node or not floor < node["lineno"] <= line:
                continue
            name = node["refname"]
            if "default_val" in node:
                self.assign(name, node["default_val"]["PLpgSQL_expr"]["query"])
            elif name in self.variables.scalars and floor >= 0:
                self.variables.set(name, None)

    def assignment(self, node: Node) -> None:
        target, _, expression = node["expr"]["PLpgSQL_expr"]["query"].partition(":=")
        if not expression:
            target, _, expression = target.partition("=")
        self.assign(target.strip().lower(), expression)

    def assign(self, target: str, expression: str) -> None:
        variables = self.variables
        record, _, field = target.partition(".")
        if field and record in variables.records:
            variables.set_field(record, field, lambda column: self.value(expression, column.type, column.typmod))
        elif target in variables.scalars:
            scalar = variables.scalars[target]
            variables.set(target, self.value(expression, scalar.type, scalar.typmod))
        elif target in variables.records and expression.strip().lower() in variables.records:
            variables.copy_record(target, expression.strip().lower())
        elif target in variables.records:
            result = self.run_query(f"SELECT ({expression}).*")
            variables.store_row(target, result.rows[0] if result.rows else None, result.columns, result.types)
        else:
            raise NotFollowed(f'an assignment to "{target}"')

    # Expressions.

    def value(self, expression: str, type_oid: int = 0, typmod: int = -1) -> Any:
        """The value of an expression, as a type if one is given."""
        return self.typed_value(expression, type_oid, typmod)[0]

    def typed_value(self, expression: str, type_oid: int = 0, typmod: int = -1) -> tuple[Any, Expr]:
        """The value of an expression, and the analysed expression."""
        parsed = parse(f"SELECT {expression}")
        assert parsed is not None
        query = parsed[1]
        session = self.session
        scope = Scope(session)
        scope.clause = "SELECT"
        if query.keys() <= {"targetList", "limitOption", "op"} and len(query["targetList"]) == 1:
            expr = scope.transform(query["targetList"][0]["ResTarget"]["val"])
        else:  # IF EXISTS is written with parentheses, but x := count(*) FROM t is an expression too
            expr = scope.transform({"SubLink": {"subLinkType": "EXPR_SUBLINK", "subselect": {"SelectStmt": query}}})
        if type_oid:
            expr = converted(scope, expr, type_oid, typmod, "an assignment of a value of another type")
        else:
            assign_collations(scope, expr)
        if self.reads:
            return compile_expression(session, scope, expr)(()), expr
        session.increment_command()
        outer, session.running = session.running, session.snapshot()
        try:
            return compile_expression(session, scope, expr, in_order=True)(()), expr
        finally:
            session.running = outer

    def text_of(self, expression: str) -> str | None:
        """The value of an expression as a text."""
        value: str | None = self.value(f"({expression})::text")
        return value

    def truth(self, expression: Node) -> bool:
        return self.value(expression["PLpgSQL_expr"]["query"], BOOL) is True

    # Queries.

    def run_query(self, query: str) -> Result:
        """Run a statement in SQL."""
        parsed = parse_with(self.session.database.catalog.major.newer_grammar, query)
        if parsed is None:
            return Result()
        if self.reads:
            if parsed[0] != "SelectStmt":
                verb = parsed[0].removesuffix("Stmt").upper()
                raise ServerError("0A000", f"{verb} is not allowed in a non-volatile function")
            return rows_of(self.session, parsed[1])
        self.session.increment_command()
        return self.session.run_parsed(*parsed, query)

    def run_with(self, query: str, parameters: list[Node]) -> Result:
        """EXECUTE, with the values of USING."""
        text = self.text_of(query)
        if text is None:
            raise ServerError("22004", "query string argument of EXECUTE is null")
        values = [self.typed_value(item["PLpgSQL_expr"]["query"]) for item in parameters]
        parsed = parse_with(self.session.database.catalog.major.newer_grammar, text)
        if parsed is None:
            return Result()
        if self.reads and parsed[0] != "SelectStmt":
            raise NotFollowed("EXECUTE of a change in a function that is not volatile")
        types = [TEXT if expr.type == UNKNOWN else expr.type for _, expr in values]
        with self.session.inside(parameters_level(self.session, (), types, [value for value, _ in values])):
            name, node = parsed[0], with_columns(parsed[1])
            if self.reads:
                return rows_of(self.session, node)
            self.session.increment_command()
            return self.session.run_parsed(name, node, text)

    def set_found(self, found: bool) -> None:
        if "found" in self.variables.scalars:
            self.variables.set("found", found)


def declared_scalar(block: BlockState, node: Node) -> None:
    """Make the variable of a declaration."""
    type_oid, typmod = declared_type(block.session, typname(node) or "text")
    block.variables.add_scalar(node["refname"], type_oid, typmod=typmod)


def _arguments_of_cursors(program: Program) -> set[int]:
    """The numbers of the variables that are arguments of cursors: only their queries see them."""
    rows = [node["cursor_explicit_argrow"] for _, node in program.variables if "cursor_explicit_argrow" in node]
    fields = [field for row in rows if row >= 0 for field in program.variables[row][1]["fields"]]
    return {field.get("varno", 0) for field in fields}


_MODIFIERS = lazy_compile(r"\s*\([^()]*\)")


def _relation(session: Backend, parts: list[str]) -> Relation:
    names = dict(zip(("relname", "schemaname"), reversed(parts), strict=False))
    relation: Relation = session.catalog_session.relation({**names, "inh": True})
    return relation
