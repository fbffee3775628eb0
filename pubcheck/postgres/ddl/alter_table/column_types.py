"""ALTER COLUMN ... TYPE, and the objects that prevent it (commands/tablecmds.c: ATPrepAlterColumnType,
ATExecAlterColumnType).

``ddl.alter_column_type`` recreates objects that depend on the old types.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec.structs import replace

from pubcheck.postgres.catalog import COLLATION, NORMAL, OTHER, PUBLICATION_REL, RELATION, TYPE
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.alter_column_type import refuse_cast, refuse_default
from pubcheck.postgres.ddl.not_null import refuse_renewal
from pubcheck.postgres.ddl.object_descriptions import relation_name
from pubcheck.postgres.ddl.tables.column_definition import depend_on_type, refuse_identity_type
from pubcheck.postgres.ddl.tables.default_values import add_use_of_default
from pubcheck.postgres.ddl.type_modifiers import collation_of, typmod_of
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.relkind import RELKIND_NOUN
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import alterable_column, change_columns, having_column, require_column


class NewType(NamedTuple):
    oid: int
    typmod: int
    collation: int


def prepare_type(session: Session, relation: int, command: Node, recurse: bool) -> NewType:
    """ATPrepAlterColumnType, which comes before any command of the statement is done. Raises ServerError."""
    catalog = session.catalog
    name = command["name"]
    definition = command["def"]["ColumnDef"]
    column = alterable_column(session, relation, name, location=_place(session, definition))
    row = catalog.relations[relation]
    if row.of_type and "through_type" not in command:
        raise ServerError("42809", "cannot alter column type of typed table")
    type_name = definition["typeName"]
    if column.generated and "raw_default" in definition:
        raise ServerError(
            "42611",
            "cannot specify USING when altering type of generated column",
            detail=f'Column "{name}" is a generated column.',
            location=_place(session, definition),
        )
    if column.inherited and row.seen:
        raise ServerError("42P16", f'cannot alter inherited column "{name}"', location=_place(session, definition))
    try:
        oid = session.type_oid(type_name)
    except ServerError as error:
        error.location = error.culprit = _place(session, type_name)
        raise
    typmod = typmod_of(session, type_name, oid) if "typmods" in type_name else -1
    collation = collation_of(session, definition.get("collClause"), oid)
    if column.identity:
        refuse_identity_type(replace(column, type=oid))
    for member in having_column(session, relation, name, recurse):
        _refuse_partition_key(session, member, name, _place(session, definition))
    refuse_cast(session, row, column, oid, typmod, definition.get("raw_default"))
    if not recurse and catalog.children.has(relation):
        raise ServerError("42P16", f'type of inherited column "{name}" must be changed in child tables too')
    return NewType(oid, typmod, collation)


def alter_type(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecAlterColumnType: objects that depend on the column may forbid it."""
    catalog, name = session.catalog, command["name"]
    oid, typmod, collation = prepare_type(session, relation, command, recurse)
    members = having_column(session, relation, name, recurse)
    refuse_renewal(session, members, name)
    for member in members:
        member_column = require_column(session, member, name)
        if member_column.inherited > sum(parent in members for parent in catalog.relations[member].parents):
            member_name = catalog.relations[member].name
            raise ServerError("42P16", f'cannot alter inherited column "{name}" of relation "{member_name}"')
        refuse_default(session, member_column, oid)
        _refuse_type_change(session, catalog.relations[member], member_column)
        for used in ((TYPE, member_column.type), (COLLATION, member_column.collation)):
            catalog.forget_dependencies((RELATION, member), member_column.number, on=used)
        change_columns(
            session, member, [member_column.number], type=oid, typmod=typmod, collation=collation, storage=""
        )
        depend_on_type(session, member, require_column(session, member, name))
        default_type = catalog.types.get(member_column.default_type) if member_column.has_default else None
        if default_type is not None and default_type.kind != "d" and default_type.oid != oid:
            # The default is of its type as before, and cast to the new one.
            add_use_of_default(session, member, member_column.number, (TYPE, default_type.oid, 0))
        _rebuild_keys(session, member, member_column.number)


def _place(session: Session, node: Node) -> int | None:
    """Return the place to which the server points."""
    return node.get("location") if session.catalog.major.alter_type_position else None


def _rebuild_keys(session: Session, relation: int, number: int) -> None:
    """ATPostAlterTypeCleanup makes indexes again, a partition's key as a part of its parent's and as that is."""
    catalog = session.catalog
    for oid in catalog.indexes_of.get(relation):
        index = catalog.indexes[oid]
        if number in (*index.keys, *index.included) and not index.valid and catalog.relations[oid].kind == "i":
            index = replace(index, valid=True)
            catalog.put_index(index)
        owner = catalog.owner_of_index(oid) if index.parent and number in index.keys else None
        if owner is not None and not owner.local:
            above = catalog.indexes[index.parent]
            if (index.primary, index.immediate) != (above.primary, above.immediate):
                kind = "p" if above.primary else "u"
                catalog.put_index(replace(index, primary=above.primary, immediate=above.immediate))
                catalog.constraints.put(owner.oid, replace(owner, kind=kind, deferrable=not above.immediate))


def _refuse_partition_key(session: Session, relation: int, name: str, location: int | None) -> None:
    row = session.catalog.relations[relation]
    column = require_column(session, relation, name)
    if column.number in row.partition_key:
        message = f'cannot alter column "{name}" because it is part of the partition key of relation "{row.name}"'
        raise ServerError("42P16", message, location=location)


def _refuse_type_change(session: Session, row: Relation, column: Column) -> None:
    """RememberAllDependentForRebuilding: the first dependent that cannot be rebuilt, in the order they came."""
    catalog = session.catalog
    for dependent, number, kind in catalog.dependents.get((RELATION, row.oid)):
        if number != column.number:
            continue
        if dependent[0] == PUBLICATION_REL:
            member = catalog.publication_rels[dependent[1]]
            publication = catalog.publications[member.publication].name
            session.doubt_members([member.oid])
            raise ServerError(
                "0A000",
                "cannot alter type of a column used by a publication WHERE clause",
                key="type-of-column-in-publication",
                detail=f"publication of table {relation_name(session, row)} in publication {publication} "
                f'depends on column "{column.name}"' + "." * catalog.major.dependency_in_sentences,
                column=column.name,
            ).about(publication, session.qualified(row))
        if dependent[0] == RELATION and kind == NORMAL and catalog.relations[dependent[1]].kind in "vm":
            view = catalog.relations[dependent[1]]
            session.rests_on(view)
            raise ServerError(
                "0A000",
                "cannot alter type of a column used by a view or rule",
                detail=f"rule _RETURN on {RELKIND_NOUN[view.kind]} {relation_name(session, view)} "
                f'depends on column "{column.name}"' + "." * catalog.major.dependency_in_sentences,
            )
        if dependent[0] == RELATION and dependent[1] == row.oid and dependent[2]:
            generated = row.columns[dependent[2] - 1].name
            raise ServerError(
                "0A000",
                "cannot alter type of a column used by a generated column",
                key="type-of-column-in-expression" if catalog.memberships.has(row.oid) else None,
                detail=f'Column "{column.name}" is used by generated column "{generated}".',
            )
        if dependent[0] == OTHER and kind == NORMAL:
            raise ServerError("0A000", "cannot alter type of a column used by another object")
