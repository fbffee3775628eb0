"""RENAME of columns and constraints, in children too (commands/tablecmds.c: renameatt, rename_constraint_internal)."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.ddl.columns import rename_columns
from pubcheck.postgres.ddl.not_null import column_of_constraint
from pubcheck.postgres.ddl.not_null import rename_constraint as rename_not_null
from pubcheck.postgres.ddl.object_address import find_relation
from pubcheck.postgres.ddl.objects import require_owner
from pubcheck.postgres.ddl.objects.new_names import put_constraint, rename_relation
from pubcheck.postgres.ddl.types.composites import typed_tables
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import SYSTEM_COLUMNS, put_columns, require_column


def rename_column(session: Session, node: Node) -> None:
    """renameatt: through all that inherits the column; in what is made of a composite type with CASCADE."""
    catalog = session.catalog
    missing_ok = node.get("missing_ok", False)
    attribute = node["renameType"] == "OBJECT_ATTRIBUTE"
    rv, old, new = node["relation"], node["subname"], node["newname"]
    row = find_relation(session, "" if attribute else "OBJECT_TABLE", rv, missing_ok=missing_ok)
    if row is None:
        session.notices.append(f'relation "{rv["relname"]}" does not exist, skipping')
        return
    if row.seen and row.kind not in "rvmciIfp":
        raise ServerError("42809", f'cannot rename columns of relation "{row.name}"')
    require_owner(session, row)
    if row.of_type:
        raise ServerError("42809", "cannot rename column of typed table")
    if row.kind in "iI":
        return
    if not attribute and not rv.get("inh") and catalog.children.has(row.oid):
        raise ServerError("42P16", f'inherited column "{old}" must be renamed in child tables too')
    family = catalog.descendants(row.oid)
    if row.kind == "c":
        typed = typed_tables(session, row, cascade=node.get("behavior") == "DROP_CASCADE")
        family = [row.oid, *(oid for table in typed for oid in catalog.descendants(table))]
    for oid in family:
        parents = sum(parent in family for parent in catalog.relations[oid].parents)
        _rename_column_of(session, oid, old, new, parents)


def _rename_column_of(session: Session, relation: int, old: str, new: str, parents: int) -> None:
    if old in SYSTEM_COLUMNS:
        raise ServerError("0A000", f'cannot rename system column "{old}"')
    row = session.catalog.relations[relation]
    if row.seen and row.column(old) is None:
        raise ServerError("42703", f'column "{old}" does not exist')
    column = require_column(session, relation, old)
    row = session.catalog.relations[relation]
    if column.inherited > parents:
        raise ServerError("42P16", f'cannot rename inherited column "{old}"')
    if new in SYSTEM_COLUMNS:
        raise ServerError("42701", f'column name "{new}" conflicts with a system column name')
    if row.column(new) is not None:
        raise ServerError("42701", 'column "{name}" of relation "{owner}" already exists', name=new, owner=row.name)
    columns = []
    for member_column in row.columns:
        if member_column.number == column.number:
            member_column = replace(member_column, name=new)
        if old in member_column.expression:
            read = tuple(new if name == old else name for name in member_column.expression)
            member_column = replace(member_column, expression=read, tree=rename_columns(member_column.tree, old, new))
        columns.append(member_column)
    put_columns(session, row, tuple(columns))
    _rename_in_trees(session, relation, column.number, old, new)


def _rename_in_trees(session: Session, relation: int, number: int, old: str, new: str) -> None:
    """CHECK constraints and indexes go on to mean the column."""
    catalog = session.catalog
    for oid in catalog.constraints_of.get(relation):
        constraint = catalog.constraints[oid]
        if constraint.tree is not None and number in constraint.keys:
            catalog.constraints.put(oid, replace(constraint, tree=rename_columns(constraint.tree, old, new)))
    for oid in catalog.indexes_of.get(relation):
        index = catalog.indexes[oid]
        if index.trees:
            expressions = tuple(rename_columns(tree, old, new) for tree in index.expressions)
            predicate = rename_columns(index.predicate, old, new)
            catalog.put_index(replace(index, expressions=expressions, predicate=predicate))


def rename_constraint(session: Session, node: Node) -> None:
    """rename_constraint_internal: an inheritable CHECK or NOT NULL in the children too; a key with its index."""
    catalog = session.catalog
    rv, old, new = node["relation"], node["subname"], node["newname"]
    row = find_relation(session, "OBJECT_TABLE", rv, missing_ok=node.get("missing_ok", False))
    if row is None:
        session.notices.append(f'relation "{rv["relname"]}" does not exist, skipping')
        return
    require_owner(session, row)
    constraint = catalog.constraint(row.oid, old)
    column = column_of_constraint(row, old) if constraint is None else None
    held = constraint if column is None else column.constraint
    if held is None:
        if row.seen and not session.blind:
            raise ServerError("42704", f'constraint "{old}" for table "{row.name}" does not exist')
        return
    family = [row.oid]
    if (constraint is None or constraint.kind == "c") and not held.no_inherit:
        if held.inherited:
            raise ServerError("42P16", f'cannot rename inherited constraint "{old}"')
        if not rv.get("inh") and catalog.children.has(row.oid):
            raise ServerError("42P16", f'inherited constraint "{old}" must be renamed in child tables too')
        family = catalog.descendants(row.oid)
    for oid in family:
        _rename_constraint_of(session, oid, old, new)


def _rename_constraint_of(session: Session, relation: int, old: str, new: str) -> None:
    catalog = session.catalog
    column = column_of_constraint(catalog.relations[relation], old)
    constraint = catalog.constraint(relation, old)
    index = catalog.relations.get(constraint.index) if constraint is not None else None
    if index is not None:
        rename_relation(session, index, new)
    elif constraint is not None:
        put_constraint(session, constraint, new)
    elif column is not None:
        rename_not_null(session, relation, column, new)
