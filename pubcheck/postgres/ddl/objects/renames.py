"""New names and schemas of objects: ALTER ... RENAME of any kind of object (commands/alter.c: ExecRenameStmt), also of
columns and constraints, in children too (commands/tablecmds.c: renameatt, rename_constraint_internal), and SET SCHEMA
(ExecAlterObjectSchemaStmt, AlterTableNamespace). Objects that are named after others are renamed and moved with them.
Publications are checked.
"""

from __future__ import annotations

from collections.abc import Sequence

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
from pubcheck.postgres.ddl.not_null import column_of_constraint, refuse_taken_name
from pubcheck.postgres.ddl.not_null import rename_constraint as rename_not_null
from pubcheck.postgres.ddl.object_address import (
    OTHER_KINDS,
    PROC_KINDS,
    TABLE_OBJECTS,
    find_object,
    find_on_table,
    find_relation,
)
from pubcheck.postgres.ddl.object_descriptions import RELATION_KINDS
from pubcheck.postgres.ddl.objects import (
    object_row,
    relation_to_alter,
    require_creation,
    require_object_owner,
    require_owner,
    require_publication_owner,
)
from pubcheck.postgres.ddl.subscriptions import rename_subscription
from pubcheck.postgres.ddl.types import free_type_name, refuse_shell
from pubcheck.postgres.ddl.types.create import typed_tables
from pubcheck.postgres.errors import PUBLICATION_EXISTS, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session, put_columns, rename_columns, require_column


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


def rename_column(session: Session, node: Node) -> None:
    """renameatt: through all that inherits the column; in what is made of a composite type with CASCADE."""
    catalog = session.catalog
    missing_ok = node.get("missing_ok", False)
    attribute = node["renameType"] == "OBJECT_ATTRIBUTE"
    rv, old, new = node["relation"], node["subname"], node["newname"]
    row = find_relation(session, "" if attribute else "OBJECT_TABLE", rv, missing_ok=missing_ok)
    if row is None:
        session.notices.append(f'relation "{rv["relname"]}" does not exist, skipping')
        return
    if row.seen and row.kind not in "rvmciIfp":
        raise ServerError("42809", f'cannot rename columns of relation "{row.name}"')
    require_owner(session, row)
    if row.of_type:
        raise ServerError("42809", "cannot rename column of typed table")
    if row.kind in "iI":
        return
    if not attribute and not rv.get("inh") and catalog.children.has(row.oid):
        raise ServerError("42P16", f'inherited column "{old}" must be renamed in child tables too')
    family = catalog.descendants(row.oid)
    if row.kind == "c":
        typed = typed_tables(session, row, cascade=node.get("behavior") == "DROP_CASCADE")
        family = [row.oid, *(oid for table in typed for oid in catalog.descendants(table))]
    for oid in family:
        require_owner(session, catalog.relations[oid])
        parents = sum(parent in family for parent in catalog.relations[oid].parents)
        _rename_column_of(session, oid, old, new, parents)


def _rename_column_of(session: Session, relation: int, old: str, new: str, parents: int) -> None:
    if old in SYSTEM_COLUMNS:
        raise ServerError("0A000", f'cannot rename system column "{old}"')
    row = session.catalog.relations[relation]
    if row.seen and row.column(old) is None:
        raise ServerError("42703", f'column "{old}" does not exist')
    column = require_column(session, relation, old)
    row = session.catalog.relations[relation]
    if column.inherited > parents:
        raise ServerError("42P16", f'cannot rename inherited column "{old}"')
    if new in SYSTEM_COLUMNS:
        raise ServerError("42701", f'column name "{new}" conflicts with a system column name')
    if row.column(new) is not None:
        raise ServerError("42701", 'column "{name}" of relation "{owner}" already exists', name=new, owner=row.name)
    columns = []
    for member_column in row.columns:
        if member_column.number == column.number:
            member_column = replace(member_column, name=new)
        if old in member_column.expression:
            read = tuple(new if name == old else name for name in member_column.expression)
            member_column = replace(member_column, expression=read, tree=rename_columns(member_column.tree, old, new))
        columns.append(member_column)
    put_columns(session, row, tuple(columns))
    _rename_in_trees(session, relation, column.number, old, new)


