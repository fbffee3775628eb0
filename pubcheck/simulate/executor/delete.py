"""DELETE (executor/nodeModifyTable.c: ExecDelete)."""

from __future__ import annotations

from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope
from pubcheck.simulate.executor.instead_triggers import prepare_instead
from pubcheck.simulate.executor.portions import Portion
from pubcheck.simulate.executor.row_operations import delete_row
from pubcheck.simulate.executor.statement_scope import (
    Changes,
    Rows,
    add_sources,
    condition,
    returning,
    target_item,
)
from pubcheck.simulate.executor.statement_triggers import with_statement_triggers
from pubcheck.simulate.executor.target_rows import TargetRows
from pubcheck.simulate.executor.targets import members, refuse_write, target_relation
from pubcheck.simulate.executor.views import base_target, fires_instead


def prepare_delete(session: Backend, node: Node, outer: Scope) -> Changes:
    rv = node["relation"]
    relation = target_relation(session, rv)
    if relation.kind == "v" and fires_instead(session, relation, "delete"):
        return prepare_instead(session, node, outer, relation, "delete")
    target = base_target(session, relation, "delete")
    portion = Portion(session, outer, target, node) if "forPortionOf" in node else None
    node = node if portion is None else portion.statement
    scope = Scope(session, outer)
    target_item(session, scope, relation, rv)
    add_sources(scope, node.get("usingClause", []))
    where = condition(session, scope, node.get("whereClause"))
    outputs, returned = returning(session, scope, node)
    leftovers = () if portion is None else portion.leftovers(scope)
    rows = TargetRows(session, scope, target, where)
    inherited = rv.get("inh", False)
    tables = list(members(session, target.relation, inherited=inherited, pruning=rows.pruning))

    def run() -> Rows:
        for table in tables:
            refuse_write(session, table, "delete", certain=rows.pruning.certain)
        for table in tables:
            for version, row in rows.of(table):
                pieces = [step(row) for step in leftovers]
                if not delete_row(session, table, version):
                    continue
                if portion is not None:
                    portion.insert(table, version, pieces)
                yield () if returned is None else returned(row)

    return with_statement_triggers(session, relation, [("delete", frozenset())], Changes(outputs, run))
