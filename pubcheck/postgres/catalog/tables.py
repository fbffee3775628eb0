"""The tables of PostgreSQL's system catalogs: the oids that every server has, where objects are entered, the
dependencies between objects, and common queries; and the reasons for which something in them is only assumed.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from pubcheck.postgres.catalog.journaled_dict import Heap, Journal, Multimap, NameHeap
from pubcheck.postgres.catalog.rows import (
    Cast,
    Collation,
    Constraint,
    Index,
    Namespace,
    Operator,
    OtherObject,
    Proc,
    Publication,
    PublicationExclusion,
    PublicationNamespace,
    PublicationRel,
    Relation,
    Role,
    Shown,
    Subscription,
    Type,
)
from pubcheck.postgres.parse import Node
from pubcheck.postgres.source_text import Text
from pubcheck.postgres.versions import BY_NUMBER, Major

if TYPE_CHECKING:
    from pubcheck.diagnostics import Span

    At = tuple[int, int] | Span
    "The source and the number of a statement, or the place of something else."


class Routine(Struct, frozen=True):
    """A function or procedure. ``source`` and ``statement`` number the CREATE FUNCTION; ``about``: its body mentions
    publications, ``changes``: it may change something else.

    ``inputs`` are the names and types of the input arguments, ``defaults`` the (position, expression) of those that
    have one; ``settings`` its SET clauses. ``outputs`` are the names and types of OUT arguments, ``results`` the names
    of those and of INOUT ones.
    """

    name: str
    language: str
    body: Text
    source: int
    statement: int
    about: bool
    inputs: tuple[tuple[str, str], ...]
    outputs: tuple[tuple[str, str], ...] = ()
    results: tuple[str, ...] = ()
    defaults: tuple[tuple[int, Node], ...] = ()
    returns: str = "void"
    returns_set: bool = False
    procedure: bool = False
    settings: tuple[Node, ...] = ()
    changes: bool = False

    def header(self) -> str:
        """Return the part of a CREATE FUNCTION before AS, with argument and result types that any parser knows."""
        if self.returns in ("trigger", "event_trigger"):
            return f"CREATE FUNCTION {_quoted(self.name)}() RETURNS {self.returns} LANGUAGE plpgsql AS"
        arguments = [f"{_quoted(name)} {_plain(type_name)}".strip() for name, type_name in self.inputs]
        arguments += [f"OUT {_quoted(name)} {_plain(type_name)}" for name, type_name in self.outputs if name]
        kind = "PROCEDURE" if self.procedure else "FUNCTION"
        returns = ""
        if not self.procedure:
            several = len(self.outputs) > 1
            of_one = _plain(self.outputs[0][1]) if self.outputs and self.outputs[0][0] else "text"
            result = "record" if several else of_one if self.outputs or self.returns != "void" else "void"
            returns = f" RETURNS {'SETOF ' if self.returns_set else ''}{result}"
        return f"CREATE {kind} {_quoted(self.name)}({', '.join(arguments)}){returns} LANGUAGE plpgsql AS"

    def last_statement(self) -> str:
        """The last statement of a body in SQL."""
        parts = [part for part in self.body.text.split(";") if part.strip()]
        return parts[-1] if parts else ""


_TYPES = re.compile(r"(text|int[248]?|bool|name|varchar|regclass|_text|_name|_varchar|_int[248]|jsonb?)(\[\])?")


def _plain(type_name: str) -> str:
    return type_name if _TYPES.fullmatch(type_name) else "text[]" if type_name.endswith("[]") else "text"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"' if name else ""


class Reason(Struct, frozen=True, gc=False):
    """An unknown that a finding depends on. ``at`` is the place of its origin, if there is a single one."""

    text: str
    place: At | None = None


class Reasons:
    """The first reason for each doubt. A doubt that is undone keeps its reason; nothing reads it then."""

    def __init__(self) -> None:
        self.at: At | None = None
        """The current statement."""
        self.text = ""
        """A description of the statement, if more is known than that its effect is unknown."""
        self.rows: dict[int, Reason] = {}
        """The reasons of rows that exist by assumption, though the files create or name them, by OID."""
        self.flags: dict[str, Reason] = {}
        """The reasons of a session's flags (``session.statement_context.Uncertainty``), by flag."""

    def current(self, text: str) -> Reason:
        """A reason that the current statement gives; ``text`` describes it where nothing better is known."""
        return Reason(self.text or text, self.at)

    def assume_row(self, oid: int, text: str) -> None:
        self.rows.setdefault(oid, self.current(text))


