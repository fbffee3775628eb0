"""SET of UPDATE (parser/analyze.c: transformUpdateTargetList)."""

from __future__ import annotations

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import Expr, nodes
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.column_parts import part_assignment
from pubcheck.simulate.executor.expressions import Scope, Step, assigned, compile_expression
from pubcheck.simulate.executor.several_columns import FromSubSelect
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.not_followed import NotFollowed


def assignments(session: Backend, scope: Scope, table: Table, targets: list[Node]) -> list[tuple[int, Step]]:
    """The new values of an UPDATE (transformUpdateTargetList). Raises ServerError 42703, 42601, 428C9."""
    steps: dict[int, Step] = {}
    several = FromSubSelect(session, scope)
    scope.clause = "UPDATE"
    for item in targets:
        target = item["ResTarget"]
        column = table.relation.column(target["name"])
        if column is None:
            message = f'column "{target["name"]}" of relation "{table.relation.name}" does not exist'
            raise ServerError("42703", message, location=target.get("location"))
        if column.number in steps:
            raise ServerError("42601", f'multiple assignments to same column "{column.name}"')
        value = target["val"]
        if "indirection" in target:
            steps[column.number] = part_assignment(session, scope, column, target)
            continue
        if "SubLink" in value.get("MultiAssignRef", {}).get("source", {}):
            steps[column.number] = several.step(value["MultiAssignRef"], column)
            scope.uses_sources = True
            continue
        if "MultiAssignRef" in value:
            value = _one_of_several(value["MultiAssignRef"])
        if "SetToDefault" in value:
            steps[column.number] = table.default(column)
            continue
        expr = assigned(scope, column, value)
        scope.uses_sources = scope.uses_sources or _uses_sources(scope, expr)
        if column.generated or column.identity == "a":
            raise ServerError(
                "428C9",
                f'column "{column.name}" can only be updated to DEFAULT',
                detail=f'Column "{column.name}" is '
                + ("a generated column." if column.generated else "an identity column defined as GENERATED ALWAYS."),
            )
        steps[column.number] = compile_expression(session, scope, expr, in_order=True)
    return list(steps.items())


def _uses_sources(scope: Scope, expr: Expr) -> bool:
    target = scope.entries[0]
    return any(
        node.node == "SubLink" or (node.node == "Var" and type(node.value) is tuple and node.value[1] is not target)
        for node in nodes(expr)
    )


def _one_of_several(several: Node) -> Node:
    """A value of SET (a, b) = ROW (...)."""
    parts = several["source"].get("RowExpr", {}).get("args", ())
    if len(parts) != several["ncolumns"]:
        if parts:
            raise ServerError("42601", "number of columns does not match number of values")
        raise NotFollowed("SET of several columns from a row")
    part: Node = parts[several["colno"] - 1]
    return part
