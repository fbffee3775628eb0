"""The state that a connection keeps between statements: its settings and its transaction (utils/misc/guc.c,
access/transam/xact.c), and the privileges of its current role (catalog/aclchk.c, utils/adt/acl.c).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from pubcheck.postgres.catalog import DATABASE_OWNER, SUPERUSER, TEMPORARY, Catalog
from pubcheck.postgres.catalog.rows import Namespace, Place, Role
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node

DEFAULT_PATH = ("$user", "public")
READ_ONLY = "transaction_read_only"
EVENT_TRIGGERS = "event triggers"
"""The setting under which the event triggers stand that may raise errors (``ddl.event_triggers``)."""
_STARTING: dict[str, Any] = {"search_path": DEFAULT_PATH, "role": SUPERUSER, "session_authorization": SUPERUSER}


class Connection:
    """Settings and transactions over one catalog, whose journal undoes the changes of a transaction."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self.transaction: list[tuple[str, int]] | None = None
        """The savepoints of the current transaction, itself first, each with where the journal was."""
        self.pretended = False
        """Whether pubcheck started the current transaction itself, in order to undo it."""
        self.begun: Place | None = None
        """The statement that began the current transaction."""
        self.implicit = False
        """Whether the current transaction is that of one query with several statements."""
        self.held: str | None = None
        """The name of a prepared transaction that can still be undone: no statement came after its PREPARE."""
        self.defaults: list[tuple[str, str, Node]] = []
        """The settings of ALTER DATABASE and ALTER ROLE ... SET: database, role ("" for any) and the VariableSetStmt.
        """
        self.starting: dict[str, Any] = {"search_path": DEFAULT_PATH}
        """The values to which RESET returns; that of a setting without one is not known."""
        self.user = ""
        """The schema that "$user" means before any SET ROLE, if it is not that of the superuser."""
        self.prepared: dict[str, str] = {}
        """The texts of PREPARE statements, by the name that they give."""
        self.enums: set[int] = set()
        """Enum types that the current transaction created."""
        self.labels: set[tuple[int, str]] = set()
        """Values, by enum type, that the current transaction added: not to be used before it ends."""
        self._path: tuple[tuple[int, ...], int] | None = None
        for name, value in _STARTING.items():
            catalog.settings.put(name, value)
            catalog.settings.put(f"session {name}", value)
        catalog.journal.clear()

    # Settings.

    def setting(self, name: str) -> Any:
        """The value of a setting by its name in lower case; None where the unit does not say it.

        What is followed besides search_path, role and session_authorization is in ``ddl.settings.VALUES``, as text.
        """
        return self.catalog.settings.get(name)

    def set(self, name: str, value: Any, *, local: bool = False) -> None:
        """SET: until the session ends, or, if ``local``, until the transaction does (then nothing outside of one)."""
        settings = self.catalog.settings
        if not local:
            # What the setting goes back to when the transaction ends: a later SET outlives an earlier SET LOCAL.
            settings.put(f"session {name}", value)
        elif self.transaction is None:
            return  # the server warns: SET LOCAL can only be used in transaction blocks
        elif f"session {name}" not in settings:
            settings.put(f"session {name}", None)
        settings.put(name, value)
        self._path = None

    def start_with(self, settings: Mapping[str, Any]) -> None:
        """Begin the connection with these settings, to which RESET returns."""
        self.starting = {**self.starting, **settings}
        for name, value in self.starting.items():
            self.set(name, value)

    def forget_path(self) -> None:
        """The search path must be worked out again: a schema or the role changed."""
        self._path = None

    # Transactions.

    def begin(self, *, pretended: bool = False, implicit: bool = False) -> None:
        if self.transaction is None:
            self.transaction = [("", self.catalog.journal.mark())]
            self.pretended = pretended
        # A BEGIN among the statements of one query takes those before it into its block (BeginTransactionBlock).
        self.implicit = implicit

    def refuse_in_transaction(self, command: str) -> None:
        """Raises ServerError 25001 within a transaction (PreventInTransactionBlock)."""
        if self.transaction is not None and not self.pretended:
            raise ServerError("25001", f"{command} cannot run inside a transaction block")

    def _end(self) -> None:
        self.transaction = None
        self.held = None
        self.pretended = self.implicit = False
        self.begun = None
        self.enums.clear()
        self.labels.clear()

    def commit(self) -> None:
        """End the transaction: settings of SET LOCAL are restored."""
        settings = self.catalog.settings
        for key in [key for key in settings if key.startswith("session ")]:
            name, value = key.removeprefix("session "), settings[key]
            if settings[name] != value:
                settings.put(name, value)
                self._path = None
        self._end()

    def rollback(self) -> None:
        if self.transaction is not None:
            self.catalog.journal.undo(self.transaction[0][1])
        self._end()
        self._path = None

    def savepoint(self, name: str) -> None:
        if self.transaction is not None:
            self.transaction.append((name, self.catalog.journal.mark()))

    def release(self, name: str) -> bool:
        """RELEASE SAVEPOINT with all that came after it; False if there is no such savepoint."""
        level = self._savepoint(name)
        if level is not None and self.transaction is not None:
            del self.transaction[level:]
        return level is not None

    def rollback_to(self, name: str) -> bool:
        """ROLLBACK TO SAVEPOINT, which stays; False if there is no such savepoint."""
        level = self._savepoint(name)
        if level is not None and self.transaction is not None:
            self.catalog.journal.undo(self.transaction[level][1])
            del self.transaction[level + 1 :]
            self._path = None
        return level is not None

    def _savepoint(self, name: str) -> int | None:
        levels = self.transaction or []
        return next((level for level in range(len(levels) - 1, 0, -1) if levels[level][0] == name), None)


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
