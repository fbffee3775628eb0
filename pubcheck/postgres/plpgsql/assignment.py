"""Assignments, and cursors (pl_exec.c: exec_stmt_assign, exec_stmt_open, exec_stmt_fetch)."""

from __future__ import annotations

import re

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql.control_flow import ON, Completion
from pubcheck.postgres.plpgsql.evaluate import query
from pubcheck.postgres.plpgsql.machine import Machine
from pubcheck.postgres.plpgsql.statement_sequence import execute_parameters
from pubcheck.postgres.plpgsql.values import UNKNOWN, text
from pubcheck.postgres.plpgsql.variable_binding import INTEGER


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
