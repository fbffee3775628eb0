"""Functions and procedures that a block or a statement calls: their bodies are run with the arguments of the call."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.catalog.tables import Routine
from pubcheck.postgres.ddl.object_address import accepts, functions_named
from pubcheck.postgres.ddl.object_descriptions import format_type
from pubcheck.postgres.ddl.settings import set_variable
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node, TooDeep
from pubcheck.postgres.parse_tree import names, walk
from pubcheck.postgres.plpgsql.compile_errors import NotParsed
from pubcheck.postgres.plpgsql.evaluate import query
from pubcheck.postgres.plpgsql.frames import Exhausted, Frame, Inner
from pubcheck.postgres.plpgsql.machine import MAX_DEPTH, Machine, do, script
from pubcheck.postgres.plpgsql.parse import Program, program
from pubcheck.postgres.plpgsql.values import MISSING, UNKNOWN, UNKNOWN_ROWS, Failed, Rows, Scope, Value, coerce
from pubcheck.postgres.plpgsql.variables import first_refusal
from pubcheck.postgres.session import Session
from pubcheck.postgres.source_text import Text
from pubcheck.postgres.tokens import in_bytes


def _wrong_kind(machine: Machine, row: Proc, call: Node, problem: str, instead: str) -> ServerError:
    """A function is called as a procedure, or a procedure selected (ParseFuncOrColumn)."""
    argument_types = row.arguments[: len(call.get("args", ()))]
    types = ", ".join(format_type(machine.session, oid) for oid in argument_types)
    signature = f"{'.'.join(names(call['funcname']))}({types})"
    return ServerError("42809", f"{signature} {problem}", hint=f"To call {instead}.", location=call.get("location"))


def run_calls(machine: Machine, inner: Inner, name: str, node: Node) -> Rows | None:
    """Run the functions that a statement calls and return its rows; None if no function is run."""
    if name == "CallStmt":
        return UNKNOWN_ROWS if _call(machine, inner, node["funccall"]) else None
    called = [call for kind, call in walk(node) if kind in ("FuncCall", "funccall")]
    candidates = [candidate_for(machine, call) for call in called]
    if not any(candidates):
        report_unfollowed(machine, inner, called)
        return None
    for call, candidate in zip(called, candidates, strict=True):
        if candidate is not None and candidate[0].kind == "p":
            machine.refuse(_wrong_kind(machine, candidate[0], call, "is a procedure", "a procedure, use CALL"), inner)
            return UNKNOWN_ROWS
    alone = _call_alone(node)
    if alone is not None and (candidate := candidate_for(machine, alone)) is not None:
        with machine.trial.follow_functions((candidate[0].oid,)):
            machine.attempt(node, inner)
        value = invoke(machine, candidate, alone, None, inner)
        several = candidate[0].returns_set or len(candidate[1].results) > 1
        return _projected(node, candidate[1], machine.emitted if several else [(value,)])
    if _is_called_alone(node) and candidates[0] is not None and candidates[0][0].returns_set:
        with machine.trial.follow_functions((candidates[0][0].oid,)):
            machine.attempt(node, inner)
        invoke(machine, candidates[0], called[0], None, inner)
        return _projected({**node, "targetList": _STAR}, candidates[0][1], machine.emitted)
    below = [clause for clause in (node.get("fromClause"), _subqueries(node), node.get("withClause")) if clause]
    within = any(candidate_for(machine, call) for kind, call in walk(below) if kind == "FuncCall")
    rows = machine.rows(node)
    if not rows.known or within or not _projects_all(node):
        report_unfollowed(machine, inner, called)
        return None
    if any(names(call["funcname"])[-1] == "set_config" for call in called):
        do(machine, inner, name, node)
    with machine.trial.follow_functions(candidate[0].oid for candidate in candidates if candidate is not None):
        machine.attempt(node, inner)
    outer_call, machine.calling = machine.calling, inner
    machine.evaluator.projecting = True
    try:
        return machine.rows(node)
    finally:
        machine.evaluator.projecting = False
        machine.calling = outer_call


_STAR: list[Node] = [{"ResTarget": {"val": {"ColumnRef": {"fields": [{"A_Star": {}}]}}}}]


def _is_called_alone(node: Node) -> bool:
    """Return whether a query is one call in the select list, and no more."""
    targets = node.get("targetList", ())
    call = targets[0]["ResTarget"].get("val", {}).get("FuncCall") if len(targets) == 1 else None
    return (
        call is not None
        and set(node) <= {"targetList", "limitOption", "op"}
        and not any(kind == "FuncCall" for kind, _ in walk(call.get("args", ())))
    )


def _projected(node: Node, routine: Routine, rows: Sequence[tuple[Value, ...]] | None) -> Rows:
    """Return the result of a query that reads nothing but one function, which returns these rows."""
    function = node["fromClause"][0]["RangeFunction"] if "fromClause" in node else {}
    names_ = routine.results or (function.get("alias", {}).get("aliasname", routine.name),)
    renamed = "coldeflist" in function or "colnames" in function.get("alias", {})
    if rows is None or renamed or any(len(row) != len(names_) for row in rows):
        return UNKNOWN_ROWS
    columns: list[int] = []
    for target in node["targetList"]:
        fields = target["ResTarget"].get("val", {}).get("ColumnRef", {}).get("fields", ())
        if fields and "A_Star" in fields[-1]:
            columns += range(len(names_))
        elif fields and fields[-1]["String"]["sval"] in names_:
            columns.append(names_.index(fields[-1]["String"]["sval"]))
        else:
            return UNKNOWN_ROWS
    return Rows(
        tuple(names_[position] for position in columns),
        [(tuple(row[position] for position in columns), True) for row in rows],
    )


def _call(machine: Machine, inner: Inner, call: Node) -> bool:
    """CALL; False for a procedure that is not known."""
    candidate = candidate_for(machine, call)
    if candidate is None:
        for item in call.get("args", ()) if machine.frames else ():
            _given_back(machine, item, UNKNOWN)
        return False
    row = candidate[0]
    if row.kind != "p":
        machine.refuse(_wrong_kind(machine, row, call, "is not a procedure", "a function, use SELECT"), inner)
        return True
    places = _places(row)
    passed_arguments = list(_given_arguments(row, call))
    written = (
        [(item, position) for item, position in passed_arguments if places[position][1] in "ob"]
        if machine.frames
        else []
    )
    if machine.frames and machine.frame.program.body:
        _refuse_targets(machine, inner, places, passed_arguments)
    machine.emitted = None
    try:
        invoke(machine, candidate, call, None, inner)
    except Failed as error:  # of an argument
        machine.fail(error, inner)
    results = machine.emitted[0] if machine.emitted else ()
    for item, position in written:
        result_index = sum(mode in "ob" for _, mode in places[:position])
        _given_back(machine, item, results[result_index] if result_index < len(results) else UNKNOWN)
    return True


def _refuse_targets(
    machine: Machine, inner: Inner, places: list[tuple[str, str]], passed_arguments: list[tuple[Node, int]]
) -> None:
    """Refuse output arguments of a procedure that are not variables (make_callstmt_target): 42601, 22005."""
    items = {position: item.get("NamedArgExpr", {}).get("arg", item) for item, position in passed_arguments}
    for position, (name, mode) in enumerate(places):
        if mode not in "ob":
            continue
        item = items.get(position, {})
        if item.keys().isdisjoint(_PERHAPS_WRITABLE):
            parameter = f'"{name}"' if name else str(position + 1)
            words = f"procedure parameter {parameter} is an output parameter but corresponding argument is not writable"
            machine.refuse(ServerError("42601", words), inner)
        path = _path(item)
        if len(path) == 1 and _is_constant(machine, path[0]):
            machine.refuse(ServerError("22005", f'variable "{path[0]}" is declared CONSTANT'), inner)


_PERHAPS_WRITABLE = ("ColumnRef", "ParamRef", "TypeCast", "CollateClause")


def _is_constant(machine: Machine, name: str) -> bool:
    """Return whether all variables of that name are constants."""
    constant_flags = [
        node.get("isconst", False) for _, node in machine.frame.program.variables if node.get("refname") == name
    ]
    return bool(constant_flags) and all(constant_flags)


def _given_back(machine: Machine, item: Node, value: Value) -> None:
    """A variable as the argument of a procedure's parameter that gives something back."""
    parts = _path(item.get("NamedArgExpr", {}).get("arg", item))
    if parts and machine.frame.look_up(parts) is not MISSING:
        machine.bind(parts[0], value if len(parts) == 1 else UNKNOWN)


