"""What the write-phase rules say to people: headline, secondary spans, ways out with their costs."""

from __future__ import annotations

from pubcheck.checks.write import Refusal
from pubcheck.postgres.catalog import Catalog
from pubcheck.replication.identity import replica_identity

_VERB = {"update": "UPDATE of", "delete": "DELETE from"}


def headline(catalog: Catalog, refusal: Refusal) -> str:
    """Which statement will fail, and why, in one sentence."""
    relation = catalog.relations[refusal.relation]
    what = f"{_VERB[refusal.operation]} {relation.name} will fail"
    publication = catalog.publications[refusal.publications[0]].name
    if refusal.rule in ("ri-filter-column", "ri-partition-filter"):
        return (
            f'{what}: the row filter of publication "{publication}" reads "{refusal.column}", '
            "which is not in the replica identity"
        )
    if refusal.rule == "ri-column-list":
        if refusal.column:
            return (
                f'{what}: the column list of publication "{publication}" leaves out "{refusal.column}", '
                "which is in the replica identity"
            )
        return f'{what}: publication "{publication}" has a column list, and the replica identity is FULL'
    if refusal.rule == "ri-generated-column":
        return (
            f'{what}: the replica identity has the generated column "{refusal.column}", '
            f'which publication "{publication}" does not publish'
        )
    return f'{what}: publication "{publication}" publishes {refusal.operation}s and the table has no replica identity'


def help_text(catalog: Catalog, refusal: Refusal) -> str:
    """What to do; the cheapest way out first."""
    relation = catalog.relations[refusal.relation]
    publication = catalog.publications[refusal.publications[0]].name
    full = f"ALTER TABLE {relation.name} REPLICA IDENTITY FULL (every old row is then written to WAL whole)"
    inserts = f"publish only inserts: ALTER PUBLICATION {publication} SET (publish = 'insert')"
    if refusal.rule in ("ri-filter-column", "ri-partition-filter"):
        return (
            f'make "{refusal.column}" part of the replica identity (a unique index over NOT NULL columns that has it, '
            f"then ALTER TABLE {relation.name} REPLICA IDENTITY USING INDEX); or {full}; or {inserts}"
        )
    if refusal.rule == "ri-column-list":
        if refusal.column:
            return f'add "{refusal.column}" to the column list; or {inserts}'
        return (
            "REPLICA IDENTITY FULL cannot be combined with a column list: drop the list, or give the table a key "
            f"and ALTER TABLE {relation.name} REPLICA IDENTITY DEFAULT; or {inserts}"
        )
    if refusal.rule == "ri-generated-column":
        return (
            "choose a replica identity without it; for a stored column also "
            f"ALTER PUBLICATION {publication} SET (publish_generated_columns = stored)"
        )
    if relation.identity == "i":
        return (
            "the index that REPLICA IDENTITY names is gone or cannot be used: name another, or "
            f"ALTER TABLE {relation.name} REPLICA IDENTITY DEFAULT; or {full}"
        )
    if relation.identity == "n":
        return f"ALTER TABLE {relation.name} REPLICA IDENTITY DEFAULT (the primary key); or {full}; or {inserts}"
    return f"add a primary key (not deferrable); or {full}; or {inserts}"


def identity_text(catalog: Catalog, relation: int) -> str:
    """The table's side of the matter, for its secondary span."""
    row = catalog.relations[relation]
    identity = replica_identity(catalog, row)
    if identity.full:
        return "the replica identity is FULL"
    if not identity.index:
        if row.identity == "n":
            return "the replica identity is NOTHING"
        return "it has no replica identity" if identity.known else "its replica identity is not visible here"
    names = ", ".join(row.columns[number - 1].name for number in catalog.indexes[identity.index].keys)
    return f"the key is ({names})" if row.identity == "d" else f"the replica identity is ({names})"
