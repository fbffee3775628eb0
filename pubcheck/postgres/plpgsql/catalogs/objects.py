"""Rows of the system catalogs for schemas, types, roles, and objects that are modelled by little more than a name."""

from __future__ import annotations

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import PG_CATALOG, TYPE
from pubcheck.postgres.plpgsql.catalogs.scans import (
    NOTHING_KNOWN,
    Conditions,
    Reader,
    Row,
    Scan,
    all_members_known,
    all_relations_known,
    relations_in_view,
    schema_of,
    schemas_named,
)
from pubcheck.postgres.session import Session


def pg_namespace(session: Session, conditions: Conditions) -> Scan:
    catalog = session.catalog
    if "oid" in conditions:
        rows = [catalog.namespaces[oid] for oid in conditions["oid"] if oid in catalog.namespaces]
        closed = len(rows) == len(conditions["oid"])
    else:
        schemas = schemas_named(session, conditions.get("nspname"))
        closed = schemas.closed and (schemas.oids is not None or all_relations_known(session))
        rows = [catalog.namespaces[oid] for oid in (catalog.namespaces if schemas.oids is None else schemas.oids)]
    by_oid = "oid" in conditions
    return Scan(
        [({"oid": row.oid, "nspname": row.name, "nspowner": row.owner}, row.seen or by_oid) for row in rows], closed
    )


def schemata(session: Session, conditions: Conditions) -> Scan:
    schemas = pg_namespace(session, {"nspname": conditions["schema_name"]} if "schema_name" in conditions else {})
    return Scan([({"schema_name": row["nspname"]}, sure) for row, sure in schemas.rows], schemas.closed)


def pg_type(session: Session, conditions: Conditions) -> Scan:
    catalog = session.catalog
    names, spaces = conditions.get("typname"), conditions.get("typnamespace")
    if names is None:
        return NOTHING_KNOWN
    rows: list[tuple[Row, bool]] = []
    closed = True
    for name in map(str, names):
        for namespace in [int(oid) for oid in spaces] if spaces is not None else list(catalog.namespaces):
            oid = catalog.type_names.get((namespace, name))
            if oid is not None:
                row = catalog.types[oid]
                values = {"oid": oid, "typname": name, "typnamespace": namespace, "typtype": row.kind}
                rows.append((values, row.seen))
            elif (namespace, name) in catalog.relation_names:
                closed = False  # a table's row type, or an index, which has none
            elif spaces is not None:
                closed = closed and namespace != PG_CATALOG and session.is_closed(TYPE, namespace, name)
        if spaces is None:
            is_builtin = builtins(catalog.major.number).type("pg_catalog", name)
            closed = closed and all_relations_known(session) and not session.extensions and not is_builtin
    return Scan(rows, closed)


def pg_enum(session: Session, conditions: Conditions) -> Scan:
    types = session.catalog.types
    oids = conditions.get("enumtypid")
    if oids is None or any(oid not in types for oid in oids):
        return NOTHING_KNOWN
    rows = [types[oid] for oid in oids]
    return Scan(
        [({"enumtypid": row.oid, "enumlabel": label}, row.seen) for row in rows for label in row.labels],
        all_members_known(session, rows),
    )


def roles(column: str) -> Reader:
    def read(session: Session, conditions: Conditions) -> Scan:
        catalog = session.catalog
        names = conditions.get(column)
        if names is None:
            return Scan([({column: row.name}, row.seen) for row in catalog.roles.values()], False)
        oids = [catalog.role_names.get(str(name)) for name in names]
        rows = [catalog.roles[oid] for oid in oids if oid is not None]
        # Roles are the whole server's: even a unit that is all of a database does not make all of them.
        return Scan([({column: row.name, "oid": row.oid}, row.seen) for row in rows], len(rows) == len(names))

    return read


def objects_of_kind(kind: str, column: str, relation: str = "") -> Reader:
    """Return a reader of objects that are modelled by their name alone.

    ``relation`` is the column with the oid of their relation.
    """

    def read(session: Session, conditions: Conditions) -> Scan:
        catalog = session.catalog
        rows: list[tuple[Row, bool]] = []
        for row in catalog.others.values():
            if row.kind == kind:
                values: Row = {column: row.name, "oid": row.oid}
                if relation:
                    values[relation] = row.namespace
                rows.append((values, True))
        owners = conditions.get(relation) if relation else None
        if owners is not None:
            owner_relations = [catalog.relations.get(oid) for oid in owners]
            return Scan(rows, not session.blind and all(table is not None and table.seen for table in owner_relations))
        return Scan(rows, False)

    return read


def policies(session: Session, conditions: Conditions) -> Scan:
    tables, closed = relations_in_view(session, "rp", conditions, "schemaname", "tablename")
    by_oid = {table.oid: table for table in tables}
    rows: list[tuple[Row, bool]] = []
    for row in session.catalog.others.values():
        table = by_oid.get(row.namespace) if row.kind == "policy" else None
        if table is not None:
            values = {
                "policyname": row.name,
                "tablename": table.name,
                "schemaname": schema_of(session, table.namespace),
            }
            rows.append((values, table.seen))
    return Scan(rows, closed and all_members_known(session, tables))


def pg_proc(session: Session, conditions: Conditions) -> Scan:
    rows = [
        ({"oid": row.oid, "proname": row.name, "pronamespace": row.namespace}, True)
        for row in session.catalog.procs.values()
    ]
    return Scan(rows, False)


def pg_database(session: Session, conditions: Conditions) -> Scan:
    catalog = session.catalog
    return Scan([({"datname": catalog.database}, True)] if catalog.database_known else [], False)