def _path(item: Node) -> tuple[str, ...]:
    """The parts of the name that an argument is; () for anything else."""
    fields = item.get("ColumnRef", {}).get("fields", ())
    return tuple(names(fields)) if all("String" in field for field in fields) else ()


def report_unfollowed(machine: Machine, inner: Inner, called: Sequence[Node]) -> None:
    """Report calls of functions about publications whose target, number or arguments are not known."""
    catalog = machine.session.catalog
    for oid in {oid for call in called for oid in functions_named(machine.session, names(call["funcname"]))}:
        routine = machine.routine_of(catalog.procs[oid]) if oid in catalog.procs else None
        if routine is not None and routine.about:
            machine.host.unfollowed(inner, routine.body.text)


def run_called_functions(machine: Machine, inner: Inner, node: Node) -> Rows | None:
    """Run the functions that a query calls and return its rows; None if no body is known."""
    if not any(candidate_for(machine, call) for kind, call in walk(node) if kind == "FuncCall"):
        return None
    rows = run_calls(machine, inner, "SelectStmt", node)
    if rows is None:
        do(machine, inner, "SelectStmt", node)
    return rows


def followed_functions(machine: Machine, statement: Node) -> list[int]:
    """Return the oids of the called functions whose bodies are known, one for each call."""
    candidates = (candidate_for(machine, call) for kind, call in walk(statement) if kind == "FuncCall")
    return [candidate[0].oid for candidate in candidates if candidate is not None]


