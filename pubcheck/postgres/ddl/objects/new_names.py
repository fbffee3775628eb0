"""New names or schemas for existing objects, and for objects that are named after them."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import COLLATION, OTHER, PROC, PUBLICATION_REL, TYPE, Object
from pubcheck.postgres.catalog.rows import Constraint, Relation, Type
from pubcheck.postgres.ddl.not_null import refuse_taken_name
from pubcheck.postgres.ddl.types import free_type_name
from pubcheck.postgres.errors import ServerError
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


def move_row_type(session: Session, row: Relation, namespace: int, name: str) -> None:
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
    take_name(session, row.namespace, name)
    move_row_type(session, row, row.namespace, name)
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


def take_name(session: Session, namespace: int, name: str) -> None:
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
