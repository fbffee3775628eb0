"""GRANT and REVOKE of roles (commands/user.c: GrantRole)."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import DATABASE_OWNER
from pubcheck.postgres.catalog.rows import Role
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
