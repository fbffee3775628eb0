"""Relations, their columns, indexes and constraints, as the system catalogs and views list them."""

from __future__ import annotations

from collections.abc import Callable

from pubcheck.postgres.catalog import TEMPORARY
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.plpgsql.catalogs.scans import (
    NOTHING_KNOWN,
    Conditions,
    Reader,
    Row,
    Scan,
    SchemaMatches,
    all_members_known,
    all_relations_known,
    relations_in_view,
    relations_named,
    relations_of,
    schema_of,
)
from pubcheck.postgres.session import Session


def pg_class(session: Session, conditions: Conditions) -> Scan:
    kinds, spaces = "rpvmiISfct", conditions.get("relnamespace")
    if "oid" in conditions:
        rows, closed = relations_of(session, kinds, conditions["oid"])
    else:
        schemas = SchemaMatches([int(oid) for oid in spaces] if spaces is not None else None, True)
        rows, closed = relations_named(session, kinds, conditions.get("relname"), schemas)
    # A regclass, whose oid it is, says that there is such a relation.
    return Scan([(_class_row(session, row), row.seen or "oid" in conditions) for row in rows], closed)


def _class_row(session: Session, row: Relation) -> Row:
    values: Row = {"oid": row.oid, "relname": row.name, "relnamespace": row.namespace, "relowner": row.owner}
    if row.seen:
        values.update(
            relkind=row.kind,
            relpersistence=row.persistence,
            relispartition=row.partition,
        )
        if not session.healed:
            values["relreplident"] = row.identity if row.kind in "rpm" else "n"
    return values


def view(kinds: str, schema: str, name: str, more: Callable[[Session, Relation], Row] | None = None) -> Reader:
    """A view over relations of some kinds, with the columns that hold schema and name."""

    def read(session: Session, conditions: Conditions) -> Scan:
        rows, closed = relations_in_view(session, kinds, conditions, schema, name)
        return Scan(
            [
                (
                    {
                        schema: schema_of(session, row.namespace),
                        name: row.name,
                        **(more(session, row) if more is not None and row.seen else {}),
                    },
                    row.seen,
                )
                for row in rows
            ],
            closed,
        )

    return read


def table_type(session: Session, row: Relation) -> Row:
    if row.namespace == TEMPORARY:
        kind = "LOCAL TEMPORARY"
    else:
        kind = {"r": "BASE TABLE", "p": "BASE TABLE", "v": "VIEW", "f": "FOREIGN"}[row.kind]
    return {"table_type": kind}


def _table_of_index(session: Session, row: Relation) -> Row:
    index = session.catalog.indexes.get(row.oid)
    table = session.catalog.relations.get(index.table) if index is not None else None
    return {"tablename": table.name} if table is not None else {}


def partial_index(session: Session, conditions: Conditions) -> Scan:
    """pg_indexes by index name, or else by the table's."""
    if "indexname" in conditions or "tablename" not in conditions:
        return view("iI", "schemaname", "indexname", _table_of_index)(session, conditions)
    tables, closed = relations_in_view(session, "rpm", conditions, "schemaname", "tablename")
    rows: list[tuple[Row, bool]] = []
    for table in tables:
        for oid in session.catalog.indexes_of.get(table.oid):
            row = session.catalog.relations[oid]
            values = {
                "schemaname": schema_of(session, row.namespace),
                "indexname": row.name,
                "tablename": table.name,
            }
            rows.append((values, row.seen and table.seen))
    return Scan(rows, closed and all_members_known(session, tables))


def information_columns(session: Session, conditions: Conditions) -> Scan:
    tables, closed = relations_in_view(session, "rpvf", conditions, "table_schema", "table_name")
    rows: list[tuple[Row, bool]] = [
        (
            {
                "table_schema": schema_of(session, table.namespace),
                "table_name": table.name,
                "column_name": column.name,
                "ordinal_position": column.number,
                "is_nullable": "NO" if column.not_null else "YES",
            },
            table.seen,
        )
        for table in tables
        for column in table.live()
    ]
    return Scan(rows, closed and all_members_known(session, tables))


