"""A session over a catalog: the server's state of a connection, and its look-up of names.

Every statement's handler gets one. It is built up in layers that only know the layers below them: the connection's
settings and transactions, the rights of its role, the visibility for the current statement, schemas, relations, and
here types, publications and roles.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, PG_CATALOG, PUBLICATION, ROLE, TEMPORARY, TYPE, Catalog
from pubcheck.postgres.catalog.rows import Publication, Role
from pubcheck.postgres.errors import NO_ROLE, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session.relations import Relations

if TYPE_CHECKING:
    from pubcheck.postgres.session.statement_context import Platform
    from pubcheck.postgres.session.syscache import SysCache
from collections.abc import Callable
from functools import cache

from pubcheck.postgres.errors import Unknowable


class Session(Relations):
    """The state of one connection.

    ``complete``: the unit is the whole database, except for the objects of ``platform``.
    """

    def __init__(self, catalog: Catalog, *, complete: bool = False, platform: Platform | None = None) -> None:
        super().__init__(catalog, complete=complete, platform=platform)
        self.taken: dict[int, Any] = {}
        """The partitions of partitioned tables, by oid, as ``ddl.partition_bounds`` keeps them."""
        self.typmods: dict[tuple[int, ...], int] = {}
        """The results of ``ddl.types``, by type and modifiers as written."""

    # Types (parser/parse_type.c).

    def type_oid(self, node: Node, *, shells: bool = False) -> int:
        """Return the pg_type oid of a TypeName; 0 if the type is unknown. Raises ServerError 42704 or 3F000.

        ``shells``: a type that is only a shell will do (LookupTypeName, where most statements call typenameType).
        """
        parts = node["names"]
        if "pct_type" in node:
            return 0
        if "arrayBounds" not in node:
            # Most columns of most schemas: built-in types, for which the grammar writes pg_catalog where it knows them.
            oid = self._builtin_oids.get(parts[-1]["String"]["sval"], 0)
            if oid and (
                self._search_path()[0][0] == PG_CATALOG
                if len(parts) == 1
                else len(parts) == 2 and parts[0]["String"]["sval"] == "pg_catalog"
            ):
                return oid
        oid = self.named_type([part["String"]["sval"] for part in parts], "[]" if "arrayBounds" in node else "")
        if oid >= FIRST_NORMAL_OID and self.catalog.types[oid].shell:
            written = ".".join(part["String"]["sval"] for part in parts)
            if "arrayBounds" in node:
                raise ServerError("42704", f'type "{written}[]" does not exist')
            if not shells:
                raise ServerError("42704", f'type "{written}" is only a shell')
        if "arrayBounds" in node and oid:
            if oid < FIRST_NORMAL_OID:
                return builtins(self.catalog.major.number).array_of(oid)
            return self.catalog.types[oid].array or oid
        return oid

    @cached_property
    def syscache(self) -> SysCache:
        """The objects of initdb and of the unit; opened when an expression is first met."""
        from pubcheck.postgres.session.syscache import SysCache

        return SysCache(self)

    @cached_property
    def _builtin_oids(self) -> dict[str, int]:
        """The types of pg_catalog by name."""
        return self._builtin_types["pg_catalog"]

    @cached_property
    def _builtin_types(self) -> dict[str, dict[str, int]]:
        return builtins(self.catalog.major.number).types

    def named_type(self, names: list[str], behind: str = "") -> int:
        """Return a type by its (qualified) name; 0 if it is unknown in the open world, or may be an extension's.

        ``behind`` is the text after the name, [] of an array's element. Raises ServerError 42704, or 3F000 where
        there is no such schema (LookupTypeName).
        """
        catalog = self.catalog
        name = names[-1]
        schema = names[-2] if len(names) > 1 else None
        if schema in ("pg_catalog", "information_schema") or (
            schema is None and self._search_path()[0][0] == PG_CATALOG
        ):
            oid = self._builtin_types[schema or "pg_catalog"].get(name, 0)
            if oid:
                return oid
        gone = catalog.gone
        if schema is not None:
            namespace = catalog.namespace_names.get(schema) if schema != "pg_temp" else TEMPORARY
            path: tuple[int, ...] = (namespace,) if namespace is not None else ()
        else:
            path = self.path
        for oid in path:
            type_oid = catalog.type_names.get((oid, name))
            if type_oid is None and oid == PG_CATALOG:
                type_oid = builtins(catalog.major.number).type("pg_catalog", name)
            if not type_oid:
                # Tables are types too.
                relation = catalog.relation_names.get((oid, name))
                if relation is not None and catalog.relations[relation].kind in "rpvmf":
                    type_oid = catalog.row_type(catalog.relations[relation]).oid
            if type_oid:
                return type_oid
        closed = self.complete or any((TYPE, oid, name) in gone for oid in path)
        if closed and not self.blind and not self.extensions:
            if schema is not None and not path:
                raise ServerError("3F000", f'schema "{schema}" does not exist')
            raise ServerError("42704", f'type "{".".join(names)}{behind}" does not exist')
        return 0

    # Publications and roles.

    def publication(self, name: str, *, location: int | None = None) -> Publication:
        """Return the publication of that name; an unknown one is assumed to exist with default options.

        Raises ServerError 42704.
        """
        catalog = self.catalog
        oid = catalog.publication_names.get(name)
        if oid is None:
            error = ServerError(
                "42704",
                'publication "{publication}" does not exist',
                key="no-publication",
                culprit=location,
                publication=name,
            )
            error.publication = name
            if self.is_closed(PUBLICATION, 0, name):
                if name in self.doubted:
                    self.assume("whether the statement that creates it is refused")
                error.missing = (PUBLICATION, 0, name)
                raise error
            row = Publication(catalog.new_oid(), name, self.setting("role"), seen=False)
            catalog.add_publication(row)
            self.note_unseen(error, PUBLICATION, 0, name)
            return row
        row = catalog.publications[oid]
        self.rests_on(row)
        return row

    def role_named(self, name: str, *, reported: bool = False) -> Role:
        """The role of that name; one the unit did not make is assumed to exist. Raises ServerError 42704 if
        ``complete``, and for a name that only a role of initdb's can have.
        """
        catalog = self.catalog
        oid = catalog.role_names.get(name)
        if oid is not None:
            return catalog.roles[oid]
        own = self.syscache.builtin.role(name) if name.startswith("pg_") else 0
        if not own and (name.startswith("pg_") or self.is_closed(ROLE, 0, name)):
            raise ServerError("42704", NO_ROLE, key="no-role" if reported else None, role=name)
        row = Role(own or catalog.new_oid(), name, seen=own != 0)
        catalog.add(row)
        return row

    def role_spec(self, node: Node, *, reported: bool = False) -> Role:
        """get_rolespec_tuple for a RoleSpec node; PUBLIC is the caller's to look for."""
        kind = node["roletype"]
        if kind == "ROLESPEC_CSTRING":
            return self.role_named(node["rolename"], reported=reported)
        if kind == "ROLESPEC_SESSION_USER":
            return self.catalog.roles[self.setting("session_authorization")]
        return self.role


@cache
def type_namer(major: int) -> Callable[[int, int], str | None]:
    """Return a function from the OID and modifier of a built-in type to its name as format_type writes it, such as
    `character varying(5)`; None for any other type."""
    syscache = Session(Catalog(major), complete=True).syscache

    @cache
    def name(oid: int, modifier: int) -> str | None:
        try:
            return syscache.format_type(oid, modifier)
        except Unknowable:
            return None

    return name
