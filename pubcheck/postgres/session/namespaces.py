"""Schemas and the search path (catalog/namespace.c: recomputeNamespacePath, LookupExplicitNamespace)."""

from __future__ import annotations

from pubcheck.postgres.catalog import NAMESPACE, PG_CATALOG, SUPERUSER, TEMPORARY
from pubcheck.postgres.catalog.rows import Namespace
from pubcheck.postgres.errors import NO_SCHEMA, ServerError
from pubcheck.postgres.session.statement_context import Visibility


class Schemas(Visibility):
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
