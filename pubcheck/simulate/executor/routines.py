"""Functions and procedures that the unit creates, and bodies of triggers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.datum import Array
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import INT4, NAME, OID, TEXT, TEXT_ARRAY, VOID
from pubcheck.postgres.parse import Node, parse, split_statements
from pubcheck.postgres.parse_tree import names
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor.block_state import Body
from pubcheck.simulate.executor.expressions import Scope, Step, converted
from pubcheck.simulate.executor.prepared_statements import argument_value, parameters_level, with_columns
from pubcheck.simulate.executor.procedural import Block, body_of
from pubcheck.simulate.executor.statement_scope import rows_of
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.executor.targets import Transition, provide
from pubcheck.simulate.not_followed import NotFollowed

_TYPES = {
    "tg_name": NAME,
    "tg_relname": NAME,
    "tg_table_name": NAME,
    "tg_table_schema": NAME,
    "tg_relid": OID,
    "tg_nargs": INT4,
    "tg_argv": TEXT_ARRAY,
}


_TIMINGS = {0: "AFTER", 2: "BEFORE", 64: "INSTEAD OF"}


class Routine:
    """A function or procedure with IN parameters, in SQL or PL/pgSQL."""

    def __init__(self, session: Backend, proc: Proc) -> None:
        self.session, self.proc = session, proc
        catalog = session.database.catalog
        cache = session.catalog_session.syscache
        definition = catalog.definitions.get(("function", proc.oid), {})
        options = {item["DefElem"]["defname"]: item["DefElem"].get("arg") for item in definition.get("options", ())}
        self.language = options.get("language", {}).get("String", {}).get("sval", "").lower()
        texts = options.get("as", {}).get("List", {}).get("items", ())
        is_plain = set(proc.modes) <= {"i"} and not proc.returns_set and not proc.variadic and not proc.definer
        types = [*proc.arguments, *([proc.returns] if proc.returns not in (0, VOID) else [])]
        is_scalar = all(cache.type(cache.base_type(oid)[0]).kind in ("b", "e", "r") for oid in types)
        has_text = self.language in ("sql", "plpgsql") and len(texts) == 1 and "set" not in options
        if not (has_text and is_plain and is_scalar):
            raise NotFollowed(f"what the function {proc.name} gives")
        self.text = texts[0]["String"]["sval"]
        self.names = [name or "" for name in proc.argument_names or ("",) * len(proc.arguments)]
        parameters = (item["FunctionParameter"] for item in definition.get("parameters", ()))
        self._defaults = [parameter.get("defexpr") for parameter in parameters]

    def __call__(self, values: list[Any], *, in_order: bool, atomic: bool = True, called: bool = True) -> Any:
        """Return the result for some arguments. ``in_order``: the statement calls it for rows in a known order, so that
        the body may change something."""
        if self.proc.strict and None in values:
            return None
        self.session.spend_step()
        is_volatile = self.proc.volatility == "v"
        if is_volatile and not in_order and self.proc.kind == "f":
            raise NotFollowed(f"the volatile function {self.proc.name} in a condition")
        reads = self.proc.kind == "f" and not is_volatile
        if self.language == "sql":
            return self._in_sql(values, reads=reads)
        block = Block(self.session, self._body(), atomic=atomic)
        block.called = called
        block.reads = reads
        block.result = 0 if self.proc.returns in (0, VOID) else self.proc.returns
        for name, type_oid, value in zip(self.names, self.proc.arguments, values, strict=True):
            if name:
                block.variables.add_scalar(name, type_oid, value)
        returned = block.run()
        if returned is None and block.result:
            raise ServerError("2F005", "control reached end of function without RETURN")
        return "" if self.proc.returns == VOID or returned is None else returned.value

    def default_tree(self, number: int) -> Node:
        """The default of a parameter as it is written."""
        tree: Node | None = self._defaults[number]
        if tree is None:
            raise NotFollowed(f"a call of {self.proc.name} that leaves arguments out")
        return tree

    def default(self, number: int) -> Expr:
        """The default of a parameter as its type."""
        scope, problem = Scope(self.session), f"the default of an argument of {self.proc.name}"
        return converted(scope, scope.transform(self.default_tree(number)), self.proc.arguments[number], -1, problem)

    def _body(self) -> Body:
        parameters = ", ".join('"' + name.replace('"', '""') + '" int' for name in self.names if name)
        result = "void" if self.proc.returns in (0, VOID) else "int"
        header = f"CREATE FUNCTION f({parameters}) RETURNS {result} LANGUAGE plpgsql AS"
        return body_of(header, self.text, newer=self.session.database.catalog.major.newer_grammar)

    def _in_sql(self, values: list[Any], *, reads: bool) -> Any:
        """Run the statements of a body. The result is the first column of the last one's row."""
        session = self.session
        result = Result()
        for text in split_statements(self.text):
            parsed = parse(text)
            if parsed is None:
                continue
            kind, node = parsed[0], with_columns(parsed[1])
            if reads and kind != "SelectStmt":
                message = f"{kind.removesuffix('Stmt').upper()} is not allowed in a non-volatile function"
                raise ServerError("0A000", message)
            with session.inside(parameters_level(session, self.names, self.proc.arguments, values)):
                if reads:
                    result = rows_of(session, node)
                else:
                    session.increment_command()
                    result = session.run_parsed(kind, node, text)
        if self.proc.returns in (0, VOID):
            return ""
        if len(result.rows) > 1 or result.types != (self.proc.returns,):
            raise NotFollowed(f"which row the function {self.proc.name} returns")
        return result.rows[0][0] if result.rows else None


