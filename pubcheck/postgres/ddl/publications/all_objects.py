"""Publications for all tables or sequences, and the tables that they leave out (commands/publicationcmds.c:
CreatePublication, AlterPublicationAllFlags; catalog/pg_publication.c: check_publication_add_relation).
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import FIRST_UNPINNED, PUBLICATION_EXCLUSION
from pubcheck.postgres.catalog.rows import Publication, PublicationExclusion, Relation
from pubcheck.postgres.ddl.publications import permission_denied
from pubcheck.postgres.ddl.publications.objects import open_tables
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.identifiers import quote_identifier
from pubcheck.postgres.parse import Node
from pubcheck.postgres.relkind import RELKIND_SINGULAR, not_supported_for
from pubcheck.postgres.session import Session

OPTIONS_IGNORED = (
    "publication parameters are not applicable to sequence synchronization and will be ignored for sequences"
)


def set_all(session: Session, publication: Publication, node: Node) -> None:
    """ALTER PUBLICATION ... SET ALL: replaces the kinds and the tables that are left out."""
    catalog, name = session.catalog, publication.name
    location = session.find_name(name)
    all_tables, all_sequences = node.get("for_all_tables", False), node.get("for_all_sequences", False)
    for kind, is_set in (("TABLES", all_tables), ("SEQUENCES", all_sequences)):
        if is_set and not session.superuser():
            message = "must be superuser to set ALL {kind}"
            raise permission_denied(message, "set-all-of-superuser", name, location, kind=kind)
    if catalog.members_of.has(publication.oid) or catalog.schemas_of.has(publication.oid):
        session.rests_on(publication)
        raise ServerError(
            "55000",
            'publication "{publication}" does not support ALL {kind} operations',
            key="set-all-of-list",
            detail="This operation requires the publication to be defined as FOR ALL TABLES/SEQUENCES or to be empty.",
            culprit=location,
            publication=name,
            kind="TABLES" if all_tables else "SEQUENCES",
        ).about(name)
    former = {catalog.publication_exclusions[oid].relation: oid for oid in catalog.exclusions_of.get(publication.oid)}
    catalog.put_publication(replace(publication, all_tables=all_tables, all_sequences=all_sequences))
    excluded = exclude_tables(session, publication, node.get("pubobjects", ()))
    for relation, oid in former.items():
        if relation not in excluded:
            catalog.remove(PUBLICATION_EXCLUSION, oid)


def exclude_tables(session: Session, publication: Publication, nodes: list[Node]) -> set[int]:
    """Leave the tables of EXCEPT out of a publication, and return their oids.

    All names are opened first, with the descendants of each; then each relation is checked.
    """
    catalog = session.catalog
    tables = [item["PublicationObjSpec"]["pubtable"] for item in nodes]
    members = open_tables(session, tables, publication.name)
    for member in members:
        relation = catalog.relations[member.relation.oid]
        _refuse_not_excludable(session, relation, publication.name, member.location)
        if (publication.oid, relation.oid) not in catalog.exclusions:
            catalog.add(
                PublicationExclusion(catalog.new_oid(), publication.oid, relation.oid, session.place(member.location))
            )
    return {member.relation.oid for member in members}


def _refuse_not_excludable(session: Session, relation: Relation, publication: str, location: int) -> None:
    """check_publication_add_relation with EXCEPT."""
    if relation.partition:
        key, detail = "except-partition", "This operation is not supported for individual partitions."
    elif relation.kind not in "rp":
        key, detail = "except-kind", not_supported_for(relation.kind)
    elif relation.oid < FIRST_UNPINNED:
        key, detail = "except-system-table", "This operation is not supported for system tables."
    elif relation.persistence == "t":
        key, detail = "except-temporary", "This operation is not supported for temporary tables."
    elif relation.persistence == "u":
        key, detail = "except-unlogged", "This operation is not supported for unlogged tables."
    else:
        return
    major = session.catalog.major.number
    schema = "pg_temp" if relation.persistence == "t" else session.catalog.namespaces[relation.namespace].name
    error = ServerError(
        "22023",
        'cannot specify relation "{relation}" in the publication EXCEPT clause',
        key=key,
        detail=detail,
        culprit=location,
        relation=f"{quote_identifier(schema, major)}.{quote_identifier(relation.name, major)}",
        kind=RELKIND_SINGULAR[relation.kind],
    )
    session.rests_on(relation)
    raise error.about(publication, session.qualified(relation))


def ignores_options(session: Session, publication: Publication, options: list[Node]) -> None:
    """Note the NOTICE for options of a publication whose sequences have none."""
    if options and publication.all_sequences:
        session.notices.append(OPTIONS_IGNORED)
