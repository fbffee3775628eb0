"""The columns and constraints that a table gets from its parents or its type, and a partition's keys
(commands/tablecmds.c: MergeAttributes, MergeChildAttribute, CloneForeignKeyConstraints).
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, CONSTRAINT, NORMAL, PARTITION, PROC, RELATION
from pubcheck.postgres.catalog.rows import Column, Constraint, NotNull, Relation
from pubcheck.postgres.ddl.columns import DIFFERENT, difference
from pubcheck.postgres.ddl.generated_names import choose_constraint_name
from pubcheck.postgres.ddl.indexes import adopt_index
from pubcheck.postgres.ddl.tables.constraints import merge_not_null
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def check_parent(session: Session, parent: Relation, partition: bool, persistence: str) -> None:
    """Raise the errors of MergeAttributes and transformPartitionBound about a parent."""
    if not session.owns(parent.owner):
        raise ServerError("42501", f"must be owner of table {parent.name}")
    if partition and parent.kind != "p" and parent.seen:
        raise ServerError("42P16", f'"{parent.name}" is not partitioned')
    if partition and parent.kind != "p":
        session.catalog.relations.put(parent.oid, replace(parent, kind="p"))
    if not partition and parent.kind == "p":
        raise ServerError("42809", f'cannot inherit from partitioned table "{parent.name}"')
    if parent.kind not in "rpf":
        raise ServerError("42809", f'inherited relation "{parent.name}" is not a table or foreign table')
    if not partition and parent.partition:
        raise ServerError("42809", f'cannot inherit from partition "{parent.name}"')
    if parent.persistence == "t" and persistence != "t":
        raise ServerError("42809", f'cannot inherit from temporary relation "{parent.name}"')
    if partition and persistence == "t" and parent.persistence != "t" and parent.seen:
        raise ServerError(
            "42809", f'cannot create a temporary relation as partition of permanent relation "{parent.name}"'
        )


def inherited_columns(session: Session, parents: Iterable[Relation]) -> list[Column]:
    """Return the parents' columns in order; equal names are one column (MergeAttributes)."""
    columns: list[Column] = []
    positions: dict[str, int] = {}
    identities = session.catalog.major.partitions_inherit_identity
    for parent in parents:
        for column in session.catalog.relations[parent.oid].live():
            above = column.constraint
            if above is not None and above.no_inherit:
                column, above = replace(column, not_null=False), None
            position = positions.get(column.name)
            if position is None:
                positions[column.name] = len(columns)
                columns.append(
                    replace(
                        column,
                        local=False,
                        inherited=1,
                        identity=column.identity if identities and parent.kind == "p" else "",
                        constraint=NotNull(above.name, 1, False) if column.not_null and above is not None else None,
                    )
                )
                continue
            existing = columns[position]
            if wrong := difference(existing, column):
                raise ServerError(DIFFERENT[wrong], f'inherited column "{column.name}" has a {wrong} conflict')
            if existing.generated != column.generated:
                raise ServerError("42804", f'inherited column "{column.name}" has a generation conflict')
            held = existing.constraint
            if column.not_null and above is not None:
                held = NotNull(above.name, 1, False) if held is None else replace(held, inherited=held.inherited + 1)
            columns[position] = replace(
                existing,
                inherited=existing.inherited + 1,
                not_null=existing.not_null or column.not_null,
                constraint=held,
            )
    return columns


def columns_of_type(session: Session, node: Node) -> list[Column] | None:
    """Return the columns of a composite type; None if the type is unknown."""
    oid = session.type_oid(node)
    row = session.catalog.types.get(oid)
    if row is None and not oid:
        return None
    if row is None or not row.relation or session.catalog.relations[row.relation].kind != "c":
        raise ServerError("42809", f"type {node['names'][-1]['String']['sval']} is not a composite type")
    return list(session.catalog.relations[row.relation].live())


