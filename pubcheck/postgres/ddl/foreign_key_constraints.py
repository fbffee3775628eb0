"""FOREIGN KEY constraints of a table and its partitions (commands/tablecmds.c: ATAddForeignKeyConstraint)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, CONSTRAINT, FIRST_UNPINNED, NORMAL, PARTITION, RELATION
from pubcheck.postgres.catalog.rows import Column, Constraint, Relation
from pubcheck.postgres.ddl.new_objects import addition, choose_constraint_name
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import INT2, INT4, INT8, TEXT, VARCHAR
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import require_column


def add_foreign_key(session: Session, relation: int, node: Node, recurse: bool) -> None:
    """Add a foreign key; ``recurse``: without ONLY. Raises ServerError as ATAddForeignKeyConstraint does."""
    catalog = session.catalog
    row = catalog.relations[relation]
    target = session.relation(node["pktable"])
    if row.kind == "p" and not recurse:
        raise ServerError(
            "42809",
            f'cannot use ONLY for foreign key on partitioned table "{row.name}" referencing relation "{target.name}"',
        )
    if target.kind not in "rp":
        raise ServerError("42809", f'referenced relation "{target.name}" is not a table')
    if target.oid < FIRST_UNPINNED:
        raise ServerError("42501", f'permission denied: "{target.name}" is a system catalog')
    names = [attribute["String"]["sval"] for attribute in node.get("fk_attrs", ())]
    columns = [_foreign_key_column(session, relation, name) for name in names]
    keys = tuple(column.number for column in columns)
    for attribute in node.get("fk_del_set_cols", ()):
        if _foreign_key_column(session, relation, attribute["String"]["sval"]).number not in keys:
            raise ServerError("42P10", "a column in ON DELETE SET must be part of the foreign key")
    if any(column.generated for column in columns) and (
        node.get("fk_del_action", "a") in "nd" or node.get("fk_upd_action", "a") in "cnd"
    ):
        raise ServerError("42601", "invalid action for foreign key constraint containing generated column")
    _refuse_persistence(row, target)
    index, referenced = _referenced_key(session, target, node)
    if target.seen and len(referenced) != len(keys):
        raise ServerError("42830", "number of referencing and referenced columns for foreign key disagree")
    name = node.get("conname") or choose_constraint_name(catalog, row.namespace, row.name, addition(names), "fkey")
    _refuse_types(session, relation, keys, target.oid, referenced, name)
    constraint = Constraint(
        catalog.new_oid(),
        name,
        relation,
        "f",
        keys,
        references=target.oid,
        referenced_keys=referenced,
        on_delete=node.get("fk_del_action", "a"),
        on_update=node.get("fk_upd_action", "a"),
        enforced=node.get("is_enforced", False),
        deferrable=node.get("deferrable", False),
        deferred=node.get("initdeferred", False),
        validated=not node.get("skip_validation", False),
    )
    catalog.add_constraint(constraint)
    catalog.define("foreign key", constraint.oid, (referenced, node))
    depender = (CONSTRAINT, constraint.oid, 0)
    for key in keys:
        catalog.depend(depender, (RELATION, relation, key), AUTO)
    for key in referenced or (0,):
        catalog.depend(depender, (RELATION, target.oid, key), NORMAL)
    if index:
        catalog.depend(depender, (RELATION, index, 0), NORMAL)
    if row.kind == "p":
        for child in catalog.descendants(relation)[1:]:
            _clone_to_partition(session, constraint, names, child)


def _refuse_persistence(row: Relation, target: Relation) -> None:
    """ATAddForeignKeyConstraint: what a table refers to must last as long as it does. Raises ServerError 42P16."""
    if row.persistence == target.persistence or not (row.seen and target.seen):
        return
    if row.persistence == "p":
        raise ServerError("42P16", "constraints on permanent tables may reference only permanent tables")
    if row.persistence == "t" or target.persistence == "t":
        persistence = "temporary" if row.persistence == "t" else "unlogged"
        also = "temporary" if row.persistence == "t" else "permanent or unlogged"
        raise ServerError("42P16", f"constraints on {persistence} tables may reference only {also} tables")


def _clone_to_partition(session: Session, constraint: Constraint, names: Sequence[str], child: int) -> None:
    """A new foreign key of a partitioned table in a partition that is there already; ``names`` are its columns."""
    catalog = session.catalog
    columns = (catalog.relations[child].column(name) for name in names)
    clone = replace(
        constraint,
        oid=catalog.new_oid(),
        relation=child,
        keys=tuple(column.number for column in columns if column),
        parent=constraint.oid,
        inherited=1,
        local=False,
    )
    catalog.add_constraint(clone)
    catalog.depend((CONSTRAINT, clone.oid, 0), (CONSTRAINT, constraint.oid, 0), PARTITION)
    catalog.depend((CONSTRAINT, clone.oid, 0), (RELATION, child, 0), AUTO)


_ALIKE = (frozenset((INT2, INT4, INT8)), frozenset((TEXT, VARCHAR)))
"""Types that show at a glance to be comparable with each other."""


def _refuse_types(
    session: Session, relation: int, keys: tuple[int, ...], target: int, referenced: tuple[int, ...], name: str
) -> None:
    """Raises ServerError 42804 where a column certainly cannot be compared with the one that it refers to."""
    columns, referenced_columns = session.catalog.relations[relation].columns, session.catalog.relations[target].columns
    for key, referenced_key in zip(keys, referenced, strict=False):
        column, to_column = columns[key - 1], referenced_columns[referenced_key - 1]
        types = column.type, to_column.type
        if types[0] != types[1] and all(types) and not any(alike.issuperset(types) for alike in _ALIKE):
            # Loaded only for foreign keys: it needs the casts of the server.
            from pubcheck.postgres.ddl.stored_expressions import refuse_pair

            refuse_pair(session, column, to_column, name)


def _foreign_key_column(session: Session, relation: int, name: str) -> Column:
    row = session.catalog.relations[relation]
    column = row.column(name)
    if column is None and row.seen:
        raise ServerError("42703", f'column "{name}" referenced in foreign key constraint does not exist')
    return column or require_column(session, relation, name)


def _referenced_key(session: Session, target: Relation, node: Node) -> tuple[int, tuple[int, ...]]:
    """(index, columns) of the key pointed to (transformFkeyGetPrimaryKey, transformFkeyCheckAttrs)."""
    catalog = session.catalog
    rows = [catalog.indexes[oid] for oid in catalog.indexes_of.get(target.oid)]
    if "pk_attrs" not in node:
        primary = next((row for row in rows if row.primary and row.valid), None)
        if primary is None:
            if target.seen:
                raise ServerError("42704", f'there is no primary key for referenced table "{target.name}"')
            return 0, ()
        if not primary.immediate:
            raise ServerError("55000", f'cannot use a deferrable primary key for referenced table "{target.name}"')
        return primary.oid, primary.keys
    names = [attribute["String"]["sval"] for attribute in node["pk_attrs"]]
    keys = tuple(_foreign_key_column(session, target.oid, name).number for name in names)
    deferrable = False
    for row in rows:
        plain = row.unique and row.valid and not row.partial and not row.expressions
        if plain and sorted(row.keys) == sorted(keys):
            if row.immediate:
                return row.oid, keys
            deferrable = True
    if deferrable:
        raise ServerError("55000", f'cannot use a deferrable unique constraint for referenced table "{target.name}"')
    if target.seen:
        raise ServerError(
            "42830", f'there is no unique constraint matching given keys for referenced table "{target.name}"'
        )
    return 0, keys
