"""UPDATE (parser/analyze.c: transformUpdateStmt; executor/nodeModifyTable.c: ExecUpdate)."""

from __future__ import annotations

from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.assignments import assignments
from pubcheck.simulate.executor.expressions import Scope
from pubcheck.simulate.executor.instead_triggers import prepare_instead
from pubcheck.simulate.executor.portions import Portion
from pubcheck.simulate.executor.row_operations import for_child, update_row
from pubcheck.simulate.executor.statement_scope import (
    Changes,
    Rows,
    add_sources,
    condition,
    returning,
    target_item,
)
from pubcheck.simulate.executor.statement_triggers import assigned_columns, with_statement_triggers
from pubcheck.simulate.executor.tables import table_of
from pubcheck.simulate.executor.target_rows import TargetRows
from pubcheck.simulate.executor.targets import members, refuse_write, target_relation
from pubcheck.simulate.executor.views import base_target, fires_instead


def prepare_update(session: Backend, node: Node, outer: Scope) -> Changes:
    rv = node["relation"]
    relation = target_relation(session, rv)
    if relation.kind == "v" and fires_instead(session, relation, "update"):
        return prepare_instead(session, node, outer, relation, "update")
    target = base_target(session, relation, "update")
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
                new = for_child(root.relation, table.relation, changed, version) if table is not root else changed
                pieces = [step(row) for step in leftovers]
                stored = update_row(session, target.relation, table, version, new, assigned)
                if portion is not None and stored is not None:
                    portion.insert(table, version, pieces)
                if stored is not None:
                    target.check_option(session, stored)
                    yield () if returned is None else returned((target.row_of(session, stored), *row[1:]))

    return with_statement_triggers(session, relation, [("update", assigned_columns(node))], Changes(outputs, run))