def pg_attribute(session: Session, conditions: Conditions) -> Scan:
    if "attrelid" not in conditions:
        return NOTHING_KNOWN
    tables, closed = relations_of(session, "rpvmfc", conditions["attrelid"])
    rows: list[tuple[Row, bool]] = []
    for table in tables:
        for column in table.columns:
            values: Row = {
                "attrelid": table.oid,
                "attname": column.name,
                "attnum": column.number,
                "attisdropped": column.dropped,
                "attnotnull": column.not_null,
                "attidentity": column.identity,
                "attgenerated": column.generated,
            }
            rows.append((values, table.seen))
    # System columns have negative numbers, which nobody asks for.
    return Scan(rows, closed and all_members_known(session, tables))


def pg_constraint(session: Session, conditions: Conditions) -> Scan:
    catalog = session.catalog
    relations, spaces, names = conditions.get("conrelid"), conditions.get("connamespace"), conditions.get("conname")
    if relations is not None:
        tables, closed = relations_of(session, "rpf", relations)
        closed = closed and all_members_known(session, tables)
    elif spaces is None and names is not None:
        tables, closed = list(catalog.relations.values()), all_relations_known(session)
    else:
        return NOTHING_KNOWN
    rows: list[tuple[Row, bool]] = []
    for table in tables:
        if not catalog.constraints_of.has(table.oid):
            continue
        for oid in catalog.constraints_of.get(table.oid):
            row = catalog.constraints[oid]
            values: Row = {
                "oid": oid,
                "conname": row.name,
                "conrelid": table.oid,
                "contype": row.kind,
                "connamespace": table.namespace,
                "conindid": row.index,
            }
            rows.append((values, table.seen))
    # NOT NULL constraints with names are stored with their columns.
    kinds = conditions.get("contype")
    named = not catalog.major.named_not_null or (kinds is not None and "n" not in kinds)
    return Scan(rows, closed and (named or (names is not None and not any("not_null" in str(name) for name in names))))


def table_constraints(session: Session, conditions: Conditions) -> Scan:
    catalog = session.catalog
    if "table_name" not in conditions and "constraint_name" not in conditions:
        return NOTHING_KNOWN
    tables, closed = relations_in_view(session, "rp", conditions, "table_schema", "table_name")
    words = {"p": "PRIMARY KEY", "u": "UNIQUE", "f": "FOREIGN KEY", "c": "CHECK"}
    rows: list[tuple[Row, bool]] = []
    for table in tables:
        for oid in catalog.constraints_of.get(table.oid):
            row = catalog.constraints[oid]
            if row.kind in words:
                values: Row = {
                    "constraint_name": row.name,
                    "table_schema": schema_of(session, table.namespace),
                    "constraint_schema": schema_of(session, table.namespace),
                    "table_name": table.name,
                    "constraint_type": words[row.kind],
                }
                rows.append((values, table.seen))
    kinds = conditions.get("constraint_type")
    # NOT NULL is shown as a CHECK with a name of the server's.
    closed = closed and all_members_known(session, tables)
    return Scan(rows, closed and kinds is not None and "CHECK" not in kinds)


def pg_index(session: Session, conditions: Conditions) -> Scan:
    catalog = session.catalog
    if "indrelid" not in conditions:
        return NOTHING_KNOWN
    tables, closed = relations_of(session, "rpm", conditions["indrelid"])
    rows: list[tuple[Row, bool]] = []
    for table in tables:
        for oid in catalog.indexes_of.get(table.oid):
            row = catalog.indexes[oid]
            values: Row = {
                "indexrelid": oid,
                "indrelid": table.oid,
                "indisunique": row.unique,
                "indisprimary": row.primary,
                "indisvalid": row.valid,
            }
            if not session.healed:
                values["indisreplident"] = row.identity
            rows.append((values, table.seen))
    return Scan(rows, closed and all_members_known(session, tables))


def pg_inherits(session: Session, conditions: Conditions) -> Scan:
    catalog = session.catalog
    children = conditions.get("inhrelid")
    rows: list[tuple[Row, bool]] = []
    for row in catalog.relations.values():
        rows += [({"inhrelid": row.oid, "inhparent": parent}, row.seen) for parent in row.parents]
    children_rows = [catalog.relations.get(oid) for oid in children or ()]
    closed = children is not None and all(row is not None and row.seen for row in children_rows)
    return Scan(rows, (closed or all_relations_known(session)) and not session.blind)