NOT_FOLLOWED = "the effect of this statement, which is unknown"
VARIABLE = "the value of a psql variable in this statement"
MAY_NOT_RUN = "whether this statement takes effect"
"""The start of a text about a statement; its place follows."""


FIRST_NORMAL_OID = 16384
"""FirstNormalObjectId (access/transam.h): objects created by initdb have lower oids."""
FIRST_UNPINNED = 12000
"""FirstUnpinnedObjectId: a relation below is a system catalog, and nothing below can be dropped."""
FIRST_GENERATED = 10000
"""FirstGenbkiObjectId: from here on initdb's oids differ between majors (those of information_schema among them)."""

PG_CATALOG, PG_TOAST, PUBLIC, INFORMATION_SCHEMA = 11, 99, 2200, 12000
TEMPORARY = 16000
"""The session's own temporary schema; its real number differs from session to session."""

SUPERUSER = 10
DATABASE_OWNER = 6171
"""BOOTSTRAP_SUPERUSERID and pg_database_owner, who owns the schema public."""

# Classes of objects in dependencies; one letter each.
RELATION, TYPE, PROC, OPERATOR, CAST, COLLATION, CONSTRAINT = "r", "t", "f", "o", "k", "l", "c"
NAMESPACE, PUBLICATION, PUBLICATION_REL, PUBLICATION_NAMESPACE, DEFAULT, OTHER, ROLE = "n", "p", "m", "s", "d", "x", "u"
PUBLICATION_EXCLUSION = "e"

NORMAL, AUTO, INTERNAL, PARTITION, EXTENSION = "n", "a", "i", "P", "e"
"""pg_depend.deptype."""

Object = tuple[str, int, int]
"""(class, oid, column number or 0): pg_depend's classid, objid, objsubid."""


_InSchema = Collation | Operator | OtherObject | Proc | Type
_OfPublication = PublicationExclusion | PublicationNamespace | PublicationRel
Registered = _InSchema | _OfPublication | Cast | Namespace | Publication | Role
Key = Callable[[Any], Any]


class Register(NamedTuple):
    """Where the objects of a class are entered.

    ``rows`` and ``names`` are tables of the catalog, ``key`` gives an object's key in the latter. ``groups`` are tables
    of several objects by a key, ``parts`` the objects that it belongs to, by their class and its field. ``noted``: the
    keys that the unit itself took away are kept.
    """

    kind: str
    rows: str
    names: str = ""
    key: Key = attrgetter("name")
    groups: tuple[tuple[str, Key], ...] = ()
    parts: tuple[tuple[str, str], ...] = ()
    noted: bool = False

    def gone(self, row: Registered) -> tuple[Any, ...]:
        """Return the object's key in ``Catalog.gone``."""
        key = self.key(row)
        return (self.kind, *key) if isinstance(key, tuple) else (self.kind, 0, key)


_QUALIFIED = attrgetter("namespace", "name")


def _of_publication(kind: str, rows: str, names: str, member: tuple[str, str], groups: tuple[str, str]) -> Register:
    """Return the register of what belongs to a publication and to something else, a (class, field)."""
    fields = ("publication", member[1])
    keys = tuple((group, attrgetter(field)) for group, field in zip(groups, fields, strict=True))
    parts = ((PUBLICATION, "publication"), member)
    return Register(kind, rows, names, attrgetter(*fields), keys, parts, noted=kind != PUBLICATION_EXCLUSION)


