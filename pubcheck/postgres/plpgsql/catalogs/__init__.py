"""The system catalogs and views that guards query, read from the catalog in memory.

A scan returns the rows, whether each of them is certain, and whether the list is complete. With an open world the list
is complete only if the unit itself created or dropped the objects of all the names that the query asks for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pubcheck.postgres.plpgsql.catalogs.objects import (
    objects_of_kind,
    pg_database,
    pg_enum,
    pg_namespace,
    pg_proc,
    pg_type,
    policies,
    roles,
    schemata,
)
from pubcheck.postgres.plpgsql.catalogs.publications import (
    pg_publication,
    pg_publication_namespace,
    pg_publication_rel,
    pg_publication_sequences,
    pg_publication_tables,
    pg_subscription,
)
from pubcheck.postgres.plpgsql.catalogs.relations import (
    information_columns,
    partial_index,
    pg_attribute,
    pg_class,
    pg_constraint,
    pg_index,
    pg_inherits,
    table_constraints,
    table_type,
    view,
)
from pubcheck.postgres.plpgsql.catalogs.scans import NOTHING_KNOWN, Conditions, Reader, Row, Scan
from pubcheck.postgres.plpgsql.values import UNKNOWN
from pubcheck.postgres.session import Session


def scan(session: Session, name: str, conditions: Conditions) -> Scan:
    """Return the known rows of a catalog; ``name`` is a relation of pg_catalog or information_schema."""
    reader = _CATALOGS.get(name)
    return reader(session, conditions) if reader is not None else NOTHING_KNOWN


_CATALOGS: dict[str, Reader] = {
    "pg_attribute": pg_attribute,
    "pg_authid": roles("rolname"),
    "pg_class": pg_class,
    "pg_constraint": pg_constraint,
    "pg_database": pg_database,
    "pg_enum": pg_enum,
    "pg_extension": objects_of_kind("extension", "extname"),
    "pg_index": pg_index,
    "pg_indexes": partial_index,
    "pg_inherits": pg_inherits,
    "pg_matviews": view("m", "schemaname", "matviewname"),
    "pg_namespace": pg_namespace,
    "pg_policies": policies,
    "pg_policy": objects_of_kind("policy", "polname", "polrelid"),
    "pg_proc": pg_proc,
    "pg_publication": pg_publication,
    "pg_publication_namespace": pg_publication_namespace,
    "pg_publication_rel": pg_publication_rel,
    "pg_publication_sequences": pg_publication_sequences,
    "pg_publication_tables": pg_publication_tables,
    "pg_roles": roles("rolname"),
    "pg_sequences": view("S", "schemaname", "sequencename"),
    "pg_subscription": pg_subscription,
    "pg_tables": view("rp", "schemaname", "tablename"),
    "pg_trigger": objects_of_kind("trigger", "tgname", "tgrelid"),
    "pg_type": pg_type,
    "pg_user": roles("usename"),
    "pg_views": view("v", "schemaname", "viewname"),
    "columns": information_columns,
    "schemata": schemata,
    "table_constraints": table_constraints,
    "tables": view("rpvf", "table_schema", "table_name", table_type),
}


def matching(rows: Iterable[tuple[Row, bool]], conditions: Conditions) -> Iterator[tuple[Row, bool]]:
    """Return the rows whose known values match the conditions."""
    for row, sure in rows:
        if all(row.get(column, UNKNOWN) is UNKNOWN or row[column] in values for column, values in conditions.items()):
            yield row, sure
