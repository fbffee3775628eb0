"""CREATE TABLE in all its forms (parser/parse_utilcmd.c: transformCreateStmt; commands/tablecmds.c: DefineRelation).

This module has the order of the steps. The definitions of columns, what they inherit or copy, and the constraints
of a table are in the other modules of this package.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, NORMAL, PG_CATALOG, RELATION
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.assumed_relations import adopt_keys, adopt_members
from pubcheck.postgres.ddl.constraints import add_constraint
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.ddl.foreign import SERVER
from pubcheck.postgres.ddl.object_address import all_objects_known
from pubcheck.postgres.ddl.partition_bounds import read_bound, refuse_overlap
from pubcheck.postgres.ddl.tables.column_definition import (
    define_column,
    depend_on_types,
    own_defaults,
    refuse_pseudo_type,
)
from pubcheck.postgres.ddl.tables.constraints import order_constraints, with_not_nulls
from pubcheck.postgres.ddl.tables.default_values import attach_default, copy_defaults
from pubcheck.postgres.ddl.tables.inheritance import (
    check_parent,
    clone_indexes,
    columns_of_type,
    inherit_constraints,
    inherited_columns,
    merge_column,
)
from pubcheck.postgres.ddl.types import free_row_type_name
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def create_foreign_table(session: Session, node: Node) -> None:
    """CREATE FOREIGN TABLE, also as a partition."""
    if all_objects_known(session) and (SERVER, 0, node["servername"]) not in session.catalog.other_names:
        raise ServerError("42704", f'server "{node["servername"]}" does not exist')
    create_table(session, node["base"], kind="f")


def create_table(session: Session, node: Node, kind: str = "") -> None:
    """CREATE TABLE: plain, partitioned, PARTITION OF, INHERITS, OF a type, LIKE."""
    rv, partition = node["relation"], "partbound" in node
    try:
        namespace, persistence = session.creation_target(rv, optional=node.get("if_not_exists", False))
    except ServerError as error:
        if error.detail is None:  # that has one which heap_create raises, later
            error.location = error.culprit = rv.get("location")
        raise
    name = rv["relname"]
    former = session.relation_in(namespace, name)
    if former is not None and former.seen:
        if node.get("if_not_exists"):
            session.notices.append(f'relation "{name}" already exists, skipping')
            return
        raise ServerError("42P07", 'relation "{name}" already exists', name=name)
    if former is not None and former.place is not None:
        # It was perhaps made, otherwise than here, or dropped since: nothing of it, as its indexes, is this one's.
        perform_deletion(session, [(RELATION, former.oid, 0)], True)
        session.notices.clear()
        former = None
    free_row_type_name(session, namespace, name)
    if node.get("oncommit", "ONCOMMIT_NOOP") != "ONCOMMIT_NOOP" and persistence != "t":
        raise ServerError("42P16", "ON COMMIT can only be used on temporary tables")
    if "partspec" in node and persistence == "u" and not session.catalog.major.unlogged_partitioned:
        raise ServerError("0A000", "partitioned tables cannot be unlogged")
    if "options" in node or "accessMethod" in node or "tablespacename" in node:
        # Loaded only for tables that say how they are stored.
        from pubcheck.postgres.ddl.access_methods import refuse_table_storage

        refuse_table_storage(session, node, "p" if "partspec" in node else "r")
    parents = _parents(session, node, former, namespace, persistence) if "inhRelations" in node else []
    bound = read_bound(session, session.catalog.relations[parents[0].oid], node["partbound"]) if partition else None
    of_type = session.type_oid(node["ofTypename"]) if "ofTypename" in node else 0
    elements = _elements(session, node, parents)
    for column in elements.columns:
        refuse_pseudo_type(column)
    if bound is not None:
        refuse_overlap(session, parents[0], name, bound)
    row = Relation(
        former.oid if former is not None else session.catalog.new_oid(),
        name,
        namespace,
        kind or ("p" if "partspec" in node else "r"),
        session.setting("role"),
        columns=tuple(elements.columns),
        persistence=persistence,
        partition=partition,
        parents=tuple([parent.oid for parent in parents]),
        of_type=of_type,
        on_commit_drop=node.get("oncommit") == "ONCOMMIT_DROP",
        # heap_create: a table in pg_catalog, which only allow_system_table_mods allows, has none.
        identity="n" if namespace == PG_CATALOG else "d",
        seen=elements.seen,
        place=session.place(rv.get("location", 0), len(name.encode())),
        bound=bound,
    )
    if "partspec" in node:
        # Loaded only for partitioned tables.
        from pubcheck.postgres.ddl.tables.partition_keys import with_partition_key

        row = with_partition_key(session, row, node["partspec"])
        session.catalog.define("partition key", row.oid, node["partspec"])
    if partition:
        session.catalog.define("bound", row.oid, node["partbound"])
    if session.catalog.major.named_not_null:
        row = with_not_nulls(session, row, elements.constraints)
    _enter(session, row, former)
    session.mentions.setdefault(row.oid, rv.get("location", 0))
    _complete(session, row, node, parents, elements)
    if row.on_commit_drop and session.transaction is None:
        # The statement is a transaction of its own.
        from pubcheck.postgres.ddl.temporary_tables import drop_at_commit

        drop_at_commit(session)


def _parents(session: Session, node: Node, former: Relation | None, namespace: int, persistence: str) -> list[Relation]:
    """Return the parents of INHERITS or PARTITION OF. Raises ServerError if one of them cannot be a parent of the
    table."""
    name = node["relation"]["relname"]
    parents = [session.relation(parent["RangeVar"]) for parent in node["inhRelations"]]
    if any(parent.name == name and parent.namespace == namespace for parent in parents):
        raise ServerError("42P01", f'relation "{name}" does not exist')
    if former is not None and any(former.oid in session.catalog.ancestors(parent.oid) for parent in parents):
        # Its parent could not be created before it.
        raise ServerError("42P07", 'relation "{name}" already exists', name=name)
    distinct: set[int] = set()
    for parent in parents:
        if parent.oid in distinct:
            raise ServerError("42P07", f'relation "{parent.name}" would be inherited from more than once')
        distinct.add(parent.oid)
    for parent in parents:
        check_parent(session, parent, "partbound" in node, persistence)
    return parents


class _Elements(Struct, gc=False):
    """The elements of a CREATE TABLE, with those of its parents and of its type.

    ``owned`` are defaults and the like that create objects of their own, by column. ``likes`` are the tables of LIKE
    with its options. ``seen`` is False if the columns of one of them are not known.
    """

    columns: list[Column]
    constraints: list[Node]
    owned: list[tuple[str, Node]]
    likes: list[tuple[Relation, int]]
    seen: bool


def _elements(session: Session, node: Node, parents: list[Relation]) -> _Elements:
    """Return the columns in order. A repeated column is merged with the inherited one."""
    columns = inherited_columns(session, parents) if parents else []
    seen = all(parent.seen for parent in parents)
    if "ofTypename" in node:
        of_type = columns_of_type(session, node["ofTypename"])
        seen = of_type is not None
        columns += of_type or ()
    elements = _Elements(columns, [], [], [], seen)
    positions = {column.name: position for position, column in enumerate(columns)}
    column_names: set[str] = set()
    for element in node.get("tableElts", ()):
        ((kind, body),) = element.items()
        if kind == "ColumnDef":
            column = define_column(session, body, len(columns) + 1, elements.constraints, elements.owned)
            name = column.name
            if name in column_names:
                raise ServerError("42701", f'column "{name}" specified more than once')
            column_names.add(name)
            if "typeName" not in body and name not in positions and seen:
                raise ServerError("42703", f'column "{name}" does not exist')
            if name in positions:
                position = positions[name]
                columns[position] = merge_column(session, columns[position], column, typed="typeName" in body)
            else:
                columns.append(column)
        elif kind == "Constraint":
            elements.constraints.append(body)
        elif kind == "TableLikeClause":
            # Loaded only for LIKE.
            from pubcheck.postgres.ddl.tables.like import copy_columns, with_columns

            source = with_columns(session, session.relation(body["relation"]))
            elements.seen = elements.seen and source.seen
            if source.kind not in "rvmcfp":
                raise ServerError("42809", f'relation "{source.name}" is invalid in LIKE clause')
            elements.likes.append((source, body.get("options", 0)))
            copy_columns(columns, {*positions, *column_names}, source, body.get("options", 0), elements.owned)
            column_names.update(column.name for column in source.live())
    if parents or elements.likes or "ofTypename" in node:
        for position, column in enumerate(columns, 1):
            if column.number != position:
                columns[position - 1] = replace(column, number=position)
    return elements


def _enter(session: Session, row: Relation, former: Relation | None) -> None:
    """The table in the catalog, in the place of one that was only referred to, if there is one."""
    catalog = session.catalog
    if former is not None:
        row = adopt_keys(session, former, row)
        catalog.remove_relation(former)
    catalog.add_relation(row)
    if former is not None:
        adopt_members(session, former, row)


def _complete(session: Session, row: Relation, node: Node, parents: list[Relation], elements: _Elements) -> None:
    """Add the table's dependencies, and all that it has besides columns, in the server's order."""
    catalog = session.catalog
    depend_on_types(session, row)
    for parent in parents:
        catalog.depend((RELATION, row.oid, 0), (RELATION, parent.oid, 0), AUTO if row.partition else NORMAL)
    for owner, definition in elements.owned:
        attach_default(session, row.oid, owner, definition)
    if parents or elements.likes:
        copy_defaults(session, row.oid, own_defaults(node), [*parents, *(source for source, _ in elements.likes)])
    if elements.likes:
        from pubcheck.postgres.ddl.tables.like import copy_constraints, copy_indexes

    for source, options in elements.likes:
        copy_constraints(session, source, row.oid, options)
    for parent in parents:
        inherit_constraints(session, parent, row.oid)
    if row.partition and parents:
        # In DefineRelation, before the statements for the partition's own keys run.
        clone_indexes(session, parents[0], row.oid)
    if not session.superuser() and (
        any("serial" in definition for _, definition in elements.owned)
        or any(constraint["contype"] != "CONSTR_CHECK" for constraint in elements.constraints)
    ):
        # The server looks the table up again for its keys, which takes USAGE of its schema.
        session.relation(node["relation"])
    for constraint in order_constraints(elements.constraints):
        add_constraint(session, row.oid, constraint)
    for source, options in elements.likes:
        copy_indexes(session, source, row.oid, options)
