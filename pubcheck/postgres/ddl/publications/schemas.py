"""Schemas that become members of a publication, stay, and cease to be (commands/publicationcmds.c:
AlterPublicationSchemas, PublicationAddSchemas; catalog/pg_publication.c).
"""

from __future__ import annotations

from pubcheck.postgres.catalog import PG_CATALOG, PG_TOAST, PUBLICATION_NAMESPACE, TEMPORARY
from pubcheck.postgres.catalog.rows import Namespace, Publication, PublicationNamespace
from pubcheck.postgres.ddl.publications import is_removed
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.session import Session


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