def routine_step(builder: Any, expr: Expr, proc: Proc) -> Step:
    """A call of a function that the unit creates. Raises NotFollowed for one that is not a plain one."""
    routine = Routine(builder.session, proc)
    arguments = [builder.build(argument) for argument in _with_defaults(routine, expr)]
    return lambda row: routine([argument(row) for argument in arguments], in_order=builder.in_order)


def _with_defaults(routine: Routine, expr: Expr) -> list[Expr]:
    """The arguments of a call at their places, with defaults for those that it leaves out."""
    placed: dict[int, Expr] = {}
    for number, argument in enumerate(expr.args):
        if argument.node == "NamedArgExpr":
            placed[routine.names.index(argument.value)] = argument.args[0]
        else:
            placed[number] = argument
    count = len(routine.proc.arguments)
    return [placed[number] if number in placed else routine.default(number) for number in range(count)]


def call_procedure(session: Backend, node: Node) -> Result:
    """CALL of a procedure that the unit creates, with arguments at their places."""
    parts, arguments = names(node["funccall"]["funcname"]), node["funccall"].get("args", ())
    procs = [row for _, row in session.catalog_session.syscache.procs(parts)]
    if len(procs) != 1 or procs[0].kind != "p" or procs[0].oid < FIRST_NORMAL_OID:
        raise NotFollowed(f"CALL of {parts[-1]}")
    (proc,) = procs
    routine = Routine(session, proc)
    trees: dict[int, Node] = {}
    for number, argument in enumerate(arguments):
        named = argument.get("NamedArgExpr")
        trees[number if named is None else routine.names.index(named["name"])] = named["arg"] if named else argument
    places = range(len(proc.arguments))
    values = [
        argument_value(session, trees.get(place) or routine.default_tree(place), proc.arguments[place], "i")
        for place in places
    ]
    called = session.variables is not None
    with session.inside(None):
        routine(values, in_order=True, atomic=not session.current.implicit, called=called)
    return NOTHING


def trigger_routine(session: Backend, table: Table, node: Node) -> Callable[..., Any]:
    """The function of a trigger, to be called with the operation, the old row, the new row and the trigger."""
    parts = names(node["funcname"])
    catalog = session.database.catalog
    procs = [row for _, row in session.catalog_session.syscache.procs(parts) if not row.arguments]
    definition = catalog.definitions.get(("function", procs[0].oid)) if procs else None
    if definition is None:
        raise NotFollowed(f'the trigger "{node["trigname"]}"')
    options = {item["DefElem"]["defname"]: item["DefElem"].get("arg") for item in definition["options"]}
    language = options["language"]["String"]["sval"].lower()
    if language != "plpgsql":
        raise NotFollowed(f"a trigger function in {language}")
    text = options["as"]["List"]["items"][0]["String"]["sval"]
    header = "CREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS"
    body = body_of(header, text, newer=catalog.major.newer_grammar)

    arguments = [item["String"].get("sval", "") for item in node.get("args", ())]

    def call(operation: str, old: Any, new: Any, trigger: Node, transition: Transition | None = None) -> Any:
        block = Block(session, body, atomic=True)
        provide(session, block.variables, trigger, transition)
        new = None if new is None else dict(new)
        if new is not None:
            block.variables.add_row("new", table.relation, new)
        if old is not None:
            block.variables.add_row("old", table.relation, dict(old))
        namespace = catalog.namespaces[table.relation.namespace].name
        timing = _TIMINGS[trigger.get("timing", 0) & 66]
        level = "ROW" if trigger.get("row") else "STATEMENT"
        for name, value in (
            ("tg_name", trigger["trigname"]),
            ("tg_when", timing),
            ("tg_level", level),
            ("tg_op", operation.upper()),
            ("tg_relid", table.oid),
            ("tg_relname", table.relation.name),
            ("tg_table_name", table.relation.name),
            ("tg_table_schema", namespace),
            ("tg_nargs", len(arguments)),
            ("tg_argv", Array(arguments, (len(arguments),), (0,)) if arguments else None),
        ):
            block.variables.add_scalar(name, _TYPES.get(name, TEXT), value)
        session.trigger_depth += 1
        try:
            returned = block.run()
        finally:
            session.trigger_depth -= 1
        expression = "" if returned is None else returned.expression
        return None if timing == "AFTER" or level == "STATEMENT" else _returned(expression, block, table)

    return call


def _returned(expression: str, block: Block, table: Table) -> Any:
    """The row that a trigger returns: NEW, OLD, a record, NULL, or the first that there is of COALESCE(NEW, OLD)."""
    parsed = parse(f"SELECT {expression}")
    targets: list[Node] = list(parsed[1].get("targetList", ())) if parsed is not None else []
    value: Node = targets[0]["ResTarget"]["val"] if len(targets) == 1 else {}
    records = block.variables.records
    for choice in value.get("CoalesceExpr", {}).get("args", [value]):
        fields = list(choice.get("ColumnRef", {}).get("fields", ()))
        name = fields[0].get("String", {}).get("sval") if len(fields) == 1 else None
        if name not in ("new", "old", *records) and not choice.get("A_Const", {}).get("isnull"):
            raise NotFollowed("what a trigger returns")
        if name in records:
            row = block.variables.record(name)
            if records[name].relation is not None:
                return row
            return {column.number: value for column, value in zip(table.columns, row, strict=True)}
    return None
