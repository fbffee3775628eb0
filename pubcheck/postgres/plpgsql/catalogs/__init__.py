"""The system catalogs and views that guards query, read from the catalog in memory.

A scan returns the rows, whether each of them is certain, and whether the list is complete. With an open world the list
is complete only if the unit itself created or dropped the objects of all the names that the query asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.plpgsql.catalogs import objects, relations
from pubcheck.postgres.plpgsql.catalogs.relations import NOTHING_KNOWN, Conditions, Reader, Row, Scan
from pubcheck.postgres.plpgsql.values import UNKNOWN
from pubcheck.postgres.session import Session


def scan(session: Session, name: str, conditions: Conditions) -> Scan:
    """Return the known rows of a catalog; ``name`` is a relation of pg_catalog or information_schema."""
    reader = _CATALOGS.get(name)
    return reader(session, conditions) if reader is not None else NOTHING_KNOWN


_CATALOGS: dict[str, Reader] = {
    "pg_attribute": relations.pg_attribute,
    "pg_authid": objects.roles("rolname"),
    "pg_class": relations.pg_class,
    "pg_constraint": relations.pg_constraint,
    "pg_database": objects.pg_database,
    "pg_enum": objects.pg_enum,
    "pg_extension": objects.objects_of_kind("extension", "extname"),
    "pg_index": relations.pg_index,
    "pg_indexes": relations.partial_index,
    "pg_inherits": relations.pg_inherits,
    "pg_matviews": relations.view("m", "schemaname", "matviewname"),
    "pg_namespace": objects.pg_namespace,
    "pg_policies": objects.policies,
    "pg_policy": objects.objects_of_kind("policy", "polname", "polrelid"),
    "pg_proc": objects.pg_proc,
    "pg_publication": objects.pg_publication,
    "pg_publication_namespace": objects.pg_publication_namespace,
    "pg_publication_rel": objects.pg_publication_rel,
    "pg_publication_sequences": objects.pg_publication_sequences,
    "pg_publication_tables": objects.pg_publication_tables,
    "pg_roles": objects.roles("rolname"),
    "pg_sequences": relations.view("S", "schemaname", "sequencename"),
    "pg_subscription": objects.pg_subscription,
    "pg_tables": relations.view("rp", "schemaname", "tablename"),
    "pg_trigger": objects.objects_of_kind("trigger", "tgname", "tgrelid"),
    "pg_type": objects.pg_type,
    "pg_user": objects.roles("usename"),
    "pg_views": relations.view("v", "schemaname", "viewname"),
    "columns": relations.information_columns,
    "schemata": objects.schemata,
    "table_constraints": relations.table_constraints,
    "tables": relations.view("rpvf", "table_schema", "table_name", relations.table_type),
}


def matching(rows: Iterable[tuple[Row, bool]], conditions: Conditions) -> Iterator[tuple[Row, bool]]:
    """Return the rows whose known values match the conditions."""
    for row, sure in rows:
        if all(row.get(column, UNKNOWN) is UNKNOWN or row[column] in values for column, values in conditions.items()):
            yield row, sure


def columns(session: Session, schema: str, name: str) -> tuple[str, ...] | None:
    """Return the columns of a system catalog or view that can be read, None for any other relation."""
    if name not in _CATALOGS:
        return None
    if schema == "information_schema":
        return builtins(session.catalog.major.number).columns(name) or None
    rows = session.syscache.builtin.columns(name) if schema == "pg_catalog" else None
    return None if rows is None else tuple([row.name for row in rows])
