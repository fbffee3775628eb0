"""The system catalogs and views that guards ask, read from the catalog in memory.

A scan says which rows there are, of each whether it is sure, and whether that is all: with the world open it is only
where the names that are asked for are closed (made, or taken away, by the unit itself).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pubcheck.postgres.plpgsql.catalogs.objects import (
    others,
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
from pubcheck.postgres.plpgsql.catalogs.scans import NOTHING_KNOWN, Reader, Row, Scan, Wanted
from pubcheck.postgres.plpgsql.values import UNKNOWN
from pubcheck.postgres.session import Session


def scan(session: Session, name: str, conditions: Wanted) -> Scan:
    """What is known of a catalog's rows. ``name`` is that of a relation of pg_catalog or information_schema."""
    reader = _CATALOGS.get(name)
    return reader(session, conditions) if reader is not None else NOTHING_KNOWN


_CATALOGS: dict[str, Reader] = {
    "pg_attribute": pg_attribute,
    "pg_authid": roles("rolname"),
    "pg_class": pg_class,
    "pg_constraint": pg_constraint,
    "pg_database": pg_database,
    "pg_enum": pg_enum,
    "pg_extension": others("extension", "extname"),
    "pg_index": pg_index,
    "pg_indexes": partial_index,
    "pg_inherits": pg_inherits,
    "pg_matviews": view("m", "schemaname", "matviewname"),
    "pg_namespace": pg_namespace,
    "pg_policies": policies,
    "pg_policy": others("policy", "polname", "polrelid"),
    "pg_proc": pg_proc,
    "pg_publication": pg_publication,
    "pg_publication_namespace": pg_publication_namespace,
    "pg_publication_rel": pg_publication_rel,
    "pg_publication_tables": pg_publication_tables,
    "pg_roles": roles("rolname"),
    "pg_sequences": view("S", "schemaname", "sequencename"),
    "pg_subscription": pg_subscription,
    "pg_tables": view("rp", "schemaname", "tablename"),
    "pg_trigger": others("trigger", "tgname", "tgrelid"),
    "pg_type": pg_type,
    "pg_user": roles("usename"),
    "pg_views": view("v", "schemaname", "viewname"),
    "columns": information_columns,
    "schemata": schemata,
    "table_constraints": table_constraints,
    "tables": view("rpvf", "table_schema", "table_name", table_type),
}


def matching(rows: Iterable[tuple[Row, bool]], conditions: Wanted) -> Iterator[tuple[Row, bool]]:
    """The rows whose known values are among the wanted ones."""
    for row, sure in rows:
        if all(row.get(column, UNKNOWN) is UNKNOWN or row[column] in values for column, values in conditions.items()):
            yield row, sure
