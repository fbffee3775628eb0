"""Replica identity: which columns of a table tell its rows apart downstream (relcache.c: RelationGetIndexList)."""

from __future__ import annotations

from msgspec import Struct

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Relation


class ReplicaIdentity(Struct, frozen=True):
    """``kind`` is relreplident; ``columns`` the attribute numbers of the identity, empty where there is none.

    ``known`` is False if the table is unknown and nothing in the unit sets its identity.
    """

    kind: str
    columns: frozenset[int] = frozenset()
    index: int = 0
    known: bool = True

    @property
    def full(self) -> bool:
        return self.kind == "f"

    @property
    def exists(self) -> bool:
        """Whether UPDATE and DELETE can be replicated at all (CheckCmdReplicaIdentity)."""
        return self.full or bool(self.index)


def replica_identity(catalog: Catalog, relation: Relation) -> ReplicaIdentity:
    """Return the identity of a table as INDEX_ATTR_BITMAP_IDENTITY_KEY has it.

    FULL has all columns but no index; DEFAULT the primary key unless it is deferrable or invalid; USING INDEX that
    index while it exists, is valid, unique, immediate and not partial; otherwise there is none.
    """
    kind = relation.identity
    if kind == "f":
        return ReplicaIdentity(kind, frozenset(column.number for column in relation.live()))
    if kind in "di":
        for oid in catalog.key_indexes_of.get(relation.oid):
            index = catalog.indexes[oid]
            chosen = index.primary if kind == "d" else index.identity
            if chosen and index.valid and index.unique and index.immediate and not index.partial:
                return ReplicaIdentity(kind, frozenset(index.keys), oid)
    return ReplicaIdentity(kind, known=relation.seen or kind == "n")
