"""The cached definitions that a change of the catalog invalidates (utils/cache/inval.c)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from msgspec import Struct

from pubcheck.postgres.catalog import OTHER, RELATION, Catalog
from pubcheck.postgres.catalog.rows import (
    Constraint,
    Index,
    Namespace,
    OtherObject,
    Publication,
    PublicationExclusion,
    PublicationNamespace,
    PublicationRel,
    Relation,
)
from pubcheck.postgres.parse_tree import dictionaries
from pubcheck.simulate.server_state import CatalogChange, Truncation


class Invalidation(Struct, frozen=True, gc=False):
    """Invalidation messages of one command.

    ``relations`` are the tables whose entries in the relation cache are invalidated, ``everything`` means all of them.
    ``publications``: a row of pg_publication changed, so that plugins look their publications up again.
    """

    relations: frozenset[int] = frozenset()
    everything: bool = False
    publications: bool = False

    def __bool__(self) -> bool:
        return bool(self.relations) or self.everything or self.publications

    def covers(self, relation: int) -> bool:
        return self.everything or relation in self.relations


def invalidation_of(record: CatalogChange) -> Invalidation:
    """Return what a command that changed the catalog invalidates."""
    relations: set[int] = set()
    everything = publications = False
    after = record.after.catalog
    for table, key, former in record.entries:
        for row in (former, _row(after, table, key)):
            if isinstance(row, Relation):
                relations.add(row.oid)
                relations.update(row.parents if former is None or row.partition else ())
                relations.update(_default_partition(after, row) if _joins_or_leaves(former, after, key) else ())
            elif isinstance(row, Index):
                relations.add(row.table)
            elif isinstance(row, Constraint):
                relations.update((row.relation, row.references))
            elif isinstance(row, OtherObject):
                relations.update(_tables_of(record, row))
            elif isinstance(row, Publication):
                publications = True
                everything = everything or row.all_tables
                relations.update(_published(after, row))
            elif isinstance(row, PublicationRel | PublicationExclusion):
                relations.update(_tree(after, row.relation))
                everything = everything or not after.major.membership_change_is_local
            elif isinstance(row, PublicationNamespace):
                relations.update(after.relations_in.get(row.namespace))
                everything = everything or not after.major.membership_change_is_local
            elif isinstance(row, Namespace):
                everything = everything or after.major.schema_change_invalidates
    relations.update(_named(record), record.new_files)
    return Invalidation(frozenset(relations - {0}), everything, publications)


def _tables_of(record: CatalogChange, row: OtherObject) -> Iterable[int]:
    """Return the table of a trigger, rule or policy, and that of dropped extended statistics."""
    if row.kind in ("trigger", "rule", "policy"):
        yield row.namespace
    elif row.kind == "statistics object" and row.oid not in record.after.catalog.others:
        dependencies = record.before.catalog.dependencies.get((OTHER, row.oid))
        yield from (key[1] for key, _ in dependencies if key[0] == RELATION)


def _joins_or_leaves(former: object, after: Catalog, key: object) -> bool:
    """Whether a relation was attached or detached as a partition."""
    return _is_partition(former) != _is_partition(_row(after, "relations", key))


def _is_partition(row: object) -> bool:
    return isinstance(row, Relation) and row.partition


def _default_partition(catalog: Catalog, partition: Relation) -> Iterable[int]:
    """Return the default partition next to a partition. Its constraint is that no other partition accepts the row."""
    if partition.partition:
        for parent in partition.parents:
            yield from (oid for oid in catalog.children.get(parent) if catalog.relations[oid].bound == ("d",))


def rewrites_rows(record: CatalogChange) -> bool:
    """Whether a command updates or deletes rows of system catalogs: decoding queues those like changes of tables."""
    if record.statement in _REWRITING:
        return record.statement != "CreateTrigStmt" or _is_first_trigger(record)
    if record.statement == "AlterEnumStmt":
        return "oldVal" in record.node
    rows = (_row(record.after.catalog, table, key) for table, key, _ in record.entries)
    return any(table != "gone" and former is not None for table, _, former in record.entries) or any(
        isinstance(row, Relation) and row.kind in "rp" and _has_toast_table(row) for row in rows
    )


def _is_first_trigger(record: CatalogChange) -> bool:
    """Whether CREATE TRIGGER sets relhastriggers; foreign keys, which have triggers on both sides, have set it too."""
    before = record.before.catalog
    rows = (_row(record.after.catalog, table, key) for table, key, _ in record.entries)
    tables = {row.namespace for row in rows if isinstance(row, OtherObject) and row.kind == "trigger"}
    triggers = (row for row in before.others.values() if row.kind == "trigger")
    keys = (row for row in before.constraints.values() if row.kind == "f")
    have = {row.namespace for row in triggers}.union(*((row.relation, row.references) for row in keys))
    return not tables <= have


_CHANGES: Final = {
    "AlterOwnerStmt": 19,
    "AlterPublicationStmt": 6,
    "CreateEnumStmt": 8,
    "CreateFunctionStmt": 6,
    "CreatePublicationStmt": 4,
    "CreateSchemaStmt": 2,
    "CreateSeqStmt": 14,
    "CreateStmt": 22,
    "CreateTableAsStmt": 40,
    "DropStmt": 84,
    "IndexStmt": 6,
    "RuleStmt": 6,
    "TruncateStmt": 18,
    "ViewStmt": 19,
}
_USUAL = 5


def catalog_changes(record: CatalogChange) -> int:
    """Return about how many changes a command leaves in the reorder buffer: as many as the empty blocks that a server
    sends for it with debug_logical_replication_streaming = immediate."""
    return _CHANGES.get(record.statement, _USUAL)


_REWRITING: Final = frozenset(
    (
        "AlterTableStmt", "ClusterStmt", "CreateExtensionStmt", "CreateTrigStmt", "GrantStmt", "RuleStmt",
        "TruncateStmt", "ViewStmt",
    )
)  # fmt: skip
_NEVER_TOASTED = frozenset((16, 18, 19, 20, 21, 23, 26, 700, 701, 1082, 1083, 1114, 1184, 1186, 1266, 2950))


def _has_toast_table(relation: Relation) -> bool:
    """CREATE TABLE updates its row of pg_class once the TOAST table is there; types are those that need none."""
    return relation.kind == "r" and any(column.type not in _NEVER_TOASTED for column in relation.live())


def invalidation_of_truncation(record: Truncation) -> Invalidation:
    """TRUNCATE gives each table a new heap (relfilenode); a partitioned table has none."""
    relations = record.version.catalog.relations
    tables = frozenset(oid for oid in record.relations if relations[oid].kind != "p")
    return Invalidation(tables - record.in_place)


def _row(catalog: Catalog, table: str, key: object) -> object:
    heap: Mapping[Any, object] = getattr(catalog, table)
    return heap.get(key)


def _published(catalog: Catalog, publication: Publication) -> Iterable[int]:
    for member in catalog.members_of.get(publication.oid):
        yield from _tree(catalog, catalog.publication_rels[member].relation)
    for entry in catalog.schemas_of.get(publication.oid):
        yield from catalog.relations_in.get(catalog.publication_namespaces[entry].namespace)


def _tree(catalog: Catalog, relation: int) -> Iterable[int]:
    if relation in catalog.relations:
        yield from catalog.descendants(relation)
    yield relation


_NAMES_RELATIONS: Final = {
    "GrantStmt": "objects",
    "VacuumStmt": "rels",
    "ReindexStmt": "relation",
    "ClusterStmt": "relation",
    "CreateTrigStmt": "relation",
    "RuleStmt": "relation",
    "AlterTableStmt": "relation",
    "IndexStmt": "relation",
    "CreateStatsStmt": "relations",
    "CreatePolicyStmt": "table",
}
"""Statements that change a row of pg_class or pg_attribute of the tables they name, also where pubcheck's catalog
keeps nothing of it."""


_RECURSING: Final = frozenset(("AlterTableStmt", "CreateTrigStmt", "VacuumStmt"))


def _named(record: CatalogChange) -> Iterable[int]:
    field = _NAMES_RELATIONS.get(record.statement)
    if field is None or (record.statement == "AlterTableStmt" and (record.entries or _changes_no_table(record.node))):
        return
    catalog = record.after.catalog
    for name in (item for item in dictionaries(record.node.get(field)) if "relname" in item):
        for schema in (name.get("schemaname"), "public"):
            namespace = catalog.namespace_names.get(schema) if isinstance(schema, str) else None
            oid = None if namespace is None else catalog.relation_names.get((namespace, name["relname"]))
            if oid is not None:
                recurses = record.statement in _RECURSING and name.get("inh", False)
                yield from catalog.descendants(oid) if recurses else (oid,)
                break


def _changes_no_table(alter_table: Mapping[str, Any]) -> bool:
    """Whether an ALTER TABLE that leaves the catalog as it was changes only options of the sequences of identity
    columns or a mark of an index, or names the owner that the table has."""
    commands = [item["AlterTableCmd"] for item in alter_table.get("cmds", ())]
    return all(
        command["subtype"] in ("AT_ChangeOwner", "AT_ClusterOn", "AT_DropCluster")
        or (
            command["subtype"] == "AT_SetIdentity"
            and all(item["DefElem"]["defname"] != "generated" for item in command["def"]["List"]["items"])
        )
        for command in commands
    )
