"""The publisher as a stream has to show it: how each relation is described, and the changes that may come under it.

A relation can be published in several ways: its own changes, those of each of its partitions, and at different times
as the schema changes. Each is a ``Route``. Nothing is computed before the stream names a relation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from pubcheck.postgres.catalog import PG_CATALOG, Catalog
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.replication.publication_lookup import described_columns, replica_identity
from pubcheck.postgres.replication.subscription_set import Combined, combine
from pubcheck.postgres.session import Session

FIRST_DESCRIBED_TYPE = 10000
"""FirstGenbkiObjectId: types from this OID on are described by a Type message, because subscribers may not know it."""


class TypeName(Struct, frozen=True):
    """A column's type as the stream shows it: the OID of a built-in type; of any other type ``oid`` is 0, and
    namespace and name are those of its base type. ``namespace`` is empty for pg_catalog."""

    oid: int
    namespace: str = ""
    name: str = ""


class ColumnShape(Struct, frozen=True):
    """A column of a Relation message. ``type`` is None if it is unknown."""

    name: str
    key: bool
    type: TypeName | None
    type_modifier: int


class Shape(Struct, frozen=True):
    """A Relation message, apart from its OID."""

    namespace: str
    name: str
    replica_identity: str
    columns: tuple[ColumnShape, ...]


class State(Struct, frozen=True):
    """The publisher's catalog at one time, with the publications that the stream was requested for."""

    session: Session
    publications: tuple[str, ...]

    @property
    def catalog(self) -> Catalog:
        return self.session.catalog

    def asked(self) -> list[int]:
        names = self.catalog.publication_names
        return [names[name] for name in self.publications if name in names]


class Route(Struct, frozen=True, eq=False):
    """A table's changes as they come under a relation: ``target``, the table itself or its partitioned root.

    ``numbers`` are the target's column numbers in the order sent. ``published`` is None if the relation is only
    described: a partition whose changes come under its root is described too.
    """

    state: State
    shape: Shape
    target: Relation
    table: Relation
    numbers: tuple[int, ...]
    published: Combined | None

    @property
    def certain(self) -> bool:
        return self.target.seen and self.table.seen and (self.published is None or self.published.certain)

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(self.target.columns[number - 1] for number in self.numbers)


class Publisher:
    """What a stream may show of a publisher, whose catalog had the ``states`` one after the other. ``publications`` are
    those that the stream was requested with."""

    def __init__(self, states: Sequence[State]) -> None:
        self.states = states
        self.publications = states[-1].publications
        self.major = states[-1].catalog.major.number
        self._routes: dict[tuple[str, str], list[Route]] = {}

    def routes(self, namespace: str, name: str) -> list[Route]:
        """Return the ways in which a relation is published, those of the last state first. Empty for a relation that is
        not published."""
        key = (namespace or "pg_catalog", name)
        routes = self._routes.get(key)
        if routes is None:
            routes = [route for state in reversed(self.states) for route in _routes(state, *key)]
            self._routes[key] = routes
        return routes

    def relation(self, namespace: str, name: str) -> Relation | None:
        """Return a relation of that name, of the last state that has one."""
        rows = (_relation(state.catalog, namespace or "pg_catalog", name) for state in reversed(self.states))
        return next((row for row in rows if row is not None), None)


def _relation(catalog: Catalog, namespace: str, name: str) -> Relation | None:
    schema = catalog.namespace_names.get(namespace)
    oid = None if schema is None else catalog.relation_names.get((schema, name))
    return None if oid is None else catalog.relations[oid]


def _routes(state: State, namespace: str, name: str) -> Iterator[Route]:
    catalog, asked = state.catalog, state.asked()
    target = _relation(catalog, namespace, name)
    if target is None or target.kind not in "rp":
        return
    tables = [target.oid]
    if target.kind == "p":
        tables += catalog.descendants(target.oid)
    for oid in dict.fromkeys(tables):
        table = catalog.relations[oid]
        published = combine(catalog, asked, oid)
        if published is None:
            continue
        if published.arrives_as == target.oid:
            yield _route(state, target, table, published, published)
        elif oid == target.oid:
            yield _route(state, target, table, published, None)


def _route(state: State, target: Relation, table: Relation, described: Combined, published: Combined | None) -> Route:
    """``described`` is how the table is published; ``published`` is None if its changes arrive as another relation."""
    catalog = state.catalog
    publications = [catalog.publications[oid] for oid in described.publications]
    described_as = described_columns(catalog, catalog.relations[described.arrives_as], publications)
    columns = described_as.of(catalog.major, target)
    identity = replica_identity(catalog, target)
    namespace = catalog.namespaces[target.namespace].name
    shapes = tuple(
        ColumnShape(column.name, column.number in identity.columns, type_name(state.session, column), column.typmod)
        for column in columns
    )
    shape = Shape("" if namespace == "pg_catalog" else namespace, target.name, target.identity, shapes)
    return Route(state, shape, target, table, tuple(column.number for column in columns), published)


def type_name(session: Session, column: Column) -> TypeName | None:
    """Return a column's type as the stream shows it; None for an unknown one."""
    if not column.type:
        return None
    if column.type < FIRST_DESCRIBED_TYPE:
        return TypeName(column.type)
    try:
        base, _ = session.syscache.base_type(column.type)
        row = session.syscache.type(base)
        if not row.seen:
            return None
        namespace = "" if row.namespace == PG_CATALOG else session.catalog.namespaces[row.namespace].name
    except (Unknowable, KeyError):
        return None
    return TypeName(0, namespace, row.name)
