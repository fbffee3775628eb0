"""What tells the rows of a table apart: its replica identity and its keys, in the words of demands."""

from __future__ import annotations

from pubcheck.consumers.demands import IdentityKind, KeyKind
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Index, Relation
from pubcheck.postgres.replication.publication_lookup import replica_identity

IDENTITY_WORDS: dict[IdentityKind, str] = {
    "default": "the primary key as replica identity",
    "index": "REPLICA IDENTITY USING INDEX",
    "full": "REPLICA IDENTITY FULL",
    "nothing": "REPLICA IDENTITY NOTHING",
    "keyless": "no primary key and so no replica identity",
    "lost index": "a replica identity whose index is gone",
}
KEY_WORDS: dict[KeyKind, str] = {
    "primary key": "a primary key",
    "unique index": "a unique index over NOT NULL columns",
    "identity index": "REPLICA IDENTITY USING INDEX",
    "full": "REPLICA IDENTITY FULL",
}


def identity_kind(catalog: Catalog, relation: Relation) -> IdentityKind | None:
    """Return the kind of a table's replica identity; None if it is unknown."""
    identity = replica_identity(catalog, relation)
    if identity.kind == "f":
        return "full"
    if identity.kind == "n":
        return "nothing"
    if identity.exists:
        return "default" if identity.kind == "d" else "index"
    if not identity.known:
        return None
    return "keyless" if identity.kind == "d" else "lost index"


def key_kinds(catalog: Catalog, relation: Relation) -> frozenset[KeyKind]:
    """Return all that tells the rows of a table apart."""
    kinds: set[KeyKind] = set()
    for oid in catalog.indexes_of.get(relation.oid):
        index = catalog.indexes[oid]
        if index.primary and index.valid:
            kinds.add("primary key")
        if is_suitable(index, relation):
            kinds.add("unique index")
    identity = identity_kind(catalog, relation)
    if identity == "index":
        kinds.add("identity index")
    elif identity == "full":
        kinds.add("full")
    return frozenset(kinds)


def primary_key(catalog: Catalog, relation: Relation) -> tuple[int, ...]:
    """Return the columns of the primary key, () if there is none."""
    indexes = (catalog.indexes[oid] for oid in catalog.key_indexes_of.get(relation.oid))
    return next((index.keys for index in indexes if index.primary), ())


def is_suitable(index: Index, relation: Relation) -> bool:
    """Return whether an index can be a replica identity (ATExecReplicaIdentity)."""
    if not (index.unique and index.valid and index.immediate) or index.partial or 0 in index.keys:
        return False
    columns = {column.number: column for column in relation.columns}
    return all(columns[number].not_null for number in index.keys if number in columns)
