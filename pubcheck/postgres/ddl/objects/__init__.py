"""Statements about an object of any kind: the row of an object, who may change it (catalog/aclchk.c,
commands/alter.c), DROP (commands/dropcmds.c; commands/tablecmds.c: RemoveRelations), and OWNER TO of all but relations
(commands/alter.c: ExecAlterOwnerStmt; commands/publicationcmds.c: AlterPublicationOwner_internal). Publications are
checked.

ALTER ... RENAME and SET SCHEMA are modules of their own.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.catalog import (
    COLLATION,
    FIRST_UNPINNED,
    NAMESPACE,
    OPERATOR,
    OTHER,
    PROC,
    PUBLICATION,
    RELATION,
    TYPE,
    Object,
)
from pubcheck.postgres.catalog.rows import Namespace, Publication, Relation, Role
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.ddl.event_triggers import require_event_trigger
from pubcheck.postgres.ddl.object_address import OTHER_KINDS, find_object, find_relation
from pubcheck.postgres.ddl.object_descriptions import KINDS, RELATION_KINDS, object_noun
from pubcheck.postgres.errors import NO_CREATE_IN_DATABASE, NO_ROLE, NO_SET_ROLE, NOT_PUBLICATION_OWNER, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import list_items, range_var, strings
from pubcheck.postgres.session import Session

_WORDS = {NAMESPACE: "schema", TYPE: "type", PROC: "function", OPERATOR: "operator", COLLATION: "collation"}


_OWNED = (TYPE, PROC, OPERATOR, COLLATION, OTHER)
"""Classes of objects that have an owner and a schema and are not relations."""


def _word_of(target: Object) -> str:
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
        raise _owner_required(row, NOT_PUBLICATION_OWNER, "publication-owner", publication=row.name)


def _owner_required(row: Publication, message: str, key: str, hint: str | None = None, **arguments: str) -> ServerError:
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
        raise ServerError("42501", f"must be owner of {_word_of(target)} {row.name}")


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


def drop(session: Session, node: Node) -> None:
    """DROP of any kind of object (RemoveRelations, RemoveObjects)."""
    kind, missing_ok = node["removeType"], node.get("missing_ok", False)
    cascade = node.get("behavior") == "DROP_CASCADE"
    if node.get("concurrent"):
        if len(node["objects"]) > 1:
            raise ServerError("0A000", "DROP INDEX CONCURRENTLY does not support dropping multiple objects")
        if cascade:
            raise ServerError("0A000", "DROP INDEX CONCURRENTLY does not support CASCADE")
        session.refuse_in_transaction("DROP INDEX CONCURRENTLY")
    if kind == "OBJECT_EVENT_TRIGGER" and not missing_ok:
        for item in node["objects"]:
            require_event_trigger(session, item["String"]["sval"])
    objects: dict[Object, None] = {}
    for item in node["objects"]:
        if kind in RELATION_KINDS:
            address = _relation_to_drop(session, kind, item, missing_ok)
        else:
            address = _object_to_drop(session, kind, item, missing_ok)
        if address is None and not missing_ok:
            session.assume("the objects that the statement names and these files do not create")
        if address is not None:
            objects[address] = None
    if objects:
        perform_deletion(session, list(objects), cascade)


def _relation_to_drop(session: Session, kind: str, item: Node, missing_ok: bool) -> Object | None:
    catalog = session.catalog
    parts = strings(list_items(item))
    rv = range_var(parts)
    word = object_noun(kind).split(" ", 1)[1]
    try:
        row = session.find_relation(rv) if missing_ok else session.relation(rv)
    except ServerError as error:
        if error.sqlstate != "42P01":
            raise
        raise ServerError("42704" if word == "index" else "42P01", f'{word} "{parts[-1]}" does not exist') from None
    if row is None:
        session.notices.append(f'{word} "{parts[-1]}" does not exist, skipping')
        _note_dropped(session, RELATION, parts)
        return None
    if row.seen and row.kind not in RELATION_KINDS[kind]:
        raise ServerError("42809", f'"{row.name}" is not {object_noun(kind)}')
    if not session.owns(row.owner) and not session.owns(catalog.namespaces[row.namespace].owner):
        raise ServerError("42501", f"must be owner of {KINDS.get(row.kind, 'relation')} {row.name}")
    if row.oid < FIRST_UNPINNED:
        raise ServerError("42501", f'permission denied: "{row.name}" is a system catalog')
    return RELATION, row.oid, 0


def _object_to_drop(session: Session, kind: str, item: Node, missing_ok: bool) -> Object | None:
    catalog = session.catalog
    address = find_object(session, kind, item, missing_ok=missing_ok)
    if address is None:
        if missing_ok and "String" in item:
            name, word = item["String"]["sval"], OTHER_KINDS.get(kind, kind.removeprefix("OBJECT_").lower())
            session.notices.append(f'{word} "{name}" does not exist, skipping')
            if kind == "OBJECT_PUBLICATION":
                catalog.gone.put((PUBLICATION, 0, name), True)
            elif kind == "OBJECT_SCHEMA":
                catalog.gone.put((NAMESPACE, 0, name), True)
        elif kind in ("OBJECT_TYPE", "OBJECT_DOMAIN"):
            type_name = item.get("TypeName", {})
            _note_dropped(session, TYPE, strings(type_name.get("names", list_items(item))))
        return None
    if address[0] == PUBLICATION:
        publication = catalog.publications[address[1]]
        require_publication_owner(session, publication)
        if session.unseen_role() not in (0, publication.owner):
            session.perhaps_there.add((PUBLICATION, 0, publication.name))
    elif address[0] == NAMESPACE:
        if not session.owns(catalog.namespaces[address[1]].owner):
            raise ServerError("42501", f"must be owner of schema {catalog.namespaces[address[1]].name}")
    else:
        row = object_row(session, address)
        if row is not None and not session.owns(row.owner):
            schema = catalog.namespaces.get(row.namespace)
            if schema is None or not session.owns(schema.owner):
                raise ServerError("42501", f"must be owner of {_word_of(address)} {row.name}")
    return address


def _note_dropped(session: Session, kind: str, parts: list[str]) -> None:
    """After DROP ... IF EXISTS a name that was not visible is certainly free."""
    if len(parts) > 1:
        namespace = session.catalog.namespace_names.get(parts[-2], 0)
    else:
        namespace = session.visible_namespace()
    if namespace and parts:
        session.catalog.gone.put((kind, namespace, parts[-1]), True)


def change_owner(session: Session, node: Node) -> None:
    """ALTER ... OWNER TO of any kind of object but relations (ExecAlterOwnerStmt)."""
    kind, reported = node["objectType"], node["objectType"] == "OBJECT_PUBLICATION"
    spec = node["newowner"]
    if spec.get("roletype") == "ROLESPEC_PUBLIC":
        raise ServerError("42704", NO_ROLE, key="no-role" if reported else None, role="public")
    owner = session.role_spec(spec, reported=reported)
    if reported:
        _change_publication_owner(session, session.publication(node["object"]["String"]["sval"]), owner)
        return
    catalog = session.catalog
    if kind == "OBJECT_SCHEMA":
        namespace = session.namespace(node["object"]["String"]["sval"])
        _followed_owner(session, namespace.owner, owner, f"schema {namespace.name}")
        catalog.namespaces.put(namespace.oid, replace(namespace, owner=owner.oid))
        return
    if kind == "OBJECT_SUBSCRIPTION":
        # Loaded only where there are subscriptions.
        from pubcheck.postgres.ddl import subscriptions

        subscriptions.change_owner(session, node["object"]["String"]["sval"], owner)
        return
    if kind == "OBJECT_DATABASE":
        catalog.databases.put(node["object"]["String"]["sval"], owner.oid)
        return
    address = find_object(session, kind, node.get("object", {}))
    row = object_row(session, address) if address else None
    if address is None or row is None:
        return
    _followed_owner(session, row.owner, owner, f"{_word_of(address)} {row.name}")
    catalog.rows_of(address[0]).put(row.oid, replace(row, owner=owner.oid))
    if address[0] == TYPE and row.relation:
        relation = catalog.relations[row.relation]
        catalog.relations.put(relation.oid, replace(relation, owner=owner.oid))


def _followed_owner(session: Session, old: int, new: Role, description: str) -> None:
    """Raises ServerError 42501 for whoever may not give that to the new owner."""
    if old == new.oid or session.superuser():
        return
    if not session.owns(old):
        raise ServerError("42501", f"must be owner of {description}")
    if new.seen and not session.member_of(new.oid):
        raise ServerError("42501", f'must be able to SET ROLE "{new.name}"')


def _change_publication_owner(session: Session, row: Publication, owner: Role) -> None:
    """AlterPublicationOwner_internal. Of a new owner that the unit did not make nothing is known or refused."""
    catalog = session.catalog
    if row.owner == owner.oid:
        return
    if not session.superuser():
        require_publication_owner(session, row)
        if owner.seen and not session.member_of(owner.oid):
            if catalog.major.set_role_option:
                raise _owner_required(row, NO_SET_ROLE, "set-role", role=owner.name)
            raise _owner_required(row, 'must be member of role "{role}"', "set-role", role=owner.name)
        if not session.may_create_in_database(owner):
            session.assume_database()
            raise _owner_required(row, NO_CREATE_IN_DATABASE, "create-in-database", database=catalog.database)
        scope = "ALL TABLES" if row.scope else "TABLES IN SCHEMA" if catalog.schemas_of.has(row.oid) else ""
        if scope and catalog.major.publishes_sequences:
            scope = "ALL TABLES or ALL SEQUENCES or TABLES IN SCHEMA"
        if scope and owner.seen and not owner.superuser:
            raise _owner_required(
                row,
                'permission denied to change owner of publication "{publication}"',
                "owner-not-superuser",
                f"The owner of a FOR {scope} publication must be a superuser.",
                publication=row.name,
            )
    catalog.publications.put(row.oid, replace(row, owner=owner.oid))
