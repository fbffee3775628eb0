"""ALTER ... RENAME of any kind of object (commands/alter.c: ExecRenameStmt). Publications are checked."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import NAMESPACE, PUBLICATION
from pubcheck.postgres.ddl.object_address import (
    OTHER_KINDS,
    PROC_KINDS,
    TABLE_OBJECTS,
    find_object,
    find_on_table,
    find_relation,
)
from pubcheck.postgres.ddl.objects import (
    object_row,
    relation_to_alter,
    require_creation,
    require_object_owner,
    require_owner,
    require_publication_owner,
)
from pubcheck.postgres.ddl.objects.new_names import move, move_type, relation_of_type, rename_relation
from pubcheck.postgres.ddl.objects.rename_parts import rename_column, rename_constraint
from pubcheck.postgres.ddl.subscriptions import rename_subscription
from pubcheck.postgres.ddl.types import refuse_shell
from pubcheck.postgres.errors import PUBLICATION_EXISTS, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.relkind import RELATION_KINDS
from pubcheck.postgres.session import Session


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
        error = ServerError("42710", PUBLICATION_EXISTS, key="publication-exists", publication=name)
        error.publication = name
        raise error
    catalog.publication_names.remove(row.name)
    catalog.gone.put((PUBLICATION, 0, row.name), True)
    catalog.add_publication(replace(row, name=name))


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
    catalog.namespace_names.remove(old)
    catalog.gone.put((NAMESPACE, 0, old), True)
    catalog.add_namespace(replace(row, name=new))
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
    catalog.role_names.remove(old)
    catalog.add_role(replace(row, name=new))
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
