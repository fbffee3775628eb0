"""Indexes, CHECK constraints and foreign keys."""

from __future__ import annotations

from pubcheck.live import records
from pubcheck.live.loading import Loading
from pubcheck.postgres.catalog import AUTO, CONSTRAINT, INTERNAL, NORMAL, PARTITION, RELATION
from pubcheck.postgres.catalog.rows import Constraint, Index, Relation
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names, conjuncts


def index(loading: Loading, row: records.Index) -> None:
    refs, catalog = loading.refs, loading.catalog
    table = catalog.relations[refs.relations[row.table]]
    kind = "I" if table.kind == "p" else "i"
    namespace = loading.enter(RELATION, row)
    catalog.add_relation(
        Relation(
            row.oid,
            row.name,
            namespace,
            kind,
            refs.role(row.owner),
            seen=True,
            identity="n",
            partition=bool(row.parent),
        )
    )
    numbers = refs.numbers(table)
    keys = tuple(numbers[name] if name is not None else 0 for name in row.keys)
    included = tuple(numbers[name] for name in row.included)
    expressions = loading.expressions.trees(row.expressions)
    predicate = loading.expressions.tree(row.predicate) if row.predicate else None
    parent = refs.relations.get(row.parent, 0)
    catalog.add_index(
        Index(
            row.oid,
            table.oid,
            keys,
            included,
            row.unique,
            row.primary,
            row.exclusion,
            row.immediate,
            row.valid,
            row.identity,
            row.nulls_not_distinct,
            row.method,
            parent,
            False,
            expressions,
            predicate,
        )
    )
    holder = _constraint_of_index(loading, row, table.oid, keys)
    mentioned = column_names([*expressions, predicate]) if expressions or predicate else ()
    depended = {*keys, *included, *(numbers[name] for name in mentioned if name in numbers)} - {0}
    for key in depended or (0,):
        catalog.depend(holder, (RELATION, table.oid, key), AUTO)
    if parent:
        catalog.depend((RELATION, row.oid, 0), (RELATION, parent, 0), PARTITION)
    loading.depend_on((RELATION, row.oid, 0), row.uses)


def _constraint_of_index(
    loading: Loading, row: records.Index, table: int, keys: tuple[int, ...]
) -> tuple[str, int, int]:
    """Add the constraint that an index implements. Return the object that depends on the columns: it, or the index."""
    refs, catalog, held = loading.refs, loading.catalog, row.constraint
    if held is None:
        return RELATION, row.oid, 0
    above = refs.constraint_of_index.get(row.parent, 0)
    refs.constraint_of_index[records.reference(row.schema, row.name)] = held.oid
    catalog.add_constraint(
        Constraint(
            held.oid,
            row.name,
            table,
            held.type,
            keys,
            row.oid,
            deferrable=held.deferrable,
            inherited=held.inherited,
            local=held.local,
            parent=above,
        )
    )
    holder = (CONSTRAINT, held.oid, 0)
    catalog.depend((RELATION, row.oid, 0), holder, INTERNAL)
    if above:
        catalog.depend(holder, (CONSTRAINT, above, 0), PARTITION)
    return holder


def constraint(loading: Loading, row: records.Constraint) -> None:
    refs, catalog = loading.refs, loading.catalog
    table = catalog.relations[refs.relations[row.table]]
    numbers = refs.numbers(table)
    keys = tuple(numbers[name] for name in row.keys)
    tree = loading.expressions.tree(row.expression) if row.expression else None
    target = refs.relations.get(row.references, 0)
    parent = refs.constraints.get(row.parent, 0) if row.parent is not None else 0
    catalog.add_constraint(
        Constraint(
            row.oid,
            row.name,
            table.oid,
            row.type,
            keys,
            references=target,
            on_delete=row.on_delete,
            on_update=row.on_update,
            deferrable=row.deferrable,
            inherited=row.inherited,
            local=row.local,
            no_inherit=row.no_inherit,
            validated=row.validated,
            parent=parent,
            not_null=tuple(numbers[name] for name in _not_null_by(tree)) if tree is not None else (),
            tree=tree,
            enforced=row.enforced,
        )
    )
    depender = (CONSTRAINT, row.oid, 0)
    for key in keys or (0,):
        catalog.depend(depender, (RELATION, table.oid, key), AUTO)
    if target:
        referenced = refs.numbers(catalog.relations[target])
        for name in row.referenced:
            catalog.depend(depender, (RELATION, target, referenced[name]), NORMAL)
        if row.index:
            catalog.depend(depender, (RELATION, refs.relations[row.index], 0), NORMAL)
    if parent:
        catalog.depend(depender, (CONSTRAINT, parent, 0), PARTITION)
    loading.depend_on(depender, row.uses)


def _not_null_by(tree: Node) -> list[str]:
    """Return the columns that a condition says are NOT NULL, by itself or with AND."""
    tests = (condition.get("NullTest", {}) for condition in conjuncts(tree))
    tested = [test["arg"] for test in tests if test.get("nulltesttype") == "IS_NOT_NULL"]
    return column_names([arg for arg in tested if "ColumnRef" in arg])
