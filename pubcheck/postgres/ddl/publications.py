"""CREATE PUBLICATION and ALTER PUBLICATION, every check in the server's order (commands/publicationcmds.c,
catalog/pg_publication.c). RENAME, OWNER TO and DROP stand with those of all objects."""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.postgres.catalog import (
    PG_CATALOG,
    PG_TOAST,
    PUBLICATION_NAMESPACE,
    PUBLICATION_REL,
    TEMPORARY,
)
from pubcheck.postgres.catalog.rows import (
    Filter,
    Namespace,
    Place,
    Publication,
    PublicationNamespace,
    PublicationRel,
    Relation,
)
from pubcheck.postgres.ddl.columns import SYSTEM_COLUMNS, require_column
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.expressions import grammar
from pubcheck.postgres.kinds import RELKIND_NOUN, not_supported_for
from pubcheck.postgres.options import PublicationOptions, parse_options
from pubcheck.postgres.parse import Node
from pubcheck.postgres.scan import column_list
from pubcheck.postgres.session import Session

_OPENABLE_NOT = "iIc"
_FIRST_UNPINNED_OID = 12000
"""FirstUnpinnedObjectId: IsCatalogRelationOid is true below; information_schema lies above."""


class Member(Struct):
    """PublicationRelInfo: one table of an object list, as opened. ``columns`` are the names as written."""

    relation: Relation
    where: Node | None
    columns: list[str] | None
    location: int
    filter: Filter | None = None


class Objects(Struct, frozen=True):
    """An object list with its schemas looked up (ObjectsInPublicationToOids)."""

    tables: list[Node]
    schemas: list[tuple[Namespace, int]]


def _check_text(session: Session, node: Node) -> None:
    """What the major's own scanner and grammar, and the setting of backslashes, make of the statement's text."""
    grammar.check(session.catalog.major.number, session.text)
    if session.setting("standard_conforming_strings") == "off":
        from pubcheck.postgres.expressions.escapes import read_escapes

        read_escapes(session, node)


def create_publication(session: Session, node: Node) -> None:
    """CreatePublication."""
    _check_text(session, node)
    catalog, name = session.catalog, node["pubname"]
    location = session.find_name(name)
    all_tables = node.get("for_all_tables", False)
    if not session.may_create_in_database():
        # The server says the database's name, which the files do not.
        session.assumed = session.assumed or not catalog.database_known
        raise _denied(f"permission denied for database {catalog.database}", name, location)
    if all_tables and not session.superuser():
        raise _denied("must be superuser to create FOR ALL TABLES publication", name, location)
    existing = catalog.publication_names.get(name)
    if existing is not None and catalog.publications[existing].seen:
        raise _about(
            ServerError("42710", f'publication "{name}" already exists', rule="publication-exists", culprit=location),
            name,
        )
    options = parse_options(session, node.get("options", ()), name)
    if existing is not None:
        # One that was only assumed gives way to the real thing.
        for oid in catalog.members_of.get(existing):
            catalog.remove(PUBLICATION_REL, oid)
        for oid in catalog.schemas_of.get(existing):
            catalog.remove(PUBLICATION_NAMESPACE, oid)
    defaults = Publication(
        existing if existing is not None else catalog.new_oid(),
        name,
        session.setting("role"),
        all_tables=all_tables,
        place=session.place(location or 0, len(name.encode())),
        seen=not session.restless,
    )
    publication = options.applied(defaults)
    catalog.add_publication(publication)
    if all_tables:
        return
    objects = _objects(session, node.get("pubobjects", ()), name)
    if objects.schemas and not session.superuser():
        raise _denied("must be superuser to create FOR TABLES IN SCHEMA publication", name, objects.schemas[0][1])
    if objects.tables:
        members = _open_tables(session, objects.tables, name)
        _transform_filters(session, members, publication)
        _check_column_lists(session, members, publication, bool(objects.schemas))
        _add_tables(session, publication, members, if_not_exists=True)
    _add_schemas(session, publication, objects.schemas, if_not_exists=True)


