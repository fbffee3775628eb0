"""ALTER ... RENAME of any kind of object (commands/alter.c: ExecRenameStmt), and of columns and constraints, in
children too (commands/tablecmds.c: renameatt, rename_constraint_internal). Publications are checked.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from pubcheck.postgres.ddl.not_null import column_of_constraint
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
from pubcheck.postgres.ddl.objects.schemas import move, move_type, put_constraint, relation_of_type, rename_relation
from pubcheck.postgres.ddl.subscriptions import rename_subscription
from pubcheck.postgres.ddl.types import refuse_shell
from pubcheck.postgres.ddl.types.composites import typed_tables
from pubcheck.postgres.errors import PUBLICATION_EXISTS, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import SYSTEM_COLUMNS, put_columns, rename_columns, require_column


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