def _rename_in_trees(session: Session, relation: int, number: int, old: str, new: str) -> None:
    """CHECK constraints and indexes go on to mean the column."""
    catalog = session.catalog
    for oid in catalog.constraints_of.get(relation):
        constraint = catalog.constraints[oid]
        if constraint.tree is not None and number in constraint.keys:
            catalog.constraints.put(oid, replace(constraint, tree=rename_columns(constraint.tree, old, new)))
    for oid in catalog.indexes_of.get(relation):
        index = catalog.indexes[oid]
        if index.trees:
            expressions = tuple(rename_columns(tree, old, new) for tree in index.expressions)
            predicate = rename_columns(index.predicate, old, new)
            catalog.put_index(replace(index, expressions=expressions, predicate=predicate))


def rename_constraint(session: Session, node: Node) -> None:
    """rename_constraint_internal: an inheritable CHECK or NOT NULL in the children too; a key with its index."""
    catalog = session.catalog
    rv, old, new = node["relation"], node["subname"], node["newname"]
    row = find_relation(session, "OBJECT_TABLE", rv, missing_ok=node.get("missing_ok", False))
    if row is None:
        session.notices.append(f'relation "{rv["relname"]}" does not exist, skipping')
        return
    require_owner(session, row)
    constraint = catalog.constraint(row.oid, old)
    column = column_of_constraint(row, old) if constraint is None else None
    held = constraint if column is None else column.constraint
    if held is None:
        if row.seen and not session.blind:
            raise ServerError("42704", f'constraint "{old}" for table "{row.name}" does not exist')
        return
    family = [row.oid]
    if (constraint is None or constraint.kind == "c") and not held.no_inherit:
        if held.inherited:
            raise ServerError("42P16", f'cannot rename inherited constraint "{old}"')
        if not rv.get("inh") and catalog.children.has(row.oid):
            raise ServerError("42P16", f'inherited constraint "{old}" must be renamed in child tables too')
        family = catalog.descendants(row.oid)
    for oid in (*family[1:], row.oid):
        require_owner(session, catalog.relations[oid])
        if not _rename_constraint_of(session, oid, old, new, family):
            return


def _rename_constraint_of(session: Session, relation: int, old: str, new: str, family: Sequence[int]) -> bool:
    """Rename the constraint of one table of a ``family``. Return False if what it is called there is not known."""
    catalog = session.catalog
    row = catalog.relations[relation]
    column = column_of_constraint(row, old)
    constraint = catalog.constraint(relation, old)
    held = constraint if column is None else column.constraint
    if held is None:
        # NOT NULL constraints of one column may have another name in each table.
        if row.seen and not session.blind:
            raise ServerError("42704", f'constraint "{old}" for table "{row.name}" does not exist')
        return False
    if len(family) > 1 and held.inherited > sum(parent in family for parent in row.parents):
        raise ServerError("42P16", f'cannot rename inherited constraint "{old}"')
    index = catalog.relations.get(constraint.index) if constraint is not None else None
    if index is not None:
        rename_relation(session, index, new)
    elif constraint is not None:
        put_constraint(session, constraint, new)
    elif column is not None:
        rename_not_null(session, relation, column, new)
    return True


