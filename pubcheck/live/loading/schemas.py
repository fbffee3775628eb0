"""Schemas and roles."""

from __future__ import annotations

from pubcheck.live import records
from pubcheck.live.loading import Loading
from pubcheck.postgres.catalog import NAMESPACE, PUBLIC, SUPERUSER
from pubcheck.postgres.catalog.rows import Namespace, Role
from pubcheck.postgres.ddl import settings


def forget_public(loading: Loading) -> None:
    """Remove the schema public, which a new catalog has, if the database has none."""
    if not any(isinstance(row, records.Schema) and row.name == "public" for row in loading.snapshot.objects):
        loading.catalog.remove(NAMESPACE, PUBLIC)
        loading.catalog.gone.clear()


def schema(loading: Loading, row: records.Schema) -> None:
    known = loading.catalog.namespace_names.get(row.name)
    oid = row.oid if known is None else known
    acl = tuple((loading.refs.role(role) if role else 0, right) for role, right in row.grants)
    loading.catalog.add(Namespace(oid, row.name, loading.refs.role(row.owner), seen=True, acl=acl))
    loading.refs.schemas[row.name] = oid


def default_setting(loading: Loading, row: records.DefaultSetting) -> None:
    database = loading.snapshot.server.database if row.database else ""
    loading.session.defaults.append((database, row.role, settings.set_statement(row.name, row.value)))


def start_connection(loading: Loading) -> None:
    """Begin the connection as one of the role that read the server does, and let those of other roles begin with their
    own settings: one of a role in this database counts most."""
    session, server = loading.session, loading.snapshot.server
    session.defaults.sort(key=lambda default: (bool(default[1]), bool(default[0])))
    session.user = server.user_schema
    settings.start_connection(session, {"search_path": server.search_path, **server.settings})


def role(loading: Loading, row: records.Role) -> None:
    memberships = [(loading.refs.role(membership.role), membership) for membership in row.member_of]
    if row.oid == SUPERUSER:
        loading.catalog.role_names.remove(loading.catalog.roles[SUPERUSER].name)
    loading.catalog.add(
        Role(
            row.oid,
            row.name,
            seen=True,
            superuser=row.superuser,
            inherit=row.inherit,
            create_role=row.create_role,
            create_db=row.create_db,
            member_of=tuple(oid for oid, _ in memberships),
            without_inherit=tuple(oid for oid, membership in memberships if not membership.inherit),
            without_set=tuple(oid for oid, membership in memberships if not membership.set),
            admin_of=tuple(oid for oid, membership in memberships if membership.admin),
            has_members=row.name in loading.refs.roles_with_members,
        )
    )
