"""Relations, their columns, indexes and constraints, as the system catalogs and views list them, and the conditions of
a query that choose among them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from msgspec import Struct

from pubcheck.postgres.catalog import INFORMATION_SCHEMA, NAMESPACE, PG_CATALOG, PG_TOAST, RELATION, TEMPORARY
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
