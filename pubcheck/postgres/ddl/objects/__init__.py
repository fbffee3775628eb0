"""Statements about an object of any kind: DROP, ALTER ... RENAME, SET SCHEMA, OWNER TO, in one module each.

This module has the row of an object, and who may change it (catalog/aclchk.c, commands/alter.c).
"""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.catalog import COLLATION, FIRST_UNPINNED, NAMESPACE, OPERATOR, OTHER, PROC, TYPE, Object
from pubcheck.postgres.catalog.rows import Namespace, Publication, Relation
from pubcheck.postgres.ddl.object_address import find_relation
from pubcheck.postgres.ddl.object_descriptions import KINDS
from pubcheck.postgres.errors import NOT_PUBLICATION_OWNER, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

_WORDS = {NAMESPACE: "schema", TYPE: "type", PROC: "function", OPERATOR: "operator", COLLATION: "collation"}


_OWNED = (TYPE, PROC, OPERATOR, COLLATION, OTHER)
"""Classes of objects that have an owner and a schema and are not relations."""


def word_of(target: Object) -> str:
    """Return the word for an object in messages."""
    return _WORDS.get(target[0], "object")


def object_row(session: Session, target: Object) -> Any:
    """The row of an object that has an owner and a schema, or None."""
    catalog = session.catalog
    if target[0] == PROC and target[1] not in catalog.procs:
        return session.syscache.proc(target[1])
    return catalog.rows_of(target[0]).get(target[1]) if target[0] in _OWNED else None


def require_publication_owner(session: Session, row: Publication) -> None:
    """Raise ServerError 42501, with a finding's key."""
    if not session.owns(row.owner):
        raise owner_required(row, NOT_PUBLICATION_OWNER, "publication-owner", publication=row.name)


def owner_required(row: Publication, message: str, key: str, hint: str | None = None, **arguments: str) -> ServerError:
    """Return the error for a role that lacks a privilege on a publication."""
    error = ServerError("42501", message, key=key, detail=None, hint=hint, location=None, culprit=None, **arguments)
    return error.about(row.name)


def require_owner(session: Session, row: Relation) -> None:
    """Raise ServerError 42501 unless the user owns the relation. No user may change the system catalogs
    (IsSystemRelation)."""
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of {KINDS.get(row.kind, 'relation')} {row.name}")
    if row.oid < FIRST_UNPINNED:
        raise ServerError("42501", f'permission denied: "{row.name}" is a system catalog')


def require_object_owner(session: Session, target: Object, row: Any) -> None:
    """Raise ServerError 42501 for an object other than a relation."""
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of {word_of(target)} {row.name}")


def relation_to_alter(session: Session, kind: str, node: Node) -> Relation | None:
    """Return the relation of RENAME or SET SCHEMA, after checking its owner; None if it is missing with IF EXISTS."""
    missing_ok = node.get("missing_ok", False)
    if kind == "OBJECT_INDEX" and "renameType" in node:
        kind = ""  # ALTER INDEX renames whatever it finds
    row = find_relation(session, kind, node["relation"], missing_ok=missing_ok)
    if row is None:
        session.notices.append(f'relation "{node["relation"]["relname"]}" does not exist, skipping')
        return None
    require_owner(session, row)
    return row


def require_creation(session: Session, namespace: Namespace) -> None:
    """Require the right to create in a schema, which a move or rename needs. Raises ServerError 42501."""
    if not session.may_create_in(namespace):
        raise ServerError("42501", f"permission denied for schema {namespace.name}")