def candidate_for(machine: Machine, call: Node) -> tuple[Proc, Routine] | None:
    """Return the only function with a known body that a call can mean."""
    catalog = machine.session.catalog
    procs = [catalog.procs[oid] for oid in functions_named(machine.session, names(call["funcname"]))]
    count = len(call.get("args", ()))
    fitting = [row for row in procs if accepts(row, count, several=not call.get("func_variadic"))]
    if len(fitting) > 1:
        function = machine.trial.function_of(call, machine.variables())
        fitting = [row for row in fitting if row.oid == function]
    if not fitting:
        return None
    routine = machine.routine_of(fitting[0])
    return (fitting[0], routine) if routine is not None else None


def call_in_expression(machine: Machine, call: Node, scope: Scope | None) -> Value:
    """Run a function call within an expression."""
    candidate = candidate_for(machine, call)
    if candidate is None:
        return UNKNOWN
    caller = machine.calling or (machine.frame.at if machine.frames else None)
    if caller is None:
        frame = machine.frame
        caller = Inner(Text("", (), frame.body.start, frame.body.end), ())
    machine.invoked += 1
    unsure = min(machine.evaluator.unsure, 1)
    machine.uncertainty.branches += unsure
    try:
        return invoke(machine, candidate, call, scope, caller)
    finally:
        machine.uncertainty.branches -= unsure


def invoke(machine: Machine, candidate: tuple[Proc, Routine], call: Node, scope: Scope | None, caller: Inner) -> Value:
    row, routine = candidate
    arguments = _arguments(machine, candidate, call, scope)
    if row.strict and any(value is None for value in arguments):
        return None
    if routine.returns in ("trigger", "event_trigger"):
        machine.fail(ServerError("0A000", "trigger functions can only be called as triggers"), caller)
        return UNKNOWN
    mark, apart = machine.host.mark(), 0
    if not (routine.changes or routine.about):
        apart = max(0, machine.left - _MOST_OF_OTHERS)
        machine.left -= apart
    try:
        value = run_body(machine, routine, arguments, caller, owner=row.owner if row.definer else 0)
        return UNKNOWN if row.returns_set else value
    except Exhausted:
        if routine.changes or routine.about:
            raise
        machine.host.undo(mark)
        machine.uncertainty.assume_risk()
        return UNKNOWN
    except (NotParsed, TooDeep) as failure:
        machine.host.undo(mark)
        if not refuse_unparsable(machine, routine.body.text, failure, caller):
            machine.host.unfollowed(caller, routine.body.text)
        return UNKNOWN
    finally:
        machine.left += apart


