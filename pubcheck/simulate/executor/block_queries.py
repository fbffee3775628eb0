"""Statements of a PL/pgSQL body that run SQL: with INTO, EXECUTE, loops over rows, PERFORM, COMMIT."""

from __future__ import annotations

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Result
from pubcheck.simulate.executor.block_state import BlockState, Exited
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
