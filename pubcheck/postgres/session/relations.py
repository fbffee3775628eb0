"""Schemas, the search path, and relations by name, including those that are not in these files (catalog/namespace.c:
recomputeNamespacePath, LookupExplicitNamespace, RangeVarGetRelidExtended).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import (
    INFORMATION_SCHEMA,
    NAMESPACE,
    PG_CATALOG,
    PG_TOAST,
    PUBLICATION,
    RELATION,
    SUPERUSER,
    TEMPORARY,
)
from pubcheck.postgres.catalog.rows import Column, Namespace, Publication, Relation
from pubcheck.postgres.errors import NO_SCHEMA, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session.statement_context import Visibility
from pubcheck.postgres.tokens import folded, tokens


class _Schemas(Visibility):
    """The look-up of names in schemas, and the schemas that objects are created in."""

    # The search path.

    def _search_path(self) -> tuple[tuple[int, ...], int]:
        """(namespaces in the order of look-up, the namespace to create in or 0)."""
        if self._path is None:
            names, namespaces = self.catalog.namespace_names, self.catalog.namespaces
            explicit: list[int] = []
            for name in self.setting("search_path"):
                if name == "$user":
                    name = self.user if self.user and self.role.oid == SUPERUSER else self.role.name
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
    def known_path(self) -> tuple[int, ...]:
        """The namespaces in the order of look-up, () if they must be worked out again."""
        return self._path[0] if self._path is not None else ()

    @property
    def path(self) -> tuple[int, ...]:
        return self._search_path()[0]

    def visible_namespace(self) -> int:
        """The first existing schema of search_path (fetch_search_path), 0 if there is none."""
        return self._search_path()[1]

    def creation_namespace(self) -> int:
        """Return the schema in which an unqualified CREATE creates its object. Raises ServerError 3F000."""
        oid = self._search_path()[1]
        if not oid:
            raise ServerError("3F000", "no schema has been selected to create in")
        return self.temporary().oid if oid == TEMPORARY else oid

    # Schemas by name.

    def _check_usage(self, oid: int, *, reported: bool) -> None:
        """LookupExplicitNamespace. Raises ServerError 42501."""
        namespace = self.catalog.namespaces[oid]
        if not self.may_use(namespace):
            key = "permission" if reported else None
            raise ServerError("42501", f"permission denied for schema {namespace.name}", key=key)

    def _assume_namespace(self, name: str) -> int | None:
        catalog = self.catalog
        if (NAMESPACE, 0, name) in catalog.gone:
            return None
        row = Namespace(catalog.new_oid(), name, self.setting("role"), seen=False)
        catalog.add(row)
        return row.oid

    def namespace(self, name: str, *, key: str | None = None, location: int | None = None) -> Namespace:
        """Return the schema of that name. An unknown schema is assumed to exist, in the open world.

        Raises ServerError 3F000 where the server certainly would. ``key``: that of the error, if it is reported.
        """
        catalog = self.catalog
        oid = catalog.namespace_names.get(name)
        if oid is None:
            if name == "pg_temp" and key is None:
                return self.temporary()
            error = ServerError("3F000", NO_SCHEMA, key=key, culprit=location, schema=name)
            # Names that begin with pg_ are reserved for the server's own schemas.
            if name.startswith("pg_") or self.is_closed(NAMESPACE, 0, name):
                error.missing = (NAMESPACE, 0, name)
                raise error
            oid = self._assume_namespace(name)
            if oid is None:
                raise error
            self.forget_path()
            self.note_unseen(error, NAMESPACE, 0, name)
        return catalog.namespaces[oid]

    def temporary(self) -> Namespace:
        """Return the temporary schema, created when it is first needed."""
        row = self.catalog.namespaces.get(TEMPORARY)
        if row is None:
            row = Namespace(TEMPORARY, "pg_temp_<n>", SUPERUSER, seen=True)
            self.catalog.namespaces.put(TEMPORARY, row)
            self.catalog.namespace_names.put(row.name, TEMPORARY)
            self.forget_path()
        return row


_PLAIN_NAME = lazy_compile(r"[a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)*")


class Relations(_Schemas):
    """The look-up of relations, and the relations that are only supposed to exist."""

    def find_relation(self, rv: Node) -> Relation | None:
        """The relation that a RangeVar names, or None. Raises ServerError 0A000 for another database."""
        name, schema, catalog = rv["relname"], rv.get("schemaname"), self.catalog
        if "catalogname" in rv and rv["catalogname"] != catalog.database:
            full = f"{rv['catalogname']}.{schema}.{name}"
            self.assume_database()
            raise ServerError(
                "0A000",
                'cross-database references are not implemented: "{name}"',
                key="relation-of-other-database",
                culprit=rv.get("location"),
                name=full,
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
            server = builtins(catalog.major.number)
            builtin = server.relation(catalog.namespaces[namespace].name, name)
            if builtin is not None:
                columns = server.columns(name) if namespace == INFORMATION_SCHEMA else ()
                row = Relation(
                    builtin.oid,
                    name,
                    namespace,
                    builtin.kind,
                    SUPERUSER,
                    columns=tuple(Column(number, column) for number, column in enumerate(columns, 1)),
                    identity="n",
                    seen=True,
                )
                catalog.add_relation(row)
                return row
        return None

    def relation(self, rv: Node, *, reported: bool = False, if_exists: bool = False) -> Relation:
        """Return the relation that a RangeVar names; an unknown one is assumed to exist, in the open world.

        Raises ServerError 42P01 or 3F000 where the server certainly would. ``reported``: whether the error is reported;
        ``if_exists``: the server raises none for a relation that is found here.
        """
        location = rv.get("location", 0)
        if "schemaname" in rv and not self.superuser():
            explicit = self.catalog.namespace_names.get(rv["schemaname"])
            if explicit is not None:
                self._check_usage(explicit, reported=reported)
        row = self.find_relation(rv)
        if row is None:
            row = self._assume_relation(rv, reported)
        elif not row.seen:
            self.rests_on(row)
            # A relation that may have been created is not new information either: the files create it.
            if reported and not if_exists and not row.noted and row.place is None:
                self.note_unseen(self._missing(rv, reported), RELATION, row.namespace, row.name)
                row = replace(row, noted=True)
                self.catalog.relations.put(row.oid, row)
        self.mentions.setdefault(row.oid, location)
        return row

    def _missing(self, rv: Node, reported: bool) -> ServerError:
        name, schema = rv["relname"], rv.get("schemaname")
        error = ServerError(
            "42P01",
            'relation "{relation}" does not exist',
            key="no-relation" if reported else None,
            culprit=rv.get("location"),
            relation=name if schema is None else f"{schema}.{name}",
        )
        error.missing_schema = schema
        return error

    def _assume_relation(self, rv: Node, reported: bool) -> Relation:
        error = self._missing(rv, reported)
        name, schema = rv["relname"], rv.get("schemaname")
        catalog = self.catalog
        if schema is not None:
            exists = schema in catalog.namespace_names or (schema == "pg_temp" and TEMPORARY in catalog.namespaces)
            if not exists:
                key = "no-schema" if reported else None
                error = ServerError("3F000", NO_SCHEMA, key=key, culprit=rv.get("location"), schema=schema)
                if schema == "pg_temp" or (
                    self.is_closed(NAMESPACE, 0, schema)
                    and not (self.platform is not None and self.platform.has_table(schema, name))
                ):
                    raise error
            if schema == "pg_temp":
                namespace: int | None = TEMPORARY
            else:
                namespace = catalog.namespace_names[schema] if exists else self._assume_namespace(schema)
            if namespace is None:
                raise error
        else:
            namespace = self._search_path()[1]
        # Extensions put tables into pg_catalog, but not under the names of the server's own.
        own = namespace in (INFORMATION_SCHEMA, PG_TOAST, TEMPORARY) or (namespace == PG_CATALOG and schema is None)
        gone = schema is None and any((RELATION, oid, name) in catalog.gone for oid in self.path)
        if not namespace or own or gone or self.is_closed(RELATION, namespace, name):
            if namespace:
                error.missing = (RELATION, namespace, name)
            raise error
        row = Relation(catalog.new_oid(), name, namespace, "r", self.setting("role"), seen=False, noted=reported)
        catalog.add_relation(row)
        self.note_unseen(error, RELATION, namespace, name)
        return row

    def creation_target(self, rv: Node, *, optional: bool = False) -> tuple[int, str]:
        """Namespace and persistence for CREATE of a RangeVar (RangeVarGetAndCheckCreationNamespace).

        ``optional``: IF NOT EXISTS, with which nothing is created where there is a relation of that name.

        Raises ServerError 3F000, 42501 (for pg_catalog as heap_create does), 42P16.
        """
        persistence, schema = rv.get("relpersistence", "p"), rv.get("schemaname")
        if persistence == "t" or schema == "pg_temp":
            if schema not in (None, "pg_temp"):
                raise ServerError("42P16", "cannot create temporary relation in non-temporary schema")
            if persistence == "u":
                raise ServerError("42P16", "only temporary relations may be created in temporary schemas")
            return self.temporary().oid, "t"
        namespace = self.catalog.namespaces[self.creation_namespace()] if schema is None else self.namespace(schema)
        if not self.may_create_in(namespace):
            raise ServerError("42501", f"permission denied for schema {namespace.name}")
        system = namespace.oid in (PG_CATALOG, PG_TOAST) and self.setting("allow_system_table_mods") != "on"
        if system and not (optional and self.relation_in(namespace.oid, rv["relname"])):
            raise ServerError(
                "42501",
                f'permission denied to create "{namespace.name}.{rv["relname"]}"',
                detail="System catalog modifications are currently disallowed.",
            )
        if namespace.oid == TEMPORARY and persistence == "u":
            raise ServerError("42P16", "only temporary relations may be created in temporary schemas")
        return namespace.oid, ("t" if namespace.oid == TEMPORARY else persistence)

    def free_name(self, namespace: int, name: str) -> None:
        """Raises ServerError 42P07 if a relation of that name exists; an assumed one gives way to the real thing."""
        row = self.relation_in(namespace, name)
        if row is None:
            return
        if row.seen:
            raise ServerError("42P07", 'relation "{name}" already exists', name=name)
        self.catalog.remove_relation(row)

    def qualified(self, row: Relation) -> str:
        return f"{self.catalog.namespaces[row.namespace].name}.{row.name}"

    # What holds where a condition does.

    def certainly_none(self, text: str) -> bool:
        """Return whether a name as regclass takes it, which means no relation, certainly means none."""
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
        """Return the unknown relation that a regclass constant names. It is assumed to exist; nothing is reported."""
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
        """Remove the supposed relations that were not used in the meantime; they do not count as dropped."""
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


def _name_parts(text: str) -> list[str]:
    """The parts of a qualified name as regclass reads it."""
    if _PLAIN_NAME.fullmatch(text):
        parts = text.split(".")
        if len(text) <= 63:
            return parts
    else:
        parts = [folded(token) for kind, token, _ in tokens(text.encode(errors="surrogatepass")) if kind == "name"]
    return [part.encode(errors="surrogatepass")[:63].decode(errors="ignore") for part in parts]
