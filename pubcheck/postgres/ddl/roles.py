"""Roles, their members (GRANT and REVOKE of a role), the rights to CREATE, and objects by owner.

Follows commands/user.c, catalog/aclchk.c (ExecuteGrantStmt) and catalog/pg_shdepend.c (shdepDropOwned,
shdepReassignOwned).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.catalog import (
    COLLATION,
    DATABASE_OWNER,
    FIRST_NORMAL_OID,
    INTERNAL,
    NAMESPACE,
    OPERATOR,
    OTHER,
    PROC,
    PUBLICATION,
    RELATION,
    ROLE,
    SUPERUSER,
    TYPE,
    Object,
)
from pubcheck.postgres.catalog.rows import Role
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import options
from pubcheck.postgres.session import Session


def flag(option: Node) -> bool:
    return bool(option.get("arg", {}).get("Boolean", {}).get("boolval", False))


def administers(session: Session, role: Role) -> bool:
    """ADMIN OPTION on a role (is_admin_of_role); before 16, CREATEROLE is enough for all but superusers."""
    if session.superuser() or not role.seen:
        return True
    me = session.role
    if not session.catalog.major.set_role_option and me.create_role and not role.superuser:
        return True
    return any(role.oid in session.catalog.roles[oid].admin_of for oid in session.reached(me))


def grant_role(session: Session, node: Node) -> None:
    """GRANT and REVOKE of roles (GrantRole). Raises ServerError 42704, 42501, 0LP01."""
    catalog = session.catalog
    flags = {name: flag(option) for name, option in options(node, "opt").items()}
    spelled = set(flags) <= {"admin"} and not (node.get("is_grant") and flags.get("admin") is False)
    if not spelled and not catalog.major.set_role_option:
        raise ServerError("42601", "syntax error")
    members = [session.role_spec(item["RoleSpec"]).oid for item in node["grantee_roles"]]
    for item in node["granted_roles"]:
        granted = item["AccessPriv"]
        if "priv_name" not in granted or "cols" in granted:
            raise ServerError("0LP01", "column names cannot be included in GRANT/REVOKE ROLE")
        role = session.role_named(granted["priv_name"])
        if not administers(session, role):
            raise ServerError("42501", f'permission denied to grant role "{role.name}"')
        if role.oid == DATABASE_OWNER:
            raise ServerError("0A000", f'role "{role.name}" cannot have explicit members')
        for member in members:
            if node.get("is_grant"):
                add_member(
                    session, role.oid, member, flags.get("admin"), inherit=flags.get("inherit"), set_=flags.get("set")
                )
            elif not flags:
                remove_member(session, role.oid, member)
            else:
                _take_options(session, role.oid, member, flags)


def add_member(
    session: Session,
    role: int,
    member: int,
    admin: bool | None = None,
    *,
    inherit: bool | None = None,
    set_: bool | None = None,
) -> None:
    """AddRoleMems for one member; an option that is not given keeps what it was.

    Raises ServerError 0LP01 for a circle, 0A000 for pg_database_owner.
    """
    catalog = session.catalog
    row, target = catalog.roles[member], catalog.roles[role]
    if member == DATABASE_OWNER:
        raise ServerError("0A000", f'role "{row.name}" cannot be a member of any role')
    if member == role or (row.has_members and member in session.reached(target)):
        raise ServerError("0LP01", f'role "{row.name}" is a member of role "{target.name}"')
    new = role not in row.member_of
    changes: dict[str, tuple[int, ...]] = {"member_of": (*row.member_of, role)} if new else {}
    if admin is not None:
        changes["admin_of"] = _with(row.admin_of, role, admin)
    if inherit is not None or new:
        changes["without_inherit"] = _with(row.without_inherit, role, not (row.inherit if inherit is None else inherit))
    if set_ is not None:
        changes["without_set"] = _with(row.without_set, role, not set_)
    catalog.roles.put(member, replace(row, **changes))
    if not target.has_members:
        catalog.roles.put(role, replace(target, has_members=True))
    session.forget_path()


def _with(roles: tuple[int, ...], role: int, present: bool) -> tuple[int, ...]:
    remaining = tuple(oid for oid in roles if oid != role)
    return (*remaining, role) if present else remaining


def remove_member(session: Session, role: int, member: int) -> None:
    row = session.catalog.roles[member]
    fields = ("member_of", "admin_of", "without_inherit", "without_set")
    session.catalog.roles.put(
        member, replace(row, **{field: _with(getattr(row, field), role, False) for field in fields})
    )
    session.forget_path()


def _take_options(session: Session, role: int, member: int, flags: dict[str, bool]) -> None:
    """REVOKE ADMIN, INHERIT or SET OPTION FOR: the membership stays."""
    row = session.catalog.roles[member]
    if role in row.member_of:
        changes = {}
        if "admin" in flags:
            changes["admin_of"] = _with(row.admin_of, role, False)
        if "inherit" in flags:
            changes["without_inherit"] = _with(row.without_inherit, role, True)
        if "set" in flags:
            changes["without_set"] = _with(row.without_set, role, True)
        session.catalog.roles.put(member, replace(row, **changes))
        session.forget_path()


_ATTRIBUTES = {"superuser": "superuser", "inherit": "inherit", "createrole": "create_role", "createdb": "create_db"}
_RIGHTS = {"create": "C", "usage": "U"}
"""Rights as an ACL has them; with grant option "C*"."""

_OWNED = (NAMESPACE, RELATION, TYPE, PROC, OPERATOR, COLLATION, OTHER, PUBLICATION)
"""Classes of objects that have an owner."""


def create_role(session: Session, node: Node) -> None:
    """CREATE ROLE, USER, GROUP (CreateRole). Raises ServerError 42501, 42710, 42939, 42601."""
    catalog, name = session.catalog, node["role"]
    options_by_name = _options(node)
    _may_give(session, options_by_name, "create role")
    if name.startswith("pg_"):
        raise ServerError("42939", f'role name "{name}" is reserved')
    oid = catalog.role_names.get(name)
    if oid is not None and catalog.roles[oid].seen:
        raise ServerError("42710", 'role "{name}" already exists', name=name)
    former = catalog.roles[oid] if oid is not None else Role(catalog.new_oid(), name, seen=True)
    row = replace(former, seen=True, **_changes(options_by_name))
    catalog.add(row)
    for parent in _role_list(session, options_by_name, "addroleto"):
        add_member(session, parent, row.oid)
    creator = session.role
    if catalog.major.set_role_option and creator.seen and not creator.superuser:
        # Whoever creates a role administers it, without becoming it (createrole_self_grant is empty).
        add_member(session, row.oid, creator.oid, admin=True, inherit=False, set_=False)
    for member in _role_list(session, options_by_name, "adminmembers"):
        add_member(session, row.oid, member, admin=True)
    for member in _role_list(session, options_by_name, "rolemembers"):
        add_member(session, row.oid, member)


def alter_role(session: Session, node: Node) -> None:
    """ALTER ROLE and ALTER GROUP ... ADD or DROP USER (AlterRole). Raises ServerError 42704, 42501, 42601."""
    catalog = session.catalog
    row = session.role_spec(node["role"])
    if row.name.startswith("pg_") or row.oid == DATABASE_OWNER:
        raise ServerError("42939", f'role name "{row.name}" is reserved')
    options_by_name = _options(node)
    if row.superuser and not session.superuser():
        raise ServerError("42501", "permission denied to alter role")
    own_password = row.oid == session.setting("role") and set(options_by_name) <= {"password"}
    if not own_password:
        _may_give(session, options_by_name, "alter role")
        if not administers(session, row):
            raise ServerError("42501", "permission denied to alter role")
    if row.oid == SUPERUSER and "superuser" in options_by_name and not flag(options_by_name["superuser"]):
        raise ServerError("0A000", "permission denied to alter role")
    catalog.roles.put(row.oid, replace(row, **_changes(options_by_name)))
    session.forget_path()
    for member in _role_list(session, options_by_name, "rolemembers"):
        if node.get("action") == -1:
            remove_member(session, row.oid, member)
        else:
            add_member(session, row.oid, member)


def _options(node: Node) -> dict[str, Node]:
    options_by_name = options(node)
    if len(options_by_name) < len(node.get("options", ())):
        raise ServerError("42601", "conflicting or redundant options")
    return options_by_name


def _changes(options_by_name: dict[str, Node]) -> dict[str, Any]:
    return {field: flag(options_by_name[name]) for name, field in _ATTRIBUTES.items() if name in options_by_name}


def _role_list(session: Session, options_by_name: dict[str, Node], name: str) -> list[int]:
    items = options_by_name[name]["arg"]["List"]["items"] if name in options_by_name else ()
    return [session.role_spec(item["RoleSpec"]).oid for item in items]


def _may_give(session: Session, options_by_name: dict[str, Node], command: str) -> None:
    """CREATEROLE, and the attributes that only who has them may give."""
    if session.superuser():
        return
    role = session.role
    reserved = ("superuser", "isreplication", "bypassrls")
    denied = not role.create_role or any(_named_true(options_by_name, name) for name in reserved)
    if session.catalog.major.set_role_option and _named_true(options_by_name, "createdb") and not role.create_db:
        denied = True
    if denied:
        raise ServerError("42501", f"permission denied to {command}")


def _named_true(options_by_name: dict[str, Node], name: str) -> bool:
    return name in options_by_name and flag(options_by_name[name])


def drop_role(session: Session, node: Node) -> None:
    """DROP ROLE (DropRole). Raises ServerError 42704, 42501, 55006, and 2BP01 when the role owns or holds something."""
    catalog = session.catalog
    doomed: list[Role] = []
    for item in node["roles"]:
        spec = item["RoleSpec"]
        if spec["roletype"] != "ROLESPEC_CSTRING":
            raise ServerError("22023", "cannot use special role specifier in DROP ROLE")
        name = spec["rolename"]
        if node.get("missing_ok") and name not in catalog.role_names:
            session.notices.append(f'role "{name}" does not exist, skipping')
            continue
        doomed.append(session.role_named(name))
        session.rests_on(doomed[-1])
    me = session.role
    for row in doomed:
        if not session.superuser() and not me.create_role:
            raise ServerError("42501", "permission denied to drop role")
        if row.oid in (me.oid, session.setting("session_authorization")):
            raise ServerError("55006", "current user cannot be dropped")
        if not session.superuser() and (row.superuser or not administers(session, row)):
            raise ServerError("42501", "permission denied to drop role")
    gone = {row.oid for row in doomed}
    held = any(grantee in gone for grantee, _ in catalog.database_acl)
    held = held or any(grantee in gone for row in catalog.namespaces.values() for grantee, _ in row.acl)
    if gone and (held or _owned(session, gone) or any(oid < FIRST_NORMAL_OID for oid in gone)):
        raise ServerError("2BP01", f'role "{doomed[0].name}" cannot be dropped because some objects depend on it')
    for row in list(catalog.roles.values()) if any(catalog.roles[oid].has_members for oid in gone) else ():
        if not gone.isdisjoint(row.member_of):
            for oid in gone:
                remove_member(session, oid, row.oid)
    for oid in gone:
        catalog.remove(ROLE, oid)


def _owned(session: Session, roles: set[int]) -> list[Object]:
    """All objects that the roles own, as pg_shdepend has them: no indexes, no types of relations, nothing internal."""
    objects: list[Object] = []
    for kind in _OWNED:
        for oid, row in session.catalog.rows_of(kind).items():
            if row.owner not in roles or oid < FIRST_NORMAL_OID:
                continue
            if (kind == RELATION and row.kind in "iIt") or (kind == TYPE and row.relation and row.kind != "c"):
                continue
            dependencies = session.catalog.dependencies.get((kind, oid))
            if any(how == INTERNAL and not dependent[2] for _, (dependent, _, how) in dependencies):
                continue
            objects.append((kind, oid, 0))
    return objects


# Rights.


def grant(session: Session, node: Node) -> None:
    """GRANT and REVOKE on the database and on schemas (ExecuteGrantStmt); rights on other objects are not kept.

    Raises ServerError 42704, 3F000, 0LP01. Without grant options the server grants nothing and only warns.
    """
    if node.get("targtype") != "ACL_TARGET_OBJECT" or node["objtype"] not in ("OBJECT_DATABASE", "OBJECT_SCHEMA"):
        return
    catalog = session.catalog
    privileges = {item["AccessPriv"].get("priv_name", "") for item in node.get("privileges", ())}
    rights = {right for name, right in _RIGHTS.items() if not privileges or name in privileges}
    if not rights:
        return
    grantees = [
        0 if item["RoleSpec"]["roletype"] == "ROLESPEC_PUBLIC" else session.role_spec(item["RoleSpec"]).oid
        for item in node["grantees"]
    ]
    is_grant, option = node.get("is_grant", False), node.get("grant_option", False)
    if is_grant and option and 0 in grantees:
        raise ServerError("0LP01", "grant options can only be granted to roles")
    for item in node["objects"]:
        name = item["String"]["sval"]
        if node["objtype"] == "OBJECT_SCHEMA":
            namespace = session.namespace(name)
            mine = _grantable(session, namespace.owner, namespace.acl, rights)
            acl = _changed(namespace.acl, grantees, mine, is_grant, option)
            catalog.namespaces.put(namespace.oid, replace(namespace, acl=acl))
        elif name == catalog.database or not (session.complete and catalog.database_known):
            # In the open world the database's own name is not known: any that is granted on may be it.
            _change_database_acl(session, grantees, rights & {"C"}, is_grant=is_grant, option=option)
    session.forget_path()


def _change_database_acl(
    session: Session, grantees: list[int], rights: set[str], *, is_grant: bool, option: bool = False
) -> None:
    acl = session.catalog.database_acl
    before = tuple(acl)
    after = _changed(before, grantees, _grantable(session, SUPERUSER, before, rights), is_grant, option)
    for entry in before:
        if entry not in after:
            acl.remove(entry)
    for entry in after:
        if entry not in before:
            acl.put(entry, True)


def _grantable(session: Session, owner: int, acl: Iterable[tuple[int, str]], rights: set[str]) -> set[str]:
    """Return the privileges that the current user may grant: the owner all, others those held with grant option."""
    if session.owns(owner):
        return rights
    held = {right[0] for grantee, right in acl if right.endswith("*") and session.owns(grantee)}
    return rights & held


def _changed(
    acl: tuple[tuple[int, str], ...], grantees: list[int], rights: set[str], is_grant: bool, option: bool
) -> tuple[tuple[int, str], ...]:
    """An ACL with rights granted or revoked; the grant option goes with the right, or alone (aclupdate)."""
    marks = ("*",) if option and not is_grant else ("",) if is_grant and not option else ("", "*")
    touched = {(grantee, right + mark) for grantee in grantees for right in rights for mark in marks}
    unchanged = tuple(entry for entry in acl if entry not in touched)
    return (*unchanged, *sorted(touched)) if is_grant else unchanged


# Objects by owner.


def drop_owned(session: Session, node: Node) -> None:
    """DROP OWNED BY (shdepDropOwned): drop the roles' objects and revoke their rights.

    Objects that the unit did not create may still exist. Raises ServerError 42501, 2BP01.
    """
    catalog = session.catalog
    roles = _own_roles(session, node, "drop objects")
    _change_database_acl(session, list(roles), {"C"}, is_grant=False)
    for row in list(catalog.namespaces.values()):
        if any(grantee in roles for grantee, _ in row.acl):
            mine = _grantable(session, row.owner, row.acl, set(_RIGHTS.values()))
            acl = _changed(row.acl, list(roles), mine, is_grant=False, option=False)
            catalog.namespaces.put(row.oid, replace(row, acl=acl))
    unseen = {oid for oid in roles if session.complete and not catalog.roles[oid].seen}
    _doubt(session, _owned(session, unseen))
    doomed = _owned(session, roles - unseen)
    if doomed:
        perform_deletion(session, doomed, cascade=node.get("behavior") == "DROP_CASCADE")
    session.forget_path()


def _doubt(session: Session, objects: list[Object]) -> None:
    """Publications and relations are there by assumption from now on."""
    catalog = session.catalog
    for kind, oid, _ in objects:
        if kind == RELATION:
            catalog.relations.put(oid, replace(catalog.relations[oid], seen=False))
    session.doubt_publications([oid for kind, oid, _ in objects if kind == PUBLICATION])


def reassign_owned(session: Session, node: Node) -> None:
    """REASSIGN OWNED BY (shdepReassignOwned): give every object of these owners to another.

    Raises ServerError 42501, 2BP01.
    """
    roles = _own_roles(session, node, "reassign objects")
    new = session.role_spec(node["newrole"])
    if not session.member_of(new.oid):
        raise ServerError("42501", "permission denied to reassign objects")
    if not session.superuser() and not new.superuser:
        _check_publications(session, roles, new)
    for kind in _OWNED:
        heap = session.catalog.rows_of(kind)
        for oid, row in list(heap.items()):
            if row.owner in roles and oid >= FIRST_NORMAL_OID:
                heap.put(oid, replace(row, owner=new.oid))
    session.forget_path()


def _check_publications(session: Session, roles: set[int], new: Role) -> None:
    """AlterPublicationOwner_internal, as far as the new owner's rights go."""
    catalog = session.catalog
    for row in catalog.publications.values():
        if row.owner not in roles:
            continue
        if not session.may_create_in_database(new):
            raise ServerError("42501", f"permission denied for database {catalog.database}")
        if new.seen and (row.scope or catalog.schemas_of.has(row.oid)):
            raise ServerError("42501", f'permission denied to change owner of publication "{row.name}"')


def _own_roles(session: Session, node: Node, command: str) -> set[int]:
    """The roles of DROP OWNED or REASSIGN OWNED, whose privileges the current user must have."""
    rows = [session.role_spec(item["RoleSpec"]) for item in node["roles"]]
    for row in rows:
        if not session.owns(row.oid):
            raise ServerError("42501", f"permission denied to {command}")
    if any(row.oid < FIRST_NORMAL_OID for row in rows):
        raise ServerError("2BP01", f"cannot {command} because they are required by the database system")
    return {row.oid for row in rows}
