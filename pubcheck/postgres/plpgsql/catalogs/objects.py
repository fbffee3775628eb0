"""Rows of the system catalogs and views for publications, their members, subscriptions, schemas, types, roles, and
objects that are modelled by little more than a name.
"""

from __future__ import annotations

from collections.abc import Iterable

from pubcheck.postgres.builtins import builtins
from pubcheck.postgres.catalog import PG_CATALOG, PUBLICATION, TYPE
from pubcheck.postgres.catalog.rows import Publication, Relation
from pubcheck.postgres.plpgsql.catalogs.relations import (
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
from pubcheck.postgres.plpgsql.values import Value
from pubcheck.postgres.replication.publication_lookup import is_publishable, published_sequences, route
from pubcheck.postgres.session import Session


def _publications(session: Session, names: tuple[Value, ...] | None) -> tuple[list[Publication], bool]:
    catalog = session.catalog
    if names is None:
        return list(catalog.publications.values()), session.complete and not session.blind
    publications, closed = [], True
    for name in map(str, names):
        oid = catalog.publication_names.get(name)
        if oid is not None:
            publications.append(catalog.publications[oid])
        else:
            closed = closed and session.is_closed(PUBLICATION, 0, name) and name not in session.doubted
    return publications, closed


def pg_publication(session: Session, conditions: Conditions) -> Scan:
    if "oid" in conditions:
        publications = session.catalog.publications
        rows, closed = [publications[oid] for oid in conditions["oid"] if oid in publications], True
    else:
        rows, closed = _publications(session, conditions.get("pubname"))
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
        if session.catalog.major.publishes_sequences:
            values["puballsequences"] = row.all_sequences
    return values


def _listed(session: Session, publication: Publication, row: Relation) -> bool:
    """Return whether pg_publication_tables shows a relation under its own name (pg_get_publication_tables)."""
    if not is_publishable(row) or (row.kind == "p" and not publication.via_root):
        return False
    target = route(session.catalog, publication, row)
    return target is not None and target.arrives_as == row.oid


def pg_publication_tables(session: Session, conditions: Conditions) -> Scan:
    catalog = session.catalog
    publications, closed = _publications(session, conditions.get("pubname"))
    named: tuple[list[Relation], bool] | None = None
    if "tablename" in conditions:
        named = relations_in_view(session, "rp", conditions, "schemaname", "tablename")
    rows: list[tuple[Row, bool]] = []
    for publication in publications:
        lists = not publication.scope and not catalog.schemas_of.has(publication.oid)
        closed = closed and all_members_known(session, [publication])
        closed = closed and (
            (named[1] if named is not None else all_relations_known(session))
            or (lists and not _grows(session, publication))
        )
        if named is not None:
            candidates: Iterable[Relation] = named[0]
        elif lists:
            members = [catalog.publication_rels[oid].relation for oid in catalog.members_of.get(publication.oid)]
            family = {descendant for oid in members for descendant in (oid, *catalog.descendants(oid))}
            candidates = [catalog.relations[oid] for oid in sorted(family)]
        else:
            candidates = list(catalog.relations.values())
        for row in candidates:
            if _listed(session, publication, row):
                values = {
                    "pubname": publication.name,
                    "schemaname": schema_of(session, row.namespace),
                    "tablename": row.name,
                }
                rows.append((values, publication.seen and row.seen))
    return Scan(rows, closed)


def _grows(session: Session, publication: Publication) -> bool:
    """Return whether more may be published than is named: partitions and children of its members."""
    catalog = session.catalog
    members = (catalog.publication_rels[oid].relation for oid in catalog.members_of.get(publication.oid))
    return any(catalog.children.has(oid) or catalog.relations[oid].kind == "p" for oid in members)


def pg_publication_rel(session: Session, conditions: Conditions) -> Scan:
    catalog = session.catalog
    rows: list[tuple[Row, bool]] = []
    publications, closed = _by_oid(session, conditions.get("prpubid"))
    for publication in publications:
        for oid in catalog.members_of.get(publication.oid):
            entry = catalog.publication_rels[oid]
            values: Row = {"oid": oid, "prpubid": publication.oid, "prrelid": entry.relation}
            if entry.filter is None:
                values["prqual"] = None
            if entry.columns is None:
                values["prattrs"] = None
            if catalog.major.publishes_sequences:
                values["prexcept"] = False
            rows.append((values, publication.seen and catalog.relations[entry.relation].seen))
        for oid in catalog.exclusions_of.get(publication.oid):
            relation = catalog.publication_exclusions[oid].relation
            values = {
                "oid": oid,
                "prpubid": publication.oid,
                "prrelid": relation,
                "prqual": None,
                "prattrs": None,
                "prexcept": True,
            }
            rows.append((values, publication.seen and catalog.relations[relation].seen))
    return Scan(rows, closed)


def pg_publication_sequences(session: Session, conditions: Conditions) -> Scan:
    catalog = session.catalog
    publications, closed = _publications(session, conditions.get("pubname"))
    publications = [publication for publication in publications if publication.all_sequences]
    rows: list[tuple[Row, bool]] = [
        (
            {
                "pubname": publication.name,
                "schemaname": schema_of(session, row.namespace),
                "sequencename": row.name,
            },
            publication.seen and row.seen,
        )
        for publication in publications
        for row in published_sequences(catalog)
    ]
    return Scan(rows, closed and all_members_known(session, publications) and all_relations_known(session))


def pg_publication_namespace(session: Session, conditions: Conditions) -> Scan:
    catalog = session.catalog
    publications, closed = _by_oid(session, conditions.get("pnpubid"))
    rows: list[tuple[Row, bool]] = [
        (
            {"oid": oid, "pnpubid": publication.oid, "pnnspid": catalog.publication_namespaces[oid].namespace},
            publication.seen,
        )
        for publication in publications
        for oid in catalog.schemas_of.get(publication.oid)
    ]
    return Scan(rows, closed)


def _by_oid(session: Session, oids: tuple[Value, ...] | None) -> tuple[list[Publication], bool]:
    """The publications of these oids, and whether what they name is all that there is."""
    publications = session.catalog.publications
    if oids is None:
        return list(publications.values()), session.complete and not session.blind
    rows = [publications[oid] for oid in oids if oid in publications]
    return rows, all_members_known(session, rows)


def pg_subscription(session: Session, conditions: Conditions) -> Scan:
    rows = [({"subname": row.name}, True) for row in session.catalog.subscriptions.values()]
    return Scan(rows, session.complete and not session.blind)


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