def merge_column(session: Session, existing: Column, column: Column, *, typed: bool) -> Column:
    """Return a column merged into the inherited one of its name, or that of the table's type (MergeChildAttribute).

    Raises ServerError 42804, 42P21 or 42611 if type, collation or generation differ. ``typed``: it names its type.
    """
    if typed and (wrong := difference(existing, column)):
        raise ServerError(DIFFERENT[wrong], f'column "{column.name}" has a {wrong} conflict')
    if existing.inherited:
        _refuse_generation(session, existing, column)
    constraint = existing.constraint
    if column.not_null and session.catalog.major.named_not_null:
        constraint = merge_not_null(existing, column.constraint or NotNull())
    return replace(
        existing,
        local=existing.local or typed,
        not_null=existing.not_null or column.not_null,
        has_default=existing.has_default or column.has_default,
        default_type=column.default_type if column.has_default else existing.default_type,
        identity=column.identity or existing.identity,
        generated=column.generated or existing.generated,
        expression=column.expression if column.generated else existing.expression,
        constraint=constraint,
        tree=column.tree if column.generated or column.has_default else existing.tree,
    )


def _refuse_generation(session: Session, existing: Column, column: Column) -> None:
    """Refuse a child's column whose generation conflicts with that of the inherited one."""
    own = session.catalog.major.own_generation
    if existing.generated:
        if column.generated and not own:
            raise ServerError("42611", f'child column "{column.name}" specifies generation expression')
        if column.has_default and not column.generated:
            raise ServerError("42611", f'column "{column.name}" inherits from generated column but specifies default')
        if column.identity:
            raise ServerError("42611", f'column "{column.name}" inherits from generated column but specifies identity')
        if column.generated and column.generated != existing.generated:
            raise ServerError("42611", f'column "{column.name}" inherits from generated column of different kind')
    elif column.generated and own:
        raise ServerError("42611", f'child column "{column.name}" specifies generation expression')


def inherit_constraints(session: Session, parent: Relation, child: int) -> None:
    """Copy CHECK constraints to children, and foreign keys to partitions."""
    catalog = session.catalog
    for oid in catalog.constraints_of.get(parent.oid):
        constraint = catalog.constraints[oid]
        if constraint.kind == "c" and not constraint.no_inherit:
            if catalog.constraint(child, constraint.name) is None:
                copy_check(session, constraint, child, inherited=True)
        elif constraint.kind == "f" and parent.kind == "p":
            clone_foreign_key(session, constraint, parent, child)


def copy_check(session: Session, constraint: Constraint, target: int, *, inherited: bool) -> None:
    catalog = session.catalog
    source, row = catalog.relations[constraint.relation], catalog.relations[target]
    named = (row.column(source.columns[key - 1].name) for key in constraint.keys)
    new = replace(
        constraint,
        oid=catalog.new_oid(),
        relation=target,
        keys=tuple(column.number for column in named if column),
        inherited=1 if inherited else 0,
        local=not inherited,
    )
    catalog.add_constraint(new)
    depender = (CONSTRAINT, new.oid, 0)
    for key in new.keys or (0,):
        catalog.depend(depender, (RELATION, target, key), AUTO)
    for used, _ in catalog.dependencies.get((CONSTRAINT, constraint.oid)):
        if used[0] == PROC:
            catalog.depend(depender, (*used, 0), NORMAL)


def clone_foreign_key(session: Session, constraint: Constraint, parent: Relation, child: int) -> None:
    """Copy a partitioned table's foreign key to a partition (CloneForeignKeyConstraints)."""
    catalog = session.catalog
    row = catalog.relations[child]
    named = [row.column(parent.columns[key - 1].name) for key in constraint.keys]
    keys = tuple(column.number for column in named if column)
    name = constraint.name
    if catalog.constraint(child, name) is not None:
        name = choose_constraint_name(catalog, row.namespace, row.name, "_".join(c.name for c in named if c), "fkey")
    new = replace(
        constraint,
        oid=catalog.new_oid(),
        name=name,
        relation=child,
        keys=keys,
        parent=constraint.oid,
        inherited=1,
        local=False,
    )
    catalog.add_constraint(new)
    depender = (CONSTRAINT, new.oid, 0)
    catalog.depend(depender, (CONSTRAINT, constraint.oid, 0), PARTITION)
    for key in keys:
        catalog.depend(depender, (RELATION, child, key), AUTO)


def clone_indexes(session: Session, parent: Relation, child: int) -> None:
    """Give a new partition the indexes and keys of its parent."""
    catalog = session.catalog
    for oid in catalog.indexes_of.get(parent.oid):
        index = catalog.indexes[oid]
        adopt_index(
            session,
            catalog.relations[parent.oid],
            index,
            catalog.relations[child],
            constraint=catalog.owner_of_index(oid),
        )
