"""Loops: over numbers, rows and arrays, and WHILE (pl_exec.c)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql.calls import run_called_functions
from pubcheck.postgres.plpgsql.control_flow import Completion, Signal, all_signals
from pubcheck.postgres.plpgsql.evaluate import query
from pubcheck.postgres.plpgsql.execution import cursor_of
from pubcheck.postgres.plpgsql.host import Exhausted
from pubcheck.postgres.plpgsql.machine import Machine, execute_parameters
from pubcheck.postgres.plpgsql.values import LIMIT, UNKNOWN, UNKNOWN_ROWS, Rows, Value, array, coerce, text
from pubcheck.postgres.plpgsql.variable_binding import INTEGER


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
