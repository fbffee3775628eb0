"""The result of scanning a system catalog: its rows, and whether the list of rows is complete."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from pubcheck.postgres.catalog import INFORMATION_SCHEMA, NAMESPACE, PG_CATALOG, PG_TOAST, RELATION
from pubcheck.postgres.catalog.rows import Publication, Relation, Type
from pubcheck.postgres.plpgsql.values import Value
from pubcheck.postgres.session import Session

Row = dict[str, Value]
Conditions = Mapping[str, tuple[Value, ...]]
"""The accepted values by column: a row is in the result only if each column has one of its values."""


class Scan(Struct):
    """The rows of a catalog that may match, with whether each is surely there; ``closed``: there are no others."""

    rows: list[tuple[Row, bool]]
    closed: bool


NOTHING_KNOWN = Scan([], False)
Reader = Callable[[Session, Conditions], Scan]
"""Reads a catalog."""


def all_relations_known(session: Session) -> bool:
    """Return whether a relation that is not in the catalog certainly does not exist, whatever its name."""
    return session.complete and not session.blind and "extension relations" not in session.catalog.settings


def all_members_known(session: Session, rows: Iterable[Publication | Relation | Type]) -> bool:
    """Return whether the members, columns, constraints and labels of these objects are all known."""
    return not session.blind and all(row.seen for row in rows)


class SchemaMatches(Struct):
    """The schemas that a query asks for: their oids, and whether those are all that have these names.

    ``oids`` is None for all schemas, those of the server too.
    """

    oids: list[int] | None
    closed: bool


def schemas_named(session: Session, names: tuple[Value, ...] | None) -> SchemaMatches:
    if names is None:
        return SchemaMatches(None, True)
    catalog = session.catalog
    oids, closed = [], True
    for name in names:
        oid = catalog.namespace_names.get(str(name))
        if oid is not None:
            oids.append(oid)
        else:
            closed = closed and closed_name(session, NAMESPACE, 0, str(name))
    return SchemaMatches(oids, closed)


def closed_name(session: Session, kind: str, namespace: int, name: str) -> bool:
    """Return whether a name that is not in the catalog certainly refers to nothing."""
    if name.startswith("pg_"):
        return False
    return session.is_closed(kind, namespace, name)


_SERVERS_OWN = (PG_CATALOG, PG_TOAST, INFORMATION_SCHEMA)


def relations_of(session: Session, kinds: str, oids: tuple[Value, ...]) -> tuple[list[Relation], bool]:
    """Return the relations of these kinds and oids, and whether the list is complete."""
    relations = session.catalog.relations
    rows = [relations[oid] for oid in oids if oid in relations]
    return [row for row in rows if row.kind in kinds], len(rows) == len(oids)


def relations_in_view(
    session: Session, kinds: str, conditions: Conditions, schema: str, name: str
) -> tuple[list[Relation], bool]:
    """Return the relations that a view lists for the conditions on its schema and name columns, and whether the list is
    complete.
    """
    return relations_named(session, kinds, conditions.get(name), schemas_named(session, conditions.get(schema)))


def relations_named(
    session: Session, kinds: str, names: tuple[Value, ...] | None, schemas: SchemaMatches
) -> tuple[list[Relation], bool]:
    """Return the relations of these kinds, names and schemas, and whether the list is complete."""
    catalog = session.catalog
    if names is not None:
        relations: list[Relation] = []
        closed = schemas.closed
        among = schemas.oids
        for name in map(str, names):
            for namespace in among if among is not None else list(catalog.namespaces):
                oid = catalog.relation_names.get((namespace, name))
                if oid is not None:
                    relations.append(catalog.relations[oid])
                elif among is not None:
                    closed = closed and namespace not in _SERVERS_OWN
                    closed = closed and closed_name(session, RELATION, namespace, name)
            closed = closed and (among is not None or (all_relations_known(session) and not name.startswith("pg_")))
        return [row for row in relations if row.kind in kinds], closed
    if schemas.oids is None:
        return [row for row in catalog.relations.values() if row.kind in kinds], False
    listed = [catalog.relations[oid] for namespace in schemas.oids for oid in catalog.relations_in.get(namespace)]
    closed = schemas.closed and all_relations_known(session) and not any(oid in _SERVERS_OWN for oid in schemas.oids)
    return [row for row in listed if row.kind in kinds], closed


def schema_of(session: Session, oid: int) -> str:
    return session.catalog.namespaces[oid].name
