"""ALTER PUBLICATION: SET (options), and ADD, SET, DROP of tables and schemas (commands/publicationcmds.c:
AlterPublication).
"""

from __future__ import annotations

from pubcheck.postgres.catalog.rows import Publication
from pubcheck.postgres.ddl.publications import check_text, permission_denied
from pubcheck.postgres.ddl.publications.all_objects import ignores_options, set_all
from pubcheck.postgres.ddl.publications.objects import PublicationObjects, look_up
from pubcheck.postgres.ddl.publications.options import PublicationOptions, parse_options
from pubcheck.postgres.ddl.publications.schemas import alter_schemas
from pubcheck.postgres.ddl.publications.tables import alter_tables
from pubcheck.postgres.errors import NOT_PUBLICATION_OWNER, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def alter_publication(session: Session, node: Node) -> None:
    """AlterPublication: SET (options), ADD, SET, DROP."""
    check_text(session, node)
    name = node["pubname"]
    location = session.find_name(name)
    publication = session.publication(name, location=location)
    if not session.owns(publication.owner):
        raise permission_denied(NOT_PUBLICATION_OWNER, "publication-owner", name, location, publication=name)
    if "options" in node:
        _alter_options(session, publication, node["options"])
        return
    if "for_all_tables" in node or "for_all_sequences" in node:
        set_all(session, publication, node)
        return
    action = node.get("action", "AP_AddObjects")
    objects = look_up(session, node.get("pubobjects", ()), name)
    _check_alter(session, publication, objects, action)
    if objects.tables or action == "AP_SetObjects":
        alter_tables(session, publication, objects, action)
    if objects.schemas or action == "AP_SetObjects":
        alter_schemas(session, publication, objects.schemas, action)


def _alter_options(session: Session, publication: Publication, nodes: list[Node]) -> None:
    """AlterPublicationOptions: via_root cannot be undone while a partitioned member has a filter or a list."""
    catalog = session.catalog
    options: PublicationOptions = parse_options(session, nodes, publication.name)
    if not publication.all_tables and options.via_root is False:
        members = [catalog.publication_rels[oid] for oid in catalog.members_of.get(publication.oid)]
        # GetPublicationRelations sorts them by oid.
        for member in sorted(members, key=lambda member: member.relation):
            relation = catalog.relations[member.relation]
            if relation.kind != "p" or (member.filter is None and member.columns is None):
                continue
            clause = "WHERE clause" if member.filter is not None else "column list"
            raise ServerError(
                "22023",
                'cannot set parameter "publish_via_partition_root" to false for publication "{publication}"',
                key="via-root-needed",
                detail=f'The publication contains a {clause} for partitioned table "{relation.name}", '
                'which is not allowed when "publish_via_partition_root" is false.',
                culprit=options.via_root_location,
                publication=publication.name,
                relation=relation.name,
                what=clause,
            ).about(publication.name, session.qualified(relation))
    ignores_options(session, publication, nodes)
    catalog.publications.put(publication.oid, options.apply_to(publication))


def _check_alter(session: Session, publication: Publication, objects: PublicationObjects, action: str) -> None:
    """CheckAlterPublication."""
    name = publication.name
    if action != "AP_DropObjects" and objects.schemas and not session.superuser():
        raise permission_denied(
            "must be superuser to add or set schemas", "schemas-of-superuser", name, objects.schemas[0][1]
        )
    if not publication.all_tables and not publication.all_sequences:
        return
    if objects.schemas:
        kind, location = "Schemas", objects.schemas[0][1]
    elif objects.tables:
        kind = "Tables or sequences" if session.catalog.major.publishes_sequences else "Tables"
        location = objects.tables[0]["relation"].get("location", 0)
    else:
        return
    raise ServerError(
        "55000",
        'publication "{publication}" is defined as FOR {scope}',
        key="all-tables-fixed",
        detail=f"{kind} cannot be added to or dropped from FOR {publication.scope} publications.",
        culprit=location,
        publication=name,
        scope=publication.scope,
    ).about(name)
