"""CREATE PUBLICATION (commands/publicationcmds.c: CreatePublication)."""

from __future__ import annotations

from pubcheck.postgres.catalog import PUBLICATION_EXCLUSION, PUBLICATION_NAMESPACE, PUBLICATION_REL
from pubcheck.postgres.catalog.rows import Publication
from pubcheck.postgres.ddl.publications import check_text, permission_denied
from pubcheck.postgres.ddl.publications.objects import check_column_lists, look_up, open_tables, transform_filters
from pubcheck.postgres.ddl.publications.options import parse_options
from pubcheck.postgres.ddl.publications.tables import add_tables
from pubcheck.postgres.errors import NO_CREATE_IN_DATABASE, PUBLICATION_EXISTS, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import name_end


def create_publication(session: Session, node: Node) -> None:
    """CreatePublication."""
    check_text(session, node)
    catalog, name = session.catalog, node["pubname"]
    location = session.find_name(name)
    length = len(name.encode()) if location is None else name_end(session.text, location) - location
    all_tables, all_sequences = node.get("for_all_tables", False), node.get("for_all_sequences", False)
    if not session.may_create_in_database():
        session.assume_database()
        raise permission_denied(NO_CREATE_IN_DATABASE, "create-in-database", name, location, database=catalog.database)
    if (all_tables or all_sequences) and not session.superuser():
        kinds = "a FOR ALL TABLES or ALL SEQUENCES" if catalog.major.publishes_sequences else "FOR ALL TABLES"
        raise permission_denied(
            f"must be superuser to create {kinds} publication", "all-tables-of-superuser", name, location
        )
    existing = catalog.publication_names.get(name)
    if existing is not None and catalog.publications[existing].seen:
        creator = catalog.publications[existing].creator
        if creator not in (0, session.unseen_role()):
            session.assume(f'role "{catalog.roles[creator].name}", which these files do not create, and its privileges')
        error = ServerError("42710", PUBLICATION_EXISTS, key="publication-exists", culprit=location, publication=name)
        raise error.about(name)
    options = parse_options(session, node.get("options", ()), name)
    if existing is not None:
        # One that is only assumed gives way to the new one.
        for oid in catalog.members_of.get(existing):
            catalog.remove(PUBLICATION_REL, oid)
        for oid in catalog.schemas_of.get(existing):
            catalog.remove(PUBLICATION_NAMESPACE, oid)
        for oid in catalog.exclusions_of.get(existing):
            catalog.remove(PUBLICATION_EXCLUSION, oid)
    defaults = Publication(
        existing if existing is not None else catalog.new_oid(),
        name,
        session.setting("role"),
        all_tables=all_tables,
        all_sequences=all_sequences,
        place=session.place(location or 0, length),
        seen=not session.restless,
        creator=session.unseen_role(),
    )
    publication = options.apply_to(defaults)
    former = None if existing is None else catalog.publications[existing]
    catalog.add_publication(publication)
    if all_tables or all_sequences:
        from pubcheck.postgres.ddl.publications.all_objects import exclude_tables, ignores_options

        ignores_options(session, publication, node.get("options", ()))
        exclude_tables(session, publication, node.get("pubobjects", ()))
    else:
        _add_objects(session, publication, node)
    if former is not None:
        session.rests_on(former)  # if that exists, the server refuses this statement


def _add_objects(session: Session, publication: Publication, node: Node) -> None:
    name = publication.name
    objects = look_up(session, node.get("pubobjects", ()), name)
    if objects.schemas and not session.superuser():
        message = "must be superuser to create FOR TABLES IN SCHEMA publication"
        raise permission_denied(message, "schemas-of-superuser", name, objects.schemas[0][1])
    if objects.tables:
        members = open_tables(session, objects.tables, name)
        transform_filters(session, members, publication)
        check_column_lists(session, members, publication, bool(objects.schemas))
        add_tables(session, publication, members, if_not_exists=True)
    if objects.schemas:
        from pubcheck.postgres.ddl.publications.schemas import add_schemas

        add_schemas(session, publication, objects.schemas, if_not_exists=True)
