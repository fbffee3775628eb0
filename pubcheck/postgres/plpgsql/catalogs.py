"""The system catalogs and views that guards ask, read from the catalog in memory.

A scan says which rows there are, of each whether it is sure, and whether that is all: with the world open it is only
where the names that are asked for are closed (made, or taken away, by the unit itself).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import (
    INFORMATION_SCHEMA,
    NAMESPACE,
    PG_CATALOG,
    PG_TOAST,
    PUBLICATION,
    RELATION,
    TEMPORARY,
    TYPE,
)
from pubcheck.postgres.catalog.rows import Publication, Relation
from pubcheck.postgres.plpgsql.values import UNKNOWN, Value
from pubcheck.postgres.session import Session
from pubcheck.replication.published import arrival, is_publishable

Row = dict[str, Value]
Wanted = Mapping[str, tuple[Value, ...]]
"""By column, the values of which a row must have one for the query to take it."""


class Scan(Struct):
    """The rows of a catalog that may match, with whether each is surely there; ``closed``: there are no others."""

    rows: list[tuple[Row, bool]]
    closed: bool


NOTHING_KNOWN = Scan([], False)


def scan(session: Session, name: str, wanted: Wanted) -> Scan:
    """What is known of a catalog's rows. ``name`` is that of a relation of pg_catalog or information_schema."""
    found = _CATALOGS.get(name)
    return found(session, wanted) if found is not None else NOTHING_KNOWN


# --- What is certain to be all ------------------------------------------------------------------------------------


def _all_seen(session: Session) -> bool:
    """Whether a relation that is not in the catalog certainly does not exist, whatever its name."""
    return session.complete and not session.blind and "extension relations" not in session.catalog.settings


def _members_closed(session: Session, publications: Iterable[Publication]) -> bool:
    """Whether all that these publications name is known."""
    return not session.blind and all(row.seen for row in publications)


class _Schemas(Struct):
    """The schemas that a query asks for: their oids, and whether those are all that have these names.

    ``oids`` is None for all schemas, those of the server too.
    """

    oids: list[int] | None
    closed: bool


def _schemas(session: Session, names: tuple[Value, ...] | None) -> _Schemas:
    if names is None:
        return _Schemas(None, True)
    catalog = session.catalog
    found, closed = [], True
    for name in names:
        oid = catalog.namespace_names.get(str(name))
        if oid is not None:
            found.append(oid)
        else:
            closed = closed and closed_name(session, NAMESPACE, 0, str(name))
    return _Schemas(found, closed)


def closed_name(session: Session, kind: str, namespace: int, name: str) -> bool:
    """Whether a name that is not in the catalog certainly means nothing."""
    if name.startswith("pg_"):
        return False
    return session.is_closed(kind, namespace, name)


_SERVERS_OWN = (PG_CATALOG, PG_TOAST, INFORMATION_SCHEMA)


def _relations(
    session: Session, kinds: str, names: tuple[Value, ...] | None, schemas: _Schemas, oids: tuple[Value, ...] | None
) -> tuple[list[Relation], bool]:
    """The relations of these kinds, names, schemas and oids, and whether they are all."""
    catalog = session.catalog
    if oids is not None:
        rows = [catalog.relations[oid] for oid in oids if oid in catalog.relations]
        return [row for row in rows if row.kind in kinds], len(rows) == len(oids)
    if names is not None:
        found: list[Relation] = []
        closed = schemas.closed
        among = schemas.oids
        for name in map(str, names):
            for namespace in among if among is not None else list(catalog.namespaces):
                oid = catalog.relation_names.get((namespace, name))
                if oid is not None:
                    found.append(catalog.relations[oid])
                elif among is not None:
                    closed = closed and namespace not in _SERVERS_OWN
                    closed = closed and closed_name(session, RELATION, namespace, name)
            closed = closed and (among is not None or (_all_seen(session) and not name.startswith("pg_")))
        return [row for row in found if row.kind in kinds], closed
    if schemas.oids is None:
        return [row for row in catalog.relations.values() if row.kind in kinds], False
    listed = [catalog.relations[oid] for namespace in schemas.oids for oid in catalog.relations_in.get(namespace)]
    closed = schemas.closed and _all_seen(session) and not any(oid in _SERVERS_OWN for oid in schemas.oids)
    return [row for row in listed if row.kind in kinds], closed


def _namespace_name(session: Session, oid: int) -> str:
    return session.catalog.namespaces[oid].name


# --- Relations ----------------------------------------------------------------------------------------------------


