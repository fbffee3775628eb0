"""The parents of a table that is created, with INHERITS or PARTITION OF, and the type of a table OF one."""

from __future__ import annotations

from pubcheck.postgres.catalog import AUTO, NORMAL, RELATION
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.partition_bounds import read_bound, refuse_overlap
from pubcheck.postgres.ddl.tables.inheritance import (
    check_parent,
    clone_indexes,
    columns_of_type,
    inherit_constraints,
    inherited_columns,
    merge_column,
)
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


class Ancestry:
    """What a CREATE TABLE takes from elsewhere, in the server's order.

    ``parents`` are rows of the catalog, ``bound`` is that of a partition, ``of_type`` the oid of a type, or 0.
    """

    def __init__(self, session: Session, node: Node, former: Relation | None, namespace: int, persistence: str) -> None:
        self._session, self._node = session, node
        self.parents = _parents(session, node, former, namespace, persistence) if "inhRelations" in node else []
        self.bound = None
        if "partbound" in node:
            self.bound = read_bound(session, session.catalog.relations[self.parents[0].oid], node["partbound"])
        self.of_type = session.type_oid(node["ofTypename"]) if "ofTypename" in node else 0

    def columns(self) -> tuple[list[Column], bool]:
        """Return the columns of the parents and the type, and whether all of them are known."""
        columns = inherited_columns(self._session, self.parents) if self.parents else []
        seen = all(parent.seen for parent in self.parents)
        if "ofTypename" in self._node:
            of_type = columns_of_type(self._session, self._node["ofTypename"])
            seen = of_type is not None
            columns += of_type or ()
        return columns, seen

    def merge(self, existing: Column, column: Column, *, typed: bool) -> Column:
        return merge_column(self._session, existing, column, typed=typed)

    def refuse_overlap(self, name: str) -> None:
        """Raise ServerError if the bound of a new partition overlaps with another one's."""
        if self.bound is not None:
            refuse_overlap(self._session, self.parents[0], name, self.bound)

    def depend(self, row: Relation) -> None:
        for parent in self.parents:
            how = AUTO if row.partition else NORMAL
            self._session.catalog.depend((RELATION, row.oid, 0), (RELATION, parent.oid, 0), how)

    def inherit_constraints(self, row: Relation) -> None:
        """Copy the parents' constraints and indexes."""
        for parent in self.parents:
            inherit_constraints(self._session, parent, row.oid)
        if row.partition and self.parents:
            # In DefineRelation, before the statements for the partition's own keys run.
            clone_indexes(self._session, self.parents[0], row.oid)


def _parents(session: Session, node: Node, former: Relation | None, namespace: int, persistence: str) -> list[Relation]:
    """Return the parents of INHERITS or PARTITION OF. Raises ServerError if one of them cannot be a parent of the
    table."""
    name = node["relation"]["relname"]
    parents = [session.relation(parent["RangeVar"]) for parent in node["inhRelations"]]
    if any(parent.name == name and parent.namespace == namespace for parent in parents):
        raise ServerError("42P01", f'relation "{name}" does not exist')
    if former is not None and any(former.oid in session.catalog.ancestors(parent.oid) for parent in parents):
        # Its parent could not be created before it.
        raise ServerError("42P07", 'relation "{name}" already exists', name=name)
    distinct: set[int] = set()
    for parent in parents:
        if parent.oid in distinct:
            raise ServerError("42P07", f'relation "{parent.name}" would be inherited from more than once')
        distinct.add(parent.oid)
    for parent in parents:
        check_parent(session, parent, "partbound" in node, persistence)
    return parents
