"""Tables and schemas that become members of a publication, stay, and cease to be (commands/publicationcmds.c:
PublicationAddTables, AlterPublicationTables, PublicationDropTables, AlterPublicationSchemas, PublicationAddSchemas;
catalog/pg_publication.c).
"""

from __future__ import annotations

from pubcheck.postgres.catalog import (
    FIRST_UNPINNED,
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
from pubcheck.postgres.ddl.object_descriptions import RELKIND_NOUN, RELKIND_SINGULAR, not_supported_for
from pubcheck.postgres.ddl.publications import (
    Member,
    PublicationObjects,
    check_column_lists,
    is_removed,
    open_tables,
    permission_denied,
    transform_filters,
)
from pubcheck.postgres.errors import NOT_RELATION_OWNER, ServerError
from pubcheck.postgres.parse_tree import without_locations
from pubcheck.postgres.session import SYSTEM_COLUMNS, Session, require_column
from pubcheck.postgres.tokens import column_list


def add_tables(session: Session, publication: Publication, members: list[Member], *, if_not_exists: bool) -> None:
    """PublicationAddTables, publication_add_relation."""
    catalog = session.catalog
    for member in members:
        relation = catalog.relations[member.relation.oid]
        qualified = session.qualified(relation)
        if not session.owns(relation.owner):
            noun = RELKIND_NOUN[relation.kind]
            raise permission_denied(
                NOT_RELATION_OWNER,
                "relation-owner",
                publication.name,
                member.location,
                kind=noun,
                relation=relation.name,
            ).about(publication.name, qualified)
        if (publication.oid, relation.oid) in catalog.members:
            if if_not_exists:
                continue
            raise ServerError(
                "42710",
                'relation "{relation}" is already member of publication "{publication}"',
                key="table-already-member",
                culprit=member.location,
                relation=relation.name,
                publication=publication.name,
            ).about(publication.name, qualified)
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
        key, detail = "kind-not-publishable", not_supported_for(relation.kind)
    elif relation.oid < FIRST_UNPINNED:
        key, detail = "system-relation", "This operation is not supported for system tables."
    elif relation.persistence == "t":
        key, detail = "temporary-relation", "This operation is not supported for temporary tables."
    elif relation.persistence == "u":
        key, detail = "unlogged-relation", "This operation is not supported for unlogged tables."
    else:
        return
    raise ServerError(
        "22023",
        'cannot add relation "{relation}" to publication',
        key=key,
        detail=detail,
        culprit=location,
        relation=relation.name,
        kind=RELKIND_SINGULAR[relation.kind],
    ).about(publication, session.qualified(relation))


def _validate_columns(
    session: Session, member: Member, publication: str
) -> tuple[tuple[int, ...] | None, tuple[tuple[int, Place], ...]]:
    """The attribute numbers of a column list and where each is named (pub_collist_validate)."""
    if member.columns is None:
        return None, ()
    catalog = session.catalog
    relation = catalog.relations[member.relation.oid]
    columns_by_name = {column.name: column for column in relation.live()}
    where = column_list(session.text, member.location)
    numbers: dict[int, None] = {}
    places: list[tuple[int, Place]] = []
    for position, name in enumerate(member.columns):
        place = session.place(*where[position]) if position < len(where) else session.place(member.location)
        column = columns_by_name.get(name)
        if column is None and name not in SYSTEM_COLUMNS and not relation.seen:
            column = require_column(session, relation.oid, name)
            relation = catalog.relations[relation.oid]
        refused: tuple[str, str, str] | None = None
        if column is None and name in SYSTEM_COLUMNS:
            refused = "42P10", 'cannot use system column "{column}" in publication column list', "system-column-listed"
        elif column is None:
            # What could not be followed (a DO block) may have added it.
            session.rests_on_flag("blind")
            refused = ("42703", 'column "{column}" of relation "{relation}" does not exist', "no-listed-column")
        elif column.generated == "v" and catalog.major.publish_generated_columns:
            refused = (
                "42P10",
                'cannot use virtual generated column "{column}" in publication column list',
                "virtual-column-listed",
            )
        elif column.generated and not catalog.major.publish_generated_columns:
            refused = (
                "42P10",
                'cannot use generated column "{column}" in publication column list',
                "generated-column-listed",
            )
        elif column.number in numbers:
            refused = "42710", 'duplicate column "{column}" in publication column list', "column-listed-twice"
        if refused is not None:
            sqlstate, message, key = refused
            error = ServerError(sqlstate, message, key=key, culprit=place.start, column=name, relation=relation.name)
            raise error.about(publication, session.qualified(relation))
        assert column is not None
        numbers[column.number] = None
        places.append((column.number, place))
    return tuple(sorted(numbers)), tuple(places)


def alter_tables(session: Session, publication: Publication, objects: PublicationObjects, action: str) -> None:
    """AlterPublicationTables."""
    catalog = session.catalog
    members = open_tables(session, objects.tables, publication.name)
    if action == "AP_DropObjects":
        _drop_tables(session, publication, members)
        return
    schemas = bool(objects.schemas)
    if action == "AP_AddObjects":
        schemas = schemas or catalog.schemas_of.has(publication.oid)
    transform_filters(session, members, publication)
    check_column_lists(session, members, publication, schemas)
    if action == "AP_AddObjects":
        add_tables(session, publication, members, if_not_exists=False)
        return
    for oid in catalog.members_of.get(publication.oid):
        if not _stays(session, catalog.publication_rels[oid], members, publication.name):
            catalog.remove(PUBLICATION_REL, oid)
    catalog.gone.put((PUBLICATION_REL, publication.oid, 0), True)
    add_tables(session, publication, members, if_not_exists=True)


def _stays(session: Session, old: PublicationRel, members: list[Member], publication: str) -> bool:
    """Return whether SET leaves a member as it is: the same table, filter and columns among the new ones."""
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
    attnums: set[int] = set()
    for name in member.columns:
        column = relation.column(name)
        if column is None and name in SYSTEM_COLUMNS:
            raise ServerError(
                "XX000", "negative bitmapset member not allowed", key="system-column-kept", culprit=member.location
            ).about(publication, session.qualified(relation))
        attnums.add(column.number if column else 0)
    return attnums


def same_filter(old: Filter | None, new: Filter | None) -> bool:
    """Return whether two filters are written alike except for their places in the text."""
    if old is None or new is None:
        return old is new
    return bool(without_locations(old.tree) == without_locations(new.tree))


def _drop_tables(session: Session, publication: Publication, members: list[Member]) -> None:
    """PublicationDropTables: the list is refused first, then membership looked at, then the filter refused."""
    catalog = session.catalog
    for member in members:
        relation = member.relation
        if member.columns is not None:
            raise ServerError(
                "42601",
                "column list must not be specified in ALTER PUBLICATION ... DROP",
                key="drop-with-column-list",
                culprit=member.location,
            ).about(publication.name, session.qualified(relation))
        oid = catalog.members.get((publication.oid, relation.oid))
        if oid is None and (
            is_removed(session, PUBLICATION_REL, publication, relation.oid) or (publication.seen and relation.seen)
        ):
            session.rests_on_flag("joined")
            raise ServerError(
                "42704",
                'relation "{relation}" is not part of the publication',
                key="table-not-member",
                culprit=member.location,
                relation=relation.name,
            ).about(publication.name, session.qualified(relation))
        if member.where is not None:
            raise ServerError(
                "42601",
                "cannot use a WHERE clause when removing a table from a publication",
                key="drop-with-filter",
                culprit=member.location,
            ).about(publication.name, session.qualified(relation))
        if oid is not None:
            catalog.remove(PUBLICATION_REL, oid)
        else:
            catalog.gone.put((PUBLICATION_REL, publication.oid, relation.oid), True)


def alter_schemas(
    session: Session, publication: Publication, schemas: list[tuple[Namespace, int]], action: str
) -> None:
    """AlterPublicationSchemas."""
    catalog = session.catalog
    if action == "AP_AddObjects":
        for oid in catalog.members_of.get(publication.oid):
            if catalog.publication_rels[oid].columns is not None:
                raise ServerError(
                    "22023",
                    'cannot add schema to publication "{publication}"',
                    key="schema-with-column-list",
                    detail="Schemas cannot be added if any tables that specify a column list are already part of "
                    "the publication.",
                    culprit=schemas[0][1],
                    publication=publication.name,
                ).about(publication.name)
        add_schemas(session, publication, schemas, if_not_exists=False)
    elif action == "AP_DropObjects":
        for namespace, location in schemas:
            held = catalog.schema_members.get((publication.oid, namespace.oid))
            removed = is_removed(session, PUBLICATION_NAMESPACE, publication, namespace.oid)
            if held is not None:
                catalog.remove(PUBLICATION_NAMESPACE, held)
            elif removed or (publication.seen and namespace.seen):
                session.rests_on_flag("joined")
                raise ServerError(
                    "42704",
                    'tables from schema "{schema}" are not part of the publication',
                    key="schema-not-member",
                    culprit=location,
                    schema=namespace.name,
                ).about(publication.name)
            else:
                catalog.gone.put((PUBLICATION_NAMESPACE, publication.oid, namespace.oid), True)
    else:
        new_schemas = {namespace.oid for namespace, _ in schemas}
        for oid in catalog.schemas_of.get(publication.oid):
            if catalog.publication_namespaces[oid].namespace not in new_schemas:
                catalog.remove(PUBLICATION_NAMESPACE, oid)
        catalog.gone.put((PUBLICATION_NAMESPACE, publication.oid, 0), True)
        add_schemas(session, publication, schemas, if_not_exists=True)


def add_schemas(
    session: Session, publication: Publication, schemas: list[tuple[Namespace, int]], *, if_not_exists: bool
) -> None:
    """PublicationAddSchemas, publication_add_schema, check_publication_add_schema."""
    catalog = session.catalog
    for namespace, location in schemas:
        if (publication.oid, namespace.oid) in catalog.schema_members:
            if if_not_exists:
                continue
            raise ServerError(
                "42710",
                'schema "{schema}" is already member of publication "{publication}"',
                key="schema-already-member",
                culprit=location,
                schema=namespace.name,
                publication=publication.name,
            ).about(publication.name)
        if namespace.oid in (PG_CATALOG, PG_TOAST, TEMPORARY):
            raise ServerError(
                "22023",
                'cannot add schema "{schema}" to publication',
                key="temporary-schema" if namespace.oid == TEMPORARY else "system-schema",
                detail="Temporary schemas cannot be replicated."
                if namespace.oid == TEMPORARY
                else "This operation is not supported for system schemas.",
                culprit=location,
                schema=namespace.name,
            ).about(publication.name)
        catalog.add(PublicationNamespace(catalog.new_oid(), publication.oid, namespace.oid, session.place(location)))
