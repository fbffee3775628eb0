"""CHECK constraints of a table and its children (commands/tablecmds.c: ATAddCheckNNConstraint)."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, CONSTRAINT, NORMAL, PROC, RELATION
from pubcheck.postgres.catalog.rows import Constraint
from pubcheck.postgres.ddl.check_expressions import refuse_check
from pubcheck.postgres.ddl.generated_names import choose_constraint_name
from pubcheck.postgres.ddl.object_address import functions_called
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names, conjuncts
from pubcheck.postgres.session import Session
from pubcheck.postgres.session.columns import refuse_unknown_columns, require_column


def add_check(session: Session, relation: int, node: Node, recurse: bool) -> None:
    """AddRelationNewConstraints: a CHECK holds here and in every child, merged where it already exists."""
    catalog = session.catalog
    row = catalog.relations[relation]
    mentioned = column_names(node.get("raw_expr"))
    if row.seen:
        checked_columns = [row.column(name) for name in mentioned]
    else:
        checked_columns = [require_column(session, relation, name) for name in mentioned]
    refuse_unknown_columns(session, catalog.relations[relation], mentioned)
    columns = [column for column in checked_columns if column is not None]
    refuse_check(session, row, node["raw_expr"])
    of_column: Any = node.get("of_column") or (columns[0].name if len(columns) == 1 else None)
    name = node.get("conname") or choose_constraint_name(catalog, row.namespace, row.name, of_column, "check")
    if not node.get("is_no_inherit") and not recurse and catalog.children.has(relation):
        raise ServerError("42P16", "constraint must be added to child tables too")
    if node.get("is_no_inherit") and row.kind == "p":
        raise ServerError("42P16", f'cannot add NO INHERIT constraint to partitioned table "{row.name}"')
    local = [relation] if node.get("is_no_inherit") else catalog.descendants(relation)
    not_null = _not_null_by(node.get("raw_expr"))
    functions = functions_called(session, node.get("raw_expr"))
    for oid in local:
        part = catalog.relations[oid]
        keys = tuple(own.number for column in columns if (own := part.column(column.name)) is not None)
        standing = catalog.constraint(oid, name)
        if standing is not None:
            if part.seen and (standing.kind != "c" or standing.keys != keys):
                # It merges with an equal condition only (heap.c: MergeWithExistingConstraint).
                raise ServerError(
                    "42710", 'constraint "{name}" for relation "{owner}" already exists', name=name, owner=part.name
                )
            catalog.constraints.put(standing.oid, replace(standing, inherited=standing.inherited + 1))
            continue
        constraint = Constraint(
            catalog.new_oid(),
            name,
            oid,
            "c",
            keys,
            inherited=0 if oid == relation else 1,
            local=oid == relation,
            no_inherit=node.get("is_no_inherit", False),
            validated=not node.get("skip_validation", False),
            not_null=tuple(column.number for name in not_null if (column := part.column(name)) is not None),
            tree=node.get("raw_expr"),
        )
        catalog.add_constraint(constraint)
        for key in constraint.keys or (0,):
            catalog.depend((CONSTRAINT, constraint.oid, 0), (RELATION, oid, key), AUTO)
        for function in functions:
            catalog.depend((CONSTRAINT, constraint.oid, 0), (PROC, function, 0), NORMAL)


def _not_null_by(tree: Node | None) -> list[str]:
    """The columns that a condition says are NOT NULL, by itself or with AND."""
    tests = (condition.get("NullTest", {}) for condition in conjuncts(tree))
    tested = [test["arg"] for test in tests if test.get("nulltesttype") == "IS_NOT_NULL"]
    return column_names([arg for arg in tested if "ColumnRef" in arg])
