"""Changes to a relation as a whole (commands/tablecmds.c): OWNER TO, CLUSTER ON, ENABLE and DISABLE RULE, TRIGGER and
ROW LEVEL SECURITY, REPLICA IDENTITY; SET (...), SET TABLESPACE and SET ACCESS METHOD, of which nothing is kept, but a
refusal undoes the rest of the statement; SET LOGGED and SET UNLOGGED, which are checked for members of publications
(ATPrepChangePersistence).
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import CONSTRAINT, RELATION
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl.indexes import rebuild_indexes
from pubcheck.postgres.ddl.object_descriptions import not_alterable
from pubcheck.postgres.ddl.replica_identity import set_replica_identity
from pubcheck.postgres.ddl.storage import refuse_parameters, refuse_table_method, refuse_tablespace
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session, alterable_column


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


_OF_KIND = {"r": "table", "m": "table", "p": "partitioned", "v": "view"}


def set_parameters(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetRelOptions."""
    catalog = session.catalog
    row = catalog.relations[relation]
    if row.seen:
        kind = catalog.indexes[relation].method if row.kind == "i" else _OF_KIND.get(row.kind, "")
        refuse_parameters(session, command["def"]["List"]["items"], kind, new=False)


def set_options(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetOptions, of a column."""
    if session.catalog.relations[relation].kind in "rpmf":
        alterable_column(session, relation, command["name"])
        refuse_parameters(session, command["def"]["List"]["items"], "attribute")


def reset_options(session: Session, relation: int, command: Node, recurse: bool) -> None:
    if session.catalog.relations[relation].kind in "rpmf":
        alterable_column(session, relation, command["name"])


def set_tablespace(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecSetTableSpace."""
    refuse_tablespace(command["name"])


def set_access_method(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATPrepSetAccessMethod; without a name it is the default one (17)."""
    major = session.catalog.major
    partitioned = session.catalog.relations[relation].kind == "p"
    if partitioned and not major.partitioned_access_methods:
        raise ServerError("42809", "cannot change access method of a partitioned table")
    if "name" in command:
        refuse_table_method(session, command["name"], partitioned=partitioned)
    elif not major.default_access_method:
        raise ServerError("42601", 'syntax error at or near "DEFAULT"')


def set_unlogged(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATPrepChangePersistence: a member of a publication cannot become unlogged."""
    catalog = session.catalog
    row = catalog.relations[relation]
    members = catalog.memberships.get(relation)
    publication = catalog.publications[catalog.publication_rels[members[0]].publication].name if members else None
    if row.kind == "p" and not catalog.major.unlogged_partitioned:
        error = not_alterable("SET UNLOGGED", row, key="set-unlogged-of-partitioned" if members else None)
        raise error.about(publication, session.qualified(row))
    if row.persistence == "t":
        raise ServerError("42P16", f'cannot change logged status of table "{row.name}" because it is temporary')
    if row.persistence == "u":
        return
    if members:
        session.doubt_members(members)
        raise ServerError(
            "55000",
            'cannot change table "{relation}" to unlogged because it is part of a publication',
            key="set-unlogged-of-member",
            detail="Unlogged relations cannot be replicated.",
            relation=row.name,
        ).about(publication, session.qualified(row))
    for dependent, _, _ in catalog.dependents.get((RELATION, relation)):
        referencing = catalog.constraints.get(dependent[1]) if dependent[0] == CONSTRAINT else None
        if referencing is not None and referencing.kind == "f" and referencing.relation != relation:
            referencing_table = catalog.relations[referencing.relation]
            if referencing.references == relation and referencing_table.persistence == "p":
                raise ServerError(
                    "42P16",
                    f'could not change table "{row.name}" to unlogged because it references logged table '
                    f'"{referencing_table.name}"',
                )
    _persist(session, relation, "u")


def set_logged(session: Session, relation: int, command: Node, recurse: bool) -> None:
    catalog = session.catalog
    row = catalog.relations[relation]
    if row.kind == "p" and not catalog.major.unlogged_partitioned:
        raise not_alterable("SET LOGGED", row)
    if row.persistence == "t":
        raise ServerError("42P16", f'cannot change logged status of table "{row.name}" because it is temporary')
    if row.persistence != "u":
        return
    for oid in catalog.constraints_of.get(relation):
        constraint = catalog.constraints[oid]
        referenced = catalog.relations.get(constraint.references)
        if (
            constraint.kind == "f"
            and referenced is not None
            and referenced.oid != relation
            and referenced.persistence == "u"
        ):
            raise ServerError(
                "42P16", f'could not change table "{row.name}" to logged because it references unlogged table'
            )
    _persist(session, relation, "p")


def _persist(session: Session, relation: int, persistence: str) -> None:
    catalog = session.catalog
    if catalog.relations[relation].kind == "p":
        return  # it has no storage to rewrite, which is when the letter changes
    dependents = [target[1] for target, _, _ in catalog.dependents.get((RELATION, relation)) if target[0] == RELATION]
    sequences = [oid for oid in dependents if oid in catalog.relations and catalog.relations[oid].kind == "S"]
    for oid in (relation, *catalog.indexes_of.get(relation), *sequences):
        catalog.relations.put(oid, replace(catalog.relations[oid], persistence=persistence))
    rebuild_indexes(session, relation)