def _arguments(machine: Machine, candidate: tuple[Proc, Routine], call: Node, scope: Scope | None) -> list[Value]:
    """Return the value of each input parameter. Those after a VARIADIC one are the elements of its array."""
    row, routine = candidate
    modes = [mode for _, mode in _places(row)]
    arguments: list[Value] = [UNKNOWN] * len(row.arguments)
    variadic: list[Value] = []
    positions: set[int] = set()
    for item, place in _given_arguments(row, call):
        if modes[place] == "o":
            continue
        position = place - modes[:place].count("o")
        value = machine.evaluator.value(item.get("NamedArgExpr", {}).get("arg", item), scope)
        if modes[place] == "v" and not call.get("func_variadic"):
            variadic.append(value)
            value = UNKNOWN if any(argument is UNKNOWN for argument in variadic) else variadic
        arguments[position] = value
        positions.add(position)
    for position, default in routine.defaults:
        if position not in positions:
            arguments[position] = machine.evaluator.value(default)
    return arguments


def _given_arguments(row: Proc, call: Node) -> Iterator[tuple[Node, int]]:
    """Yield the arguments of a call, each with its number in ``_places``."""
    places = _places(row)
    named_ = [argument_name for argument_name, _ in places]
    for number, item in enumerate(call.get("args", ())):
        argument_name = item.get("NamedArgExpr", {}).get("name")
        yield item, named_.index(argument_name) if argument_name in named_ else min(number, len(places) - 1)


def _places(row: Proc) -> list[tuple[str, str]]:
    """Name and mode of the parameters that a call may give something for; CALL has a place for OUT ones as well
    (ParseFuncOrColumn)."""
    accepted = "iobv" if row.kind == "p" else "ibv"
    return [(name, mode) for name, mode in zip(row.argument_names, row.modes, strict=True) if mode in accepted]


_MOST_OF_OTHERS = 2_000
"""Statements of a function that are followed if it changes nothing, for what it gives or whether it fails."""


def refuse_unparsable(machine: Machine, body: str, failure: NotParsed | TooDeep, caller: Inner) -> bool:
    """Raise the compiler's error for a body that is run; False if that error is not certain. Raises Raised."""
    first = first_refusal(machine.trial, body, failure) if isinstance(failure, NotParsed) else None
    if first is None:
        return False
    location = None if first.location is None else in_bytes(body, first.location)
    machine.fail(first.error(location), Inner(Text(body, (), caller.text.start, caller.text.end), caller.number))
    return True


def run_body(
    machine: Machine, routine: Routine, arguments: list[Value] | None, caller: Inner | None, *, owner: int = 0
) -> Value:
    """Run a function's body with these arguments (None: unknown), as ``owner`` unless that is 0."""
    if len(machine.frames) >= MAX_DEPTH:
        raise Exhausted
    bound: dict[str, Value] = {}
    for position, (name, type_name) in enumerate(routine.inputs):
        value = UNKNOWN if arguments is None else arguments[position]
        value = machine.as_type(value, type_name) if type_name else value
        bound[f"${position + 1}"] = value
        if name:
            bound[name] = value
    restore = _enter(machine.session, routine, owner)
    atomic, machine.atomic = machine.atomic, machine.atomic or not routine.procedure
    handlers, projecting = machine.uncertainty.handlers, machine.evaluator.projecting
    machine.evaluator.projecting = False
    try:
        if routine.language == "sql":
            return sql_body(machine, routine, bound, caller)
        newer = machine.session.catalog.major.newer_grammar
        frame = Frame(program(routine.header(), routine.body.text, newer=newer), routine.body, caller)
        frame.labels[routine.name] = frame.scopes[0]
        frame.arguments = {name: type_name for name, type_name in (*routine.inputs, *routine.outputs) if name}
        if not (routine.procedure or routine.returns_set or routine.results or routine.returns == "void"):
            frame.returns = routine.returns
        frame.results = routine.results
        machine.emitted = None
        value = machine.run(frame, bound)
        results = [frame.scopes[0].get(name, UNKNOWN) for name in frame.results]
        machine.emitted = frame.emitted if routine.returns_set else [tuple(results)]
        if routine.results:
            return results[0] if len(results) == 1 else UNKNOWN
        if routine.returns == "void":
            return ""  # no NULL: of a function in SQL it is one
        return coerce(value, frame.returns) if frame.returns else value
    finally:
        machine.uncertainty.handlers, machine.evaluator.projecting = handlers, projecting
        machine.atomic = atomic
        _leave(machine.session, routine, restore)


