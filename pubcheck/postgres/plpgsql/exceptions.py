"""Errors that a block raises, and the handlers that catch them (pl_exec.c: exec_stmt_block, exec_stmt_raise)."""

from __future__ import annotations

from collections.abc import Sequence

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql.control_flow import (
    CONDITIONS,
    EXISTENCE,
    ON,
    Completion,
    Signal,
    all_signals,
    catches,
    catches_all,
    catches_data_errors,
    sqlstate_of,
)
from pubcheck.postgres.plpgsql.frames import Raised
from pubcheck.postgres.plpgsql.machine import Machine
from pubcheck.postgres.plpgsql.values import UNKNOWN, Value, text


def block_with_handlers(machine: Machine, node: Node, handlers: Sequence[Node]) -> Completion:
    """Run a block with EXCEPTION as a subtransaction: its handler undoes the block (exec_stmt_block)."""
    host = machine.host
    conditions = [
        [condition["PLpgSQL_condition"]["condname"] for condition in handler["PLpgSQL_exception"]["conditions"]]
        for handler in handlers
    ]
    mark, dependencies, risks = host.mark(), machine.uncertainty.unknown_dependencies, machine.uncertainty.risks
    branches, compared = machine.uncertainty.branches, machine.uncertainty.compared
    variables, maybe_undone = machine.frame.snapshot(), machine.uncertainty.maybe_undone
    depth = len(machine.frames)
    machine.uncertainty.handlers.append([name for names in conditions for name in names])
    try:
        completion = run_protected(machine, node.get("body", ()))
    except Raised as raised:
        number = next(
            (position for position, names_ in enumerate(conditions) if catches(names_, raised.error.sqlstate)), None
        )
        if number is None or raised.compiled:
            raise
        del machine.frames[depth:]
        host.undo(mark)
        machine.uncertainty.branches, machine.uncertainty.compared, machine.uncertainty.maybe_undone = (
            branches,
            compared,
            maybe_undone,
        )
        if catches_all(conditions[number]) and raised.error.sqlstate not in EXISTENCE:
            host.swallowed(raised)
        machine.uncertainty.handlers.pop()
        machine.uncertainty.handlers.append([])
        return handle(machine, handlers[number], raised)
    finally:
        machine.uncertainty.handlers.pop()
    completion = Completion(completion.certain, [signal for signal in completion.perhaps if signal.kind != "raised"])
    if any(catches_all(names) for names in conditions):
        machine.uncertainty.maybe_undone = maybe_undone
    risky = machine.uncertainty.risks > risks
    if risky:
        host.assume_since(mark)
        if any(catches_all(names) for names in conditions) or not any(
            map(catches_data_errors, machine.uncertainty.handlers)
        ):
            machine.uncertainty.risks = risks
    if machine.uncertainty.unknown_dependencies > dependencies or risky:
        host.skip(mark)
        # Something may have failed after all: then what a handler does is done as well.
        before = machine.frame.snapshot()
        for handler in handlers:
            with machine.branch():
                completion = Completion(
                    completion.certain, [*completion.perhaps, *all_signals(handle(machine, handler, None))]
                )
        machine.frame.blur(before)
        machine.frame.blur(variables)
    return completion


def run_protected(machine: Machine, nodes: Sequence[Node]) -> Completion:
    """Run statements like ``Machine.statements``; after one that may have failed and been caught, the rest is
    uncertain.
    """
    branches, compared = machine.uncertainty.branches, machine.uncertainty.compared
    perhaps: list[Signal] = []
    try:
        for node in nodes:
            dependencies, risks = machine.uncertainty.unknown_dependencies, machine.uncertainty.risks
            completion = machine.statements([node])
            perhaps += completion.perhaps
            if completion.certain is not None:
                return (
                    Completion(None, [*perhaps, completion.certain])
                    if machine.uncertainty.branches > branches
                    else Completion(completion.certain, perhaps)
                )
            if completion.perhaps or machine.uncertainty.unknown_dependencies > dependencies:
                machine.uncertainty.branches += 1
            elif machine.uncertainty.risks > risks:
                machine.uncertainty.after_risk()
        return Completion(None, perhaps)
    finally:
        machine.uncertainty.branches, machine.uncertainty.compared = branches, compared


