"""Tables, views, sequences and composite types with their columns; indexes, CHECK constraints and foreign keys."""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.live import records
from pubcheck.live.loading import Loading
from pubcheck.postgres.catalog import (
    AUTO,
    COLLATION,
    CONSTRAINT,
    DEFAULT,
    FIRST_NORMAL_OID,
    INTERNAL,
    NORMAL,
    PARTITION,
    RELATION,
    TYPE,
)
from pubcheck.postgres.catalog.rows import Column, Constraint, Index, NotNull, Relation, Shown
from pubcheck.postgres.ddl.partition_bounds import depend_on_key, read_bound
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names, conjuncts, find, names

RELKINDS = {
    records.Table: "r",
    records.ForeignTable: "f",
    records.View: "v",
    records.MaterializedView: "m",
    records.Sequence: "S",
    records.CompositeType: "c",
}
_STORAGE = {"p": "plain", "e": "external", "x": "extended", "m": "main"}


def relation(loading: Loading, row: records.Relation) -> None:
    refs, catalog = loading.refs, loading.catalog
    namespace = loading.enter(RELATION, row)
    kind = "p" if row.partition_key else RELKINDS[type(row)]
    parents = tuple(refs.relations[parent] for parent in row.parents)
    relation = Relation(
        row.oid,
        row.name,
        namespace,
        kind,
        refs.role(row.owner),
        seen=True,
        columns=_columns(loading, row),
        persistence=row.persistence,
        identity=row.identity if kind in "rpm" else "n",
        partition=row.partition,
        parents=parents,
        of_type=refs.type(row.of_type),
        row_security=row.row_security,
        force_row_security=row.force_row_security,
        place=loading.place(),
    )
    if row.partition_key:
        relation = loading.expressions.with_partition_key(catalog, relation, row.partition_key)
    catalog.add_relation(relation)
    for parent in parents:
        catalog.depend((RELATION, row.oid, 0), (RELATION, parent, 0), AUTO if row.partition else NORMAL)
    for column in relation.columns:
        if column.type >= FIRST_NORMAL_OID:
            catalog.depend((RELATION, row.oid, column.number), (TYPE, column.type, 0), NORMAL)
        if column.collation >= FIRST_NORMAL_OID:
            catalog.depend((RELATION, row.oid, column.number), (COLLATION, column.collation, 0), NORMAL)
    depend_on_key(catalog, relation)
    if relation.of_type:
        catalog.depend((RELATION, row.oid, 0), (TYPE, relation.of_type, 0), NORMAL)
    if kind == "c":
        catalog.depend((RELATION, row.oid, 0), (TYPE, refs.type(records.reference(row.schema, row.name)), 0), INTERNAL)
    loading.depend_on((RELATION, row.oid, 0), row.uses)
    for number, written in enumerate(row.columns, 1):
        if written.uses or written.generated:
            _depend_on_default(loading, relation, number, written)


def _columns(loading: Loading, row: records.Relation) -> tuple[Column, ...]:
    type_of, collation_of = loading.refs.type_with_collation, loading.refs.collation
    named = loading.catalog.major.named_not_null
    columns = []
    for number, column in enumerate(row.columns, 1):
        oid, collation = type_of(column.type)
        plain = Column(
            number,
            column.name,
            oid,
            column.not_null,
            column.identity,
            column.generated,
            bool(column.default and not column.generated),
            column.inherited,
            column.local,
            column.dropped,
            collation_of(column.collation) if column.collation else collation,
            typmod=column.typmod,
        )
        if column.not_null and named:
            plain = replace(plain, constraint=_not_null(row, column))
        if column.generated:
            tree = loading.expressions.tree(column.default)
            plain = replace(
                plain,
                expression=tuple(column_names(tree)),
                tree=tree,
            )
        if column.storage:
            plain = replace(plain, storage=_STORAGE[column.storage])
        columns.append(plain)
    return tuple(columns)


def read_bounds(loading: Loading) -> None:
    """Read the bounds of partitions, once all tables are known."""
    relations = loading.catalog.relations
    for row in loading.objects():
        if isinstance(row, records.Relation) and row.bound:
            relation = relations[row.oid]
            spec = loading.expressions.bound(row.bound)
            bound = read_bound(loading.session, relations[relation.parents[0]], spec)
            relations.put(row.oid, replace(relation, bound=bound))


def depend_on_owners(loading: Loading) -> None:
    """Let sequences depend on the columns that own them."""
    for row in loading.objects():
        if isinstance(row, records.Sequence) and row.owned_by is not None:
            table, name = row.owned_by
            relation = loading.catalog.relations[loading.refs.relations[table]]
            how = INTERNAL if row.identity_of else AUTO
            column = loading.refs.numbers(relation)[name]
            loading.catalog.depend((RELATION, row.oid, 0), (RELATION, relation.oid, column), how)


def _depend_on_default(loading: Loading, relation: Relation, number: int, column: records.Column) -> None:
    """Let the default of a column, or its expression, depend on what it uses."""
    catalog, address = loading.catalog, (RELATION, relation.oid, number)
    default = (DEFAULT, catalog.new_oid(), 0)
    catalog.depend(default, address, INTERNAL if column.generated and column.uses else AUTO)
    loading.depend_on(default, column.uses)
    for name in relation.columns[number - 1].expression:
        base = relation.column(name)
        if base is not None:
            catalog.depend(address, (RELATION, relation.oid, base.number), NORMAL)


def _not_null(row: records.Relation, column: records.Column) -> NotNull:
    held = column.constraint or records.NotNull()
    name = held.name or f"{row.name}_{column.name}_not_null"
    return NotNull(name, held.inherited, held.local, held.no_inherit, held.validated)


def show_views(loading: Loading) -> None:
    """Keep the queries of updatable views."""
    for row in loading.objects():
        if isinstance(row, records.View) and row.query:
            _show(loading, row)


def _show(loading: Loading, row: records.View) -> None:
    """Keep which columns of its one relation an updatable view shows."""
    relations = loading.catalog.relations
    query = loading.expressions.statement(row.query)
    entry = query["fromClause"][0]["RangeVar"]
    name = records.reference(entry.get("schemaname", "pg_catalog"), entry["relname"])
    table = relations.get(loading.refs.relations.get(name, 0))
    if table is None:
        return
    values = [item["ResTarget"]["val"] for item in query["targetList"]]
    numbers = loading.refs.numbers(table)
    loading.catalog.shown.put(
        row.oid,
        Shown(
            table.oid,
            tuple(numbers.get(fields[-1]["String"]["sval"], 0) if fields else 0 for fields in map(_fields, values)),
            only=not entry.get("inh", False),
            conditions="whereClause" in query,
            calls=tuple(tuple(names(call["funcname"])) for _, call in find(values, "FuncCall")),
        ),
    )


def _fields(value: Node) -> list[Node]:
    fields: list[Node] = value.get("ColumnRef", {}).get("fields", [])
    return fields if fields and "String" in fields[-1] else []


# Indexes, CHECK constraints and foreign keys.


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
