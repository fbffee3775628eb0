"""UPDATE (parser/analyze.c: transformUpdateStmt; executor/nodeModifyTable.c: ExecUpdate)."""

from __future__ import annotations

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import Expr, nodes
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.column_parts import part_assignment
from pubcheck.simulate.executor.expressions import Scope, Step, assigned, compile_expression
from pubcheck.simulate.executor.portions import Portion
from pubcheck.simulate.executor.row_operations import for_child, update_row
from pubcheck.simulate.executor.several_columns import FromSubSelect
from pubcheck.simulate.executor.statement_scope import (
    Changes,
    Rows,
    add_sources,
    condition,
    returning,
    target_item,
)
from pubcheck.simulate.executor.statement_triggers import assigned_columns, with_statement_triggers
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.target_rows import TargetRows
from pubcheck.simulate.executor.targets import members, refuse_write, target_relation
from pubcheck.simulate.executor.views import base_target
from pubcheck.simulate.not_followed import NotFollowed


def prepare_update(session: Backend, node: Node, outer: Scope) -> Changes:
    rv = node["relation"]
    relation = target_relation(session, rv)
    target = base_target(session, relation)
    portion = Portion(session, outer, target, node) if "forPortionOf" in node else None
    node = node if portion is None else portion.statement
    root = table_of(session, target.relation)
    scope = Scope(session, outer)
    target_item(session, scope, relation, rv)
    add_sources(scope, node.get("fromClause", []))
    where = condition(session, scope, node.get("whereClause"))
    steps = assignments(session, scope, table_of(session, relation), node["targetList"])
    steps = [(target.base_number(number), step) for number, step in steps]
    assigned = frozenset(target.relation.columns[number - 1].name for number, _ in steps)
    outputs, returned = returning(session, scope, node)
    leftovers = () if portion is None else portion.leftovers(scope)
    rows = TargetRows(session, scope, target, where)
    inherited = rv.get("inh", False)
    tables = list(members(session, target.relation, inherited=inherited, pruning=rows.pruning))

    def run() -> Rows:
        for table in tables:
            refuse_write(session, table, "update", certain=rows.pruning.certain)
        for table in tables:
            for version, row in rows.of(table):
                changed = {**rows.base_row(table, version), **{number: step(row) for number, step in steps}}
                target.check_options(session, changed)
                new = for_child(root.relation, table.relation, changed, version) if table is not root else changed
                pieces = [step(row) for step in leftovers]
                stored = update_row(session, target.relation, table, version, new, assigned)
                if portion is not None and stored is not None:
                    portion.insert(table, version, pieces)
                if stored is not None:
                    yield () if returned is None else returned((target.row_of(session, stored), *row[1:]))

    return with_statement_triggers(session, relation, [("update", assigned_columns(node))], Changes(outputs, run))


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
