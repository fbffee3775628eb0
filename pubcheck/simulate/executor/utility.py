"""Statements that change the catalog, and those that create a table with the rows of a query."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor.changes import insert_version
from pubcheck.simulate.executor.definitions import apply_definition, log_statement
from pubcheck.simulate.executor.new_constraints import define_and_check
from pubcheck.simulate.executor.rewrites import alter_table, cluster
from pubcheck.simulate.executor.row_statements import rows_of
from pubcheck.simulate.executor.sequences import change_sequence
from pubcheck.simulate.executor.settings import set_config
from pubcheck.simulate.executor.tables import table_of
from pubcheck.simulate.heap import Storage
from pubcheck.simulate.not_followed import NotFollowed


def select(session: Backend, node: Node) -> Result:
    """SELECT, with INTO or without, also of set_config() alone, as pg_dump writes it."""
    if "intoClause" in node:
        return select_into(session, node)
    targets = node.get("targetList", ())
    if len(targets) == 1 and not node.keys() & {"fromClause", "whereClause", "larg", "withClause"}:
        result = set_config(session, targets[0]["ResTarget"]["val"])
        if result is not None:
            return result
    return rows_of(session, node)


def select_into(session: Backend, node: Node) -> Result:
    """SELECT ... INTO is CREATE TABLE AS (transformSelectStmt's caller)."""
    query = {key: value for key, value in node.items() if key != "intoClause"}
    into = node["intoClause"]
    statement = {"query": {"SelectStmt": query}, "into": into, "objtype": "OBJECT_TABLE", "is_select_into": True}
    return create_table_as(session, statement, name="SelectStmt", written=node)


def create_table_as(
    session: Backend, node: Node, *, name: str = "CreateTableAsStmt", written: Node | None = None
) -> Result:
    """Create the table, then insert the rows of the query, as the table was before them."""
    query = node["query"].get("SelectStmt")
    if query is None:
        raise NotFollowed("CREATE TABLE AS EXECUTE")
    rv = node["into"]["rel"]
    before = session.catalog_session.find_relation(rv)
    if before is not None and node.get("if_not_exists"):
        apply_definition(session, name, node)
        return NOTHING
    rows = () if node["into"].get("skipData") else rows_of(session, query).rows
    apply_definition(session, name, written or node)
    session.increment_command()
    relation = session.catalog_session.find_relation(rv)
    assert relation is not None
    by_refresh = session.database.catalog.major.matviews_filled_by_refresh
    fill(session, relation.oid, rows, rewrite=relation.kind == "m" and by_refresh)
    if relation.kind == "m":
        session.database.catalog.define("view", relation.oid, node)
    return NOTHING


def refresh(session: Backend, node: Node) -> Result:
    """REFRESH MATERIALIZED VIEW: a new heap."""
    if node.get("concurrent"):
        raise NotFollowed("REFRESH MATERIALIZED VIEW CONCURRENTLY")
    relation = session.catalog_session.relation(node["relation"])
    definition: Any = session.database.catalog.definitions[("view", relation.oid)]
    rows = () if node.get("skipData") else rows_of(session, definition["query"]["SelectStmt"]).rows
    apply_definition(session, "RefreshMatViewStmt", node)
    session.database.storage.put(relation.oid, Storage(session.xid()))
    fill(session, relation.oid, rows, rewrite=True)
    log_statement(session, "RefreshMatViewStmt", node)
    return NOTHING


def fill(session: Backend, oid: int, rows: Any, *, rewrite: bool = False) -> None:
    table = table_of(session, session.database.catalog.relations[oid])
    for row in rows:
        values = dict(zip((column.number for column in table.columns), row, strict=True))
        insert_version(session, table, values, rewrite=rewrite)


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
