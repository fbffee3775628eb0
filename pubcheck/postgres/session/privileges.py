"""The privileges of the current role (catalog/aclchk.c, utils/adt/acl.c)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet

from pubcheck.postgres.catalog import DATABASE_OWNER, TEMPORARY
from pubcheck.postgres.catalog.rows import Namespace, Role
from pubcheck.postgres.session.connection import Connection

MISSING_ROLE = "missing role"
"""The setting that holds a role that may not exist and may be the current role; 0 for none."""


class Rights(Connection):
    """A connection's role and its rights. Nothing is held against a role that the unit did not make."""

    @property
    def role(self) -> Role:
        return self.catalog.roles[self.catalog.settings["role"]]

    def unseen_role(self) -> int:
        """The current role if the unit did not create it, so that its rights are unknown; or else 0."""
        settings, role = self.catalog.settings, self.role
        oid: int = settings.get(MISSING_ROLE, 0) if role.seen else role.oid
        return oid

    def superuser(self) -> bool:
        """Also true of a role that the unit did not make: nothing is known of its rights, so nothing is held against
        it.
        """
        catalog = self.catalog
        role = catalog.roles[catalog.settings["role"]]
        return role.superuser or not role.seen

    def reached(self, role: Role, through: Callable[[Role], Iterable[int]] = lambda row: row.member_of) -> set[int]:
        """Return a role and those that it is a member of, however indirectly, ``through`` the memberships of each."""
        roles, todo = {role.oid}, [role]
        while todo:
            new = set(through(todo.pop())) - roles
            roles |= new
            todo += (self.catalog.roles[oid] for oid in new)
        return roles

    def _roles_with_privileges(self, role: Role) -> AbstractSet[int]:
        # Before 16 the member's own INHERIT counts, from 16 on that of the grant, whose default it was.
        if self.catalog.major.set_role_option:
            roles = self.reached(role, lambda row: set(row.member_of) - set(row.without_inherit))
        else:
            roles = self.reached(role, lambda row: row.member_of if row.inherit else ())
        if self._database_owner() in (None, *roles):
            roles.add(DATABASE_OWNER)
        return roles

    def _database_owner(self) -> int | None:
        """Return the owner; None for a database created elsewhere, as any role may be its owner."""
        return self.catalog.databases.get(self.catalog.database)

    def has_privileges_of(self, role: int) -> bool:
        """has_privs_of_role, of the current role."""
        return self.superuser() or role in self._roles_with_privileges(self.role)

    def owns(self, owner: int) -> bool:
        """object_ownercheck: superuser, or the owner, or a member of the owner that inherits."""
        return self.superuser() or owner in self._roles_with_privileges(self.role) or not self.catalog.roles[owner].seen

    def member_of(self, role: int, member: Role | None = None) -> bool:
        """member_can_set_role: a member of the role, however indirectly, through grants WITH SET (16 and later)."""
        member = member or self.role
        if member.superuser or not member.seen:
            return True
        return role in self.reached(member, lambda row: set(row.member_of) - set(row.without_set))

    def may_create_in_database(self, role: Role | None = None) -> bool:
        role = role or self.role
        if role.superuser or not role.seen:
            return True
        privileged = self._roles_with_privileges(role)
        if DATABASE_OWNER in privileged:
            return True
        return any((grantee, "C") in self.catalog.database_acl for grantee in (0, *privileged))

    def may_create_in(self, namespace: Namespace) -> bool:
        return self._has_right(namespace, "C")

    def may_use(self, namespace: Namespace) -> bool:
        """The USAGE right on a schema; initdb gives it to everybody on its own schemas."""
        return self._has_right(namespace, "U")

    def _has_right(self, namespace: Namespace, right: str) -> bool:
        if self.superuser() or not namespace.seen or namespace.oid == TEMPORARY:
            return True
        privileged = self._roles_with_privileges(self.role)
        grantees = (0, *privileged)
        return namespace.owner in privileged or any((grantee, right) in namespace.acl for grantee in grantees)
