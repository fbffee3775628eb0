"""ALTER ...

SET SCHEMA of any kind of object, and of the objects that move with it (commands/alter.c: ExecAlterObjectSchemaStmt;
commands/tablecmds.c: AlterTableNamespace).
"""

from __future__ import annotations

from pubcheck.postgres.catalog import AUTO, INTERNAL, NAMESPACE, PG_TOAST, RELATION, TYPE, Object
from pubcheck.postgres.catalog.rows import Namespace, Relation
from pubcheck.postgres.ddl.object_address import find_object
from pubcheck.postgres.ddl.objects import object_row, relation_to_alter, require_creation, require_object_owner
from pubcheck.postgres.ddl.objects.new_names import move, move_row_type, relation_of_type, take_name
from pubcheck.postgres.ddl.types import refuse_shell
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.relkind import RELATION_KINDS
from pubcheck.postgres.session import Session


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
    move_row_type(session, row, namespace.oid, row.name)
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
        take_name(session, namespace.oid, row.name)