_TABLE, _SCHEMA = (RELATION, "relation"), (NAMESPACE, "namespace")
_EXCLUSION, _MEMBER, _MEMBER_SCHEMA = PUBLICATION_EXCLUSION, PUBLICATION_REL, PUBLICATION_NAMESPACE
REGISTERS: dict[type, Register] = {
    Cast: Register(CAST, "casts"),
    Collation: Register(COLLATION, "collations", "collation_names", _QUALIFIED),
    Namespace: Register(NAMESPACE, "namespaces", "namespace_names", noted=True),
    Operator: Register(OPERATOR, "operators", groups=(("operator_names", _QUALIFIED),)),
    OtherObject: Register(OTHER, "others", "other_names", attrgetter("kind", "namespace", "name")),
    Proc: Register(PROC, "procs", groups=(("proc_names", _QUALIFIED),)),
    Publication: Register(PUBLICATION, "publications", "publication_names", noted=True),
    PublicationExclusion: _of_publication(
        _EXCLUSION, "publication_exclusions", "exclusions", _TABLE, ("exclusions_of", "excluded_from")
    ),
    PublicationNamespace: _of_publication(
        _MEMBER_SCHEMA, "publication_namespaces", "schema_members", _SCHEMA, ("schemas_of", "schema_publications")
    ),
    PublicationRel: _of_publication(_MEMBER, "publication_rels", "members", _TABLE, ("members_of", "memberships")),
    Role: Register(ROLE, "roles", "role_names", noted=True),
    Type: Register(TYPE, "types", "type_names", _QUALIFIED, noted=True),
}
ROWS = {RELATION: "relations", CONSTRAINT: "constraints"}
ROWS |= {register.kind: register.rows for register in REGISTERS.values()}
"""The tables by the class of their objects. A default has no row of its own."""


