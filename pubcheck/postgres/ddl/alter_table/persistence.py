"""SET LOGGED and SET UNLOGGED (commands/tablecmds.c: ATPrepChangePersistence). SET UNLOGGED of a publication's member
is checked.
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import CONSTRAINT, RELATION
from pubcheck.postgres.ddl.indexes import rebuild_indexes
from pubcheck.postgres.ddl.object_descriptions import not_alterable
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


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
