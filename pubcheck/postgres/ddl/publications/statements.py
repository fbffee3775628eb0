"""CREATE PUBLICATION and ALTER PUBLICATION: their WITH options, publications for all tables or sequences and the
tables that they leave out, SET, ADD and DROP (commands/publicationcmds.c: parse_publication_options,
CreatePublication, AlterPublication, AlterPublicationAllFlags; catalog/pg_publication.c:
check_publication_add_relation).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.postgres.catalog import FIRST_UNPINNED, PUBLICATION_EXCLUSION, PUBLICATION_NAMESPACE, PUBLICATION_REL
from pubcheck.postgres.catalog.rows import Publication, PublicationExclusion, Relation
from pubcheck.postgres.ddl.object_descriptions import RELKIND_SINGULAR, not_supported_for
from pubcheck.postgres.ddl.publications import (
    PublicationObjects,
    check_column_lists,
    check_text,
    look_up,
    open_tables,
    permission_denied,
    transform_filters,
)
from pubcheck.postgres.ddl.publications.members import add_tables, alter_schemas, alter_tables
from pubcheck.postgres.errors import NO_CREATE_IN_DATABASE, NOT_PUBLICATION_OWNER, PUBLICATION_EXISTS, ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import truth, value_text
from pubcheck.postgres.session import Session
from pubcheck.postgres.tokens import ascii_lower, name_end, quote_identifier, split_identifiers

_ACTIONS = ("insert", "update", "delete", "truncate")


class _PublicationOptions(Struct, frozen=True):
    """The options of a statement; None for each that it does not have."""

    actions: frozenset[str] | None = None
    via_root: bool | None = None
    generated: str | None = None
    via_root_location: int | None = None

    def apply_to(self, publication: Publication) -> Publication:
        """Return the publication with these options set; the others stay."""
        changes: dict[str, Any] = {}
        if self.actions is not None:
            changes.update((action, action in self.actions) for action in _ACTIONS)
        if self.via_root is not None:
            changes["via_root"] = self.via_root
        if self.generated is not None:
            changes["generated"] = self.generated
        return replace(publication, **changes) if changes else publication


def parse_options(session: Session, nodes: Iterable[Node], publication: str) -> _PublicationOptions:
    """Return the options, read from left to right. Raises ServerError 42601 at the first that the server refuses."""
    actions: frozenset[str] | None = None
    via_root: bool | None = None
    generated: str | None = None
    via_root_location: int | None = None
    for item in nodes:
        element = item["DefElem"]
        name, location = element["defname"], element.get("location", 0)
        try:
            if name == "publish":
                if actions is not None:
                    raise _twice(location)
                actions = _publish(element)
            elif name == "publish_via_partition_root":
                if via_root is not None:
                    raise _twice(location)
                via_root, via_root_location = _boolean(element), location
            elif name == "publish_generated_columns" and session.catalog.major.publish_generated_columns:
                if generated is not None:
                    raise _twice(location)
                generated = _generated(element)
            else:
                message = 'unrecognized publication parameter: "{option}"'
                raise ServerError("42601", message, key="publication-option", option=name)
        except ServerError as error:
            error.publication = publication
            if error.culprit is None:
                error.culprit = location
            raise
    return _PublicationOptions(actions, via_root, generated, via_root_location)


def _twice(location: int) -> ServerError:
    """errorConflictingDefElem; the only option error with a position."""
    return ServerError("42601", "conflicting or redundant options", key="publication-option-twice", location=location)


def _publish(element: Node) -> frozenset[str]:
    if "arg" not in element:
        raise ServerError("42601", "publish requires a parameter", key="publish-without-value")
    parts = split_identifiers(value_text(element["arg"]))
    if parts is None:
        raise ServerError("42601", 'invalid list syntax in parameter "publish"', key="publish-list")
    for part in parts:
        if part not in _ACTIONS:
            message = 'unrecognized value for publication option "publish": "{value}"'
            raise ServerError("42601", message, key="publish-value", value=part)
    return frozenset(parts)


def _boolean(element: Node) -> bool:
    value = truth(element.get("arg"))
    if value is None:
        message = "{option} requires a Boolean value"
        raise ServerError("42601", message, key="publication-option-not-boolean", option=element["defname"])
    return value


def _generated(element: Node) -> str:
    """defGetGeneratedColsOption."""
    value = value_text(element["arg"]) if "arg" in element else ""
    word = ascii_lower(value)
    if word in ("none", "stored"):
        return word[0]
    raise ServerError(
        "42601",
        'invalid value for publication parameter "publish_generated_columns": "{value}"',
        key="publish-generated-columns",
        detail='Valid values are "none" and "stored".',
        value=value,
    )


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
    excluded = _exclude_tables(session, publication, node.get("pubobjects", ()))
    for relation, oid in former.items():
        if relation not in excluded:
            catalog.remove(PUBLICATION_EXCLUSION, oid)


def _exclude_tables(session: Session, publication: Publication, nodes: list[Node]) -> set[int]:
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


def _ignores_options(session: Session, publication: Publication, options: list[Node]) -> None:
    """Note the NOTICE for options of a publication whose sequences have none."""
    if options and publication.all_sequences:
        session.notices.append(OPTIONS_IGNORED)


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
        _ignores_options(session, publication, node.get("options", ()))
        _exclude_tables(session, publication, node.get("pubobjects", ()))
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
        from pubcheck.postgres.ddl.publications.members import add_schemas

        add_schemas(session, publication, objects.schemas, if_not_exists=True)


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
    options: _PublicationOptions = parse_options(session, nodes, publication.name)
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
    _ignores_options(session, publication, nodes)
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
