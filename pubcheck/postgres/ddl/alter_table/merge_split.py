"""MERGE PARTITIONS and SPLIT PARTITION (commands/tablecmds.c: ATExecMergePartitions, ATExecSplitPartition).

The old partitions are dropped and new tables are created, as CREATE TABLE ... PARTITION OF creates them: with the
indexes of the partitioned table, REPLICA IDENTITY DEFAULT, and no membership of their own in a publication.
"""

from __future__ import annotations

import itertools
from typing import Any

from pubcheck.postgres.catalog import RELATION
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.ddl.objects import require_owner
from pubcheck.postgres.ddl.tables import create_table
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def merge(session: Session, relation: int, command: Node, recurse: bool) -> None:
    parent, spec = session.catalog.relations[relation], command["def"]["PartitionCmd"]
    old = [_partition(session, parent, part["SinglePartitionSpec"]["name"]) for part in spec["partlist"]]
    if len(old) < 2:
        raise ServerError("22023", "list of partitions to be merged should include at least two partitions")
    if len({partition.oid for partition in old}) < len(old):
        raise ServerError("42P07", "partition is already included in the list of partitions to be merged")
    _refuse_gaps([row.bound for row in old if row.bound != ("d",)], any(row.bound == ("d",) for row in old))
    bound = {"known": _merged([partition.bound for partition in old]), **_merged_spec(session, old)}
    _replace(session, parent, old, [(spec["name"], bound)])


def split(session: Session, relation: int, command: Node, recurse: bool) -> None:
    parent, spec = session.catalog.relations[relation], command["def"]["PartitionCmd"]
    parts = [part["SinglePartitionSpec"] for part in spec["partlist"]]
    if len(parts) < 2:
        raise ServerError("22023", "list of new partitions should contain at least two partitions")
    old = _partition(session, parent, spec["name"])
    new = _replace(session, parent, [old], [(part["name"], part["bound"]) for part in parts])
    _refuse_other_rows(old.bound, [row.bound for row in new])


def _refuse_gaps(bounds: list[Any], some_remain: bool) -> None:
    """Raise the server's error if ranges do not follow each other without gaps, where no partition takes the rest
    (check_two_partitions_bounds_range)."""
    if some_remain or not all(bound is not None and bound[0] == "r" for bound in bounds):
        return
    ranges = sorted((bound[1], bound[2]) for bound in bounds)
    if any(before[1] != after[0] for before, after in itertools.pairwise(ranges)):
        raise _refused()


def _refuse_other_rows(old: Any, new: list[Any]) -> None:
    """Raise the server's error if partitions do not take exactly the rows of the one that they replace
    (check_partitions_for_split)."""
    if old is None or any(bound is None for bound in new):
        return
    default, bounds = ("d",) in new, [bound for bound in new if bound != ("d",)]
    if old == ("d",):
        if not default:
            raise _refused()
        return
    if old[0] == "l":
        values = frozenset().union(*(bound[1] for bound in bounds))
        if not values <= old[1] or (values < old[1] and not default):
            raise _refused()
    elif old[0] == "r" and bounds:
        _refuse_gaps(bounds, default)
        low, high = min(bound[1] for bound in bounds), max(bound[2] for bound in bounds)
        if low < old[1] or high > old[2] or ((low, high) != (old[1], old[2]) and not default):
            raise _refused()


def _refused() -> ServerError:
    return ServerError("42P17", "the new partitions do not take the rows of those that they replace")


def _partition(session: Session, parent: Relation, name: Node) -> Relation:
    """checkPartition: a partition of the table without partitions of its own."""
    row = session.relation(name)
    require_owner(session, row)
    if row.seen and parent.seen and (not row.partition or parent.oid not in row.parents):
        raise ServerError("42P01", f'relation "{row.name}" is not a partition of relation "{parent.name}"')
    return row


def _replace(session: Session, parent: Relation, old: list[Relation], new: list[tuple[Node, Node]]) -> list[Relation]:
    perform_deletion(session, [(RELATION, partition.oid, 0) for partition in old], False)
    above = {
        "schemaname": session.catalog.namespaces[parent.namespace].name,
        "relname": parent.name,
        "relpersistence": parent.persistence,
    }
    for name, bound in new:
        relation = {**name, "relpersistence": parent.persistence}
        create_table(session, {"relation": relation, "inhRelations": [{"RangeVar": above}], "partbound": bound})
    return [session.relation(name) for name, _ in new]


def _merged_spec(session: Session, old: list[Relation]) -> Node:
    """Return the bound as CREATE TABLE would write it, if definitions are kept."""
    known: list[tuple[Any, Node]] = []
    for row in old:
        spec = session.catalog.definitions.get(("bound", row.oid))
        if spec is None or row.bound is None:
            return {}
        known.append((row.bound, spec))
    if any(bound[0] == "d" for bound, _ in known):
        return {"is_default": True}
    if known[0][0][0] == "l":
        return {**known[0][1], "listdatums": [datum for _, spec in known for datum in spec["listdatums"]]}
    first, last = min(known, key=lambda entry: entry[0][1]), max(known, key=lambda entry: entry[0][2])
    return {**first[1], "upperdatums": last[1]["upperdatums"]}


def _merged(bounds: list[tuple[Any, ...] | None]) -> tuple[Any, ...] | None:
    """Return the bound of all the rows that fit one of these; None if it is unknown."""
    known = [bound for bound in bounds if bound is not None]
    kinds = {bound[0] for bound in known}
    if "d" in kinds:
        return ("d",)
    if len(known) < len(bounds) or len(kinds) != 1:
        return None
    if kinds == {"l"}:
        return "l", frozenset().union(*(bound[1] for bound in known))
    return ("r", min(bound[1] for bound in known), max(bound[2] for bound in known)) if kinds == {"r"} else None
