"""The system caches: initdb's objects and the unit's, by oid and by name (utils/cache, catalog/namespace.c).

An unknown object raises Unknowable, so that it is not mistaken for a missing one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres import oids
from pubcheck.postgres.builtins.objects import AggregateRow
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, INFORMATION_SCHEMA, PG_CATALOG, SUPERUSER, TEMPORARY
from pubcheck.postgres.catalog.rows import OPERATOR_CLASSES, Cast, Collation, Operator, OperatorClass, Proc
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.session.relations import Relations
from pubcheck.postgres.session.type_lookups import TypeLookups

LESS, EQUAL, GREATER, NOT_EQUAL = 1, 3, 5, 6
"""Strategies of btree (access/stratnum.h); 6 is ROWCOMPARE_NE, which no index has."""

_ARRAY_EQ, _ARRAY_LT, _RECORD_EQ, _RECORD_LT = 1070, 1072, 2988, 2990
_BTARRAYCMP, _BTRECORDCMP, _HASH_ARRAY, _HASH_RECORD, _HASH_RANGE, _HASH_MULTIRANGE = 382, 2987, 626, 6192, 3902, 4278

# pg_import_system_collations takes what the machine has: locales of the C library ("en_US", "de_DE.utf8", "C.utf8",
# on Windows "German_Germany" and "de-DE"), their aliases (locale.alias of glibc), and those of ICU ("de-x-icu").
_LOCALE = lazy_compile(
    r"(?!pg_)[a-z]{2,3}(?:[_.@-][\w.@+-]*)?|C\.\S+|\S+-x-icu|[A-Z][a-z]+[ ,.()A-Za-z-]*_[\w .,'()-]+", re.ASCII
)
_LOCALE_ALIASES = lazy_compile(
    "bokmal|croatian|czech|danish|dansk|deutsch|dutch|eesti|estonian|finnish|french|galego|galician|german|greek|hebrew"
    "|hrvatski|hungarian|icelandic|italian|japanese|korean|lithuanian|norwegian|nynorsk|polish|portuguese|romanian"
    "|russian|slovak|slovene|slovenian|spanish|swedish|thai|turkish"
)
_FIRST_ASSUMED_COLLATION = 15000
_assumed_collations: dict[str, Collation] = {}
"""Collations that some builds have, as far as they were asked for; their oids are not a server's."""


class TypeCache(Struct, frozen=True, gc=False):
    """The functions of a type's default operator classes (utils/cache/typcache.c): oids, 0 where there is none."""

    lt: int = 0
    eq: int = 0
    cmp: int = 0
    hash: int = 0


_built_in_type_caches: dict[tuple[int, int], TypeCache] = {}