def _enter(session: Session, routine: Routine, owner: int) -> dict[str, Any]:
    """Do what the SET clauses say, and return the settings as they were. ``owner``: it is run as that role (SECURITY
    DEFINER), 0 for its caller."""
    if not routine.settings and not owner:
        return {}
    before = dict(session.catalog.settings)
    if owner:
        session.set("role", owner)
    for node in routine.settings:
        try:
            set_variable(session, {**node, "is_local": False})
        except ServerError:
            session.blind = True
    return before


def _leave(session: Session, routine: Routine, before: dict[str, Any]) -> None:
    """Restore what ``_enter`` set."""
    settings = session.catalog.settings
    for name in ("role", *(node["name"].lower() for node in routine.settings)) if before else ():
        for key in (name, f"session {name}"):
            if key in before:
                settings.put(key, before[key])
            elif key in settings:
                settings.remove(key)
    if before:
        session.forget_path()


def sql_body(machine: Machine, routine: Routine, bound: dict[str, Value], caller: Inner | None) -> Value:
    """Run a function in SQL, statement by statement, and return the value of its last query."""
    frame = Frame(Program([], "", 1, None, [], {}, {}), routine.body, caller)
    frame.scopes[0] = bound
    for position, (name, type_name) in enumerate(routine.inputs, 1):
        frame.arguments[f"${position}"] = type_name
        if name:
            frame.arguments[name] = type_name
    machine.frames.append(frame)
    try:
        body = routine.body
        inner = (
            Inner(body, ())
            if caller is None
            else Inner(Text(body.text, (), caller.text.start, caller.text.end), caller.number)
        )
        script(machine, inner)
        last = query(routine.last_statement())
        rows = machine.rows(last) if last is not None else UNKNOWN_ROWS
        machine.emitted = [values for values, _ in rows.rows] if rows.known and routine.returns_set else None
        if routine.returns == "void":
            return None
        return UNKNOWN if routine.returns_set else coerce(rows.scalar(), routine.returns)
    finally:
        machine.frames.pop()


def _call_alone(node: Node) -> Node | None:
    """The one function in FROM that a query runs, once and to its end, if that is all it does."""
    if set(node) - {"targetList", "fromClause", "limitOption", "op"} or len(node.get("fromClause", ())) != 1:
        return None
    item = node["fromClause"][0].get("RangeFunction", {})
    functions = item.get("functions", ())
    if len(functions) != 1 or any(kind == "FuncCall" for kind, _ in walk(node.get("targetList", ()))):
        return None
    call: Node | None = functions[0]["List"]["items"][0].get("FuncCall")
    arguments = call.get("args", ()) if call is not None else ()
    return None if any(kind in ("FuncCall", "SubLink") for kind, _ in walk(arguments)) else call


def _subqueries(node: Node) -> list[Node]:
    return [body for kind, body in walk(node) if kind == "SubLink"]


def _projects_all(node: Node) -> bool:
    """Return whether a query puts together all the rows that it has: LIMIT and OFFSET leave some out."""
    limit = node.get("limitCount", {}).get("A_Const", {}).get("ival", {}).get("ival", 0)
    return "limitOffset" not in node and ("limitCount" not in node or (limit > 0 and "fromClause" not in node))
