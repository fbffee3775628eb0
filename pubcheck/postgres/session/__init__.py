"""A session over a catalog: the server's state of a connection, and its look-up of names.

Every statement's handler gets one. It is built up in layers that only know the layers below them: the connection's
settings and transactions, the rights of its role, the visibility for the current statement, schemas, relations, and
here types, publications and roles.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, PG_CATALOG, PUBLICATION, ROLE, TEMPORARY, TYPE, Catalog
from pubcheck.postgres.catalog.rows import Column, Publication, Relation, Role
from pubcheck.postgres.errors import NO_ROLE, ServerError, Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session.relations import Relations

if TYPE_CHECKING:
    from pubcheck.postgres.session.statement_context import Platform
    from pubcheck.postgres.session.syscache import SysCache


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


SYSTEM_COLUMNS = {"ctid": -1, "xmin": -2, "cmin": -3, "xmax": -4, "cmax": -5, "tableoid": -6}
"""System attributes and their numbers (catalog/heap.c: SysAtt)."""


def require_column(session: Session, relation: int, name: str) -> Column:
    """Return the live column of that name. Raises ServerError 42703; an unknown relation is assumed to have it."""
    row = session.catalog.relations[relation]
    column = row.column(name)
    if column is not None:
        return column
    if row.seen:
        raise ServerError("42703", f'column "{name}" of relation "{row.name}" does not exist')
    column = Column(len(row.columns) + 1, name)
    put_columns(session, row, (*row.columns, column))
    return column


def alterable_column(session: Session, relation: int, name: str, location: int | None = None) -> Column:
    """Return the column that ALTER COLUMN names. Raises ServerError 42703, and 0A000 for a system column."""
    if name in SYSTEM_COLUMNS:
        raise ServerError("0A000", f'cannot alter system column "{name}"', location=location)
    return require_column(session, relation, name)


def refuse_unknown_columns(session: Session, relation: Relation, names: Iterable[str]) -> None:
    """Refuse, with ServerError 42703, a name in an expression over a relation, after any qualifier, that is not one of
    its columns and cannot be the row or a function of it: `t.total` is total(t)."""
    for name in names if relation.seen else ():
        exists = relation.column(name) is not None or name in SYSTEM_COLUMNS or name == relation.name
        if not (exists or session.syscache.procs([name])):
            raise ServerError("42703", f'column "{name}" does not exist')


def having_column(session: Session, relation: int, name: str, recurse: bool) -> list[int]:
    """The relation and, going down, its descendants that have the column."""
    catalog = session.catalog
    relations = catalog.descendants(relation) if recurse or catalog.relations[relation].kind == "p" else [relation]
    return [oid for oid in relations if catalog.relations[oid].column(name) is not None]


def put_columns(session: Session, row: Relation, columns: tuple[Column, ...]) -> Relation:
    new = replace(row, columns=columns)
    session.catalog.relations.put(row.oid, new)
    return new


def change_columns(session: Session, relation: int, numbers: Iterable[int], **changes: Any) -> None:
    """Give the columns of those numbers new attributes."""
    row = session.catalog.relations[relation]
    columns = list(row.columns)
    for number in numbers:
        columns[number - 1] = replace(columns[number - 1], **changes)
    put_columns(session, row, tuple(columns))


def difference(column: Column, parent_column: Column) -> str:
    """Return the difference of two columns that must be equal: "type" (with its modifiers), "collation", or ""."""
    if not column.type or not parent_column.type:
        return ""
    if column.type != parent_column.type or column.typmod != parent_column.typmod:
        return "type"
    # A collation that is not visible may be the same one; types alike, both columns are collatable or neither is.
    return (
        "collation"
        if column.collation != parent_column.collation and min(column.collation, parent_column.collation) >= 0
        else ""
    )


DIFFERENT = {"type": "42804", "collation": "42P21"}
"""The SQLSTATE of each ``difference``."""


def rename_columns(tree: Any, old: str | None = None, new: str = "") -> Any:
    """Return a copy of an expression over one table, with unqualified column references and one column renamed.

    The copy can still be read after the table is renamed.
    """
    root = [tree]
    work: list[tuple[Any, Any]] = [(root, 0)]
    while work:
        holder, position = work.pop()
        value = holder[position]
        if type(value) is dict:
            copy: Any = dict(value)
            parts: Any = value.items()
        elif type(value) is list:
            copy, parts = list(value), enumerate(value)
        else:
            continue
        holder[position] = copy
        for key, part in parts:
            if key == "ColumnRef":
                copy[key] = _reference(part, old, new)
            else:
                work.append((copy, key))
    return root[0]


def _reference(body: Node, old: str | None, new: str) -> Node:
    last = body["fields"][-1]
    if old is not None and last.get("String", {}).get("sval") == old:
        last = {"String": {"sval": new}}
    return {**body, "fields": [last]}
