"""ALTER ... OWNER TO of any kind of object but relations (commands/alter.c: ExecAlterOwnerStmt;
commands/publicationcmds.c: AlterPublicationOwner_internal). Publications are checked.
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import TYPE
from pubcheck.postgres.catalog.rows import Publication, Role
from pubcheck.postgres.ddl.object_address import find_object
from pubcheck.postgres.ddl.objects import object_row, owner_required, require_publication_owner, word_of
from pubcheck.postgres.errors import NO_CREATE_IN_DATABASE, NO_ROLE, NO_SET_ROLE, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


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
    _followed_owner(session, row.owner, owner, f"{word_of(address)} {row.name}")
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
                raise owner_required(row, NO_SET_ROLE, "set-role", role=owner.name)
            raise owner_required(row, 'must be member of role "{role}"', "set-role", role=owner.name)
        if not session.may_create_in_database(owner):
            session.assume_database()
            raise owner_required(row, NO_CREATE_IN_DATABASE, "create-in-database", database=catalog.database)
        scope = "ALL TABLES" if row.scope else "TABLES IN SCHEMA" if catalog.schemas_of.has(row.oid) else ""
        if scope and catalog.major.publishes_sequences:
            scope = "ALL TABLES or ALL SEQUENCES or TABLES IN SCHEMA"
        if scope and owner.seen and not owner.superuser:
            raise owner_required(
                row,
                'permission denied to change owner of publication "{publication}"',
                "owner-not-superuser",
                f"The owner of a FOR {scope} publication must be a superuser.",
                publication=row.name,
            )
    catalog.publications.put(row.oid, replace(row, owner=owner.oid))
