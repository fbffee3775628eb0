"""CREATE TYPE ... AS (...) and ALTER TYPE of its attributes (commands/typecmds.c: DefineCompositeType;
commands/tablecmds.c).
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from pubcheck.postgres.catalog import INTERNAL, NORMAL, RELATION, TYPE
from pubcheck.postgres.catalog.rows import Column, Relation, Type
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.ddl.type_modifiers import collation_of, typmod_of
from pubcheck.postgres.ddl.types import new_type, new_type_oid
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import SYSTEM_COLUMNS, put_columns, require_column


def create_composite(session: Session, node: Node) -> None:
    """CREATE TYPE ... AS (...): a relation of kind 'c' and its type (DefineCompositeType)."""
    catalog = session.catalog
    rv = node["typevar"]
    namespace, _ = session.creation_target(rv)
    name = rv["relname"]
    oid = new_type_oid(session, namespace, name)
    session.free_name(namespace, name)
    columns: list[Column] = []
    for number, item in enumerate(node.get("coldeflist", ()), 1):
        columns.append(_attribute(session, item["ColumnDef"], number))
        if any(earlier.name == columns[-1].name for earlier in columns[:-1]):
            raise ServerError("42701", f'column "{columns[-1].name}" specified more than once')
    owner = session.setting("role")
    relation = Relation(catalog.new_oid(), name, namespace, "c", owner, columns=tuple(columns), identity="n", seen=True)
    catalog.add_relation(relation)
    row = Type(oid, name, namespace, owner, "c", relation=relation.oid, category="C", seen=True)
    row = new_type(session, row)
    catalog.depend((RELATION, relation.oid, 0), (TYPE, row.oid, 0), INTERNAL)
    for column in columns:
        catalog.depend((RELATION, relation.oid, column.number), (TYPE, column.type, 0), NORMAL)


def _attribute(session: Session, body: Node, number: int) -> Column:
    name = body["colname"]
    if name in SYSTEM_COLUMNS:
        raise ServerError("42701", f'column name "{name}" conflicts with a system column name')
    if body["typeName"].get("setof"):
        raise ServerError("42P16", f'column "{name}" cannot be declared SETOF')
    return _typed(session, Column(number, name), body)


def _typed(session: Session, column: Column, body: Node) -> Column:
    """An attribute with the type that its ColumnDef says."""
    type_name = body["typeName"]
    oid = session.type_oid(type_name)
    typmod = typmod_of(session, type_name, oid) if "typmods" in type_name else -1
    return replace(column, type=oid, typmod=typmod, collation=collation_of(session, body.get("collClause"), oid))


def alter_composite(session: Session, node: Node) -> Iterator[tuple[int, Node]]:
    """ALTER TYPE ...

    ADD, DROP, ALTER ATTRIBUTE: change the type, and yield the tables OF it with their commands (CASCADE).
    """
    row = session.relation(node["relation"])
    if not row.seen:
        return
    if row.kind != "c":
        raise ServerError("42809", f'"{row.name}" is not a composite type')
    if not session.owns(row.owner):
        raise ServerError("42501", f"must be owner of type {row.name}")
    for item in node.get("cmds", ()):
        command = item["AlterTableCmd"]
        cascade = command.get("behavior") == "DROP_CASCADE"
        typed = typed_tables(session, row, cascade=cascade)
        _alter_attribute(session, command, row.oid, cascade)
        for table in typed:
            yield table, command


def typed_tables(session: Session, composite: Relation, *, cascade: bool) -> list[int]:
    """The tables OF a composite type (find_typed_table_dependencies). Raises ServerError 2BP01 without ``cascade``."""
    catalog = session.catalog
    oid = catalog.type_names.get((composite.namespace, composite.name), 0)
    tables = [
        dependent[1]
        for dependent, _, _ in catalog.dependents.get((TYPE, oid))
        if dependent[0] == RELATION and not dependent[2] and catalog.relations[dependent[1]].of_type == oid
    ]
    if tables and not cascade:
        raise ServerError(
            "2BP01",
            f'cannot alter type "{composite.name}" because it is the type of a typed table',
            hint="Use ALTER ... CASCADE to alter the typed tables too.",
        )
    return tables


def _alter_attribute(session: Session, command: Node, oid: int, cascade: bool) -> None:
    """Apply a command to the composite type itself; its relation is ``oid``."""
    catalog = session.catalog
    subtype = command["subtype"]
    row = catalog.relations[oid]
    if subtype == "AT_AddColumn":
        body = command["def"]["ColumnDef"]
        if row.column(body["colname"]) is not None:
            raise ServerError(
                "42701", 'column "{name}" of relation "{owner}" already exists', name=body["colname"], owner=row.name
            )
        column = _attribute(session, body, len(row.columns) + 1)
        put_columns(session, row, (*row.columns, column))
        catalog.depend((RELATION, oid, column.number), (TYPE, column.type, 0), NORMAL)
    elif subtype == "AT_DropColumn":
        name = command["name"]
        if command.get("missing_ok") and row.column(name) is None:
            session.notices.append(f'column "{name}" of relation does not exist, skipping')
            return
        perform_deletion(session, [(RELATION, oid, require_column(session, oid, name).number)], cascade)
    elif subtype == "AT_AlterColumnType":
        name, body = command["name"], command["def"]["ColumnDef"]
        _refuse_stored(session, row.name, catalog.type_names.get((row.namespace, row.name), 0), set())
        column = require_column(session, oid, name)
        new = _typed(session, column, body)
        put_columns(session, row, tuple(new if attribute is column else attribute for attribute in row.columns))
        catalog.forget_dependencies((RELATION, oid), column.number, on=(TYPE, column.type))
        catalog.depend((RELATION, oid, new.number), (TYPE, new.type, 0), NORMAL)


def _refuse_stored(session: Session, name: str, oid: int, seen: set[int]) -> None:
    """find_composite_type_dependencies: values of the type, or of what is made of it, that a table may hold."""
    catalog = session.catalog
    if oid in seen:
        return
    seen.add(oid)
    for (kind, dependent, number), _, _ in catalog.dependents.get((TYPE, oid)):
        if kind == TYPE:
            _refuse_stored(session, name, dependent, seen)
        elif kind == RELATION and number:
            row = catalog.relations[dependent]
            if row.kind in "rpm":
                used = f"{row.name}.{row.columns[number - 1].name}"
                raise ServerError("0A000", f'cannot alter type "{name}" because column "{used}" uses it')
            _refuse_stored(session, name, catalog.type_names.get((row.namespace, row.name), 0), seen)
