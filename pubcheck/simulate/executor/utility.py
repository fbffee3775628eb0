"""Statements that change the catalog."""

from __future__ import annotations

from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor.created_tables import create_table_as, refresh
from pubcheck.simulate.executor.new_constraints import define_and_check
from pubcheck.simulate.executor.rewrites import alter_table, cluster
from pubcheck.simulate.executor.sequences import change_sequence


def define(session: Backend, name: str, node: Node) -> Result:
    """Run a statement that changes the catalog, with its effect on rows."""
    if name == "CreateTableAsStmt":
        return create_table_as(session, node)
    if name == "RefreshMatViewStmt":
        return refresh(session, node)
    if name in ("ClusterStmt", "RepackStmt"):
        return cluster(session, name, node)
    if name == "AlterTableStmt":
        return alter_table(session, node)
    define_and_check(session, name, node)
    if name == "AlterSeqStmt":
        _alter_sequence(session, node)
    return NOTHING


def _alter_sequence(session: Backend, node: Node) -> None:
    relation = session.catalog_session.find_relation(node["sequence"])
    if relation is not None and relation.kind == "S":
        change_sequence(session, relation, node.get("options", ()))
