"""Types by oid: their names, elements, fields and base types (utils/cache/lsyscache.c, utils/adt/format_type.c)."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

from pubcheck.postgres import oids
from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.builtins.objects import Objects, objects
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, PG_CATALOG, TEMPORARY
from pubcheck.postgres.catalog.rows import Column, Type
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.oids import SQL_NAMES, display
from pubcheck.postgres.session.relations import Relations
from pubcheck.postgres.tokens import in_quotes, quote_identifier

_PRECISION_WITHIN = {oids.TIME: "time", oids.TIMETZ: "time", oids.TIMESTAMP: "timestamp", oids.TIMESTAMPTZ: "timestamp"}
"""Types whose typmod is inside of their name; typmodout writes the rest."""


class Naming(NamedTuple):
    """How a session shows names: its search path, and quote_all_identifiers."""

    path: tuple[int, ...]
    quotes_all: bool = False

    def quoted(self, name: str, major: int) -> str:
        return in_quotes(name) if self.quotes_all else quote_identifier(name, major)


class TypeLookups:
    """The system caches of types. An unknown type raises Unknowable."""

    def __init__(self, session: Relations) -> None:
        self.session = session
        self.catalog = session.catalog

    @cached_property
    def builtin(self) -> Objects:
        return objects(self.catalog.major.number)

    @property
    def complete_names(self) -> bool:
        """Whether a missing function, operator or type certainly does not exist: no unknown statement can create it."""
        session = self.session
        return session.complete and not session.blind and not session.extensions

    def type(self, oid: int) -> Type:
        """Return a type by its oid. Raises Unknowable if it is unknown."""
        row = self.builtin.type(oid) if oid < FIRST_NORMAL_OID else self.catalog.types.get(oid)
        if row is None or not row.seen:
            raise Unknowable(f'the type "{row.name}"' if row is not None else "a type")
        return row

    def element_type(self, oid: int) -> int:
        """get_element_type: the type of a true array's elements, else 0."""
        row = self.type(oid)
        return row.element if row.subscript == "a" else 0

    def array_type(self, oid: int) -> int:
        """get_array_type, 0 if there is none."""
        return self.type(oid).array

    def base_type(self, oid: int, typmod: int = -1) -> tuple[int, int]:
        """getBaseTypeAndTypmod: the base type of a domain, and its modifier."""
        row = self.type(oid)
        while row.kind == "d":
            oid, typmod = row.base, row.typmod
            row = self.type(oid)
        return oid, typmod

    def io_functions(self, oid: int) -> tuple[int, int]:
        """(typinput, typoutput); 0 for a type of the unit's."""
        return self.builtin.io_functions(oid) if oid < FIRST_NORMAL_OID else (0, 0)

    def fields(self, oid: int) -> tuple[Column, ...]:
        """Return the columns, including dropped ones, of a composite type or of a domain over one; () for other types.

        Raises Unknowable if they are unknown.
        """
        row = self.type(self.base_type(oid)[0])
        if not row.relation:
            return ()
        if row.oid < FIRST_NORMAL_OID:
            columns = self.builtin.columns(row.name) if row.namespace == PG_CATALOG else None
            if columns is None:
                raise Unknowable(f'the columns of "{row.name}"')
            return columns
        relation = self.catalog.relations[row.relation]
        if not relation.seen:
            raise Unknowable(f'the columns of "{row.name}"')
        return relation.columns

    def format_type(self, oid: int, typmod: int | None = None, naming: Naming | None = None) -> str:
        """format_type_be; with a typmod, format_type_with_typemod; ``naming`` is that of another session."""
        row, brackets = self.type(oid), ""
        # typstorage of oidvector and int2vector is plain, so that they go by their own names.
        if row.subscript == "a" and row.element and oid not in (oids.OIDVECTOR, oids.INT2VECTOR):
            oid, brackets = row.element, "[]"
            row = self.type(oid)
        with_typmod = typmod is not None and typmod >= 0
        name = SQL_NAMES.get(oid)
        # BIT and CHARACTER mean one bit and one character: without a length the catalog's names are given.
        if name is None or (oid in (oids.BIT, oids.BPCHAR) and typmod is not None and not with_typmod):
            name = self._quoted(row, naming or Naming(self.session.path))
        elif with_typmod:
            name = _PRECISION_WITHIN.get(oid, name)
        if typmod is not None and with_typmod:
            name += display(oid, typmod)
        return name + brackets

    def _quoted(self, row: Type, naming: Naming) -> str:
        major = self.catalog.major.number
        name = naming.quoted(row.name, major)
        if self.type_is_visible(row, naming.path):
            return name
        schema = "pg_temp" if row.namespace == TEMPORARY else self.catalog.namespaces[row.namespace].name
        return f"{naming.quoted(schema, major)}.{name}"

    def type_is_visible(self, row: Type, path: tuple[int, ...]) -> bool:
        """TypeIsVisible: the unqualified name leads to this type."""
        catalog, name = self.catalog, row.name
        builtin = builtins(catalog.major.number)
        for namespace in path:
            if namespace == row.namespace:
                return True
            if (namespace, name) in catalog.type_names or (
                namespace == PG_CATALOG and builtin.type("pg_catalog", name)
            ):
                return False
            relation = catalog.relation_names.get((namespace, name))
            if relation is not None and catalog.relations[relation].kind in "rpvmfc":
                return False
        return False
