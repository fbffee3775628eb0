"""Statements of a PL/pgSQL body: those that run SQL, and those that decide what runs."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import INT4
from pubcheck.postgres.parse import Node
from pubcheck.postgres.plpgsql.control_flow import sqlstate_of
from pubcheck.simulate.backend import Result
from pubcheck.simulate.executor.block_state import BlockState, Exited, Returned
from pubcheck.simulate.not_followed import NotFollowed


def sql(block: BlockState, node: Node) -> None:
    result = block.run_query(node["sqlstmt"]["PLpgSQL_expr"]["query"])
    block.count = result.count
    if node.get("into"):
        into(block, node, result)
    elif result.changes_rows:
        block.set_found(result.count > 0)


def into(block: BlockState, node: Node, result: Result) -> None:
    """Assign the first row of a result, which has to be the only one for STRICT and for changes of rows."""
    count = len(result.rows)
    if node.get("strict") and count == 0:
        raise ServerError("P0002", "query returned no rows")
    if count > 1 and (node.get("strict") or result.changes_rows):
        raise ServerError("P0003", "query returned more than one row")
    if count > 1:
        require_order(result)
    block.variables.store_result(node["target"], result, result.rows[0] if count else None)
    block.count = min(count, 1)
    block.set_found(count > 0)


def perform(block: BlockState, node: Node) -> None:
    result = block.run_query(node["expr"]["PLpgSQL_expr"]["query"])
    block.count = len(result.rows)
    block.set_found(bool(result.rows))


def execute(block: BlockState, node: Node) -> None:
    result = block.run_with(node["query"]["PLpgSQL_expr"]["query"], node.get("params", []))
    block.count = result.count
    if not node.get("into"):
        return
    found_variable = block.variables.scalars.get("found")
    held = None if found_variable is None else block.variables.value_of("found")
    into(block, node, result)
    if found_variable is not None:
        block.set_found(bool(held))  # EXECUTE does not change FOUND


def for_rows(block: BlockState, node: Node) -> None:
    """FOR ... IN a query."""
    over_rows(block, node, block.run_query(node["query"]["PLpgSQL_expr"]["query"]))


def for_rows_of_text(block: BlockState, node: Node) -> None:
    """FOR ... IN EXECUTE."""
    over_rows(block, node, block.run_with(node["query"]["PLpgSQL_expr"]["query"], node.get("params", [])))


def over_rows(block: BlockState, node: Node, result: Result) -> None:
    """Run a loop for each row."""
    if len(result.rows) > 1:
        require_order(result)
    target = _target(node)
    looped = False
    for row in result.rows:
        block.variables.store_result(target, result, row)
        looped = True
        if not turn(block, node):
            break
    block.set_found(looped)


def _target(node: Node) -> Node:
    for kind in ("PLpgSQL_rec", "PLpgSQL_row", "PLpgSQL_var"):
        if kind in node.get("var", {}):
            target: Node = node["var"]
            return target
    raise NotFollowed("the variable of a loop")


def require_order(result: Result) -> None:
    """Raise NotFollowed if the order of the rows is not known."""
    if not result.in_order:
        raise NotFollowed("the order in which a SELECT without ORDER BY gives its rows")


def turn(block: BlockState, node: Node) -> bool:
    """Run a loop's body once. Return whether the loop goes on."""
    block.session.spend_step()
    try:
        block.statements(node.get("body", []))
    except Exited as exited:
        if exited.label and exited.label != node.get("label", ""):
            raise
        return not exited.is_exit
    return True


def diagnostics(block: BlockState, node: Node) -> None:
    """GET DIAGNOSTICS."""
    names = _names_by_number(block)
    for item in node["diag_items"]:
        entry = item["PLpgSQL_diag_item"]
        name = names.get(entry["target"])
        if name is None:
            raise NotFollowed("GET DIAGNOSTICS into a field")
        if entry["kind"] == "ROW_COUNT":
            block.variables.store(name, block.count, 20)
        else:
            block.variables.store(name, _stacked(block, entry["kind"]), 25)


def _names_by_number(block: BlockState) -> dict[int, str]:
    return {number: node.get("refname", "") for number, (_, node) in enumerate(block.body.program.variables)}


def _stacked(block: BlockState, kind: str) -> str:
    if not block.caught:
        message = "GET STACKED DIAGNOSTICS cannot be used outside an exception handler"
        raise ServerError("0Z002", message)
    error = block.caught[-1]
    texts: dict[str, str | None] = {
        "RETURNED_SQLSTATE": error.sqlstate,
        "MESSAGE_TEXT": error.message,
        "PG_EXCEPTION_DETAIL": error.detail or "",
        "PG_EXCEPTION_HINT": error.hint or "",
    }
    if kind not in texts:
        raise NotFollowed(f"GET STACKED DIAGNOSTICS of {kind}")
    return texts[kind] or ""


def end_transaction(block: BlockState, *, commits: bool) -> None:
    """COMMIT and ROLLBACK in a procedure or a DO block."""
    session = block.session
    if block.called:
        raise NotFollowed("COMMIT or ROLLBACK in a procedure that a block calls")
    if block.atomic or len(session.current.levels) > 1:
        raise ServerError("2D000", "invalid transaction termination")
    session.fire_after()
    if commits:
        session.commit()
    else:
        session.rollback()
    session.begin(implicit=True)
    session.running = session.snapshot()


