"""Statements that change the catalog with an effect on rows: tables that a query fills, and ALTER TABLE with its new
columns, rewritten and checked tables (tablecmds.c: ATRewriteTable).

MERGE PARTITIONS and SPLIT PARTITION (19) move rows to the new tables, which is not sent.
"""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.analysis.row_filter import parse_state
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.executor.functions import Constant
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor.changes import compute_generated, insert_version
from pubcheck.simulate.executor.definitions import (
    apply_definition,
    check_new_constraints,
    define_and_check,
    live_rows,
    log_statement,
    null_values,
)
from pubcheck.simulate.executor.expressions import Step, compile_expression, converted
from pubcheck.simulate.executor.partitions import no_partition, partitioning
from pubcheck.simulate.executor.sequences import change_sequence, sequence_of_column
from pubcheck.simulate.executor.settings import set_config
from pubcheck.simulate.executor.statement_scope import rows_of
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.targets import change_firing, members
from pubcheck.simulate.heap import Storage
from pubcheck.simulate.not_followed import NotFollowed

REPLACING = frozenset(("AT_MergePartitions", "AT_SplitPartition"))


def replace_partitions(session: Backend, node: Node, parent: Relation) -> Result:
    """Run the statement. Raises ServerError 23514 for a row that no new partition takes."""
    (command,) = (item["AlterTableCmd"] for item in node["cmds"])
    spec = command["def"]["PartitionCmd"]
    merges = command["subtype"] == "AT_MergePartitions"
    names = [part["SinglePartitionSpec"]["name"] for part in spec["partlist"]] if merges else [spec["name"]]
    old = [session.catalog_session.find_relation(name) for name in names]
    rows = [row for relation in old if relation is not None for row in _named_values(session, relation)]
    apply_definition(session, "AlterTableStmt", node)
    parent = session.database.catalog.relations[parent.oid]
    for row in rows:
        values = {column.number: row[column.name] for column in parent.live()}
        child = partitioning(session, parent).child_of(values)
        if child is None:
            raise no_partition(session, parent, values)
        table = table_of(session, child)
        insert_version(session, table, {column.number: row[column.name] for column in child.live()}, rewrite=True)
    return NOTHING


def _named_values(session: Backend, relation: Relation) -> list[dict[str, Any]]:
    columns = relation.live()
    versions = live_rows(session, table_of(session, relation))
    return [{column.name: version.get(column.number) for column in columns} for version in versions]


def alter_table(session: Backend, node: Node) -> Result:
    rv = node["relation"]
    relation = session.catalog_session.find_relation(rv)
    if relation is None or relation.kind not in "rp" or node.get("objtype") != "OBJECT_TABLE":
        define_and_check(session, "AlterTableStmt", node)
        return NOTHING
    kinds = {item["AlterTableCmd"]["subtype"] for item in node["cmds"]}
    if kinds & REPLACING:
        return replace_partitions(session, node, relation)
    tables = [table_of(session, table.relation) for table in members(session, relation)]
    conversions = _conversions(node) if "AT_AlterColumnType" in kinds else {}
    catalog = session.database.catalog
    mark = catalog.journal.mark()
    apply_definition(session, "AlterTableStmt", node)
    for table in tables:
        row = catalog.relations.get(table.oid)
        if row is not None:
            _bring_up_to_date(session, table, row, conversions)
    check_new_constraints(session, mark)
    for item in node["cmds"]:
        _change_identity(session, relation, item["AlterTableCmd"])
        change_firing(session, relation, item["AlterTableCmd"], only=not rv.get("inh"))
    return NOTHING


def _conversions(node: Node) -> dict[str, tuple[Any, Any]]:
    """The USING expressions of ALTER COLUMN ... TYPE, by column; without one it is the column itself."""
    conversions: dict[str, tuple[Any, Any]] = {}
    for item in node["cmds"]:
        command = item["AlterTableCmd"]
        if command["subtype"] == "AT_AlterColumnType":
            definition = command["def"]["ColumnDef"]
            reference = {"ColumnRef": {"fields": [{"String": {"sval": command["name"]}}]}}
            conversions[command["name"]] = (definition.get("raw_default") or reference, "raw_default" in definition)
    return conversions