def handle(machine: Machine, handler: Node, raised: Raised | None) -> Completion:
    """Run a handler; ``raised`` is None for an error that is only possible."""
    error = raised.error if raised is not None else None
    scope: dict[str, Value] = {
        "sqlstate": error.sqlstate if error is not None else UNKNOWN,
        "sqlerrm": error.message if error is not None else UNKNOWN,
    }
    machine.frame.scopes.append(scope)
    if raised is not None:
        machine.errors.append(raised)
    machine.handling += 1
    try:
        return machine.statements(handler["PLpgSQL_exception"].get("action", ()))
    finally:
        machine.handling -= 1
        machine.frame.scopes.pop()
        if raised is not None:
            machine.errors.pop()


def raise_statement(machine: Machine, node: Node) -> Completion:
    """Run RAISE: levels below EXCEPTION only send a message (exec_stmt_raise)."""
    if node.get("elog_level", 21) < 21:
        for param in node.get("params", ()):
            machine.value(param)
        return ON
    sqlstate: Value = "P0001"
    message: Value = None
    if "condname" not in node and "message" not in node and not node.get("options"):
        if machine.errors:
            return machine.fail(machine.errors[-1].error, machine.errors[-1].inner)
        problem = "RAISE without parameters cannot be used outside an exception handler"
        return machine.fail(ServerError("0Z002", problem))
    if "condname" in node:
        sqlstate = CONDITIONS.get(node["condname"], node["condname"])
        message = node["condname"]
    if "message" in node:
        message = message_of(node["message"], [machine.value(param) for param in node.get("params", ())])
    options: dict[str, Value] = {}
    if "condname" in node:
        options["ERRCODE"] = sqlstate
    if "message" in node:
        options["MESSAGE"] = message
    for item in node.get("options", ()):
        option = item["PLpgSQL_raise_option"]
        value = text(machine.value(option["expr"]))
        name = _OPTIONS[option.get("opt_type", 0)]
        if value is None:
            return machine.fail(ServerError("22004", "RAISE statement option cannot be null"))
        if name in options:
            return machine.fail(ServerError("42601", f"RAISE option already specified: {name}"))
        options[name] = value
        if name == "ERRCODE":
            sqlstate = sqlstate_of(value) if isinstance(value, str) else UNKNOWN
            if sqlstate is None:
                return machine.fail(ServerError("42704", f'unrecognized exception condition "{value}"'))
        elif name == "MESSAGE":
            message = value
    if not isinstance(sqlstate, str):
        sqlstate = "P0001"
    if not isinstance(message, str):
        message = sqlstate
    detail, hint = (value if isinstance(value := options.get(name), str) else None for name in ("DETAIL", "HINT"))
    return machine.fail(ServerError(sqlstate, message, detail=detail, hint=hint))


_OPTIONS = ("ERRCODE", "MESSAGE", "DETAIL", "HINT", "COLUMN", "CONSTRAINT", "DATATYPE", "TABLE", "SCHEMA")
"""The options of RAISE, in the order of PLpgSQL_raise_option_type."""


def message_of(template: str, values: list[Value]) -> Value:
    parts = template.replace("%%", "\0").split("%")
    if len(parts) - 1 != len(values):
        return template
    message = parts[0]
    for part, value in zip(parts[1:], values, strict=True):
        argument = "<NULL>" if value is None else text(value)
        if not isinstance(argument, str):
            return UNKNOWN
        message += argument + part
    return message.replace("\0", "%")


def assert_statement(machine: Machine, node: Node) -> Completion:
    truth = machine.truth(node["cond"])
    if truth is UNKNOWN:
        machine.uncertainty.assume_risk()
        return ON
    if truth is True:
        return ON
    message = text(machine.value(node["message"])) if "message" in node else None
    return machine.fail(ServerError("P0004", message if isinstance(message, str) else "assertion failed"))


def diagnostics(machine: Machine, node: Node) -> Completion:
    if node.get("is_stacked") and not machine.handling:
        words = "GET STACKED DIAGNOSTICS cannot be used outside an exception handler"
        return machine.fail(ServerError("0Z002", words))
    for item in node.get("diag_items", ()):
        machine.put(item["PLpgSQL_diag_item"].get("target", 0), UNKNOWN)
    return ON