_EXCEPTION = 21
"""elog_level of RAISE EXCEPTION."""
_OPTIONS = ("ERRCODE", "MESSAGE", "DETAIL", "HINT")


def if_(block: BlockState, node: Node) -> None:
    others = (item["PLpgSQL_if_elsif"] for item in node.get("elsif_list", []))
    branches = [(node["cond"], node.get("then_body", [])), *((o["cond"], o.get("stmts", [])) for o in others)]
    for condition, body in branches:
        if block.truth(condition):
            block.statements(body)
            return
    block.statements(node.get("else_body", []))


def case(block: BlockState, node: Node) -> None:
    if "t_expr" in node:
        _, variable = block.body.program.variables[node["t_varno"]]
        value, expr = block.typed_value(node["t_expr"]["PLpgSQL_expr"]["query"])
        block.variables.add_scalar(variable["refname"], expr.type, value)
    for item in node["case_when_list"]:
        when = item["PLpgSQL_case_when"]
        if block.truth(when["expr"]):
            block.statements(when.get("stmts", []))
            return
    if not node.get("have_else"):
        raise ServerError("20000", "case not found", hint="CASE statement is missing ELSE part.")
    block.statements(node.get("else_stmts", []))


def loop(block: BlockState, node: Node) -> None:
    while turn(block, node):
        pass


def while_(block: BlockState, node: Node) -> None:
    while block.truth(node["cond"]) and turn(block, node):
        pass


def for_integers(block: BlockState, node: Node) -> None:
    name = node["var"]["PLpgSQL_var"]["refname"]
    low, high = (block.value(node[side]["PLpgSQL_expr"]["query"], INT4) for side in ("lower", "upper"))
    step = block.value(node["step"]["PLpgSQL_expr"]["query"], INT4) if "step" in node else 1
    if low is None or high is None or step is None:
        side = "lower" if low is None else "upper"
        raise ServerError("22004", f"{side} bound of FOR loop cannot be null")
    values = range(low, high - 1, -step) if node.get("reverse") else range(low, high + 1, step)
    looped = False
    for value in values:
        block.variables.set(name, value)
        looped = True
        if not turn(block, node):
            break
    block.set_found(looped)


def for_each(block: BlockState, node: Node) -> None:
    """FOREACH ... IN ARRAY."""
    if node.get("slice"):
        raise NotFollowed("FOREACH with SLICE")
    array, expr = block.typed_value(node["expr"]["PLpgSQL_expr"]["query"])
    if array is None:
        raise ServerError("22004", "FOREACH expression must not be null")
    name = block.body.program.variables[node["varno"]][1]["refname"]
    element = block.session.catalog_session.syscache.element_type(expr.type)
    for value in array.elements:
        block.variables.store(name, value, element)
        if not turn(block, node):
            break
    block.set_found(bool(array.elements))


def exit_(block: BlockState, node: Node) -> None:
    if "cond" not in node or block.truth(node["cond"]):
        raise Exited(bool(node.get("is_exit")), node.get("label", ""))


def return_(block: BlockState, node: Node) -> None:
    expression = node.get("expr", {}).get("PLpgSQL_expr", {}).get("query", "")
    raise Returned(expression, block.value(expression, block.result) if block.result and expression else None)


def assert_(block: BlockState, node: Node) -> None:
    if block.truth(node["cond"]):
        return
    message = block.text_of(node["message"]["PLpgSQL_expr"]["query"]) if "message" in node else None
    raise ServerError("P0004", "assertion failed" if message is None else message)


def raise_(block: BlockState, node: Node) -> None:
    if "message" not in node and "condname" not in node and not node.get("options"):
        if not block.caught:
            raise ServerError("0Z002", "RAISE without parameters cannot be used outside an exception handler")
        raise block.caught[-1]
    texts: dict[str, Any] = {}
    for item in node.get("options", ()):
        option = item["PLpgSQL_raise_option"]
        number = option.get("opt_type", 0)
        text = block.text_of(option["expr"]["PLpgSQL_expr"]["query"])
        if text is None:
            raise ServerError("22004", "RAISE statement option cannot be null")
        if number < len(_OPTIONS):
            texts[_OPTIONS[number]] = text
    message = _message(block, node) if "message" in node else texts.get("MESSAGE")
    if node.get("elog_level", _EXCEPTION) < _EXCEPTION:
        return
    condition = texts.get("ERRCODE") or node.get("condname", "")
    state = sqlstate_of(condition) if condition else "P0001"
    if state is None:
        raise ServerError("42704", f'unrecognized exception condition "{condition}"')
    raise ServerError(state, message or condition or state, detail=texts.get("DETAIL"), hint=texts.get("HINT"))


def _message(block: BlockState, node: Node) -> str:
    """A format with the values of its placeholders."""
    parts = node["message"].replace("%%", "\0").split("%")
    message = parts[0]
    for parameter, rest in zip(node.get("params", []), parts[1:], strict=False):
        value = block.text_of(parameter["PLpgSQL_expr"]["query"])
        message += ("<NULL>" if value is None else value) + rest
    return str(message.replace("\0", "%"))
