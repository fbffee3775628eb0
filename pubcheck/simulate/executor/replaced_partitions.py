"""ALTER TABLE ... MERGE PARTITIONS and SPLIT PARTITION (19): the rows move to the new tables, which is not sent."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import NOTHING, Backend, Result
from pubcheck.simulate.executor.changes import insert_version
from pubcheck.simulate.executor.definitions import apply_definition
from pubcheck.simulate.executor.new_constraints import live_rows
from pubcheck.simulate.executor.partitions import no_partition, partitioning
from pubcheck.simulate.executor.tables import table_of

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