def alter_publication(session: Session, node: Node) -> None:
    """AlterPublication: SET (options), ADD, SET, DROP."""
    _check_text(session, node)
    name = node["pubname"]
    location = session.find_name(name)
    publication = session.publication(name, location=location)
    if not session.owns(publication.owner):
        raise _denied(f"must be owner of publication {name}", name, location)
    if "options" in node:
        _alter_options(session, publication, node["options"])
        return
    action = node.get("action", "AP_AddObjects")
    objects = _objects(session, node.get("pubobjects", ()), name)
    _check_alter(session, publication, objects, action)
    if objects.tables or action == "AP_SetObjects":
        _alter_tables(session, publication, objects, action)
    if objects.schemas or action == "AP_SetObjects":
        _alter_schemas(session, publication, objects.schemas, action)


def _about(error: ServerError, publication: str, relation: str | None = None) -> ServerError:
    error.publication, error.relation = publication, relation
    return error


def _denied(message: str, publication: str, location: int | None) -> ServerError:
    return _about(ServerError("42501", message, rule="permission", culprit=location), publication)


# Options.


def _alter_options(session: Session, publication: Publication, nodes: list[Node]) -> None:
    """AlterPublicationOptions: via_root cannot be taken back while a partitioned member has a filter or a list."""
    catalog = session.catalog
    options: PublicationOptions = parse_options(session, nodes, publication.name)
    if not publication.all_tables and options.via_root is False:
        members = [catalog.publication_rels[oid] for oid in catalog.members_of.get(publication.oid)]
        # GetPublicationRelations sorts them by oid.
        for member in sorted(members, key=lambda member: member.relation):
            relation = catalog.relations[member.relation]
            if relation.kind != "p" or (member.filter is None and member.columns is None):
                continue
            what = "WHERE clause" if member.filter is not None else "column list"
            raise _about(
                ServerError(
                    "22023",
                    f'cannot set parameter "publish_via_partition_root" to false for publication "{publication.name}"',
                    rule="viaroot-to-false",
                    detail=f'The publication contains a {what} for partitioned table "{relation.name}", '
                    'which is not allowed when "publish_via_partition_root" is false.',
                    culprit=options.via_root_location,
                ),
                publication.name,
                session.qualified(relation),
            )
    catalog.publications.put(publication.oid, options.applied(publication))


# Object lists.


def _objects(session: Session, nodes: Any, publication: str) -> Objects:
    """ObjectsInPublicationToOids: schemas are looked up now, tables when they are opened."""
    tables: list[Node] = []
    schemas: dict[int, tuple[Namespace, int]] = {}
    for item in nodes:
        spec = item["PublicationObjSpec"]
        kind, location = spec.get("pubobjtype", "PUBLICATIONOBJ_TABLE"), spec.get("location", 0)
        try:
            if kind == "PUBLICATIONOBJ_TABLE":
                tables.append(spec["pubtable"])
                continue
            if kind == "PUBLICATIONOBJ_TABLES_IN_CUR_SCHEMA":
                oid = session.visible_namespace()
                if not oid:
                    raise ServerError(
                        "3F000",
                        "no schema has been selected for CURRENT_SCHEMA",
                        rule="current-schema",
                        culprit=location,
                    )
                # A temporary schema that comes first on the path is made for the occasion.
                namespace = session.temporary() if oid == TEMPORARY else session.catalog.namespaces[oid]
            else:
                namespace = session.namespace(spec["name"], rule="relation-missing", location=location)
        except ServerError as error:
            raise _about(error, publication) from None
        schemas.setdefault(namespace.oid, (namespace, location))
    return Objects(tables, list(schemas.values()))


