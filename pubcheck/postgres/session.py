"""A session over a catalog: search_path, role, transaction, and how names are looked up.

Follows catalog/namespace.c (search path, RangeVarGetRelidExtended), utils/adt/acl.c (rights) and commands/dbcommands.
Every statement's handler gets the session; what a handler could not see it says here, so that certainty is never
forgotten.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import (
    DATABASE_OWNER,
    FIRST_NORMAL_OID,
    INFORMATION_SCHEMA,
    NAMESPACE,
    PG_CATALOG,
    PG_TOAST,
    PUBLICATION,
    RELATION,
    ROLE,
    SUPERUSER,
    TEMPORARY,
    TYPE,
    Catalog,
)
from pubcheck.postgres.catalog.rows import Column, Namespace, Place, Publication, Relation, Role
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.scan import find_name, folded, tokens
from pubcheck.sources.text import utf8

if TYPE_CHECKING:
    from pubcheck.platform import Platform
    from pubcheck.postgres.syscache import SysCache

DEFAULT_PATH = ("$user", "public")
EVENT_TRIGGERS = "event triggers"
"""The setting under which the event triggers stand that may raise errors (``ddl.event_triggers``)."""
_STARTING: dict[str, Any] = {"search_path": DEFAULT_PATH, "role": SUPERUSER, "session_authorization": SUPERUSER}


HEALING = re.compile(
    r"replica\s+identity|primary\s+key|drop\s+publication|alter\s+publication\b.*\b(set|drop)\b|unique\s+index",
    re.IGNORECASE | re.DOTALL,
)
"""All that can heal refused writes: text that is not followed must not hold it if they are to stay certain."""

_TAKING = re.compile(
    r"\bdrop\b|alter\s+publication\b(?:(?!\badd\b).)*?(?:\b(?:set|rename)\b|\Z)", re.IGNORECASE | re.DOTALL
)


def taking(text: str) -> bool:
    """Whether SQL that is not followed may take a publication away, or members from one."""
    return "publication" in text.lower() and _TAKING.search(text) is not None


_WORDING = re.compile(
    r"(?:'|\$\w*\$)[^']*?\b"
    r"(?:alter|analy[sz]e|call|comment|copy|create|delete|drop|grant|insert|lock|notify|refresh|reindex|revoke|select|set"
    r"|truncate|update|vacuum)\b",
    re.IGNORECASE,
)


def wording(text: str) -> str | None:
    """What is known of SQL that this text puts together; None where not even what kind of statement that is."""
    return text if _WORDING.search(text) is not None else None


_PLAIN_NAME = re.compile(r"[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)*")


class Session:
    """State of one connection. ``complete``: the unit is the whole database (design, section 2), but for what
    ``platform`` makes."""

    def __init__(self, catalog: Catalog, *, complete: bool = False, platform: Platform | None = None) -> None:
        self.catalog = catalog
        self.complete = complete
        self.platform = platform
        self.blind = False
        """Something ran that could not be followed: a name that is missing may exist after all."""
        self.healed = False
        """Something that could not be followed may have changed replica identities and keys."""
        self.joined = False
        """Something that could not be followed may have given members to publications."""
        self.restless = False
        """Triggers may take away publications, or members of them, at any time."""
        self.transaction: list[tuple[str, int]] | None = None
        self.pretended = False
        """The transaction at hand is none of the server's: it is there to be taken back."""
        self.defaults: list[tuple[str, str, Node]] = []
        """What ALTER DATABASE and ALTER ROLE ... SET say: database, role ("" for any) and the VariableSetStmt."""
        self.doubted: set[str] = set()
        """Publications that are missing because the statement that makes them was refused, which is only assumed."""
        self.enums: set[int] = set()
        """Enum types that the transaction at hand made."""
        self.labels: set[tuple[int, str]] = set()
        """Values, by enum type, that the transaction at hand added: not to be used before it ends."""
        self._path: tuple[tuple[int, ...], int] | None = None
        self.taken: dict[int, Any] = {}
        """By the oid of a partitioned table, what ``ddl.bounds`` remembers of its partitions."""
        self.typmods: dict[tuple[int, ...], int] = {}
        """By type and modifiers as written, what ``ddl.typenames`` worked out."""
        self.begin_statement(0, 0)
        for name, value in _STARTING.items():
            catalog.settings.put(name, value)
            catalog.settings.put(f"session {name}", value)
        catalog.journal.entries.clear()

    def begin_statement(self, source: int, statement: int, text: str = "") -> None:
        """Forget what was noted for the statement before; ``text`` is the statement that comes."""
        self.source, self.statement = source, statement
        self._text = text
        self.unseen: list[ServerError] = []
        self.assumed = False
        self.notices: list[str] = []
        self.mentions: dict[int, int] = {}

    def unfollowed(self, text: str | None) -> None:
        """Something runs that is not followed; ``text`` is what is known of it, None for nothing."""
        self.blind = True
        self.healed = self.healed or text is None or HEALING.search(text) is not None
        self.joined = self.joined or text is None or "publication" in text.lower()
        if text is None or taking(text):
            self.doubt_publications()

    def doubt_publications(self, which: Iterable[int] | None = None) -> None:
        """What was seen of publications (None: of any) may be gone: they are there by assumption, as their members
        are."""
        publications = self.catalog.publications
        for oid in [*publications] if which is None else which:
            row = publications[oid]
            if row.seen:
                publications.put(oid, replace(row, seen=False))

    # Places.

    def place(self, start: int, length: int = 0) -> Place:
        """Byte offsets within the statement at hand."""
        return Place(self.source, self.statement, start, start + length)

    def place_of(self, node: Node) -> Place:
        return self.place(node.get("location", 0))

    @property
    def text(self) -> bytes:
        """The statement at hand, as the parser counts it."""
        return utf8(self._text).data

    def find_name(self, name: str) -> int | None:
        """Where the statement first mentions a name, for nodes that carry no location."""
        return find_name(self.text, name)

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

    def forget_path(self) -> None:
        """The search path must be worked out again: a schema or the role changed."""
        self._path = None

    # Search path (namespace.c: recomputeNamespacePath).

    def _search_path(self) -> tuple[tuple[int, ...], int]:
        """(namespaces in the order of look-up, the namespace to create in or 0)."""
        if self._path is None:
            names, namespaces = self.catalog.namespace_names, self.catalog.namespaces
            explicit: list[int] = []
            for name in self.setting("search_path"):
                if name == "$user":
                    name = self.role.name
                oid = names.get(name) if name != "pg_temp" else TEMPORARY
                if oid is None and not self.complete and name not in ("postgres", self.role.name):
                    oid = self._assume_namespace(name)
                if oid is not None and oid not in explicit and (oid == TEMPORARY or self.may_use(namespaces[oid])):
                    explicit.append(oid)
            create_in = explicit[0] if explicit else 0
            path = explicit if PG_CATALOG in explicit else [PG_CATALOG, *explicit]
            if TEMPORARY not in path and TEMPORARY in self.catalog.namespaces:
                path = [TEMPORARY, *path]
            self._path = tuple(path), create_in
        return self._path

    @property
    def path(self) -> tuple[int, ...]:
        return self._search_path()[0]

    def visible_namespace(self) -> int:
        """The first existing schema of search_path (fetch_search_path), 0 if there is none."""
        return self._search_path()[1]

    def creation_namespace(self) -> int:
        """Where an unqualified CREATE puts its object. Raises ServerError 3F000."""
        oid = self._search_path()[1]
        if not oid:
            raise ServerError("3F000", "no schema has been selected to create in")
        return self.temporary().oid if oid == TEMPORARY else oid

    # Rights (acl.c).

    @property
    def role(self) -> Role:
        return self.catalog.roles[self.catalog.settings["role"]]

    def superuser(self) -> bool:
        """Also true of a role that the unit did not make: nothing is known of its rights, so nothing is held against
        it.
        """
        catalog = self.catalog
        role = catalog.roles[catalog.settings["role"]]
        return role.superuser or not role.seen

    def _roles_with_privileges(self, role: Role) -> AbstractSet[int]:
        found, todo = {role.oid}, [role]
        # Before 16 the member's own INHERIT counts, from 16 on that of the grant, whose default it was.
        by_grant = self.catalog.major.set_role_option
        while todo:
            row = todo.pop()
            if row.inherit or by_grant:
                for oid in row.member_of:
                    if oid not in found and not (by_grant and oid in row.without_inherit):
                        found.add(oid)
                        todo.append(self.catalog.roles[oid])
        if self._database_owner() in (None, *found):
            found.add(DATABASE_OWNER)
        return found

    def _database_owner(self) -> int | None:
        """None for a database made elsewhere: whoever works in it may be its owner."""
        return self.catalog.databases.get(self.catalog.database)

    def owns(self, owner: int) -> bool:
        """object_ownercheck: superuser, or the owner, or a member of the owner that inherits."""
        return self.superuser() or owner in self._roles_with_privileges(self.role) or not self.catalog.roles[owner].seen

    def member_of(self, role: int, who: Role | None = None) -> bool:
        """member_can_set_role: a member of the role, however indirectly, through grants WITH SET (16 and later)."""
        who = who or self.role
        if who.superuser or not who.seen:
            return True
        found, todo = {who.oid}, [who]
        while todo:
            row = todo.pop()
            for oid in row.member_of:
                if oid not in found and oid not in row.without_set:
                    found.add(oid)
                    todo.append(self.catalog.roles[oid])
        return role in found

    def may_create_in_database(self, role: Role | None = None) -> bool:
        role = role or self.role
        if role.superuser or not role.seen:
            return True
        privileged = self._roles_with_privileges(role)
        if DATABASE_OWNER in privileged:
            return True
        return any((grantee, "C") in self.catalog.database_acl for grantee in (0, *privileged))

    def may_create_in(self, namespace: Namespace) -> bool:
        if self.superuser() or not namespace.seen or namespace.oid == TEMPORARY:
            return True
        privileged = self._roles_with_privileges(self.role)
        if namespace.owner in privileged:
            return True
        return any(grantee in (0, *privileged) and right == "C" for grantee, right in namespace.acl)

    def may_use(self, namespace: Namespace) -> bool:
        """The USAGE right on a schema; initdb gives it to everybody on its own schemas."""
        if namespace.oid == TEMPORARY or self.superuser() or not namespace.seen:
            return True
        privileged = self._roles_with_privileges(self.role)
        if namespace.owner in privileged:
            return True
        return any(grantee in (0, *privileged) and right == "U" for grantee, right in namespace.acl)

    def _check_usage(self, oid: int, rule: str | None) -> None:
        """LookupExplicitNamespace. Raises ServerError 42501."""
        namespace = self.catalog.namespaces[oid]
        if not self.may_use(namespace):
            raise ServerError("42501", f"permission denied for schema {namespace.name}", rule=rule and "permission")

    # Schemas.

    def _assume_namespace(self, name: str) -> int | None:
        catalog = self.catalog
        if (NAMESPACE, 0, name) in catalog.gone:
            return None
        row = Namespace(catalog.new_oid(), name, self.setting("role"), seen=False)
        catalog.add_namespace(row)
        return row.oid

    def namespace(self, name: str, *, rule: str | None = None, location: int | None = None) -> Namespace:
        """The schema of that name. A name that is not visible is assumed to exist, in the open world.

        Raises ServerError 3F000 where the server certainly would. ``rule``: the statement is judged under it.
        """
        catalog = self.catalog
        oid = catalog.namespace_names.get(name)
        if oid is None:
            if name == "pg_temp" and rule is None:
                return self.temporary()
            error = ServerError("3F000", f'schema "{name}" does not exist', rule=rule, culprit=location)
            # Names that begin with pg_ are the server's own: nobody else makes such a schema.
            if name.startswith("pg_") or self.is_closed(NAMESPACE, 0, name):
                raise error
            oid = self._assume_namespace(name)
            if oid is None:
                raise error
            self.forget_path()
            self.note_unseen(error, NAMESPACE, 0, name)
        return catalog.namespaces[oid]

    def temporary(self) -> Namespace:
        """The temporary schema, made when it is first needed."""
        row = self.catalog.namespaces.get(TEMPORARY)
        if row is None:
            row = Namespace(TEMPORARY, "pg_temp_<n>", SUPERUSER)
            self.catalog.namespaces.put(TEMPORARY, row)
            self.catalog.namespace_names.put(row.name, TEMPORARY)
            self.forget_path()
        return row

    def is_closed(self, kind: str, namespace: int, name: str) -> bool:
        """Whether a missing name is certainly missing: the unit is all there is, or took the name away itself.

        What an extension made is not seen, so that where there is one a table or schema may be its.
        """
        if "extension relations" in self.catalog.settings and kind in (RELATION, NAMESPACE):
            return (kind, namespace, name) in self.catalog.gone
        if self.blind:
            return False
        if (kind, namespace, name) in self.catalog.gone:
            return True
        return self.complete and not self._of_platform(kind, namespace, name)

    def _of_platform(self, kind: str, namespace: int, name: str) -> bool:
        """Whether the platform makes what is missing."""
        platform = self.platform
        if platform is None:
            return False
        if kind == PUBLICATION:
            return platform.has_publication(name)
        if kind == NAMESPACE:
            return platform.has_schema(name)
        return kind == RELATION and platform.has_table(self.catalog.namespaces[namespace].name, name)

    def certainly_none(self, text: str) -> bool:
        """Whether a name as regclass takes it, which means no relation, certainly means none."""
        parts = _name_parts(text)
        if not parts or parts[-1].startswith("pg_"):
            return False
        if len(parts) == 1:
            return self.complete and all(self.is_closed(RELATION, oid, parts[0]) for oid in self.path)
        namespace = self.catalog.namespace_names.get(parts[-2])
        if namespace is None:
            return self.is_closed(NAMESPACE, 0, parts[-2])
        return namespace not in (PG_CATALOG, INFORMATION_SCHEMA, PG_TOAST) and self.is_closed(
            RELATION, namespace, parts[-1]
        )

    def suppose(self, assumed: Iterable[tuple[str, str, str]]) -> list[tuple[str, int]]:
        """Publications and relations, as (kind, schema or "", name), that are there where a condition holds.

        They are assumed to exist without a word. What is new of them is given back, for ``unsuppose``.
        """
        catalog, added = self.catalog, list[tuple[str, int]]()
        for kind, schema, name in assumed:
            if kind == "publication":
                if name not in catalog.publication_names and not self.is_closed(PUBLICATION, 0, name):
                    row = Publication(catalog.new_oid(), name, self.setting("role"), seen=False)
                    catalog.add_publication(row)
                    added.append((PUBLICATION, row.oid))
                continue
            namespace = catalog.namespace_names.get(schema) if schema else self._search_path()[1]
            if not namespace or namespace in (PG_CATALOG, INFORMATION_SCHEMA, PG_TOAST, TEMPORARY):
                continue
            if (namespace, name) in catalog.relation_names or self.is_closed(RELATION, namespace, name):
                continue
            table = Relation(catalog.new_oid(), name, namespace, "r", self.setting("role"), seen=False, noted=True)
            catalog.add_relation(table)
            added.append((RELATION, table.oid))
        return added

    def supposed(self, text: str) -> Relation | None:
        """The relation that a regclass constant names, which is not visible: assumed to be there, without a word."""
        parts = _name_parts(text)
        if not parts or (len(parts) > 1 and parts[-2] not in self.catalog.namespace_names):
            return None
        added = self.suppose([(RELATION, parts[-2] if len(parts) > 1 else "", parts[-1])])
        if not added:
            return None
        row = replace(self.catalog.relations[added[0][1]], noted=False)
        self.catalog.relations.put(row.oid, row)
        return row

    def unsuppose(self, added: Iterable[tuple[str, int]]) -> None:
        """The condition need not hold any more: what was not used in the meantime goes, without being gone."""
        catalog = self.catalog
        for kind, oid in added:
            if kind == PUBLICATION:
                row = catalog.publications.get(oid)
                used = row is None or row.seen or catalog.members_of.has(oid) or catalog.schemas_of.has(oid)
                if row is not None and not used:
                    catalog.publications.remove(oid)
                    catalog.publication_names.remove(row.name)
                continue
            table = catalog.relations.get(oid)
            if table is None or table.seen:
                continue
            if table.columns or catalog.memberships.has(oid) or catalog.indexes_of.has(oid):
                catalog.relations.put(oid, replace(table, noted=False))
                continue
            catalog.relations.remove(oid)
            catalog.relation_names.remove((table.namespace, table.name))
            catalog.relations_in.remove(table.namespace, oid)

    def note_unseen(self, error: ServerError, *what: Any) -> None:
        """A name is not visible; ``what`` it is called: its kind, its namespace and it. The platform's are no news."""
        self.assumed = True
        if error.rule is not None and not (what and self._of_platform(*what)):
            error.missing = what
            self.unseen.append(error)

    # Relations (RangeVarGetRelidExtended).

    def find_relation(self, rv: Node) -> Relation | None:
        """The relation that a RangeVar names, or None. Raises ServerError 0A000 for another database."""
        name, schema, catalog = rv["relname"], rv.get("schemaname"), self.catalog
        if "catalogname" in rv and rv["catalogname"] != catalog.database:
            full = f"{rv['catalogname']}.{schema}.{name}"
            self.assumed = self.assumed or not catalog.database_known
            raise ServerError(
                "0A000",
                f'cross-database references are not implemented: "{full}"',
                rule="relation-missing",
                culprit=rv.get("location"),
            )
        if schema is not None:
            namespace = catalog.namespace_names.get(schema) if schema != "pg_temp" else TEMPORARY
            if namespace is None:
                return None
            oid = catalog.relation_names.get((namespace, name))
            return catalog.relations[oid] if oid is not None else self.relation_in(namespace, name)
        if rv.get("relpersistence") == "t":
            return self.relation_in(TEMPORARY, name)
        return self.find_unqualified(name)

    def regclass(self, text: str) -> Relation | None:
        """The relation that the text of a regclass constant names, or None."""
        parts = _name_parts(text)
        if not parts:
            return None
        rv: Node = {"relname": parts[-1]}
        if len(parts) > 1:
            rv["schemaname"] = parts[-2]
        return self.find_relation(rv)

    def find_unqualified(self, name: str) -> Relation | None:
        names = self.catalog.relation_names
        for namespace in self.path:
            oid = names.get((namespace, name))
            if oid is not None:
                return self.catalog.relations[oid]
            if namespace == PG_CATALOG and name.startswith("pg_"):
                row = self.relation_in(PG_CATALOG, name)
                if row is not None:
                    return row
        return None

    def relation_in(self, namespace: int, name: str) -> Relation | None:
        """The relation of that name in one schema; the server's own relations are copied in when they are first met."""
        catalog = self.catalog
        oid = catalog.relation_names.get((namespace, name))
        if oid is not None:
            return catalog.relations[oid]
        if namespace in (PG_CATALOG, INFORMATION_SCHEMA, PG_TOAST):
            known = builtins(catalog.major.number).relation(catalog.namespaces[namespace].name, name)
            if known is not None:
                row = Relation(
                    known.oid,
                    name,
                    namespace,
                    known.kind,
                    SUPERUSER,
                    tuple(Column(number, column) for number, column in enumerate(known.columns, 1)),
                    identity="n",
                )
                catalog.add_relation(row)
                return row
        return None

    def relation(self, rv: Node, *, rule: str | None = None) -> Relation:
        """The relation that a RangeVar names; one that is not visible is assumed to exist, in the open world.

        Raises ServerError 42P01 or 3F000 where the server certainly would. ``rule``: the statement is judged under it.
        """
        location = rv.get("location", 0)
        if "schemaname" in rv and not self.superuser():
            explicit = self.catalog.namespace_names.get(rv["schemaname"])
            if explicit is not None:
                self._check_usage(explicit, rule)
        row = self.find_relation(rv)
        if row is None:
            row = self._assume_relation(rv, rule)
        elif not row.seen:
            self.assumed = True
            # What was perhaps made is no news either: the files say so.
            if rule is not None and not row.noted and row.place is None:
                self.note_unseen(self._missing(rv, rule), RELATION, row.namespace, row.name)
                row = replace(row, noted=True)
                self.catalog.relations.put(row.oid, row)
        self.mentions.setdefault(row.oid, location)
        return row

    def _missing(self, rv: Node, rule: str | None) -> ServerError:
        name, schema = rv["relname"], rv.get("schemaname")
        if schema is None:
            message = f'relation "{name}" does not exist'
        else:
            message = f'relation "{schema}.{name}" does not exist'
        return ServerError("42P01", message, rule=rule, culprit=rv.get("location"))

    def _assume_relation(self, rv: Node, rule: str | None) -> Relation:
        error = self._missing(rv, rule)
        name, schema = rv["relname"], rv.get("schemaname")
        catalog = self.catalog
        if schema is not None:
            known = schema in catalog.namespace_names or (schema == "pg_temp" and TEMPORARY in catalog.namespaces)
            if not known:
                error = ServerError("3F000", f'schema "{schema}" does not exist', rule=rule, culprit=rv.get("location"))
                if schema == "pg_temp" or (
                    self.is_closed(NAMESPACE, 0, schema)
                    and not (self.platform is not None and self.platform.has_table(schema, name))
                ):
                    raise error
            if schema == "pg_temp":
                namespace: int | None = TEMPORARY
            else:
                namespace = catalog.namespace_names[schema] if known else self._assume_namespace(schema)
            if namespace is None:
                raise error
        else:
            namespace = self._search_path()[1]
        # Extensions put tables into pg_catalog, but not under the names of the server's own.
        own = namespace in (INFORMATION_SCHEMA, PG_TOAST, TEMPORARY) or (namespace == PG_CATALOG and schema is None)
        gone = schema is None and any((RELATION, oid, name) in catalog.gone for oid in self.path)
        if not namespace or own or gone or self.is_closed(RELATION, namespace, name):
            raise error
        row = Relation(
            catalog.new_oid(),
            name,
            namespace,
            "r",
            self.setting("role"),
            seen=False,
            noted=rule is not None,
        )
        catalog.add_relation(row)
        self.note_unseen(error, RELATION, namespace, name)
        return row

    def creation_target(self, rv: Node) -> tuple[int, str]:
        """Namespace and persistence for CREATE of a RangeVar (RangeVarGetAndCheckCreationNamespace).

        Raises ServerError 3F000, 42501, 42P16.
        """
        persistence, schema = rv.get("relpersistence", "p"), rv.get("schemaname")
        if persistence == "t" or schema == "pg_temp":
            if schema not in (None, "pg_temp"):
                raise ServerError("42P16", "cannot create temporary relation in non-temporary schema")
            return self.temporary().oid, "t"
        namespace = self.catalog.namespaces[self.creation_namespace()] if schema is None else self.namespace(schema)
        if not self.may_create_in(namespace):
            raise ServerError("42501", f"permission denied for schema {namespace.name}")
        if namespace.oid == TEMPORARY and persistence == "u":
            raise ServerError("42P16", "only temporary relations may be created in temporary schemas")
        return namespace.oid, ("t" if namespace.oid == TEMPORARY else persistence)

    def free_name(self, namespace: int, name: str) -> None:
        """Raises ServerError 42P07 if a relation of that name exists; an assumed one gives way to the real thing."""
        row = self.relation_in(namespace, name)
        if row is None:
            return
        if row.seen:
            raise ServerError("42P07", f'relation "{name}" already exists')
        self.catalog.remove_relation(row)

    def qualified(self, row: Relation) -> str:
        return f"{self.catalog.namespaces[row.namespace].name}.{row.name}"

    # Types (parse_type.c).

    def type_oid(self, node: Node) -> int:
        """The pg_type oid of a TypeName; 0 when the type is not visible. Raises ServerError 42704 if it cannot be."""
        parts = node["names"]
        if "pct_type" in node:
            return 0
        if "arrayBounds" not in node:
            # Most columns of most schemas: built-in types, for which the grammar writes pg_catalog where it knows them.
            if len(parts) == 1:
                known = self._search_path()[0][0] == PG_CATALOG
            else:
                known = len(parts) == 2 and parts[0]["String"]["sval"] == "pg_catalog"
            oid = self._builtin_types.get(("pg_catalog", parts[-1]["String"]["sval"]), 0) if known else 0
            if oid:
                return oid
        oid = self.named_type([part["String"]["sval"] for part in parts])
        if "arrayBounds" in node and oid:
            if oid < FIRST_NORMAL_OID:
                return builtins(self.catalog.major.number).array_of(oid)
            return self.catalog.types[oid].array or oid
        return oid

    @cached_property
    def syscache(self) -> SysCache:
        """The objects of initdb and of the unit; opened when an expression is first met."""
        from pubcheck.postgres.syscache import SysCache

        return SysCache(self)

    @cached_property
    def _builtin_types(self) -> dict[tuple[str, str], int]:
        return builtins(self.catalog.major.number).types

    def named_type(self, names: list[str]) -> int:
        """A type by its (qualified) name; 0 when it is not visible in the open world, or may be an extension's.

        Raises ServerError 42704.
        """
        catalog = self.catalog
        name = names[-1]
        schema = names[-2] if len(names) > 1 else None
        if schema in ("pg_catalog", "information_schema") or (
            schema is None and self._search_path()[0][0] == PG_CATALOG
        ):
            oid = self._builtin_types.get((schema or "pg_catalog", name), 0)
            if oid:
                return oid
        gone = catalog.gone
        if schema is not None:
            namespace = catalog.namespace_names.get(schema) if schema != "pg_temp" else TEMPORARY
            path: tuple[int, ...] = (namespace,) if namespace is not None else ()
        else:
            path = self.path
        for oid in path:
            found = catalog.type_names.get((oid, name))
            if found is None and oid == PG_CATALOG:
                found = builtins(catalog.major.number).type("pg_catalog", name)
            if not found:
                # Tables are types too.
                relation = catalog.relation_names.get((oid, name))
                if relation is not None and catalog.relations[relation].kind in "rpvmf":
                    found = catalog.row_type(catalog.relations[relation]).oid
            if found:
                return found
        closed = self.complete or any((TYPE, oid, name) in gone for oid in path)
        if closed and not self.blind and not self.extensions:
            raise ServerError("42704", f'type "{".".join(names)}" does not exist')
        return 0

    @property
    def extensions(self) -> bool:
        """Whether the unit makes extensions: what is missing may be theirs."""
        return "extensions" in self.catalog.settings

    # Publications.

    def publication(self, name: str, *, location: int | None = None) -> Publication:
        """The publication of that name; one that is not visible is assumed to exist with default options.

        Raises ServerError 42704.
        """
        catalog = self.catalog
        oid = catalog.publication_names.get(name)
        if oid is None:
            error = ServerError(
                "42704", f'publication "{name}" does not exist', rule="publication-undefined", culprit=location
            )
            error.publication = name
            if self.is_closed(PUBLICATION, 0, name):
                self.assumed = self.assumed or name in self.doubted
                raise error
            row = Publication(catalog.new_oid(), name, self.setting("role"), seen=False)
            catalog.add_publication(row)
            self.note_unseen(error, PUBLICATION, 0, name)
            return row
        row = catalog.publications[oid]
        if not row.seen:
            self.assumed = True
        return row

    def doubt_members(self, oids: Iterable[int]) -> None:
        """What rests on memberships is assumed where each is of a publication that is only assumed to be there."""
        catalog = self.catalog
        publications = [catalog.publications[catalog.publication_rels[oid].publication] for oid in oids]
        self.assumed = self.assumed or not any(publication.seen for publication in publications)

    # Roles.

    def role_named(self, name: str, *, rule: str | None = None) -> Role:
        """The role of that name; one the unit did not make is assumed to exist. Raises ServerError 42704 if
        ``complete``, and for a name that only a role of initdb's can have.
        """
        catalog = self.catalog
        oid = catalog.role_names.get(name)
        if oid is not None:
            return catalog.roles[oid]
        own = self.syscache.builtin.role(name) if name.startswith("pg_") else 0
        if not own and (name.startswith("pg_") or self.is_closed(ROLE, 0, name)):
            raise ServerError("42704", f'role "{name}" does not exist', rule=rule)
        row = Role(own or catalog.new_oid(), name, seen=own != 0)
        catalog.add_role(row)
        return row

    def role_spec(self, node: Node, *, rule: str | None = None) -> Role:
        """get_rolespec_tuple for a RoleSpec node; PUBLIC is the caller's to look for."""
        kind = node["roletype"]
        if kind == "ROLESPEC_CSTRING":
            return self.role_named(node["rolename"], rule=rule)
        if kind == "ROLESPEC_SESSION_USER":
            return self.catalog.roles[self.setting("session_authorization")]
        return self.role

    # Transactions.

    def begin(self, *, pretended: bool = False) -> None:
        if self.transaction is None:
            self.transaction = [("", self.catalog.journal.mark())]
            self.pretended = pretended

    def refuse_in_transaction(self, command: str) -> None:
        """Raises ServerError 25001 within a transaction (PreventInTransactionBlock)."""
        if self.transaction is not None and not self.pretended:
            raise ServerError("25001", f"{command} cannot run inside a transaction block")

    def _end(self) -> None:
        self.transaction = None
        self.pretended = False
        self.enums.clear()
        self.labels.clear()

    def commit(self) -> None:
        """The end of a transaction: what was SET LOCAL goes back."""
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
        at = self._savepoint(name)
        if at is not None and self.transaction is not None:
            del self.transaction[at:]
        return at is not None

    def rollback_to(self, name: str) -> bool:
        """ROLLBACK TO SAVEPOINT, which stays; False if there is no such savepoint."""
        at = self._savepoint(name)
        if at is not None and self.transaction is not None:
            self.catalog.journal.undo(self.transaction[at][1])
            del self.transaction[at + 1 :]
            self._path = None
        return at is not None

    def _savepoint(self, name: str) -> int | None:
        levels = self.transaction or []
        return next((at for at in range(len(levels) - 1, 0, -1) if levels[at][0] == name), None)


def _name_parts(text: str) -> list[str]:
    """The parts of a qualified name as regclass reads it."""
    if _PLAIN_NAME.fullmatch(text):
        parts = text.split(".")
        if len(text) <= 63:
            return parts
    else:
        parts = [folded(token) for kind, token, _ in tokens(text.encode(errors="surrogatepass")) if kind == "name"]
    return [part.encode(errors="surrogatepass")[:63].decode(errors="ignore") for part in parts]


def names(nodes: Iterable[Node]) -> list[str]:
    """The strings of a qualified name."""
    return [node["String"]["sval"] for node in nodes]
