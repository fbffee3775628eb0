"""New names or schemas for existing objects, and for objects that are named after them; ALTER ... SET SCHEMA of any
kind of object, and of the objects that move with it (commands/alter.c: ExecAlterObjectSchemaStmt;
commands/tablecmds.c: AlterTableNamespace).
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import (
    AUTO,
    COLLATION,
    INTERNAL,
    NAMESPACE,
    OTHER,
    PG_TOAST,
    PROC,
    PUBLICATION_REL,
    RELATION,
    TYPE,
    Object,
)
from pubcheck.postgres.catalog.rows import Constraint, Namespace, Relation, Type
from pubcheck.postgres.ddl.not_null import refuse_taken_name
from pubcheck.postgres.ddl.object_address import find_object
from pubcheck.postgres.ddl.object_descriptions import RELATION_KINDS
from pubcheck.postgres.ddl.objects import object_row, relation_to_alter, require_creation, require_object_owner
from pubcheck.postgres.ddl.types import free_type_name, refuse_shell
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def relation_of_type(session: Session, row: Type) -> Relation | None:
    """Return the relation of a composite type, which is renamed or moved instead; None for other types.

    Raises ServerError 42809 for row types and array types, which follow their relation or element.
    """
    relation = session.catalog.relations[row.relation] if row.relation else None
    if relation is not None and relation.kind != "c":
        raise ServerError("42809", f"{row.name} is a table's row type", hint="Use ALTER TABLE instead.")
    if relation is None and row.subscript == "a" and row.name.startswith("_"):
        raise ServerError("42809", f"cannot alter array type {row.name}")
    return relation


def move_type(session: Session, row: Type, namespace: int, name: str) -> None:
    """Move or rename a type and its array type (RenameTypeInternal, AlterTypeNamespaceInternal).

    Raises ServerError 42710.
    """
    catalog = session.catalog
    if row.relation:
        if (namespace, name) in catalog.type_names:
            raise ServerError("42710", 'type "{name}" already exists', name=name)
    elif namespace == row.namespace or (namespace, name) not in catalog.type_names:
        free_type_name(session, namespace, name)
    else:
        raise ServerError("42710", 'type "{name}" already exists in schema', name=name)
    array = catalog.types.get(row.array)
    catalog.rename(row, namespace=namespace, name=name)
    if array is not None:
        catalog.rename(array, namespace=namespace, name=catalog.array_type_name(namespace, name))


def _move_row_type(session: Session, row: Relation, namespace: int, name: str) -> None:
    """Move or rename the row type of a relation with it. Raises ServerError 42710."""
    catalog = session.catalog
    oid = catalog.type_names.get((row.namespace, row.name))
    if oid is not None and catalog.types[oid].relation == row.oid:
        move_type(session, catalog.types[oid], namespace, name)
    elif (namespace, name) in catalog.type_names and row.kind in "rpvmf":
        raise ServerError("42710", 'type "{name}" already exists', name=name)


def move(session: Session, target: Object, namespace: int, name: str) -> None:
    """Move or rename an object other than a relation. Raises ServerError 42710, 42723."""
    catalog = session.catalog
    kind, oid, _ = target
    if kind == TYPE:
        move_type(session, catalog.types[oid], namespace, name)
        return
    row = catalog.rows_of(kind)[oid]
    if kind == PROC:
        overloads = (catalog.procs[overload] for overload in catalog.proc_names.get((namespace, name)))
        if 0 not in row.arguments and any(overload.arguments == row.arguments for overload in overloads):
            raise ServerError("42723", f"function {name} already exists in schema")
    elif kind == COLLATION and (namespace, name) in catalog.collation_names:
        raise ServerError("42710", 'collation "{name}" already exists', name=name)
    elif kind == OTHER and (row.kind, namespace, name) in catalog.other_names:
        raise ServerError("42710", '{kind} "{name}" already exists', kind=row.kind, name=name)
    catalog.rename(row, namespace=namespace, name=name)


def rename_relation(session: Session, row: Relation, name: str) -> None:
    """RenameRelationInternal: its row type, and an index's constraint, are renamed with it.

    Raises ServerError 42P07.
    """
    catalog = session.catalog
    if name == row.name:
        raise ServerError("42P07", 'relation "{name}" already exists', name=name)
    _take_name(session, row.namespace, name)
    _move_row_type(session, row, row.namespace, name)
    catalog.rename_relation(catalog.relations[row.oid], name, row.namespace)
    constraint = catalog.owner_of_index(row.oid)
    if constraint is not None:
        put_constraint(session, constraint, name)


def put_constraint(session: Session, row: Constraint, name: str) -> None:
    """Put the constraint under another name (RenameConstraintById). Raises ServerError 42710."""
    catalog = session.catalog
    relation = catalog.relations.get(row.relation)
    if relation is not None:
        refuse_taken_name(session, relation, name)
        catalog.constraint_names.remove((relation.namespace, row.name), row.oid)
        catalog.constraint_names.add((relation.namespace, name), row.oid)
    catalog.constraints.put(row.oid, replace(row, name=name))


def _take_name(session: Session, namespace: int, name: str) -> None:
    """Make a name free for an existing relation; an assumed relation of that name goes with its memberships, and its
    children are then assumed too."""
    catalog, assumed = session.catalog, session.relation_in(namespace, name)
    session.free_name(namespace, name)
    if assumed is None:
        return
    for member in catalog.memberships.get(assumed.oid):
        catalog.remove(PUBLICATION_REL, member)
    for oid in catalog.children.get(assumed.oid):
        child = catalog.relations[oid]
        parents = tuple(parent for parent in child.parents if parent != assumed.oid)
        catalog.set_parents(child, parents, partition=False, seen=False)


def set_schema(session: Session, node: Node) -> None:
    """ALTER ... SET SCHEMA of any kind of object (ExecAlterObjectSchemaStmt)."""
    kind = node["objectType"]
    if kind in RELATION_KINDS:
        _set_schema_of_relation(session, node, kind)
        return
    if kind == "OBJECT_EXTENSION":
        from pubcheck.postgres.ddl.extensions import set_schema as move_extension

        move_extension(session, node["object"]["String"]["sval"], node["newschema"])
        return
    address = find_object(session, kind, node.get("object", {}), missing_ok=node.get("missing_ok", False))
    row = object_row(session, address) if address else None
    namespace = session.namespace(node["newschema"])
    if address is None or row is None:
        return
    if address[0] == TYPE:
        refuse_shell(session.catalog.types[address[1]])
    require_object_owner(session, address, row)
    require_creation(session, namespace)
    if row.namespace == namespace.oid:
        return
    relation = relation_of_type(session, row) if address[0] == TYPE else None
    if relation is not None:
        _move_relation(session, relation, namespace)
    else:
        move(session, address, namespace.oid, row.name)
        _depend_on_namespace(session, address, row.namespace, namespace.oid)


def _depend_on_namespace(session: Session, target: Object, old: int, new: int) -> None:
    """changeDependencyFor."""
    catalog = session.catalog
    for key, entry in catalog.dependencies.get(target[:2]):
        if key == (NAMESPACE, old):
            catalog.forget_dependencies(target[:2], on=key)
            catalog.depend(target, (NAMESPACE, new, 0), entry[2])


def _set_schema_of_relation(session: Session, node: Node, kind: str) -> None:
    """AlterTableNamespace."""
    catalog = session.catalog
    row = relation_to_alter(session, kind, node)
    if row is None:
        return
    if row.kind in "iI":
        raise ServerError("42809", f'cannot change schema of index "{row.name}"')
    if row.kind == "S" and any(
        how in (AUTO, INTERNAL) and key[0] == RELATION and number
        for key, (_, number, how) in catalog.dependencies.get((RELATION, row.oid))
    ):
        raise ServerError("0A000", "cannot move an owned sequence into another schema")
    namespace = session.namespace(node["newschema"])
    require_creation(session, namespace)
    _move_relation(session, row, namespace)


def _move_relation(session: Session, row: Relation, namespace: Namespace) -> None:
    """AlterTableNamespaceInternal: row type, indexes, constraints and owned sequences go with the relation.

    Raises ServerError 42P07.
    """
    catalog = session.catalog
    if row.namespace == namespace.oid:
        return
    for schema in (row.namespace, namespace.oid):
        if catalog.namespaces[schema].name.startswith("pg_temp"):
            raise ServerError("0A000", "cannot move objects into or out of temporary schemas")
        if schema == PG_TOAST:
            raise ServerError("0A000", "cannot move objects into or out of TOAST schema")
    _refuse_taken(session, row, namespace)
    former = row.namespace
    _move_row_type(session, row, namespace.oid, row.name)
    for oid in catalog.constraints_of.get(row.oid):
        constraint = catalog.constraints[oid]
        catalog.constraint_names.remove((former, constraint.name), oid)
        catalog.constraint_names.add((namespace.oid, constraint.name), oid)
    catalog.rename_relation(catalog.relations[row.oid], row.name, namespace.oid)
    _depend_on_namespace(session, (RELATION, row.oid, 0), former, namespace.oid)
    for oid in catalog.indexes_of.get(row.oid):
        index = catalog.relations[oid]
        _refuse_taken(session, index, namespace)
        catalog.rename_relation(index, index.name, namespace.oid)
    for dependent, number, how in catalog.dependents.get((RELATION, row.oid)):
        sequence = catalog.relations.get(dependent[1]) if dependent[0] == RELATION else None
        if number and how in (AUTO, INTERNAL) and sequence is not None and sequence.kind == "S":
            _refuse_taken(session, sequence, namespace)
            catalog.rename_relation(sequence, sequence.name, namespace.oid)


def _refuse_taken(session: Session, row: Relation, namespace: Namespace) -> None:
    existing = session.relation_in(namespace.oid, row.name)
    if existing is not None and existing.seen and existing.oid != row.oid:
        raise ServerError(
            "42P07", 'relation "{name}" already exists in schema "{owner}"', name=row.name, owner=namespace.name
        )
    if existing is not None and not existing.seen:
        _take_name(session, namespace.oid, row.name)