def _open_tables(session: Session, nodes: list[Node], publication: str) -> list[Member]:
    """OpenTableList: each table opened, duplicates merged or refused, inheritance children added."""
    catalog = session.catalog
    members: list[Member] = []
    known: set[int] = set()
    filtered: set[int] = set()
    listed: set[int] = set()
    for node in nodes:
        rv = node["relation"]
        where = node.get("whereClause")
        columns = [item["String"]["sval"] for item in node["columns"]] if "columns" in node else None
        location = rv.get("location", 0)
        try:
            relation = session.relation(rv, rule="relation-missing")
        except ServerError as error:
            raise _about(error, publication) from None
        _refuse_unopenable(session, relation, publication, location)
        if relation.oid in known:
            if where is not None or relation.oid in filtered:
                raise _redundant("WHERE clauses", session, relation, publication, location)
            if columns is not None or relation.oid in listed:
                raise _redundant("column lists", session, relation, publication, location)
            continue
        family = [relation.oid]
        if rv.get("inh", False) and relation.kind != "p":
            family = catalog.descendants(relation.oid)
        opened = relation
        for oid in family:
            if oid in known:
                # The message names the relation opened last, the parent more often than not.
                if where is not None or oid in filtered:
                    raise _redundant("WHERE clauses", session, opened, publication, location)
                if columns is not None or oid in listed:
                    raise _redundant("column lists", session, opened, publication, location)
                continue
            opened = catalog.relations[oid]
            members.append(Member(opened, where, columns, location))
            known.add(oid)
            if where is not None:
                filtered.add(oid)
            if columns is not None:
                listed.add(oid)
    return members


def _refuse_unopenable(session: Session, relation: Relation, publication: str, location: int) -> None:
    """table_open: an index or a composite type is not a table."""
    if relation.kind not in _OPENABLE_NOT:
        return
    if session.catalog.major.opens_by_kind:
        message, detail = f'cannot open relation "{relation.name}"', not_supported_for(relation.kind)
    else:
        what = "a composite type" if relation.kind == "c" else "an index"
        message, detail = f'"{relation.name}" is {what}', None
    error = ServerError("42809", message, rule="relation-not-openable", detail=detail, culprit=location)
    raise _about(error, publication, session.qualified(relation))


def _redundant(what: str, session: Session, relation: Relation, publication: str, location: int) -> ServerError:
    return _about(
        ServerError(
            "42710",
            f'conflicting or redundant {what} for table "{relation.name}"',
            rule="duplicate-table",
            culprit=location,
        ),
        publication,
        session.qualified(relation),
    )


def _transform_filters(session: Session, members: list[Member], publication: Publication) -> None:
    """TransformPubWhereClauses."""
    unseen = len(session.unseen)
    for member in members:
        if member.where is None:
            continue
        relation = session.catalog.relations[member.relation.oid]
        if relation.kind == "p" and not publication.via_root and relation.seen and publication.seen:
            raise _about(
                ServerError(
                    "22023",
                    f'cannot use publication WHERE clause for relation "{relation.name}"',
                    rule="rf-partitioned-root",
                    detail="WHERE clause cannot be used for a partitioned table when publish_via_partition_root "
                    "is false.",
                    culprit=member.location,
                ),
                publication.name,
                session.qualified(relation),
            )
        # Loaded only where there is a filter.
        from pubcheck.postgres.expressions.filters import read_filter

        try:
            member.filter = read_filter(session, relation, member.where)
        except ServerError as error:
            raise _about(error, publication.name, session.qualified(relation)) from None
    unjudged = any(member.filter is not None and not member.filter.judged for member in members)
    if unjudged or len(session.unseen) > unseen:
        # The server may refuse the filter (a collation of this machine is not one of all), and with it the statement:
        # what becomes of the publication is assumed.
        row = session.catalog.publications[publication.oid]
        session.catalog.publications.put(row.oid, replace(row, seen=False))