class CatalogTables:
    """The rows of the catalogs by oid, with their names and dependencies. ``Catalog`` enters and removes them."""

    def __init__(self, major: int, database: str = "postgres", *, database_known: bool = True) -> None:
        self.major: Major = BY_NUMBER[major]
        self.database = database
        self.database_known = database_known
        self.journal = journal = Journal()
        self._next_oid = FIRST_NORMAL_OID
        self.reasons = Reasons()

        self.namespaces: Heap[int, Namespace] = NameHeap(journal)
        self.namespace_names: Heap[str, int] = Heap(journal)
        self.relations: Heap[int, Relation] = Heap(journal)
        self.relation_names: Heap[tuple[int, str], int] = Heap(journal)
        self.relations_in: Multimap[int, int] = Multimap(journal)
        self.children: Multimap[int, int] = Multimap(journal)
        self.indexes: Heap[int, Index] = Heap(journal)
        self.indexes_of: Multimap[int, int] = Multimap(journal)
        self.key_indexes_of: Multimap[int, int] = Multimap(journal)
        """The primary key of a table and the index of its REPLICA IDENTITY."""
        self.constraints: Heap[int, Constraint] = Heap(journal)
        self.constraints_of: Multimap[int, int] = Multimap(journal)
        self.constraint_names: Multimap[tuple[int, str], int] = Multimap(journal)
        self._attempts: dict[tuple[int, str, str | None, str], int] = {}
        self._attempts_at: tuple[int, ...] = ()
        self.types: Heap[int, Type] = NameHeap(journal)
        self.type_names: Heap[tuple[int, str], int] = Heap(journal)
        self.procs: Heap[int, Proc] = NameHeap(journal)
        self.proc_names: Multimap[tuple[int, str], int] = Multimap(journal)
        self.operators: Heap[int, Operator] = Heap(journal)
        self.operator_names: Multimap[tuple[int, str], int] = Multimap(journal)
        self.casts: Heap[int, Cast] = Heap(journal)
        self.collations: Heap[int, Collation] = Heap(journal)
        self.collation_names: Heap[tuple[int, str], int] = Heap(journal)
        self.others: Heap[int, OtherObject] = Heap(journal)
        self.other_names: Heap[tuple[str, int, str], int] = Heap(journal)
        self.roles: Heap[int, Role] = NameHeap(journal)
        self.role_names: Heap[str, int] = Heap(journal)
        self.database_acl: Heap[tuple[int, str], bool] = Heap(journal)
        self.publications: Heap[int, Publication] = Heap(journal)
        self.publication_names: Heap[str, int] = Heap(journal)
        self.publication_rels: Heap[int, PublicationRel] = Heap(journal)
        self.members: Heap[tuple[int, int], int] = Heap(journal)
        self.members_of: Multimap[int, int] = Multimap(journal)
        self.memberships: Multimap[int, int] = Multimap(journal)
        self.publication_exclusions: Heap[int, PublicationExclusion] = Heap(journal)
        self.exclusions: Heap[tuple[int, int], int] = Heap(journal)
        """The oid of an exclusion, by publication and relation."""
        self.exclusions_of: Multimap[int, int] = Multimap(journal)
        self.excluded_from: Multimap[int, int] = Multimap(journal)
        """The exclusions of a relation."""
        self.publication_namespaces: Heap[int, PublicationNamespace] = Heap(journal)
        self.schema_members: Heap[tuple[int, int], int] = Heap(journal)
        self.schemas_of: Multimap[int, int] = Multimap(journal)
        self.schema_publications: Multimap[int, int] = Multimap(journal)
        self.subscriptions: Heap[str, Subscription] = Heap(journal)
        self.subscriptions_to: Multimap[str, str] = Multimap(journal)
        """The names of subscriptions by the names of their publications."""
        self.dependents: Multimap[tuple[str, int], tuple[Object, int, str]] = Multimap(journal)
        self.dependencies: Multimap[tuple[str, int], tuple[tuple[str, int], tuple[Object, int, str]]]
        self.dependencies = Multimap(journal)
        self.publications_for_all: Heap[int, None] = Heap(journal)
        """FOR ALL TABLES publications, in the order of their creation."""
        self.gone: Heap[tuple[Any, ...], bool] = Heap(journal)
        """Names that the unit itself dropped or renamed: (class, namespace, name). Also members that it removed from
        publications: (class, publication, relation or schema), with 0 for all that SET removed."""
        self.settings: Heap[str, Any] = NameHeap(journal)
        self.databases: Heap[str, int] = Heap(journal)
        """The owners of the server's databases by name; any other database was created elsewhere."""
        for name in ("postgres", "template1", database):
            self.databases[name] = SUPERUSER
        self.routines: Heap[int, Routine] = Heap(journal)
        """The functions whose bodies may matter, by oid."""
        self.shown: Heap[int, Shown] = Heap(journal)
        """The queries of simple views, by oid."""
        self.keeps_definitions = False
        """Whether defaults, bodies and options are kept, for statements that run over rows."""
        self.definitions: Heap[tuple[str, int], Any] = Heap(journal)
        """If they are: parts of statements, by kind and oid, that the other catalogs do not keep."""

    def define(self, kind: str, oid: int, definition: Any) -> None:
        """Keep a part of a statement that no other catalog holds, if definitions are kept."""
        if self.keeps_definitions:
            self.definitions.put((kind, oid), definition)

    def new_oid(self) -> int:
        self._next_oid += 1
        return self._next_oid

    def reserve_oids(self, last: int) -> None:
        """Give new objects oids above ``last``, which is one of a server."""
        self._next_oid = max(self._next_oid, last)

    # Dependencies (pg_depend).

    def depend(self, dependent: Object, on: Object, kind: str) -> None:
        """Record that ``dependent`` depends on ``on``; built-in objects are pinned and never recorded.

        The schema public is not pinned (IsPinnedObject).
        """
        catalog, oid, number = on
        if oid < TEMPORARY and (catalog, oid) != (NAMESPACE, PUBLIC):
            return
        key, entry = (catalog, oid), (dependent, number, kind)
        self.dependents.add(key, entry)
        self.dependencies.add(dependent[:2], (key, entry))

    def forget_dependencies(
        self,
        dependent: tuple[str, int],
        column: int | None = None,
        *,
        on: tuple[str, int] | None = None,
        how: str | None = None,
    ) -> None:
        """Remove dependencies that ``depend`` recorded: all, or those of one column, on one object, of one kind."""
        for key, entry in self.dependencies.get(dependent):
            if column in (None, entry[0][2]) and on in (None, key) and how in (None, entry[2]):
                self.dependencies.remove(dependent, (key, entry))
                self.dependents.remove(key, entry)

    # Questions that many ask.

    def has_check(self, domain: int) -> bool:
        """Return whether a domain of the unit's has CHECK constraints of its own."""
        constraints = (self.others.get(key[1]) for key, _, _ in self.dependents.get((TYPE, domain)) if key[0] == OTHER)
        return any(
            constraint is not None and constraint.kind == "constraint" and constraint.namespace == domain
            for constraint in constraints
        )

    def descendants(self, oid: int) -> list[int]:
        """``oid`` and all that inherit from it, as find_all_inheritors orders them (breadth first, by oid)."""
        relations, seen = [oid], {oid}
        for parent in relations:
            for child in sorted(self.children.get(parent)):
                if child not in seen:
                    seen.add(child)
                    relations.append(child)
        return relations

    def ancestors(self, oid: int) -> list[int]:
        """The partition ancestors of a relation, nearest first (get_partition_ancestors)."""
        ancestors: list[int] = []
        row = self.relations[oid]
        while row.partition and row.parents:
            ancestors.append(row.parents[0])
            row = self.relations[row.parents[0]]
        return ancestors

    def constraint(self, relation: int, name: str) -> Constraint | None:
        for oid in self.constraint_names.groups.get((self.relations[relation].namespace, name), ()):
            row = self.constraints.get(oid)  # None for the oid of a relation, which NOT NULL constraints are entered by
            if row is not None and row.relation == relation:
                return row
        return None

    def constraint_taken(self, namespace: int, name: str) -> bool:
        """Return whether a constraint of that name exists in a schema.

        The names of NOT NULL constraints are entered under their relation's oid and never taken out, so they are
        looked at again here.
        """
        for oid in self.constraint_names.groups.get((namespace, name), ()):
            if oid in self.constraints:
                return True
            row = self.relations.get(oid)
            if row is not None and row.namespace == namespace:
                for column in row.columns:
                    held = column.constraint
                    if held is not None and held.name == name and column.not_null:
                        return True
        return False

    def first_attempt(self, key: tuple[int, str, str | None, str]) -> int:
        """Return the first number with which a generated name may be free: the names with lower numbers are taken.

        ``key`` is the schema, the first and the second part of the name, and the label."""
        state = (
            self.journal.undos,
            self.relation_names.removals,
            self.constraint_names.removals,
            self.constraints.removals,
        )
        if state != self._attempts_at:
            self._attempts, self._attempts_at = {}, state
        return self._attempts.get(key, 0)

    def failed_attempt(self, key: tuple[int, str, str | None, str], number: int) -> None:
        """The name of that number is one of a relation or of a constraint."""
        if self._attempts.get(key, 0) == number:
            self._attempts[key] = number + 1

    def owner_of_index(self, index: int) -> Constraint | None:
        """The constraint that an index implements, if it does."""
        for dependent in self.dependencies.get((RELATION, index)):
            (kind, oid), (_, _, how) = dependent
            if kind == CONSTRAINT and how == INTERNAL:
                return self.constraints.get(oid)
        return None
