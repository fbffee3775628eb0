"""CREATE PUBLICATION and ALTER PUBLICATION, every check in the server's order (commands/publicationcmds.c,
catalog/pg_publication.c).

This module has the first checks of both statements with their errors, and the object list: schemas are looked up,
tables opened, their filters read and their column lists admitted, before anything becomes a member
(ObjectsInPublicationToOids, OpenTableList, TransformPubWhereClauses, CheckPubRelationColumnList). RENAME is in
``ddl.objects.renames``, OWNER TO and DROP are in ``ddl.objects``.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.postgres.catalog import TEMPORARY
from pubcheck.postgres.catalog.rows import Filter, Namespace, Publication, Relation
from pubcheck.postgres.ddl.object_descriptions import RELKIND_SINGULAR, not_supported_for
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def check_text(session: Session, node: Node) -> None:
    """Check the statement's text with the major's own scanner and grammar, and the setting of backslashes."""
    if not session.catalog.major.sql_json_functions:
        from pubcheck.postgres import older_grammars

        older_grammars.check(session.catalog.major, session.text)
    if session.setting("standard_conforming_strings") == "off":
        from pubcheck.postgres.analysis.nonstandard_strings import read_escapes

        read_escapes(session, node)


def is_removed(session: Session, kind: str, publication: Publication, member: int) -> bool:
    """Return whether the unit itself removed a table or schema, so that it is not a member of a publication made
    elsewhere."""
    gone = session.catalog.gone
    return (kind, publication.oid, member) in gone or (kind, publication.oid, 0) in gone


def permission_denied(message: str, key: str, name: str, location: int | None, **arguments: str) -> ServerError:
    """Return the error for a role that lacks a privilege on the publication of that name."""
    error = ServerError("42501", message, key=key, detail=None, hint=None, location=None, culprit=location, **arguments)
    return error.about(name)


_OPENABLE_NOT = "iIcg"


class Member(Struct):
    """PublicationRelInfo: one table of an object list, as opened. ``columns`` are the names as written."""

    relation: Relation
    where: Node | None
    columns: list[str] | None
    location: int
    filter: Filter | None = None


class PublicationObjects(Struct, frozen=True):
    """An object list with its schemas looked up (ObjectsInPublicationToOids)."""

    tables: list[Node]
    schemas: list[tuple[Namespace, int]]


def look_up(session: Session, nodes: Any, publication: str) -> PublicationObjects:
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
                        key="no-current-schema",
                        culprit=location,
                    )
                # A temporary schema that comes first on the path is made for the occasion.
                namespace = session.temporary() if oid == TEMPORARY else session.catalog.namespaces[oid]
            else:
                namespace = session.namespace(spec["name"], key="no-schema", location=location)
        except ServerError as error:
            raise error.about(publication) from None
        if not namespace.seen:
            session.assume(f'schema "{namespace.name}", which these files do not create')
        schemas.setdefault(namespace.oid, (namespace, location))
    return PublicationObjects(tables, list(schemas.values()))


def open_tables(session: Session, nodes: list[Node], publication: str) -> list[Member]:
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
            relation = session.relation(rv, reported=True)
        except ServerError as error:
            raise error.about(publication) from None
        _refuse_unopenable(session, relation, publication, location)
        family = [relation.oid]
        if relation.oid not in known and rv.get("inh", False) and relation.kind != "p":
            family = catalog.descendants(relation.oid)
        opened = relation
        for oid in family:
            if oid in known:
                # The message names the relation opened last, the parent more often than not.
                for kind, repeated in (
                    ("WHERE clause", where is not None or oid in filtered),
                    ("column list", columns is not None or oid in listed),
                ):
                    if repeated:
                        raise _redundant(kind, session, opened, publication, location)
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
    kind, detail = RELKIND_SINGULAR[relation.kind], None
    if session.catalog.major.opens_by_kind:
        message, detail = 'cannot open relation "{relation}"', not_supported_for(relation.kind)
    else:
        message, kind = '"{relation}" is {kind}', "a composite type" if relation.kind == "c" else "an index"
    raise ServerError(
        "42809",
        message,
        key="relation-not-openable",
        detail=detail,
        culprit=location,
        relation=relation.name,
        kind=kind,
    ).about(publication, session.qualified(relation))


def _redundant(kind: str, session: Session, relation: Relation, publication: str, location: int) -> ServerError:
    return ServerError(
        "42710",
        'conflicting or redundant {what}s for table "{relation}"',
        key="conflicting-entries",
        culprit=location,
        what=kind,
        relation=relation.name,
    ).about(publication, session.qualified(relation))


def transform_filters(session: Session, members: list[Member], publication: Publication) -> None:
    """TransformPubWhereClauses."""
    unseen = len(session.unseen_names())
    for member in members:
        if member.where is None:
            continue
        relation = session.catalog.relations[member.relation.oid]
        if relation.kind == "p" and not publication.via_root and relation.seen and publication.seen:
            raise ServerError(
                "22023",
                'cannot use publication WHERE clause for relation "{relation}"',
                key="filter-on-partitioned-root",
                detail="WHERE clause cannot be used for a partitioned table when publish_via_partition_root is false.",
                culprit=member.location,
                relation=relation.name,
            ).about(publication.name, session.qualified(relation))
        # Loaded only where there is a filter.
        from pubcheck.postgres.analysis.row_filter import read_filter

        try:
            member.filter = read_filter(session, relation, member.where)
        except ServerError as error:
            raise error.about(publication.name, session.qualified(relation)) from None
    not_analysed = any(member.filter is not None and not member.filter.analysed for member in members)
    if not_analysed or len(session.unseen_names()) > unseen:
        # The server may refuse the filter (a collation of this machine is not one of all), and with it the statement:
        # what becomes of the publication is assumed.
        row = session.catalog.publications[publication.oid]
        if row.seen:
            session.catalog.reasons.assume_row(row.oid, "whether the server accepts this statement")
        session.catalog.publications.put(row.oid, replace(row, seen=False))


def check_column_lists(session: Session, members: list[Member], publication: Publication, schemas: bool) -> None:
    """CheckPubRelationColumnList: no list next to a schema, nor on a partitioned table published as its leaves."""
    for member in members:
        if member.columns is None:
            continue
        relation = session.catalog.relations[member.relation.oid]
        if schemas:
            key = "column-list-with-schema"
            detail = "Column lists cannot be specified in publications containing FOR TABLES IN SCHEMA elements."
        elif relation.kind == "p" and not publication.via_root and publication.seen:
            key = "column-list-on-partitioned-root"
            detail = "Column lists cannot be specified for partitioned tables when publish_via_partition_root is false."
        else:
            continue
        raise ServerError(
            "22023",
            'cannot use column list for relation "{relation}" in publication "{publication}"',
            key=key,
            detail=detail,
            culprit=member.location,
            relation=session.qualified(relation),
            publication=publication.name,
        ).about(publication.name, session.qualified(relation))