def _check_column_lists(session: Session, members: list[Member], publication: Publication, schemas: bool) -> None:
    """CheckPubRelationColumnList: no list beside a schema, nor on a partitioned table published as its leaves."""
    for member in members:
        if member.columns is None:
            continue
        relation = session.catalog.relations[member.relation.oid]
        if schemas:
            rule = "cl-with-schema"
            detail = "Column lists cannot be specified in publications containing FOR TABLES IN SCHEMA elements."
        elif relation.kind == "p" and not publication.via_root and publication.seen:
            rule = "cl-partitioned-root"
            detail = "Column lists cannot be specified for partitioned tables when publish_via_partition_root is false."
        else:
            continue
        raise _about(
            ServerError(
                "22023",
                f'cannot use column list for relation "{session.qualified(relation)}" in publication '
                f'"{publication.name}"',
                rule=rule,
                detail=detail,
                culprit=member.location,
            ),
            publication.name,
            session.qualified(relation),
        )


# Members.


def _add_tables(session: Session, publication: Publication, members: list[Member], *, if_not_exists: bool) -> None:
    """PublicationAddTables, publication_add_relation."""
    catalog = session.catalog
    for member in members:
        relation = catalog.relations[member.relation.oid]
        qualified = session.qualified(relation)
        if not session.owns(relation.owner):
            noun = RELKIND_NOUN[relation.kind]
            error = _denied(f"must be owner of {noun} {relation.name}", publication.name, member.location)
            raise _about(error, publication.name, qualified)
        if (publication.oid, relation.oid) in catalog.members:
            if if_not_exists:
                continue
            raise _about(
                ServerError(
                    "42710",
                    f'relation "{relation.name}" is already member of publication "{publication.name}"',
                    rule="already-member",
                    culprit=member.location,
                ),
                publication.name,
                qualified,
            )
        _refuse_unpublishable(session, relation, publication.name, member.location)
        columns, places = _validate_columns(session, member, publication.name)
        catalog.add_publication_rel(
            PublicationRel(
                catalog.new_oid(),
                publication.oid,
                relation.oid,
                member.filter,
                columns,
                session.place(member.location),
                places,
            )
        )


def _refuse_unpublishable(session: Session, relation: Relation, publication: str, location: int) -> None:
    """check_publication_add_relation."""
    if relation.kind not in "rp":
        rule, detail = "relation-kind", not_supported_for(relation.kind)
    elif relation.oid < _FIRST_UNPINNED_OID:
        rule, detail = "system-relation", "This operation is not supported for system tables."
    elif relation.persistence == "t":
        rule, detail = "relation-persistence", "This operation is not supported for temporary tables."
    elif relation.persistence == "u":
        rule, detail = "relation-persistence", "This operation is not supported for unlogged tables."
    else:
        return
    error = ServerError(
        "22023",
        f'cannot add relation "{relation.name}" to publication',
        rule=rule,
        detail=detail,
        culprit=location,
    )
    raise _about(error, publication, session.qualified(relation))


def _validate_columns(
    session: Session, member: Member, publication: str
) -> tuple[tuple[int, ...] | None, tuple[tuple[int, Place], ...]]:
    """The attribute numbers of a column list and where each is named (pub_collist_validate)."""
    if member.columns is None:
        return None, ()
    catalog = session.catalog
    relation = catalog.relations[member.relation.oid]
    known = {column.name: column for column in relation.live()}
    where = column_list(session.text, member.location)
    numbers: dict[int, None] = {}
    places: list[tuple[int, Place]] = []
    for at, name in enumerate(member.columns):
        place = session.place(*where[at]) if at < len(where) else session.place(member.location)
        column = known.get(name)
        if column is None and name not in SYSTEM_COLUMNS and not relation.seen:
            column = require_column(session, relation.oid, name)
            relation = catalog.relations[relation.oid]
        refused: tuple[str, str, str] | None = None
        if column is None and name in SYSTEM_COLUMNS:
            refused = "42P10", f'cannot use system column "{name}" in publication column list', "cl-system-column"
        elif column is None:
            # What could not be followed (a DO block) may have added it.
            session.assumed = session.assumed or session.blind
            refused = (
                "42703",
                f'column "{name}" of relation "{relation.name}" does not exist',
                "cl-unknown-column",
            )
        elif column.generated == "v" and catalog.major.publish_generated_columns:
            refused = (
                "42P10",
                f'cannot use virtual generated column "{name}" in publication column list',
                "cl-generated-column",
            )
        elif column.generated and not catalog.major.publish_generated_columns:
            refused = (
                "42P10",
                f'cannot use generated column "{name}" in publication column list',
                "cl-generated-column",
            )
        elif column.number in numbers:
            refused = "42710", f'duplicate column "{name}" in publication column list', "cl-duplicate-column"
        if refused is not None:
            sqlstate, message, rule = refused
            error = ServerError(sqlstate, message, rule=rule, culprit=place.start)
            raise _about(error, publication, session.qualified(relation))
        assert column is not None
        numbers[column.number] = None
        places.append((column.number, place))
    return tuple(sorted(numbers)), tuple(places)