def rename(session: Session, node: Node) -> None:
    """ALTER ... RENAME of any kind of object (ExecRenameStmt)."""
    kind = node["renameType"]
    if kind in RELATION_KINDS:
        _rename_relation(session, node, kind)
    elif kind in ("OBJECT_COLUMN", "OBJECT_ATTRIBUTE"):
        rename_column(session, node)
    elif kind == "OBJECT_TABCONSTRAINT":
        rename_constraint(session, node)
    elif kind == "OBJECT_PUBLICATION":
        _rename_publication(session, node)
    elif kind == "OBJECT_SUBSCRIPTION":
        rename_subscription(session, node)
    elif kind == "OBJECT_SCHEMA":
        _rename_schema(session, node["subname"], node["newname"])
    elif kind == "OBJECT_ROLE":
        _rename_role(session, node["subname"], node["newname"])
    elif kind in ("OBJECT_TYPE", "OBJECT_DOMAIN"):
        address = find_object(session, kind, node.get("object", {}))
        if address is not None:
            _rename_type(session, address[1], node["newname"])
    elif kind in TABLE_OBJECTS:
        relation = find_relation(session, "", node["relation"], missing_ok=node.get("missing_ok", False))
        if relation is not None:
            require_owner(session, relation)
            address = find_on_table(session, kind, relation, node["subname"])
            if address is not None:
                move(session, address, relation.oid, node["newname"])
    elif kind in PROC_KINDS or kind == "OBJECT_COLLATION" or kind in OTHER_KINDS:
        address = find_object(session, kind, node.get("object", {}), missing_ok=node.get("missing_ok", False))
        row = object_row(session, address) if address else None
        if address is not None and row is not None:
            require_object_owner(session, address, row)
            move(session, address, row.namespace, node["newname"])


def _rename_relation(session: Session, node: Node, kind: str) -> None:
    row = relation_to_alter(session, kind, node)
    if row is None:
        return
    require_creation(session, session.catalog.namespaces[row.namespace])
    rename_relation(session, row, node["newname"])


def _rename_publication(session: Session, node: Node) -> None:
    """AlterObjectRename_internal: the object, its owner, then the new name, even if it is the old one."""
    catalog = session.catalog
    name = node["newname"]
    row = session.publication(node["object"]["String"]["sval"])
    require_publication_owner(session, row)
    existing = catalog.publication_names.get(name)
    if existing is not None:
        session.rests_on(catalog.publications[existing])
        raise ServerError("42710", PUBLICATION_EXISTS, key="publication-exists", publication=name).about(name)
    catalog.rename(row, name=name)


def _rename_schema(session: Session, old: str, new: str) -> None:
    """RenameSchema."""
    catalog = session.catalog
    row = session.namespace(old)
    if new in catalog.namespace_names:
        raise ServerError("42P06", 'schema "{name}" already exists', name=new)
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of schema {old}")
    if not session.may_create_in_database():
        raise ServerError("42501", f"permission denied for database {catalog.database}")
    if new.startswith("pg_"):
        raise ServerError("42939", f'unacceptable schema name "{new}"')
    catalog.rename(row, name=new)
    session.forget_path()


def _rename_role(session: Session, old: str, new: str) -> None:
    """RenameRole."""
    catalog = session.catalog
    row = session.role_named(old)
    if row.oid == session.setting("session_authorization"):
        raise ServerError("0A000", "session user cannot be renamed")
    if row.oid == session.setting("role"):
        raise ServerError("0A000", "current user cannot be renamed")
    if new in catalog.role_names:
        raise ServerError("42710", 'role "{name}" already exists', name=new)
    if not session.superuser() and (row.superuser or not session.role.create_role):
        raise ServerError("42501", "permission denied to rename role")
    catalog.rename(row, name=new)
    session.forget_path()


def _rename_type(session: Session, oid: int, name: str) -> None:
    """RenameType."""
    row = session.catalog.types.get(oid)
    if row is None:
        raise ServerError("42501", "must be owner of type")
    refuse_shell(row)
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of type {row.name}")
    relation = relation_of_type(session, row)
    if relation is not None:
        rename_relation(session, relation, name)
    else:
        move_type(session, row, row.namespace, name)
