"""Changes to a relation as a whole: OWNER TO, CLUSTER ON, ENABLE and DISABLE RULE, TRIGGER and ROW LEVEL SECURITY,
REPLICA IDENTITY (commands/tablecmds.c).
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import RELATION
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl.replica_identity import set_replica_identity
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def change_owner(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecChangeOwner: indexes and owned sequences go with the table."""
    catalog = session.catalog
    owner = session.role_spec(command["newowner"])
    row = catalog.relations[relation]
    if owner.oid == row.owner:
        return
    if not session.superuser() and not session.member_of(owner.oid):
        raise ServerError("42501", f'must be able to SET ROLE "{owner.name}"')
    catalog.relations.put(relation, replace(row, owner=owner.oid))
    for oid in catalog.indexes_of.get(relation):
        catalog.relations.put(oid, replace(catalog.relations[oid], owner=owner.oid))
    for dependent, number, _ in catalog.dependents.get((RELATION, relation)):
        if number and dependent[0] == RELATION and dependent[2] == 0:
            owned = catalog.relations.get(dependent[1])
            if owned is not None and owned.kind == "S":
                catalog.relations.put(owned.oid, replace(owned, owner=owner.oid))


def cluster_on(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecClusterOn and, without an index, ATExecDropCluster, which change nothing that is kept."""
    row = session.catalog.relations[relation]
    if "name" in command:
        _refuse_unclusterable(session, row, command)
    if row.kind == "p":
        raise ServerError("0A000", "cannot mark index clustered in partitioned table")


def _refuse_unclusterable(session: Session, row: Relation, command: Node) -> None:
    index = session.relation_in(row.namespace, command["name"])
    if row.seen and index is None:
        raise ServerError("42704", f'index "{command["name"]}" for table "{row.name}" does not exist')
    held = session.catalog.indexes.get(index.oid) if index is not None else None
    if row.seen and (held is None or held.table != row.oid or held.partial):
        raise ServerError("42809", f'cannot cluster on index "{command["name"]}"')


def row_security(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetRowSecurity."""
    row = session.catalog.relations[relation]
    enabled = command["subtype"] == "AT_EnableRowSecurity"
    session.catalog.relations.put(relation, replace(row, row_security=enabled))


def force_row_security(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecForceNoForceRowSecurity: whether the owner is subject to it too."""
    row = session.catalog.relations[relation]
    forced = command["subtype"] == "AT_ForceRowSecurity"
    session.catalog.relations.put(relation, replace(row, force_row_security=forced))


def enable_rule(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """EnableDisableRule: one that is enabled for replicas alone does nothing in other sessions."""
    catalog, name = session.catalog, command["name"]
    row, oid = catalog.relations[relation], catalog.other_names.get(("rule", relation, name))
    if oid is not None:
        enabled = command["subtype"] in ("AT_EnableRule", "AT_EnableAlwaysRule")
        catalog.others.put(oid, replace(catalog.others[oid], enabled=enabled))
    elif row.seen and not session.blind and name != "_RETURN":
        raise ServerError("42704", f'rule "{name}" for relation "{row.name}" does not exist')


def enable_trigger(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """EnableDisableTrigger, which changes nothing here. Partitions have the triggers of those above them, and foreign
    keys have some of their own."""
    catalog, name = session.catalog, command["name"]
    row = catalog.relations[relation]
    if ("trigger", relation, name) in catalog.other_names or row.partition or name.startswith("RI_ConstraintTrigger"):
        return
    if row.seen and not session.blind:
        raise ServerError("42704", f'trigger "{name}" for table "{row.name}" does not exist')


def replica_identity(session: Session, relation: int, command: Node, recurse: bool) -> None:
    set_replica_identity(session, relation, command["def"]["ReplicaIdentityStmt"])