class SysCache(TypeLookups):
    """Look-ups over one session's catalog and the major's built-in objects. Cheap to make."""

    def __init__(self, session: Relations) -> None:
        super().__init__(session)
        self._casts: dict[tuple[int, int], Cast] = {}
        self._casts_stamp: tuple[int, int, int] = (0, 0, 0)

    # Names (DeconstructQualifiedName, LookupExplicitNamespace).

    def _explicit_namespace(self, names: list[str]) -> int:
        """Return the schema of a qualified name. Raises ServerError as the server does, Unknowable if it is unknown."""
        catalog, schema = self.catalog, names[-2]
        if len(names) > 3:
            full = ".".join(names)
            message = "improper qualified name (too many dotted names): {name}"
            raise ServerError("42601", message, key="improper-name", name=full)
        if len(names) == 3 and names[0] != catalog.database:
            if not catalog.database_known:
                raise Unknowable("the database's name")
            message = "cross-database references are not implemented: {name}"
            raise ServerError("0A000", message, key="improper-name", name=".".join(names))
        if schema == "pg_temp" and TEMPORARY in catalog.namespaces:
            return TEMPORARY
        row = self.session.namespace(schema, key="no-schema-of-expression")
        if not self.session.may_use(row):
            raise ServerError("42501", f"permission denied for schema {schema}", key="permission")
        return row.oid

    def _require_seen(self, namespace: int) -> None:
        """Raise Unknowable, for a name missing in a schema, if the unit did not create the schema."""
        row = self.catalog.namespaces[namespace]
        if not row.seen:
            raise Unknowable(f'what the schema "{row.name}" holds')

    # Functions.

    def proc(self, oid: int) -> Proc:
        """Return a function by its oid, with the changes that the unit made to it."""
        row = self.catalog.procs.get(oid) or self.builtin.proc(oid)
        if row is None:
            raise Unknowable("a function")
        return row

    def procs(self, names: list[str]) -> list[tuple[int, Proc]]:
        """Return all functions of a name on the search path, or in its schema, with the schema's place in the path.

        Raises ServerError 3F000, 42501, 0A000 for the schema, and Unknowable if the schema is unknown.
        """
        name = names[-1]
        if len(names) > 1:
            namespace = self._explicit_namespace(names)
            rows = [(0, row) for row in self.procs_in(namespace, name)]
            if not rows:
                self._require_seen(namespace)
            return rows
        path, catalog = self.session.path, self.catalog
        if not catalog.procs and INFORMATION_SCHEMA not in path:
            return self.builtin.placed_procs(name, path.index(PG_CATALOG))
        return [
            (place, row)
            for place, namespace in enumerate(path)
            if namespace != TEMPORARY
            for row in self.procs_in(namespace, name)
        ]

    def procs_in(self, namespace: int, name: str) -> Iterator[Proc]:
        procs = self.catalog.procs
        for oid in self.catalog.proc_names.get((namespace, name)):
            if oid >= FIRST_NORMAL_OID:
                yield procs[oid]
        if namespace in (PG_CATALOG, INFORMATION_SCHEMA):
            for row in self.builtin.procs(name):
                if row.namespace == namespace:
                    yield procs.get(row.oid, row)

    def parameter_types(self, proc: Proc) -> tuple[int, ...]:
        """Return the types of all parameters, including OUT ones, in step with ``modes`` and ``argument_names``."""
        return proc.parameters or proc.arguments

    def aggregate(self, oid: int) -> AggregateRow:
        """pg_aggregate's aggkind and aggnumdirectargs; an aggregate of the unit's counts as a normal one."""
        return self.builtin.aggregate(oid)

    # Operators.

    def operator(self, oid: int) -> Operator:
        row = self.catalog.operators.get(oid) or self.builtin.operator(oid)
        if row is None:
            raise Unknowable("an operator")
        return row

    def operators(self, names: list[str], prefix: bool) -> list[tuple[int, Operator]]:
        """All prefix or all binary operators of a name, as ``procs``."""
        name = names[-1]
        if len(names) > 1:
            namespace = self._explicit_namespace(names)
            rows = [(0, row) for row in self.operators_in(namespace, name, prefix)]
            if not rows:
                self._require_seen(namespace)
            return rows
        path = self.session.path
        if not self.catalog.operators:
            return self.builtin.placed_operators(name, prefix, path.index(PG_CATALOG))
        return [
            (place, row)
            for place, namespace in enumerate(path)
            if namespace != TEMPORARY
            for row in self.operators_in(namespace, name, prefix)
        ]

    def operators_in(self, namespace: int, name: str, prefix: bool) -> Iterator[Operator]:
        operators = self.catalog.operators
        for oid in self.catalog.operator_names.get((namespace, name)):
            row = operators[oid]
            if oid >= FIRST_NORMAL_OID and (row.left == 0) == prefix:
                yield row
        if namespace == PG_CATALOG:
            for row in self.builtin.operators(name, prefix):
                yield operators.get(row.oid, row)

    def negator(self, oid: int) -> int:
        """get_negator: oprnegate, or 0."""
        return self.operator(oid).negator

    # Casts.

    def cast(self, source: int, target: int) -> Cast | None:
        """The row of pg_cast from one type to another."""
        if source < FIRST_NORMAL_OID > target:
            row = self.builtin.cast(source, target)
            if row is not None or not self.catalog.casts:
                return row
        elif not self.catalog.casts:
            return None
        return self._unit_casts().get((source, target))

    def _unit_casts(self) -> dict[tuple[int, int], Cast]:
        casts = self.catalog.casts
        # Oids are never given twice, so that this tells whether any cast came or went.
        stamp = (len(casts), next(reversed(casts)), self.catalog.journal.undos)
        if stamp != self._casts_stamp:
            self._casts = {(row.source, row.target): row for row in casts.values()}
            self._casts_stamp = stamp
        return self._casts

    def binary_coercible(self, source: int, target: int) -> bool:
        """IsBinaryCoercible (parse_coerce.c)."""
        if source == target or target in (oids.ANY, oids.ANYELEMENT, oids.ANYCOMPATIBLE):
            return True
        source, _ = self.base_type(source)
        if source == target:
            return True
        if target in _PSEUDO_TARGETS:
            row = self.type(source)
            if target in (oids.ANYARRAY, oids.ANYCOMPATIBLEARRAY):
                accepted = bool(self.element_type(source))
            elif target in (oids.ANYNONARRAY, oids.ANYCOMPATIBLENONARRAY):
                accepted = not self.element_type(source)
            elif target == oids.RECORD_ARRAY:
                element = self.element_type(source)
                accepted = bool(element) and self.type(self.base_type(element)[0]).kind == "c"
            else:
                accepted = row.kind == _PSEUDO_TARGETS[target]
            if accepted:
                return True
        cast = self.cast(source, target)
        return cast is not None and cast.method == "b" and cast.context == "i"

    # Collations.

    def collation(self, oid: int) -> Collation:
        row = self.catalog.collations.get(oid) or self.builtin.collation(oid)
        if row is None:
            row = next((collation for collation in _assumed_collations.values() if collation.oid == oid), None)
        if row is None:
            raise Unknowable("a collation")
        return row

    def collation_named(self, names: list[str], location: int | None = None, *, exists: bool = False) -> Collation:
        """The collation of a name (get_collation_oid), in a database of encoding UTF8.

        Raises ServerError 42704. A name that some builds and machines have is noted as not visible, unless ``exists``
        says that it is known to be there, and gets a row of its own.
        """
        name, catalog, session = names[-1], self.catalog, self.session
        try:
            path = (self._explicit_namespace(names),) if len(names) > 1 else session.path
        except ServerError as error:
            # Raised while names are looked up: the server points at the COLLATE.
            error.location = error.culprit = location
            raise
        for namespace in path:
            if namespace == TEMPORARY and len(names) == 1:
                continue
            oid = catalog.collation_names.get((namespace, name))
            if oid is not None:
                return catalog.collations[oid]
            if namespace == PG_CATALOG:
                row = self.builtin.collation_named(name)
                if row is not None:
                    return row
        if len(names) > 1:
            self._require_seen(path[0])
        if PG_CATALOG in path and depends_on_build(name):
            if not exists:
                session.note_unseen(self._no_collation(names, location))
            return _assumed_collation(name)
        if not self.complete_names:
            session.assume("whether such a collation is created elsewhere")
        raise self._no_collation(names, location)

    def _no_collation(self, names: list[str], location: int | None) -> ServerError:
        message = 'collation "{name}" for encoding "UTF8" does not exist'
        return ServerError("42704", message, key="no-collation", location=location, name=".".join(names))

    # Operator classes and families of btree and hash.

    def _unit_classes(self) -> tuple[OperatorClass, ...]:
        classes: tuple[OperatorClass, ...] = self.catalog.settings.get(OPERATOR_CLASSES, ())
        return classes

    def default_class(self, oid: int, method: str) -> tuple[int, int]:
        """GetDefaultOpClass: (operator family, input type) of a type's operator class, (0, 0) if it has none.

        ``method`` is b(tree) or h(ash); of gin and gist only the unit's own classes are known.
        """
        oid, _ = self.base_type(oid)
        builtin = self.builtin.default_classes
        family = builtin.get((method, oid))
        if family is not None:
            return family, oid
        own = [(opclass.type, opclass.family) for opclass in self._unit_classes() if opclass.method == method]
        for type_oid, own_family in own:
            if type_oid == oid:
                return own_family, oid
        category = self.type(oid).category
        preferred: list[tuple[int, int]] = []
        compatible: list[tuple[int, int]] = []
        pairs = [(type_oid, family) for (which, type_oid), family in builtin.items() if which == method]
        for type_oid, family in (*pairs, *own):
            if not self.binary_coercible(oid, type_oid):
                continue
            row = self.type(type_oid)
            (preferred if row.preferred and row.category == category else compatible).append((family, type_oid))
        chosen = preferred or compatible
        return chosen[0] if len(chosen) == 1 else (0, 0)

    def opfamily_member(self, family: int, left: int, right: int, strategy: int) -> int:
        """get_opfamily_member: an operator's oid, or 0."""
        for *key, operator in self._family(family)[0]:
            if key == [left, right, strategy]:
                return operator
        return 0

    def opfamily_function(self, family: int, left: int, right: int) -> int:
        """get_opfamily_proc for support function 1: btree's comparison, hash's hash function; an oid, or 0."""
        return next(
            (
                proc
                for left_type, right_type, proc in self._family(family)[1]
                if (left_type, right_type) == (left, right)
            ),
            0,
        )

    def _family(self, oid: int) -> tuple[tuple[tuple[int, int, int, int], ...], tuple[tuple[int, int, int], ...]]:
        row = self.builtin.family(oid) if oid < FIRST_NORMAL_OID else None
        if row is not None:
            return row.operators, row.functions
        for own in self._unit_classes():
            if own.family == oid:
                return own.operators, own.functions
        return (), ()

    def btree_interpretations(self, operator: int) -> list[tuple[int, int]]:
        """get_op_btree_interpretation: (operator family, strategy) of an operator; 6 for the negator of an equality."""
        memberships = self._btree_memberships(operator)
        if memberships:
            return memberships
        negated = self._btree_memberships(self.negator(operator))
        return [(family, NOT_EQUAL) for family, strategy in negated if strategy == EQUAL]

    def _btree_memberships(self, operator: int) -> list[tuple[int, int]]:
        if 0 < operator < FIRST_NORMAL_OID:
            return self.builtin.btree_memberships(operator)
        return list(
            {
                (row.family, strategy): None
                for row in self._unit_classes()
                if row.method == "b"
                for _, _, strategy, member in row.operators
                if member == operator
            }
        )

    def type_cache(self, oid: int) -> TypeCache:
        """lookup_type_cache: the comparison of a type's values. Raises Unknowable for unknown types."""
        lasting = oid < FIRST_NORMAL_OID and not self.catalog.casts
        key = (self.catalog.major.number, oid)
        if lasting and key in _built_in_type_caches:
            return _built_in_type_caches[key]
        cache = self._type_cache(oid)
        if lasting:
            _built_in_type_caches[key] = cache
        return cache

    def _type_cache(self, oid: int) -> TypeCache:
        family, by = self.default_class(oid, "b")
        lt, eq = (self.opfamily_member(family, by, by, strategy) for strategy in (LESS, EQUAL))
        cmp = self.opfamily_function(family, by, by)
        hash_family, hash_by = self.default_class(oid, "h")
        if not eq:
            eq = self.opfamily_member(hash_family, hash_by, hash_by, 1)
        hashed = self.opfamily_function(hash_family, hash_by, hash_by)

        parts: list[int] = []
        row = self.type(self.base_type(oid)[0])
        if eq == _ARRAY_EQ or cmp == _BTARRAYCMP:
            parts = [row.element]
        elif (eq == _RECORD_EQ or cmp == _BTRECORDCMP) and row.kind == "c":
            parts = [field.type for field in self.fields(row.oid) if not field.dropped]
        elif hashed == _HASH_RANGE:
            parts = [row.base]
        elif hashed == _HASH_MULTIRANGE:
            parts = [self.type(row.base).base]
        # Of anyarray itself, as columns of pg_stats are, no element is known.
        held = [self.type_cache(part) if part or row.kind == "c" else TypeCache() for part in parts]
        if hashed in (_HASH_ARRAY, _HASH_RECORD, _HASH_RANGE, _HASH_MULTIRANGE) and not all(
            component.hash for component in held
        ):
            hashed = 0
        if eq in (_ARRAY_EQ, _RECORD_EQ) and not all(component.eq for component in held):
            eq = 0
        if lt in (_ARRAY_LT, _RECORD_LT) and not all(component.cmp for component in held):
            lt = cmp = 0
        if hashed == _HASH_RECORD and row.oid == oids.RECORD:
            hashed = 0  # the fields of an anonymous record are known only when it runs
        return TypeCache(lt, eq, cmp, hashed)


_PSEUDO_TARGETS = {
    oids.ANYARRAY: "",
    oids.ANYCOMPATIBLEARRAY: "",
    oids.ANYNONARRAY: "",
    oids.ANYCOMPATIBLENONARRAY: "",
    oids.RECORD_ARRAY: "",
    oids.ANYENUM: "e",
    oids.ANYRANGE: "r",
    oids.ANYCOMPATIBLERANGE: "r",
    oids.ANYMULTIRANGE: "m",
    oids.ANYCOMPATIBLEMULTIRANGE: "m",
    oids.RECORD: "c",
}
"""Pseudo-types that take every type of a kind."""


def depends_on_build(collation: str) -> bool:
    """Return whether initdb may have created a collation of that name on some builds or machines."""
    return bool(_LOCALE.fullmatch(collation) or _LOCALE_ALIASES.fullmatch(collation.partition(".")[0]))


def _assumed_collation(name: str) -> Collation:
    row = _assumed_collations.get(name)
    if row is None:
        oid = _FIRST_ASSUMED_COLLATION + len(_assumed_collations)
        row = _assumed_collations[name] = Collation(oid, name, PG_CATALOG, SUPERUSER)
    return row
