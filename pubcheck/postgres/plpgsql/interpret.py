"""Runs PL/pgSQL over the catalog, as far as everything that it reads is known (src/pl/plpgsql/src/pl_exec.c).

Certain statements run as on the server. If a condition is unknown, both branches are run *in doubt*: their statements
are applied, and everything that follows from them is assumed. Statements that cannot be followed are reported to the
host.

Control flow is here: blocks, IF and CASE, EXIT and RETURN, COMMIT and ROLLBACK. If a condition that looks for
publications and tables is true, they exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.catalog.tables import Routine
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import conjuncts, names
from pubcheck.postgres.plpgsql import calls, exceptions, execution
from pubcheck.postgres.plpgsql.calls import run_called_functions
from pubcheck.postgres.plpgsql.control_flow import ON, Completion, Signal, all_signals
from pubcheck.postgres.plpgsql.evaluate import Evaluator, expression, query
from pubcheck.postgres.plpgsql.exceptions import block_with_handlers
from pubcheck.postgres.plpgsql.frames import Host, Inner
from pubcheck.postgres.plpgsql.machine import Machine, Work
from pubcheck.postgres.plpgsql.values import UNKNOWN, UNKNOWN_ROWS, Value
from pubcheck.postgres.source_text import Text

Assumption = tuple[str, str, str]
"""("publication", "", name) or ("relation", schema or "", name)."""


def assumptions(evaluator: Evaluator, node: Node) -> list[Assumption]:
    """Return the objects that exist if an expression is true."""
    return list(_assumed(evaluator, node, positive=True))


def _assumed(evaluator: Evaluator, node: Node, *, positive: bool) -> Iterator[Assumption]:
    """``positive``: where it is true, else where it is false."""
    for kind, body in node.items():
        if kind == "BoolExpr":
            if body["boolop"] == "NOT_EXPR":
                yield from _assumed(evaluator, body["args"][0], positive=not positive)
            elif (body["boolop"] == "AND_EXPR") == positive:
                for item in body["args"]:
                    yield from _assumed(evaluator, item, positive=positive)
        elif kind == "SubLink" and positive and "SelectStmt" in body.get("subselect", {}):
            select = body["subselect"]["SelectStmt"]
            if body["subLinkType"] == "EXISTS_SUBLINK":
                yield from _rows(evaluator, select)
            elif body["subLinkType"] == "EXPR_SUBLINK" and len(select.get("targetList", ())) == 1:
                # "count(*) > 0 FROM ...", as PL/pgSQL lets one write it.
                yield from _counted(evaluator, select, select["targetList"][0]["ResTarget"].get("val", {}))
        elif kind == "A_Expr" and positive and "SubLink" in body.get("lexpr", {}):
            select = body["lexpr"]["SubLink"].get("subselect", {}).get("SelectStmt", {})
            sign = names(body["name"])[-1]
            if sign in (">", "<>") or (sign in (">=", "=") and evaluator.value(body["rexpr"]) != 0):
                yield from _rows(evaluator, select)
        elif kind == "NullTest" and "FuncCall" in body["arg"]:
            call = body["arg"]["FuncCall"]
            if names(call["funcname"])[-1] == "to_regclass" and (body["nulltesttype"] == "IS_NOT_NULL") == positive:
                argument = evaluator.value(call["args"][0])
                if isinstance(argument, str):
                    schema, _, name = argument.replace('"', "").rpartition(".")
                    yield "relation", schema, name


def _counted(evaluator: Evaluator, select: Node, value: Node) -> Iterator[Assumption]:
    body = value.get("A_Expr", {})
    if body and names(body["name"])[-1] in (">", "<>") and evaluator.value(body["rexpr"]) == 0:
        yield from _rows(evaluator, select)


_NAMES = {
    "pubname": "publication",
    "tablename": "relation",
    "relname": "relation",
    "table_name": "relation",
}
_SCHEMAS = ("schemaname", "table_schema", "nspname")


def _rows(evaluator: Evaluator, select: Node) -> Iterator[Assumption]:
    """Return the values of a row of a query over catalogs, by the equalities that it satisfies."""
    names_by_column: dict[str, str] = {}
    joined = [item["JoinExpr"].get("quals") for item in select.get("fromClause", ()) if "JoinExpr" in item]
    for condition in conjuncts(*joined, select.get("whereClause")):
        body = condition.get("A_Expr")
        if body is None or body["kind"] != "AEXPR_OP" or names(body["name"])[-1] != "=":
            continue
        for column_side, operand in ((body.get("lexpr", {}), body["rexpr"]), (body["rexpr"], body.get("lexpr", {}))):
            fields = column_side.get("ColumnRef", {}).get("fields", ())
            if fields and "String" in fields[-1]:
                value = evaluator.value(operand)
                if isinstance(value, str):
                    names_by_column[fields[-1]["String"]["sval"]] = value
    schema = next((names_by_column[column] for column in _SCHEMAS if column in names_by_column), "")
    for column, kind in _NAMES.items():
        if column in names_by_column:
            yield kind, schema if kind == "relation" else "", names_by_column[column]


def run_block(machine: Machine, node: Node, outermost: bool = False) -> Completion:
    frame = machine.frame
    scope: dict[str, Value] = {}
    line = node.get("lineno", 1)
    floor = 0 if outermost else frame.program.floors.get(id(node), 0)
    bound: list[int] = []
    types = dict(frame.types)
    for number, (kind, variable) in enumerate(frame.program.variables):
        line_of_variable, name = variable.get("lineno", 0), variable.get("refname", "")
        if (
            kind not in ("PLpgSQL_var", "PLpgSQL_rec")
            or not line_of_variable
            or not floor <= line_of_variable <= line
            or name in _BY_HANDLERS
        ):
            continue
        if number in frame.bound or name in frame.loops or name in scope:
            continue  # another block's, on the same line, or a loop's
        bound.append(number)
        frame.homes[number] = scope
        frame.scopes.append(scope)
        machine.declare(frame, scope, kind, variable, None)
        frame.scopes.pop()
    frame.bound.update(bound)
    frame.scopes.append(scope)
    if node.get("label"):
        frame.labels[node["label"]] = scope
    try:
        handlers = (node.get("exceptions") or {}).get("PLpgSQL_exception_block", {}).get("exc_list", ())
        completion = (
            block_with_handlers(machine, node, handlers) if handlers else machine.statements(node.get("body", ()))
        )
    finally:
        frame.scopes.pop()
        frame.bound.difference_update(bound)
        if bound and types != frame.types:
            # Names that the block hid mean what they did.
            frame.types.update(types)
            frame.declared += 1
    label = node.get("label", "")
    if label:
        completion = Completion(
            None if completion.certain == Signal("exit", label) else completion.certain,
            [signal for signal in completion.perhaps if signal != Signal("exit", label)],
        )
    return completion


def branch(machine: Machine, node: Node) -> Completion:
    branches: list[tuple[Node | None, Sequence[Node]]] = [(node["cond"], node.get("then_body", ()))]
    for item in node.get("elsif_list", ()):
        branch = item["PLpgSQL_if_elsif"]
        branches.append((branch["cond"], branch.get("stmts", ())))
    branches.append((None, node.get("else_body", ())))
    return choose(machine, branches)


def case(machine: Machine, node: Node) -> Completion:
    subject = f"__Case__Variable_{node.get('t_varno', 0)}__"
    if "t_expr" in node:
        value = machine.value(node["t_expr"])
        machine.frame.types.pop(subject, None)
        machine.bind(subject, value)
        if type(value) in _TYPES_OF_VALUES:
            machine.frame.types[subject] = _TYPES_OF_VALUES[type(value)]
    branches: list[tuple[Node | None, Sequence[Node]]] = []
    for item in node.get("case_when_list", ()):
        branch = item["PLpgSQL_case_when"]
        branches.append((branch["expr"], branch.get("stmts", ())))
    if node.get("have_else"):
        branches.append((None, node.get("else_stmts", ())))
    else:
        branches.append((None, [{"case_not_found": {}}]))
    return choose(machine, branches)


def case_not_found(machine: Machine, node: Node) -> Completion:
    return machine.fail(ServerError("20000", "case not found", hint="CASE statement is missing ELSE part."))


def choose(machine: Machine, branches: Sequence[tuple[Node | None, Sequence[Node]]]) -> Completion:
    """Run IF or CASE: the first branch whose condition holds, or every branch whose condition may hold."""
    branch_count, perhaps = machine.uncertainty.branches, list[Signal]()
    before: list[dict[str, Value]] | None = None
    after: list[list[dict[str, Value]]] = []
    alternatives: list[Any] = []
    open_ended, dependencies = False, machine.uncertainty.unknown_dependencies
    try:
        for condition, body in branches:
            truth = True if condition is None else machine.truth(condition)
            if truth is False or truth is None:
                continue
            if truth is True and before is None:
                return machine.statements(body)
            if before is None:
                before = machine.frame.snapshot()
                open_ended = True
                machine.uncertainty.branches += 1
            mark = machine.host.mark()
            with machine.branch():
                assumed = assume_condition(machine, condition) if truth is UNKNOWN else []
                completion = machine.statements(body)
                withdraw_assumptions(machine, assumed)
                alternatives.append(machine.host.start_alternative(mark))
            perhaps += all_signals(completion)
            after.append(machine.frame.snapshot())
            machine.restore(before)
            if truth is True:
                open_ended = False
                break
    finally:
        machine.uncertainty.branches = branch_count
    if before is not None:
        machine.host.join(
            alternatives,
            complete=not (open_ended or perhaps or machine.uncertainty.unknown_dependencies > dependencies),
        )
        if open_ended:
            after.append(before)
        machine.restore(after[0])
        for alternative in after[1:]:
            machine.frame.blur(alternative)
    return Completion(None, perhaps) if perhaps else ON


def assume_condition(machine: Machine, condition: Node | None) -> list[Any]:
    """Assume, without a report, that the objects exist that a true condition requires."""
    if condition is None:
        return []
    node = expression(condition["PLpgSQL_expr"]["query"])
    if node is None:
        return []
    return machine.session.suppose(assumptions(machine.evaluator, node))


def withdraw_assumptions(machine: Machine, supposed: list[Any]) -> None:
    if supposed:
        machine.session.unsuppose(supposed)


def exit_or_continue(machine: Machine, node: Node) -> Completion:
    signal = Signal("exit" if node.get("is_exit") else "continue", node.get("label", ""))
    truth = machine.truth(node["cond"]) if "cond" in node else True
    if truth is UNKNOWN:
        return Completion(None, [signal])
    return Completion(signal) if truth is True else ON


def return_statement(machine: Machine, node: Node) -> Completion:
    if "expr" in node:
        returns = machine.frame.returns
        value = machine.value(node["expr"], machine.trial.type_named(returns) if returns else None)
        machine.frame.result = UNKNOWN if machine.uncertainty.is_uncertain else value
    elif machine.frame.returns:
        machine.frame.result = UNKNOWN
    return Completion(Signal("return"))


def return_query(machine: Machine, node: Node) -> Completion:
    statement = query(node["query"]["PLpgSQL_expr"]["query"]) if "query" in node else None
    rows = UNKNOWN_ROWS
    if statement is not None:
        called = run_called_functions(machine, machine.inner(node, "query"), statement)
        if called is None:
            machine.attempt(statement, machine.inner(node, "query"))
        rows = machine.rows(statement) if called is None else called
    else:
        machine.uncertainty.assume_risk()
    _emit(machine, [values for values, _ in rows.rows] if rows.known else None)
    return ON


def return_next(machine: Machine, node: Node) -> Completion:
    frame = machine.frame
    if "expr" in node:
        value = machine.value(node["expr"])
        _emit(machine, None if value is UNKNOWN else [(value,)])
    else:
        _emit(machine, [tuple(frame.scopes[0].get(name, UNKNOWN) for name in frame.results)])
    return ON


def _emit(machine: Machine, rows: Sequence[tuple[Value, ...]] | None) -> None:
    frame = machine.frame
    if rows is None or frame.emitted is None or machine.uncertainty.is_uncertain:
        frame.emitted = None
    else:
        frame.emitted += rows


def transaction(machine: Machine, node: Node, *, commit: bool) -> Completion:
    if not machine.atomic and any(machine.uncertainty.handlers):
        word = "commit" if commit else "roll back"
        return machine.fail(ServerError("2D000", f"cannot {word} while a subtransaction is active"))
    if commit:
        machine.settle()
    if machine.atomic or not machine.host.finish(commit=commit):
        return machine.fail(ServerError("2D000", "invalid transaction termination"))
    machine.begun = machine.host.mark()
    return ON


_BY_HANDLERS = ("sqlstate", "sqlerrm")
_TYPES_OF_VALUES = {bool: "boolean", int: "int4", str: "text"}


_WORKS: Mapping[str, Work] = {
    "PLpgSQL_stmt_assert": exceptions.assert_statement,
    "PLpgSQL_stmt_assign": execution.assign,
    "PLpgSQL_stmt_block": run_block,
    "PLpgSQL_stmt_call": execution.call_procedure,
    "PLpgSQL_stmt_case": case,
    "PLpgSQL_stmt_close": execution.close,
    "PLpgSQL_stmt_commit": partial(transaction, commit=True),
    "PLpgSQL_stmt_dynexecute": execution.execute,
    "PLpgSQL_stmt_dynfors": execution.for_dynamic,
    "PLpgSQL_stmt_execsql": execution.plain_statement,
    "PLpgSQL_stmt_exit": exit_or_continue,
    "PLpgSQL_stmt_fetch": execution.fetch,
    "PLpgSQL_stmt_forc": execution.for_cursor,
    "PLpgSQL_stmt_foreach_a": execution.foreach,
    "PLpgSQL_stmt_fori": execution.for_integers,
    "PLpgSQL_stmt_fors": execution.for_rows,
    "PLpgSQL_stmt_getdiag": exceptions.diagnostics,
    "PLpgSQL_stmt_if": branch,
    "PLpgSQL_stmt_loop": execution.repeat,
    "PLpgSQL_stmt_open": execution.open_cursor,
    "PLpgSQL_stmt_perform": execution.perform,
    "PLpgSQL_stmt_raise": exceptions.raise_statement,
    "PLpgSQL_stmt_return": return_statement,
    "PLpgSQL_stmt_return_next": return_next,
    "PLpgSQL_stmt_return_query": return_query,
    "PLpgSQL_stmt_rollback": partial(transaction, commit=False),
    "PLpgSQL_stmt_while": execution.repeat,
    "case_not_found": case_not_found,
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
        return run_block(self, node, outermost)

    def rehearse(self, routine: Routine) -> None:
        """Run a function that nothing calls, in doubt and without arguments. Raises NotParsed, TooDeep."""
        self.uncertainty.branches += 1
        self.begun = self.host.mark()
        calls.run_body(self, routine, None, None)

    def statement(self, text: Text, name: str, node: Node, number: tuple[int, ...] = ()) -> None:
        """Run SELECT or CALL at the top level, which calls functions. Raises Raised."""
        self.begun = self.host.mark()
        self.apply(Inner(text, number), name, node)
