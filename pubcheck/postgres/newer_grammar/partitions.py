"""ALTER TABLE ... MERGE PARTITIONS and SPLIT PARTITION (gram.y: partition_cmd)."""

from __future__ import annotations

from pubcheck.postgres.newer_grammar.reader import Reader
from pubcheck.postgres.parse import Node, SyntaxRefused


def read_alter_table(reader: Reader) -> tuple[str, Node] | None:
    """Return the AlterTableStmt of one of both forms, None for any other statement."""
    reader.next = 2
    reader.accept(b"if", b"exists")
    try:
        reader.relation()
    except SyntaxRefused:
        return None
    head = reader.data[: reader.end] + b" DETACH PARTITION t"
    if reader.accept(b"merge", b"partitions"):
        subtype, command = "AT_MergePartitions", _merge(reader)
    elif reader.accept(b"split", b"partition"):
        subtype, command = "AT_SplitPartition", _split(reader)
    else:
        return None
    if not reader.at_end:
        reader.refuse()
    _, node = reader.parsed(head, len(head), len(head))
    node["cmds"] = [{"AlterTableCmd": {"subtype": subtype, "def": {"PartitionCmd": command}}}]
    return "AlterTableStmt", node


def _merge(reader: Reader) -> Node:
    """Return the command that merges the partitions of ``partlist`` into ``name``."""
    reader.expect(b"(")
    merged = [{"SinglePartitionSpec": {"name": reader.qualified_name()}}]
    while reader.accept(b","):
        merged.append({"SinglePartitionSpec": {"name": reader.qualified_name()}})
    reader.expect(b")")
    reader.expect(b"into")
    return {"name": reader.qualified_name(), "partlist": merged}


def _split(reader: Reader) -> Node:
    """Return the command that splits the partition ``name`` into those of ``partlist``, each with its bound."""
    split = reader.qualified_name()
    reader.expect(b"into")
    reader.expect(b"(")
    parts: list[Node] = []
    while not parts or reader.accept(b","):
        start = reader.offset
        reader.expect(b"partition")
        reader.qualified_name()
        reader.skip_until(b",", b")")
        _, node = reader.parsed(b"ALTER TABLE t ATTACH ", start, reader.end)
        parts.append({"SinglePartitionSpec": node["cmds"][0]["AlterTableCmd"]["def"]["PartitionCmd"]})
    reader.expect(b")")
    return {"name": split, "partlist": parts}