def _alter_tables(session: Session, publication: Publication, objects: Objects, action: str) -> None:
    """AlterPublicationTables."""
    catalog = session.catalog
    members = _open_tables(session, objects.tables, publication.name)
    if action == "AP_DropObjects":
        _drop_tables(session, publication, members)
        return
    schemas = bool(objects.schemas)
    if action == "AP_AddObjects":
        schemas = schemas or catalog.schemas_of.has(publication.oid)
    _transform_filters(session, members, publication)
    _check_column_lists(session, members, publication, schemas)
    if action == "AP_AddObjects":
        _add_tables(session, publication, members, if_not_exists=False)
        return
    for oid in catalog.members_of.get(publication.oid):
        if not _stays(session, catalog.publication_rels[oid], members, publication.name):
            catalog.remove(PUBLICATION_REL, oid)
    _add_tables(session, publication, members, if_not_exists=True)


def _stays(session: Session, old: PublicationRel, members: list[Member], publication: str) -> bool:
    """Whether SET leaves a member as it is: the same table, filter and columns among the new ones."""
    for member in members:
        columns = _columns_for_set(session, member, publication)
        if (
            member.relation.oid == old.relation
            and same_filter(old.filter, member.filter)
            and columns == (None if old.columns is None else set(old.columns))
        ):
            return True
    return False


def _columns_for_set(session: Session, member: Member, publication: str) -> set[int] | None:
    """The new list as SET compares it: 18 validates it here, earlier majors only look the names up."""
    if session.catalog.major.set_validates_columns:
        numbers, _ = _validate_columns(session, member, publication)
        return None if numbers is None else set(numbers)
    if member.columns is None:
        return None
    relation = session.catalog.relations[member.relation.oid]
    found: set[int] = set()
    for name in member.columns:
        column = relation.column(name)
        if column is None and name in SYSTEM_COLUMNS:
            error = ServerError(
                "XX000",
                "negative bitmapset member not allowed",
                rule="cl-system-column",
                culprit=member.location,
            )
            raise _about(error, publication, session.qualified(relation))
        found.add(column.number if column else 0)
    return found


def same_filter(old: Filter | None, new: Filter | None) -> bool:
    """Whether two filters are written alike but for their places in the text."""
    if old is None or new is None:
        return old is new
    return bool(_without_locations(old.tree) == _without_locations(new.tree))


def _without_locations(tree: Any) -> Any:
    if isinstance(tree, dict):
        return {key: _without_locations(value) for key, value in tree.items() if not key.endswith("location")}
    if isinstance(tree, list):
        return [_without_locations(value) for value in tree]
    return tree


def _drop_tables(session: Session, publication: Publication, members: list[Member]) -> None:
    """PublicationDropTables: the list is refused first, then membership looked at, then the filter refused."""
    catalog = session.catalog
    for member in members:
        relation = member.relation
        if member.columns is not None:
            error = ServerError(
                "42601",
                "column list must not be specified in ALTER PUBLICATION ... DROP",
                rule="drop-with-filter",
                culprit=member.location,
            )
            raise _about(error, publication.name, session.qualified(relation))
        oid = catalog.members.get((publication.oid, relation.oid))
        if oid is None and publication.seen and relation.seen:
            session.assumed = session.assumed or session.joined
            error = ServerError(
                "42704",
                f'relation "{relation.name}" is not part of the publication',
                rule="not-member",
                culprit=member.location,
            )
            raise _about(error, publication.name, session.qualified(relation))
        if member.where is not None:
            error = ServerError(
                "42601",
                "cannot use a WHERE clause when removing a table from a publication",
                rule="drop-with-filter",
                culprit=member.location,
            )
            raise _about(error, publication.name, session.qualified(relation))
        if oid is not None:
            catalog.remove(PUBLICATION_REL, oid)