def _pg_class(session: Session, wanted: Wanted) -> Scan:
    spaces = wanted.get("relnamespace")
    schemas = _Schemas([int(oid) for oid in spaces] if spaces is not None else None, True)
    rows, closed = _relations(session, "rpvmiISfct", wanted.get("relname"), schemas, wanted.get("oid"))
    # A regclass, whose oid it is, says that there is such a relation.
    return Scan([(_class_row(row), row.seen or "oid" in wanted) for row in rows], closed)


def _class_row(row: Relation) -> Row:
    values: Row = {"oid": row.oid, "relname": row.name, "relnamespace": row.namespace, "relowner": row.owner}
    if row.seen:
        values.update(
            relkind=row.kind,
            relpersistence=row.persistence,
            relreplident=row.identity if row.kind in "rpm" else "n",
            relispartition=row.partition,
        )
    return values


def _view(kinds: str, schema: str, name: str, more: Callable[[Session, Relation], Row] | None = None) -> _Reader:
    """A view over relations of some kinds, with the columns that hold schema and name."""

    def read(session: Session, wanted: Wanted) -> Scan:
        rows, closed = _relations(session, kinds, wanted.get(name), _schemas(session, wanted.get(schema)), None)
        return Scan(
            [
                (
                    {
                        schema: _namespace_name(session, row.namespace),
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


def _table_type(session: Session, row: Relation) -> Row:
    if row.namespace == TEMPORARY:
        said = "LOCAL TEMPORARY"
    else:
        said = {"r": "BASE TABLE", "p": "BASE TABLE", "v": "VIEW", "f": "FOREIGN"}[row.kind]
    return {"table_type": said}


def _table_of_index(session: Session, row: Relation) -> Row:
    index = session.catalog.indexes.get(row.oid)
    table = session.catalog.relations.get(index.table) if index is not None else None
    return {"tablename": table.name} if table is not None else {}


def _partial_index(session: Session, wanted: Wanted) -> Scan:
    """pg_indexes by index name, or else by the table's."""
    if "indexname" in wanted or "tablename" not in wanted:
        return _view("iI", "schemaname", "indexname", _table_of_index)(session, wanted)
    tables, closed = _relations(session, "rpm", wanted["tablename"], _schemas(session, wanted.get("schemaname")), None)
    rows: list[tuple[Row, bool]] = []
    for table in tables:
        for oid in session.catalog.indexes_of.get(table.oid):
            row = session.catalog.relations[oid]
            values = {
                "schemaname": _namespace_name(session, row.namespace),
                "indexname": row.name,
                "tablename": table.name,
            }
            rows.append((values, row.seen and table.seen))
    return Scan(rows, closed and not session.blind and all(table.seen for table in tables))


def _information_columns(session: Session, wanted: Wanted) -> Scan:
    tables, closed = _relations(
        session, "rpvf", wanted.get("table_name"), _schemas(session, wanted.get("table_schema")), None
    )
    rows: list[tuple[Row, bool]] = [
        (
            {
                "table_schema": _namespace_name(session, table.namespace),
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
    return Scan(rows, closed and not session.blind and all(table.seen for table in tables))


def _pg_attribute(session: Session, wanted: Wanted) -> Scan:
    tables, closed = _relations(session, "rpvmfc", None, _Schemas(None, True), wanted.get("attrelid"))
    if "attrelid" not in wanted:
        return NOTHING_KNOWN
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
    return Scan(rows, closed and not session.blind and all(table.seen for table in tables))


# --- Publications -------------------------------------------------------------------------------------------------


def _publications(session: Session, names: tuple[Value, ...] | None) -> tuple[list[Publication], bool]:
    catalog = session.catalog
    if names is None:
        return list(catalog.publications.values()), session.complete and not session.blind
    found, closed = [], True
    for name in map(str, names):
        oid = catalog.publication_names.get(name)
        if oid is not None:
            found.append(catalog.publications[oid])
        else:
            closed = closed and session.is_closed(PUBLICATION, 0, name) and name not in session.doubted
    return found, closed


def _pg_publication(session: Session, wanted: Wanted) -> Scan:
    if "oid" in wanted:
        known = session.catalog.publications
        rows, closed = [known[oid] for oid in wanted["oid"] if oid in known], True
    else:
        rows, closed = _publications(session, wanted.get("pubname"))
    return Scan([(_publication_row(session, row), row.seen) for row in rows], closed)


def _publication_row(session: Session, row: Publication) -> Row:
    values: Row = {"oid": row.oid, "pubname": row.name, "pubowner": row.owner}
    if row.seen:
        values.update(
            puballtables=row.all_tables,
            pubinsert=row.insert,
            pubupdate=row.update,
            pubdelete=row.delete,
            pubtruncate=row.truncate,
            pubviaroot=row.via_root,
        )
    return values


def _listed(session: Session, publication: Publication, row: Relation) -> bool:
    """Whether pg_publication_tables shows a relation under its own name (pg_get_publication_tables)."""
    if not is_publishable(row) or (row.kind == "p" and not publication.via_root):
        return False
    found = arrival(session.catalog, publication, row)
    return found is not None and found.arrives_as == row.oid


def _pg_publication_tables(session: Session, wanted: Wanted) -> Scan:
    catalog = session.catalog
    publications, closed = _publications(session, wanted.get("pubname"))
    schemas = _schemas(session, wanted.get("schemaname"))
    named: tuple[list[Relation], bool] | None = None
    if "tablename" in wanted:
        named = _relations(session, "rp", wanted["tablename"], schemas, None)
    rows: list[tuple[Row, bool]] = []
    for publication in publications:
        lists = not publication.all_tables and not catalog.schemas_of.has(publication.oid)
        closed = closed and _members_closed(session, [publication])
        closed = closed and (
            (named[1] if named is not None else _all_seen(session)) or (lists and not _grows(session, publication))
        )
        if named is not None:
            candidates: Iterable[Relation] = named[0]
        elif lists:
            members = [catalog.publication_rels[oid].relation for oid in catalog.members_of.get(publication.oid)]
            family = {each for oid in members for each in (oid, *catalog.descendants(oid))}
            candidates = [catalog.relations[oid] for oid in sorted(family)]
        else:
            candidates = list(catalog.relations.values())
        for row in candidates:
            if _listed(session, publication, row):
                values = {
                    "pubname": publication.name,
                    "schemaname": _namespace_name(session, row.namespace),
                    "tablename": row.name,
                }
                rows.append((values, publication.seen and row.seen))
    return Scan(rows, closed)


def _grows(session: Session, publication: Publication) -> bool:
    """Whether more may be published than is named: partitions and children of its members."""
    catalog = session.catalog
    members = (catalog.publication_rels[oid].relation for oid in catalog.members_of.get(publication.oid))
    return any(catalog.children.has(oid) or catalog.relations[oid].kind == "p" for oid in members)


def _pg_publication_rel(session: Session, wanted: Wanted) -> Scan:
    catalog = session.catalog
    rows: list[tuple[Row, bool]] = []
    for publication in _by_oid(session, wanted.get("prpubid")):
        for oid in catalog.members_of.get(publication.oid):
            entry = catalog.publication_rels[oid]
            values: Row = {"oid": oid, "prpubid": publication.oid, "prrelid": entry.relation}
            if entry.filter is None:
                values["prqual"] = None
            if entry.columns is None:
                values["prattrs"] = None
            rows.append((values, publication.seen and catalog.relations[entry.relation].seen))
    return Scan(rows, _entries_closed(session, wanted.get("prpubid")))


def _pg_publication_namespace(session: Session, wanted: Wanted) -> Scan:
    catalog = session.catalog
    rows: list[tuple[Row, bool]] = []
    for publication in _by_oid(session, wanted.get("pnpubid")):
        for oid in catalog.schemas_of.get(publication.oid):
            entry = catalog.publication_namespaces[oid]
            rows.append(({"oid": oid, "pnpubid": publication.oid, "pnnspid": entry.namespace}, publication.seen))
    return Scan(rows, _entries_closed(session, wanted.get("pnpubid")))


def _by_oid(session: Session, oids: tuple[Value, ...] | None) -> list[Publication]:
    known = session.catalog.publications
    return list(known.values()) if oids is None else [known[oid] for oid in oids if oid in known]


def _entries_closed(session: Session, oids: tuple[Value, ...] | None) -> bool:
    if oids is None:
        return session.complete and not session.blind
    return _members_closed(session, _by_oid(session, oids))


# --- Other objects ------------------------------------------------------------------------------------------------


def _pg_namespace(session: Session, wanted: Wanted) -> Scan:
    catalog = session.catalog
    if "oid" in wanted:
        rows = [catalog.namespaces[oid] for oid in wanted["oid"] if oid in catalog.namespaces]
        closed = len(rows) == len(wanted["oid"])
    else:
        schemas = _schemas(session, wanted.get("nspname"))
        closed = schemas.closed and (schemas.oids is not None or _all_seen(session))
        rows = [catalog.namespaces[oid] for oid in (catalog.namespaces if schemas.oids is None else schemas.oids)]
    by_oid = "oid" in wanted
    return Scan(
        [({"oid": row.oid, "nspname": row.name, "nspowner": row.owner}, row.seen or by_oid) for row in rows], closed
    )


def _schemata(session: Session, wanted: Wanted) -> Scan:
    found = _pg_namespace(session, {"nspname": wanted["schema_name"]} if "schema_name" in wanted else {})
    return Scan([({"schema_name": row["nspname"]}, sure) for row, sure in found.rows], found.closed)


def _pg_type(session: Session, wanted: Wanted) -> Scan:
    catalog = session.catalog
    names, spaces = wanted.get("typname"), wanted.get("typnamespace")
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
            known = builtins(catalog.major.number).type("pg_catalog", name)
            closed = closed and _all_seen(session) and not session.extensions and not known
    return Scan(rows, closed)


def _pg_enum(session: Session, wanted: Wanted) -> Scan:
    types = session.catalog.types
    oids = wanted.get("enumtypid")
    if oids is None or any(oid not in types for oid in oids):
        return NOTHING_KNOWN
    rows = [types[oid] for oid in oids]
    return Scan(
        [({"enumtypid": row.oid, "enumlabel": label}, row.seen) for row in rows for label in row.labels],
        not session.blind and all(row.seen for row in rows),
    )


def _pg_constraint(session: Session, wanted: Wanted) -> Scan:
    catalog = session.catalog
    relations, spaces, names = wanted.get("conrelid"), wanted.get("connamespace"), wanted.get("conname")
    if relations is not None:
        tables, closed = _relations(session, "rpf", None, _Schemas(None, True), relations)
        closed = closed and not session.blind and all(table.seen for table in tables)
    elif spaces is None and names is not None:
        tables, closed = list(catalog.relations.values()), _all_seen(session)
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
    # The NOT NULL constraints of 18 stand with their columns.
    kinds = wanted.get("contype")
    named = catalog.major.number < 18 or (kinds is not None and "n" not in kinds)
    return Scan(rows, closed and (named or (names is not None and not any("not_null" in str(one) for one in names))))


def _table_constraints(session: Session, wanted: Wanted) -> Scan:
    catalog = session.catalog
    if "table_name" not in wanted and "constraint_name" not in wanted:
        return NOTHING_KNOWN
    tables, closed = _relations(
        session, "rp", wanted.get("table_name"), _schemas(session, wanted.get("table_schema")), None
    )
    words = {"p": "PRIMARY KEY", "u": "UNIQUE", "f": "FOREIGN KEY", "c": "CHECK"}
    rows: list[tuple[Row, bool]] = []
    for table in tables:
        for oid in catalog.constraints_of.get(table.oid):
            row = catalog.constraints[oid]
            if row.kind in words:
                values: Row = {
                    "constraint_name": row.name,
                    "table_schema": _namespace_name(session, table.namespace),
                    "constraint_schema": _namespace_name(session, table.namespace),
                    "table_name": table.name,
                    "constraint_type": words[row.kind],
                }
                rows.append((values, table.seen))
    kinds = wanted.get("constraint_type")
    # NOT NULL is shown as a CHECK with a name of the server's.
    closed = closed and not session.blind and all(table.seen for table in tables)
    return Scan(rows, closed and kinds is not None and "CHECK" not in kinds)


def _pg_index(session: Session, wanted: Wanted) -> Scan:
    catalog = session.catalog
    oids = wanted.get("indrelid")
    if oids is None:
        return NOTHING_KNOWN
    tables, closed = _relations(session, "rpm", None, _Schemas(None, True), oids)
    rows: list[tuple[Row, bool]] = []
    for table in tables:
        for oid in catalog.indexes_of.get(table.oid):
            row = catalog.indexes[oid]
            values: Row = {
                "indexrelid": oid,
                "indrelid": table.oid,
                "indisunique": row.unique,
                "indisprimary": row.primary,
                "indisreplident": row.identity,
                "indisvalid": row.valid,
            }
            rows.append((values, table.seen))
    return Scan(rows, closed and not session.blind and all(table.seen for table in tables))


def _roles(column: str) -> _Reader:
    def read(session: Session, wanted: Wanted) -> Scan:
        catalog = session.catalog
        names = wanted.get(column)
        if names is None:
            return Scan([({column: row.name}, row.seen) for row in catalog.roles.values()], False)
        oids = [catalog.role_names.get(str(name)) for name in names]
        rows = [catalog.roles[oid] for oid in oids if oid is not None]
        # Roles are the whole server's: even a unit that is all of a database does not make all of them.
        return Scan([({column: row.name, "oid": row.oid}, row.seen) for row in rows], len(rows) == len(names))

    return read


def _others(kind: str, column: str, relation: str = "") -> _Reader:
    """Objects of which only the name is kept; those of a relation by its oid in the column ``relation``."""

    def read(session: Session, wanted: Wanted) -> Scan:
        catalog = session.catalog
        rows: list[tuple[Row, bool]] = []
        for row in catalog.others.values():
            if row.kind == kind:
                values: Row = {column: row.name, "oid": row.oid}
                if relation:
                    values[relation] = row.namespace
                rows.append((values, True))
        owners = wanted.get(relation) if relation else None
        if owners is not None:
            known = [catalog.relations.get(oid) for oid in owners]
            return Scan(rows, not session.blind and all(table is not None and table.seen for table in known))
        return Scan(rows, False)

    return read


def _policies(session: Session, wanted: Wanted) -> Scan:
    tables, closed = _relations(
        session, "rp", wanted.get("tablename"), _schemas(session, wanted.get("schemaname")), None
    )
    by_oid = {table.oid: table for table in tables}
    rows: list[tuple[Row, bool]] = []
    for row in session.catalog.others.values():
        table = by_oid.get(row.namespace) if row.kind == "policy" else None
        if table is not None:
            values = {
                "policyname": row.name,
                "tablename": table.name,
                "schemaname": _namespace_name(session, table.namespace),
            }
            rows.append((values, table.seen))
    return Scan(rows, closed and not session.blind and all(table.seen for table in tables))


def _pg_proc(session: Session, wanted: Wanted) -> Scan:
    rows = [
        ({"oid": row.oid, "proname": row.name, "pronamespace": row.namespace}, True)
        for row in session.catalog.procs.values()
    ]
    return Scan(rows, False)


def _pg_subscription(session: Session, wanted: Wanted) -> Scan:
    rows = [({"subname": row.name}, True) for row in session.catalog.subscriptions.values()]
    return Scan(rows, session.complete and not session.blind)


def _pg_database(session: Session, wanted: Wanted) -> Scan:
    catalog = session.catalog
    return Scan([({"datname": catalog.database}, True)] if catalog.database_known else [], False)


def _pg_inherits(session: Session, wanted: Wanted) -> Scan:
    catalog = session.catalog
    children = wanted.get("inhrelid")
    rows: list[tuple[Row, bool]] = []
    for row in catalog.relations.values():
        rows += [({"inhrelid": row.oid, "inhparent": parent}, row.seen) for parent in row.parents]
    known = [catalog.relations.get(oid) for oid in children or ()]
    closed = children is not None and all(row is not None and row.seen for row in known)
    return Scan(rows, (closed or _all_seen(session)) and not session.blind)


_Reader = Callable[[Session, Wanted], Scan]

_CATALOGS: dict[str, _Reader] = {
    "pg_attribute": _pg_attribute,
    "pg_authid": _roles("rolname"),
    "pg_class": _pg_class,
    "pg_constraint": _pg_constraint,
    "pg_database": _pg_database,
    "pg_enum": _pg_enum,
    "pg_extension": _others("extension", "extname"),
    "pg_index": _pg_index,
    "pg_indexes": _partial_index,
    "pg_inherits": _pg_inherits,
    "pg_matviews": _view("m", "schemaname", "matviewname"),
    "pg_namespace": _pg_namespace,
    "pg_policies": _policies,
    "pg_policy": _others("policy", "polname", "polrelid"),
    "pg_proc": _pg_proc,
    "pg_publication": _pg_publication,
    "pg_publication_namespace": _pg_publication_namespace,
    "pg_publication_rel": _pg_publication_rel,
    "pg_publication_tables": _pg_publication_tables,
    "pg_roles": _roles("rolname"),
    "pg_sequences": _view("S", "schemaname", "sequencename"),
    "pg_subscription": _pg_subscription,
    "pg_tables": _view("rp", "schemaname", "tablename"),
    "pg_trigger": _others("trigger", "tgname", "tgrelid"),
    "pg_type": _pg_type,
    "pg_user": _roles("usename"),
    "pg_views": _view("v", "schemaname", "viewname"),
    "columns": _information_columns,
    "schemata": _schemata,
    "table_constraints": _table_constraints,
    "tables": _view("rpvf", "table_schema", "table_name", _table_type),
}


def matching(rows: Iterable[tuple[Row, bool]], wanted: Wanted) -> Iterator[tuple[Row, bool]]:
    """The rows whose known values are among the wanted ones."""
    for row, sure in rows:
        if all(row.get(column, UNKNOWN) is UNKNOWN or row[column] in values for column, values in wanted.items()):
            yield row, sure
