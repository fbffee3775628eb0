"""UPDATE and DELETE (parser/analyze.c: transformUpdateStmt, transformDeleteStmt; executor/nodeModifyTable.c:
ExecUpdate, ExecDelete).
"""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.assignments import assignments
from pubcheck.simulate.executor.expressions import Scope
from pubcheck.simulate.executor.instead_triggers import prepare_instead
from pubcheck.simulate.executor.portions import Portion
from pubcheck.simulate.executor.row_operations import delete_row, for_child, update_row
from pubcheck.simulate.executor.rules import instead_action, without_rows
from pubcheck.simulate.executor.statement_scope import (
    Changes,
    Rows,
    add_sources,
    condition,
    prepare_changes,
    returning,
    target_item,
)
from pubcheck.simulate.executor.statement_triggers import assigned_columns, with_statement_triggers
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.target_rows import TargetRows
from pubcheck.simulate.executor.targets import members, refuse_write, target_relation
from pubcheck.simulate.executor.views import base_target, fires_instead
from pubcheck.simulate.heap import Version


def prepare_update(session: Backend, node: Node, outer: Scope) -> Changes:
    return _prepare(session, node, outer, "update")


def prepare_delete(session: Backend, node: Node, outer: Scope) -> Changes:
    return _prepare(session, node, outer, "delete")


def _prepare(session: Backend, node: Node, outer: Scope, operation: str) -> Changes:
    rv = node["relation"]
    relation = target_relation(session, rv)
    if relation.kind == "v" and fires_instead(session, relation, operation):
        return prepare_instead(session, node, outer, relation, operation)
    kind = f"{operation.capitalize()}Stmt"
    action = instead_action(session, kind, node, relation)
    if action is not None:
        return without_rows(prepare_changes(session, *action, outer), counted=action[0] == kind)
    target = base_target(session, relation, operation)
    portion = Portion(session, outer, target, node) if "forPortionOf" in node else None
    node = node if portion is None else portion.statement
    updates = operation == "update"
    scope = Scope(session, outer)
    target_item(session, scope, relation, rv)
    add_sources(scope, node.get("fromClause" if updates else "usingClause", []))
    where = condition(session, scope, node.get("whereClause"))
    written = assignments(session, scope, table_of(session, relation), node["targetList"]) if updates else []
    steps = [(target.base_number(number), step) for number, step in written]
    assigned = frozenset(target.relation.columns[number - 1].name for number, _ in steps)
    outputs, returned = returning(session, scope, node)
    leftovers = () if portion is None else portion.leftovers(scope)
    rows = TargetRows(session, scope, target, where)
    tables = list(members(session, target.relation, inherited=rv.get("inh", False), pruning=rows.pruning))

    def updated(table: Table, version: Version, row: list[Any]) -> dict[int, Any]:
        new = {**rows.base_row(table, version), **{number: step(row) for number, step in steps}}
        return new if table.oid == target.relation.oid else for_child(target.relation, table.relation, new, version)

    def run() -> Rows:
        for table in tables:
            refuse_write(session, table, operation, certain=rows.pruning.certain)
        for table in tables:
            for version, row in rows.of(table):
                new = updated(table, version, row) if updates else None
                pieces = [step(row) for step in leftovers]
                if new is None:
                    stored, changed = None, delete_row(session, table, version)
                else:
                    stored = update_row(session, target.relation, table, version, new, assigned)
                    changed = stored is not None
                if not changed:
                    continue
                if portion is not None:
                    portion.insert(table, version, pieces)
                if stored is not None:
                    target.check_option(session, stored)
                    row = [target.row_of(session, stored), *row[1:]]
                yield () if returned is None else returned(row)

    firing = [(operation, assigned_columns(node) if updates else frozenset())]
    return with_statement_triggers(session, relation, firing, Changes(outputs, run))
