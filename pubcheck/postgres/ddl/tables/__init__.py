"""CREATE TABLE in all its forms (parser/parse_utilcmd.c: transformCreateStmt; commands/tablecmds.c: DefineRelation).

This module has the order of the steps. The definitions of columns, what they inherit or copy, and the constraints
of a table are in the other modules of this package.
"""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.postgres.catalog import PG_CATALOG
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.constraints import add_constraint, order_constraints, with_not_nulls
from pubcheck.postgres.ddl.tables.column_definition import (
    attach_default,
    define_column,
    depend_on_types,
    own_defaults,
    refuse_pseudo_type,
)
from pubcheck.postgres.ddl.tables.default_types import without_null_default
from pubcheck.postgres.ddl.types import free_row_type_name
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session

TYPE_CHECKING = False  # typing.TYPE_CHECKING without importing typing
if TYPE_CHECKING:
    from pubcheck.postgres.ddl.tables.inheritance import Ancestry


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
        from pubcheck.postgres.ddl.assumed_relations import drop_former

        drop_former(session, former)
        former = None
    free_row_type_name(session, namespace, name)
    if node.get("oncommit", "ONCOMMIT_NOOP") != "ONCOMMIT_NOOP" and persistence != "t":
        raise ServerError("42P16", "ON COMMIT can only be used on temporary tables")
    if "partspec" in node and persistence == "u" and not session.catalog.major.unlogged_partitioned:
        raise ServerError("0A000", "partitioned tables cannot be unlogged")
    if "options" in node or "accessMethod" in node or "tablespacename" in node:
        # Loaded only for tables that say how they are stored.
        from pubcheck.postgres.ddl.storage import refuse_table_storage

        refuse_table_storage(session, node, "p" if "partspec" in node else "r")
    ancestry = None
    if "inhRelations" in node or "ofTypename" in node:
        # Loaded only for tables that have a parent or a type.
        from pubcheck.postgres.ddl.tables.inheritance import Ancestry

        ancestry = Ancestry(session, node, former, namespace, persistence)
    elements = _elements(session, node, ancestry)
    if "columns" not in node:
        for column in elements.columns:
            refuse_pseudo_type(column)
    if ancestry is not None:
        ancestry.refuse_overlap(name)
    row = Relation(
        former.oid if former is not None else session.catalog.new_oid(),
        name,
        namespace,
        kind or ("p" if "partspec" in node else "r"),
        session.setting("role"),
        columns=tuple(elements.columns),
        persistence=persistence,
        partition=partition,
        parents=tuple([parent.oid for parent in ancestry.parents]) if ancestry is not None else (),
        of_type=ancestry.of_type if ancestry is not None else 0,
        on_commit_drop=node.get("oncommit") == "ONCOMMIT_DROP",
        # heap_create: a table in pg_catalog, which only allow_system_table_mods allows, has none.
        identity="n" if namespace == PG_CATALOG else "d",
        seen=elements.seen,
        place=session.place(rv.get("location", 0), len(name.encode())),
        bound=ancestry.bound if ancestry is not None else None,
    )
    if "partspec" in node:
        # Loaded only for partitioned tables.
        from pubcheck.postgres.ddl.partition_bounds import with_partition_key

        row = with_partition_key(session, row, node["partspec"])
        session.catalog.define("partition key", row.oid, node["partspec"])
    if partition:
        session.catalog.define("bound", row.oid, node["partbound"])
    if session.catalog.major.named_not_null:
        row = with_not_nulls(session, row, elements.constraints)
    if former is None:
        session.catalog.add_relation(row)
    else:
        # Loaded only for a table that was referred to before.
        from pubcheck.postgres.ddl.assumed_relations import replace_assumed

        replace_assumed(session, former, row)
    session.mentions.setdefault(row.oid, rv.get("location", 0))
    _complete(session, row, node, ancestry, elements)
    if row.on_commit_drop and session.transaction is None:
        # The statement is a transaction of its own.
        from pubcheck.postgres.ddl.deletion import drop_at_commit

        drop_at_commit(session)


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


def _elements(session: Session, node: Node, ancestry: Ancestry | None) -> _Elements:
    """Return the columns in order. A repeated column is merged with the inherited one."""
    if "columns" in node:
        return _Elements(node["columns"][session.catalog.major.number], [], [], [], True)
    columns, seen = ancestry.columns() if ancestry is not None else ([], True)
    elements = _Elements(columns, [], [], [], seen)
    positions = {column.name: position for position, column in enumerate(columns)}
    column_names: set[str] = set()

    def put(column: Column, *, typed: bool = True) -> None:
        name = column.name
        if name in column_names:
            raise ServerError("42701", f'column "{name}" specified more than once')
        column_names.add(name)
        if not typed and name not in positions and seen:
            raise ServerError("42703", f'column "{name}" does not exist')
        if ancestry is not None and name in positions:
            position = positions[name]
            columns[position] = ancestry.merge(columns[position], column, typed=typed)
        else:
            columns.append(column)

    for element in node.get("tableElts", ()):
        ((kind, body),) = element.items()
        if kind == "ColumnDef":
            column = define_column(session, body, len(columns) + 1, elements.constraints, elements.owned)
            put(column, typed="typeName" in body)
        elif kind == "Constraint":
            elements.constraints.append(body)
        elif kind == "TableLikeClause":
            # Loaded only for LIKE.
            from pubcheck.postgres.ddl.tables.inheritance import copied_columns, with_columns

            source = with_columns(session, session.relation(body["relation"]))
            elements.seen = elements.seen and source.seen
            if source.kind not in "rvmcfp":
                raise ServerError("42809", f'relation "{source.name}" is invalid in LIKE clause')
            elements.likes.append((source, body.get("options", 0)))
            for column in copied_columns(source, body.get("options", 0), elements.owned):
                put(column)
    if ancestry is not None or elements.likes:
        for position, column in enumerate(columns, 1):
            if column.number != position:
                columns[position - 1] = replace(column, number=position)
    columns[:] = map(without_null_default, columns)
    return elements


def _complete(session: Session, row: Relation, node: Node, ancestry: Ancestry | None, elements: _Elements) -> None:
    """Add the table's dependencies, and all that it has besides columns, in the server's order."""
    if "columns" not in node:
        depend_on_types(session, row)
    if row.partition_key:
        from pubcheck.postgres.ddl.partition_bounds import depend_on_key

        depend_on_key(session.catalog, row)
    if ancestry is not None:
        ancestry.depend(row)
    for owner, definition in elements.owned:
        attach_default(session, row.oid, owner, definition)
    sources = [*(ancestry.parents if ancestry is not None else ()), *(source for source, _ in elements.likes)]
    if sources:
        from pubcheck.postgres.ddl.tables.default_values import copy_defaults

        copy_defaults(session, row.oid, own_defaults(node), sources)
    if elements.likes:
        from pubcheck.postgres.ddl.tables.inheritance import copy_constraints, copy_indexes

    for source, options in elements.likes:
        copy_constraints(session, source, row.oid, options)
    if ancestry is not None:
        ancestry.inherit_constraints(row)
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