# Schemas.


def _check_alter(session: Session, publication: Publication, objects: Objects, action: str) -> None:
    """CheckAlterPublication."""
    name = publication.name
    if action != "AP_DropObjects" and objects.schemas and not session.superuser():
        raise _denied("must be superuser to add or set schemas", name, objects.schemas[0][1])
    if not publication.all_tables:
        return
    if objects.schemas:
        what, location = "Schemas", objects.schemas[0][1]
    elif objects.tables:
        what, location = "Tables", objects.tables[0]["relation"].get("location", 0)
    else:
        return
    raise _about(
        ServerError(
            "55000",
            f'publication "{name}" is defined as FOR ALL TABLES',
            rule="for-all-tables-fixed",
            detail=f"{what} cannot be added to or dropped from FOR ALL TABLES publications.",
            culprit=location,
        ),
        name,
    )


def _alter_schemas(
    session: Session, publication: Publication, schemas: list[tuple[Namespace, int]], action: str
) -> None:
    """AlterPublicationSchemas."""
    catalog = session.catalog
    if action == "AP_AddObjects":
        for oid in catalog.members_of.get(publication.oid):
            if catalog.publication_rels[oid].columns is not None:
                raise _about(
                    ServerError(
                        "22023",
                        f'cannot add schema to publication "{publication.name}"',
                        rule="cl-with-schema",
                        detail="Schemas cannot be added if any tables that specify a column list are already part of "
                        "the publication.",
                        culprit=schemas[0][1],
                    ),
                    publication.name,
                )
        _add_schemas(session, publication, schemas, if_not_exists=False)
    elif action == "AP_DropObjects":
        for namespace, location in schemas:
            held = catalog.schema_members.get((publication.oid, namespace.oid))
            if held is not None:
                catalog.remove(PUBLICATION_NAMESPACE, held)
            elif publication.seen and namespace.seen:
                session.assumed = session.assumed or session.joined
                error = ServerError(
                    "42704",
                    f'tables from schema "{namespace.name}" are not part of the publication',
                    rule="not-member",
                    culprit=location,
                )
                raise _about(error, publication.name)
    else:
        wanted = {namespace.oid for namespace, _ in schemas}
        for oid in catalog.schemas_of.get(publication.oid):
            if catalog.publication_namespaces[oid].namespace not in wanted:
                catalog.remove(PUBLICATION_NAMESPACE, oid)
        _add_schemas(session, publication, schemas, if_not_exists=True)


def _add_schemas(
    session: Session, publication: Publication, schemas: list[tuple[Namespace, int]], *, if_not_exists: bool
) -> None:
    """PublicationAddSchemas, publication_add_schema, check_publication_add_schema."""
    catalog = session.catalog
    for namespace, location in schemas:
        if (publication.oid, namespace.oid) in catalog.schema_members:
            if if_not_exists:
                continue
            error = ServerError(
                "42710",
                f'schema "{namespace.name}" is already member of publication "{publication.name}"',
                rule="already-member",
                culprit=location,
            )
            raise _about(error, publication.name)
        if namespace.oid in (PG_CATALOG, PG_TOAST, TEMPORARY):
            error = ServerError(
                "22023",
                f'cannot add schema "{namespace.name}" to publication',
                rule="schema-not-allowed",
                detail="Temporary schemas cannot be replicated."
                if namespace.oid == TEMPORARY
                else "This operation is not supported for system schemas.",
                culprit=location,
            )
            raise _about(error, publication.name)
        catalog.add_publication_namespace(
            PublicationNamespace(catalog.new_oid(), publication.oid, namespace.oid, session.place(location))
        )
