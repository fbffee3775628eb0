"""SQL in a block: plain statements, PERFORM, CALL, SELECT INTO and EXECUTE; assignments and cursors; loops over
numbers, rows and arrays, and WHILE (pl_exec.c)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.newer_grammar import parse_with
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep
from pubcheck.postgres.plpgsql.calls import refuse_unparsable, run_called_functions, run_calls
from pubcheck.postgres.plpgsql.compile_errors import NotParsed
from pubcheck.postgres.plpgsql.control_flow import ON, Completion, Signal, all_signals
from pubcheck.postgres.plpgsql.evaluate import expression, query
from pubcheck.postgres.plpgsql.frames import Exhausted, Inner, Raised
from pubcheck.postgres.plpgsql.machine import MAX_DEPTH, Machine, do, execute_parameters, frame_variables, script
from pubcheck.postgres.plpgsql.values import LIMIT, UNKNOWN, UNKNOWN_ROWS, Rows, Value, array, coerce, text
from pubcheck.postgres.plpgsql.variable_binding import INTEGER
from pubcheck.postgres.session.statement_context import concerns_nothing_published, wording
from pubcheck.postgres.source_text import Text, do_body, literal_at


def assign(machine: Machine, node: Node) -> Completion:
    sql = node["expr"]["PLpgSQL_expr"]["query"]
    match = _ASSIGNMENT.match(sql)
    if match is None:
        machine.put(node.get("varno", 0), UNKNOWN)
        return ON
    if match.end() == len(sql):
        return machine.fail(ServerError("42601", "assignment source returned 0 columns"))
    number = node.get("varno", 0)
    target = machine.type_of(number)
    if "[" in match[0]:
        for subscript in _SUBSCRIPT.findall(match[0]):
            machine.evaluate(subscript, INTEGER)
        element = machine.trial.element(target) if target is not None else None
        machine.evaluate(sql[match.end() :], element, match[0])
        machine.put(number, UNKNOWN)
        return ON
    machine.receive(number, machine.evaluate(sql[match.end() :], target, match[0]))
    return ON


def cursor_of(machine: Machine, node: Node) -> Node:
    """Return the declaration of a cursor variable."""
    return machine.datum(node.get("curvar", 0))[1]


def open_cursor(machine: Machine, node: Node) -> Completion:
    cursor = cursor_of(machine, node)
    name = cursor.get("refname", "")
    if machine.frame.look_up((name,)) is not None:
        machine.uncertainty.assume_risk()  # it may be open
    if "dynquery" in node:
        sql = text(machine.value(node["dynquery"]))
    else:
        written: Node = node.get("query") or cursor.get("cursor_explicit_expr") or {}
        sql = written.get("PLpgSQL_expr", {}).get("query")
    statement = query(sql) if isinstance(sql, str) and "argquery" not in node else None
    if statement is None:
        machine.uncertainty.assume_risk()
    elif "dynquery" in node:
        with execute_parameters(machine, node):
            machine.attempt(statement)
    else:
        machine.attempt(statement)
    machine.bind(name, UNKNOWN)
    machine.frame.cursors.pop(name, None)
    if statement is not None and "dynquery" not in node and not machine.uncertainty.is_uncertain:
        rows = machine.rows(statement)
        if rows.known:
            machine.frame.cursors[name] = rows.columns, iter([values for values, _ in rows.rows])
    return ON


def fetch(machine: Machine, node: Node) -> Completion:
    at_cursor(machine, node)
    name = cursor_of(machine, node).get("refname", "")
    opened = machine.frame.cursors.get(name)
    if opened is None or machine.uncertainty.is_uncertain or node.get("direction", 0) or "expr" in node:
        machine.frame.cursors.pop(name, None)
        machine.assign_to(node.get("target"), (), ())
        machine.frame.put("found", UNKNOWN)
        return ON
    columns, rows = opened
    row = next(rows, None)
    if not node.get("is_move"):
        machine.assign_to(node.get("target"), (None,) * max(1, len(columns)) if row is None else row, columns)
    machine.frame.put("found", row is not None)
    return ON


def close(machine: Machine, node: Node) -> Completion:
    at_cursor(machine, node)
    return ON


def at_cursor(machine: Machine, node: Node) -> None:
    cursor = cursor_of(machine, node)
    name = cursor.get("refname", "")
    if machine.frame.look_up((name,)) is not None:
        return
    if "cursor_explicit_expr" in cursor and not machine.session.catalog.major.bound_cursors_unnamed:
        # The variable of a bound cursor begins with its own name.
        machine.fail(ServerError("34000", f'cursor "{name}" does not exist'))
    machine.fail(ServerError("22004", f'cursor variable "{name}" is null'))


_SUBSCRIPT = re.compile(r"\[([^\[\]]*)\]")
_ASSIGNMENT = re.compile(r'\s*(?:[\w$."]|[^\x00-\x7f]|\[[^\]]*\])+\s*:?=')


def plain_statement(machine: Machine, node: Node) -> Completion:
    """Run a plain SQL statement (exec_stmt_execsql)."""
    inner = machine.inner(node, "sqlstmt")
    try:
        parsed = parse_with(machine.session.catalog.major.newer_grammar, inner.text.text)
    except SyntaxRefused:
        # PL/pgSQL's parser let it pass: a statement that another major knows, or one with a trap of ours.
        machine.host.unfollowed(inner, inner.text.text)
        return ON
    if parsed is None:
        return ON
    name, body = parsed
    if node.get("into"):
        select_into(machine, node, name, body)
        if name == "SelectStmt":
            return ON
    elif name in ("InsertStmt", "UpdateStmt", "DeleteStmt", "MergeStmt"):
        machine.frame.put("found", UNKNOWN)
    if name == "TransactionStmt":
        raise Raised(ServerError("0A000", "unsupported transaction command in PL/pgSQL"), inner)
    apply(machine, inner, name, body)
    returns = name in _RETURNS or body.get("returningList") or body.get("returningClause")
    if not node.get("into") and returns:
        hint = "If you want to discard the results of a SELECT, use PERFORM instead." if name == "SelectStmt" else None
        return machine.fail(ServerError("42601", "query has no destination for result data", hint=hint), inner)
    return ON


def select_into(machine: Machine, node: Node, name: str, body: Node) -> None:
    """Run SELECT ... INTO (exec_stmt_execsql): the first row, or NULLs."""
    if name == "SelectStmt":
        inner = machine.inner(node, "sqlstmt")
        called = run_called_functions(machine, inner, body)
        rows = machine.rows(body) if called is None else called
        if called is None:
            target = node.get("target")
            # Of values that are known it is seen whether the variables take them.
            machine.attempt(body, inner, None if rows.known and machine.accept_any_value(target) else target)
        if node.get("strict") and not rows.known:
            machine.uncertainty.assume_risk()
    else:
        rows = UNKNOWN_ROWS
    target = node.get("target")
    if not rows.known and not (rows.rows and rows.rows[0][1] and not rows.open):
        machine.assign_to(target, (), ())
        machine.frame.put("found", rows.exists())
        return
    if node.get("strict"):
        require_one_row(machine, rows)
    if rows.rows:
        machine.assign_to(target, rows.rows[0][0], rows.columns)
    else:
        machine.assign_to(target, (None,) * max(1, len(rows.columns)), rows.columns)
    machine.frame.put("found", bool(rows.rows))


def perform(machine: Machine, node: Node) -> Completion:
    inner = machine.inner(node, "expr")
    statement = query(inner.text.text)
    if statement is None:
        machine.host.unfollowed(inner, inner.text.text)
        return ON
    apply(machine, inner, "SelectStmt", statement)
    any_row = machine.rows(statement).exists() if "fromClause" in statement else True
    machine.frame.put("found", any_row)
    return ON


def call_procedure(machine: Machine, node: Node) -> Completion:
    inner = machine.inner(node, "expr")
    try:
        parsed = parse_with(machine.session.catalog.major.newer_grammar, inner.text.text)
    except (SyntaxRefused, TooDeep):
        parsed = None
    if parsed is None:
        machine.host.unfollowed(inner, inner.text.text)
    else:
        apply(machine, inner, *parsed)
    return ON


def execute(machine: Machine, node: Node) -> Completion:
    """Run EXECUTE (exec_stmt_dynexecute)."""
    value = text(machine.value(node["query"]))
    inner = machine.inner(node, "query")
    if value is None:
        return machine.fail(ServerError("22004", "query string argument of EXECUTE is null"))
    if not isinstance(value, str):
        own = concerns_nothing_published(expression(inner.text.text))
        known_text = inner.text.text if own else machine.frame.known and wording(machine.frame.known)
        machine.host.unfollowed(inner, known_text)
        machine.assign_to(node.get("target"), (), ())
        machine.uncertainty.depend_on_unknown()
        return ON
    built = executed_text(inner, value)
    with execute_parameters(machine, node):
        if node.get("into"):
            execute_into(machine, node, value)
        script(machine, built)
    return ON


def execute_into(machine: Machine, node: Node, value: str) -> None:
    statement = query(value)
    rows = machine.rows(statement) if statement is not None else UNKNOWN_ROWS
    values: Sequence[Value] = ()
    if statement is not None:
        machine.attempt(statement, None, node.get("target"))
    elif not _RETURNING.match(value):
        machine.fail(ServerError("42601", "INTO used with a command that cannot return data"))
    if node.get("strict"):
        require_one_row(machine, rows)
    if rows.known:
        values = rows.rows[0][0] if rows.rows else (None,) * max(1, len(rows.columns))
    with frame_variables(machine):
        machine.assign_to(node.get("target"), values, rows.columns)


def require_one_row(machine: Machine, rows: Rows) -> None:
    """Raise the error of INTO STRICT unless there is exactly one row."""
    if not rows.known:
        machine.uncertainty.assume_risk()
    elif len(rows.rows) != 1:
        several = ("P0003", "query returned more than one row")
        machine.fail(ServerError(*(several if rows.rows else ("P0002", "query returned no rows"))))


def executed_text(inner: Inner, value: str) -> Inner:
    """Return the text that EXECUTE runs; if it is a literal, at its exact place."""
    sql = inner.text.text
    constant = expression(sql)
    if constant is not None and "A_Const" in constant and inner.text.sites:
        written = literal_at(sql, constant["A_Const"].get("location", 7) - 7, value)
        return Inner(inner.text.within(written), inner.number)
    return Inner(Text(value, (), inner.text.start, inner.text.end), inner.number)


def apply(machine: Machine, inner: Inner, name: str, node: Node) -> None:
    """Apply one parsed statement, and run the functions that it calls."""
    if name == "DoStmt":
        run_nested_block(machine, inner, node)
        return
    if name in ("SelectStmt", "CallStmt") and run_calls(machine, inner, name, node) is not None:
        return
    do(machine, inner, name, node)


def run_nested_block(machine: Machine, inner: Inner, node: Node) -> None:
    """Run EXECUTE of a DO statement."""
    body = do_body(inner.text, node)
    if body is None or len(machine.frames) >= MAX_DEPTH:
        machine.host.unfollowed(inner, inner.text.text)
        return
    try:
        machine.block(body, None if body.sites else inner)
    except (NotParsed, TooDeep) as failure:
        if not refuse_unparsable(machine, body.text, failure, inner):
            machine.host.unfollowed(inner, inner.text.text)


_RETURNS = frozenset(("SelectStmt", "ExplainStmt", "VariableShowStmt"))
_RETURNING = re.compile(
    r"\s*(?:select|values|show|explain|fetch|execute|table|with)\b|.*\breturning\b", re.IGNORECASE | re.DOTALL
)


def loop_body(machine: Machine, node: Node, label: str) -> tuple[Completion, bool]:
    """Run one iteration. Return its signals beyond the loop, and whether the loop is over."""
    machine.spend()
    completion = machine.statements(node.get("body", ()))
    beyond: list[Signal] = []
    for signal in completion.perhaps:
        if signal.kind not in ("exit", "continue") or signal.label not in ("", label):
            beyond.append(signal)
        elif signal.kind == "exit" and Signal("perhaps over") not in beyond:
            beyond.append(Signal("perhaps over"))
    certain = completion.certain
    if certain is None or (certain.kind == "continue" and certain.label in ("", label)):
        return Completion(None, beyond), False
    if certain.kind == "exit" and certain.label in ("", label):
        return Completion(None, beyond), True
    return Completion(certain, beyond), True


def iterate(machine: Machine, node: Node, values: Sequence[Any] | None, bind: Callable[[Any], None]) -> Completion:
    """Run FOR: one iteration for each value, which ``bind`` assigns; None for unknown values."""
    label = node.get("label", "")
    branches = machine.uncertainty.branches
    perhaps: list[Signal] = []
    machine.frame.scopes.append({})
    if label:
        machine.frame.labels[label] = machine.frame.scopes[-1]
    try:
        if values is None:
            before = machine.frame.snapshot()
            with machine.branch():
                bind(None)
                completion, _ = loop_body(machine, node, label)
            machine.frame.blur(before)
            machine.frame.put("found", UNKNOWN)
            return Completion(None, [signal for signal in all_signals(completion) if signal.kind != "perhaps over"])
        for value in values:
            bind(value)
            completion, over = loop_body(machine, node, label)
            perhaps += [signal for signal in completion.perhaps if signal.kind != "perhaps over"]
            if completion.perhaps:
                machine.uncertainty.branches += 1
            if completion.certain is not None:
                if machine.uncertainty.branches > branches:
                    return Completion(None, [*perhaps, completion.certain])
                return Completion(completion.certain, perhaps)
            if over:
                break
        machine.frame.put("found", bool(values) if machine.uncertainty.branches == branches else UNKNOWN)
        return Completion(None, perhaps)
    finally:
        machine.frame.scopes.pop()
        machine.uncertainty.branches = branches


def for_integers(machine: Machine, node: Node) -> Completion:
    low, high, step = (bound_of(machine, node, side) for side in ("lower", "upper", "step"))
    name = node["var"]["PLpgSQL_var"]["refname"]
    machine.frame.types.setdefault(name, "int4")
    machine.frame.loops.add(name)
    values: Sequence[Any] | None = None
    if all(isinstance(bound, int) for bound in (low, high, step)) and step > 0:
        values = range(low, high - 1, -step) if node.get("reverse") else range(low, high + 1, step)
        if len(values) > LIMIT:
            raise Exhausted

    def bind(value: Any) -> None:
        machine.frame.scopes[-1][name] = UNKNOWN if values is None else value

    return iterate(machine, node, values, bind)


def bound_of(machine: Machine, node: Node, side: str) -> Value:
    """Return a bound of FOR, or its step (exec_stmt_fori)."""
    if side not in node:
        return 1
    value = coerce(machine.value(node[side], INTEGER), "int4")
    words = "BY value" if side == "step" else f"{side} bound"
    if value is None:
        machine.fail(ServerError("22004", f"{words} of FOR loop cannot be null"))
        return UNKNOWN
    if side == "step" and isinstance(value, int) and value <= 0:
        machine.fail(ServerError("22023", "BY value of FOR loop must be greater than zero"))
    return value


def for_rows(machine: Machine, node: Node) -> Completion:
    rows = UNKNOWN_ROWS
    statement = query(node["query"]["PLpgSQL_expr"]["query"])
    if statement is not None:
        called = run_called_functions(machine, machine.inner(node, "query"), statement)
        if called is None:
            machine.attempt(statement, None, node["var"])
        rows = machine.rows(statement) if called is None else called
    return for_each_row(machine, node, rows)


def for_dynamic(machine: Machine, node: Node) -> Completion:
    sql = text(machine.value(node["query"]))
    if sql is None:
        return machine.fail(ServerError("22004", "query string argument of EXECUTE is null"))
    statement = query(sql) if isinstance(sql, str) else None
    rows = UNKNOWN_ROWS
    if statement is not None:
        with execute_parameters(machine, node):
            machine.attempt(statement, None, node["var"])
            rows = machine.rows(statement)
    return for_each_row(machine, node, rows)


def for_cursor(machine: Machine, node: Node) -> Completion:
    sql = cursor_of(machine, node).get("cursor_explicit_expr", {}).get("PLpgSQL_expr", {}).get("query")
    statement = query(sql) if sql and "argquery" not in node else None
    if statement is None:
        machine.uncertainty.assume_risk()
        return for_each_row(machine, node, UNKNOWN_ROWS)
    machine.attempt(statement)
    return for_each_row(machine, node, machine.rows(statement))


def for_each_row(machine: Machine, node: Node, rows: Rows) -> Completion:
    """Run a loop over the rows of a query; rows that may exist represent unknown rows."""
    if rows.known and len(rows.rows) > LIMIT:
        raise Exhausted
    if rows.known and not rows.rows:
        machine.assign_to(node["var"], (None,) * len(rows.columns), rows.columns)
    if rows.known:
        return iterate(machine, node, rows.rows, lambda row: machine.assign_to(node["var"], row[0], rows.columns))
    perhaps: list[Signal] = []
    before = machine.frame.snapshot()
    machine.uncertainty.unknown_dependencies += 1
    sure = [values for values, surely in rows.rows[:LIMIT] if surely]
    completion = iterate(machine, node, sure, lambda row: machine.assign_to(node["var"], row, rows.columns))
    perhaps += all_signals(completion)
    machine.uncertainty.branches += 1
    try:
        for values in [values for values, surely in rows.rows[:LIMIT] if not surely]:
            with machine.branch():
                completion = iterate(
                    machine, node, [values], lambda row: machine.assign_to(node["var"], row, rows.columns)
                )
            perhaps += all_signals(completion)
        if rows.open:
            perhaps += all_signals(iterate(machine, node, None, lambda _: machine.assign_to(node["var"], (), ())))
    finally:
        machine.uncertainty.branches -= 1
    machine.frame.blur(before)
    return Completion(None, perhaps)


def foreach(machine: Machine, node: Node) -> Completion:
    items = array(machine.value(node["expr"]))
    if node.get("slice"):
        items = UNKNOWN
    if items is UNKNOWN:
        machine.uncertainty.assume_risk()
    if items is None:
        return machine.fail(ServerError("22004", "FOREACH expression must not be null"))
    values = items if isinstance(items, list) else None
    if values is not None and len(values) > LIMIT:
        raise Exhausted
    number = node.get("varno", 0)
    return iterate(machine, node, values, lambda item: machine.put(number, UNKNOWN if values is None else item))


def repeat(machine: Machine, node: Node) -> Completion:
    """Run LOOP or WHILE."""
    label = node.get("label", "")
    perhaps: list[Signal] = []
    for _ in range(LIMIT):
        truth = machine.truth(node["cond"]) if "cond" in node else True
        if truth is False or truth is None:
            return Completion(None, perhaps)
        before = machine.frame.snapshot()
        with machine.branch() if truth is UNKNOWN else nullcontext():
            completion, over = loop_body(machine, node, label)
        perhaps += [signal for signal in completion.perhaps if signal.kind != "perhaps over"]
        if completion.perhaps or truth is UNKNOWN:
            # The number of iterations is not known: one represents all of them.
            machine.frame.blur(before)
            return Completion(None, [*perhaps, *([completion.certain] if completion.certain else [])])
        if completion.certain is not None or over:
            return Completion(completion.certain, perhaps)
    raise Exhausted