def _conversion_steps(
    session: Backend, old: Table, new: Relation, conversions: dict[str, tuple[Any, Any]]
) -> dict[int, Step]:
    """The new values of converted columns as functions of the old row."""
    steps: dict[int, Step] = {}
    for name, (tree, _) in conversions.items():
        column = new.column(name)
        former = old.relation.column(name)
        if column is None or former is None:
            continue
        p = parse_state(session.catalog_session, old.relation)
        expr = converted(p, p.transform(tree), column.type, column.typmod, "a type change without a conversion")
        if (expr.node == "Var" and expr.value == former.number) or (
            expr.node == "RelabelType" and expr.args[0].node == "Var"
        ):
            continue
        steps[column.number] = compile_expression(session, None, expr)
    return steps


def _bring_up_to_date(session: Backend, old: Table, row: Relation, conversions: dict[str, tuple[Any, Any]]) -> None:
    """Give the rows of one table its new columns, and rewrite it where the server does."""
    table = table_of(session, row)
    before = {column.number for column in old.relation.columns}
    added = [column for column in row.live() if column.number not in before]
    steps = _conversion_steps(session, old, row, conversions)
    rewrites = bool(steps) or any(_needs_rewrite(table, column) for column in added)
    if row.persistence != old.relation.persistence:
        rewrites = True
    if rewrites:
        _rewrite(session, table, steps, added)
    else:
        _add_columns(session, table, added)
        for index in list(table.storage.indexes):
            del table.storage.indexes[index]


def _needs_rewrite(table: Table, column: Column) -> bool:
    """A stored expression, or a default that is not one value for all rows (ATExecAddColumn)."""
    if column.generated == "s" or column.identity:
        return True
    if not column.has_default or column.generated:
        return False
    return column.tree is None or not is_constant(table, column)


def is_constant(table: Table, column: Column) -> bool:
    return isinstance(table.default(column), Constant)


def _add_columns(session: Backend, table: Table, added: list[Column]) -> None:
    """Rows get the missing value of a new column; their length stays (fast default)."""
    for column in added:
        if column.generated == "v":
            continue
        value = table.default(column)(()) if column.has_default else None
        if value is None and column.not_null and any(live_rows(session, table)):
            raise null_values(table, column.name)
        for version in table.storage.versions:
            version[column.number] = value


def _rewrite(session: Backend, table: Table, steps: dict[int, Step], added: list[Column]) -> None:
    """A new heap with the live rows, each logged as it is written."""
    live = live_rows(session, table)
    session.database.storage.put(table.oid, Storage(session.xid()))
    defaults = [(column.number, table.default(column)) for column in added if column.generated != "s"]
    for version in live:
        values = {column.number: version.get(column.number) for column in table.columns}
        values.update({number: step(version) for number, step in steps.items()})
        for number, default in defaults:
            values[number] = default(())
        compute_generated(table, values)
        for column in table.not_null:
            if values.get(column.number) is None and column.generated != "v":
                raise null_values(table, column.name)
        insert_version(session, table, values, rewrite=True)


def _change_identity(session: Backend, relation: Relation, command: Node) -> None:
    """SET and RESTART of an identity column are its sequence's."""
    if command["subtype"] != "AT_SetIdentity":
        return
    row = session.database.catalog.relations[relation.oid]
    column = row.column(command["name"])
    if column is not None:
        options = [item for item in command["def"]["List"]["items"] if item["DefElem"]["defname"] != "generated"]
        sequence = session.database.catalog.relations[sequence_of_column(session, row, column)]
        change_sequence(session, sequence, options)


def cluster(session: Backend, name: str, node: Node) -> Result:
    """CLUSTER, and REPACK of 19: the rows are rewritten, by CLUSTER in the order of an index."""
    if "relation" not in node:
        raise NotFollowed(f"{name.removesuffix('Stmt').upper()} of all tables")
    if name == "RepackStmt":
        apply_definition(session, name, node)
    relation = session.catalog_session.find_relation(node["relation"])
    if relation is not None and relation.kind == "r":
        table = table_of(session, relation)
        if len(live_rows(session, table)) > 1:
            raise NotFollowed(f"the order of rows after {name.removesuffix('Stmt').upper()}")
    log_statement(session, "ClusterStmt", node)
    return NOTHING


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
