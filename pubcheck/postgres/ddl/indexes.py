"""CREATE INDEX and the indexes of constraints (commands/indexcmds.c: DefineIndex)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, CONSTRAINT, INTERNAL, NORMAL, OTHER, PARTITION, PROC, RELATION
from pubcheck.postgres.catalog.rows import Constraint, Index, Relation
from pubcheck.postgres.ddl.index_keys import (
    IndexSpec,
    bare_column,
    class_created,
    first_unsorted,
    key_columns,
    refuse_without_operator_class,
)
from pubcheck.postgres.ddl.new_objects import addition, choose_relation_name, index_column_names, truncate
from pubcheck.postgres.ddl.not_null import require_not_null
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import column_names
from pubcheck.postgres.session import Session, refuse_unknown_columns

INDEXABLE = "rmp"


def create_index(session: Session, node: Node) -> None:
    """CREATE INDEX."""
    if node.get("concurrent"):
        session.refuse_in_transaction("CREATE INDEX CONCURRENTLY")
    relation = session.relation(node["relation"])
    if relation.kind not in INDEXABLE:
        raise ServerError("42809", f'cannot create index on relation "{relation.name}"')
    if node.get("concurrent") and relation.kind == "p":
        raise ServerError("0A000", f'cannot create index on partitioned table "{relation.name}" concurrently')
    if not session.owns(relation.owner):
        raise ServerError("42501", f"must be owner of table {relation.name}")
    method = node.get("accessMethod", "btree")
    if method != "btree" or "options" in node or "tableSpace" in node:
        # Loaded only for indexes that say how they are stored.
        from pubcheck.postgres.ddl.storage import refuse_index_storage

        refuse_index_storage(session, node, method)
    name = node.get("idxname", "")
    elements = tuple([item["IndexElem"] for item in node["indexParams"]])
    # What expressions and predicate name is looked up before anything else (transformIndexStmt).
    refuse_unknown_columns(session, relation, _mentioned(elements, node.get("whereClause")))
    existing = session.relation_in(relation.namespace, name) if name else None
    if existing is not None and existing.seen and node.get("if_not_exists"):
        key_columns(session, relation, elements)
        session.notices.append(f'relation "{name}" already exists, skipping')
        return
    if existing is not None:
        raise ServerError("42P07", 'relation "{name}" already exists', name=name)
    define_index(
        session,
        relation,
        IndexSpec(
            elements,
            tuple([item["IndexElem"] for item in node.get("indexIncludingParams", ())]),
            name,
            unique=node.get("unique", False),
            nulls_not_distinct=node.get("nulls_not_distinct", False),
            where=node.get("whereClause"),
            method=method,
            only=not node["relation"].get("inh", False),
        ),
    )


def _mentioned(elements: Sequence[Node], where: Node | None) -> list[str]:
    """The columns that the expressions and the predicate of an index name."""
    trees = [element["expr"] for element in elements if "expr" in element]
    if where is not None:
        trees.append(where)
    return column_names(trees) if trees else []


def define_index(session: Session, relation: Relation, spec: IndexSpec) -> Index:
    """Create the index, its constraint if ``spec.kind`` has one, and on a partitioned table those of the partitions.

    Raises ServerError as DefineIndex does.
    """
    catalog = session.catalog
    if not session.may_create_in(catalog.namespaces[relation.namespace]):
        raise ServerError("42501", f"permission denied for schema {catalog.namespaces[relation.namespace].name}")
    if spec.kind and (mentioned := _mentioned(spec.elements, spec.where)):
        refuse_unknown_columns(session, relation, mentioned)
    where, always = _read_predicate(session, relation, spec)
    if not spec.copied:
        _look_closer(session, relation, spec)
    if spec.method != "btree":
        # Loaded only for indexes of another kind.
        from pubcheck.postgres.ddl.storage import refuse_unsupported

        refuse_unsupported(spec)
    if spec.included:
        _refuse_included_expressions(session, relation, spec)
    if spec.primary and any(catalog.indexes[oid].primary for oid in catalog.key_indexes_of.get(relation.oid)):
        raise ServerError("42P16", f'multiple primary keys for table "{relation.name}" are not allowed')
    keys = key_columns(session, relation, spec.elements, unique=spec.unique, kind=spec.kind)
    included = key_columns(session, relation, spec.included, kind=spec.kind) if spec.included else ()
    relation = catalog.relations[relation.oid]
    refuse_without_operator_class(session, relation, spec.method, spec.elements, keys)
    computed = [element for element in spec.elements if "expr" in element]
    expressions = [element["expr"] for element in computed if bare_column(session, relation, element) is None]
    if relation.kind == "p":
        _refuse_in_partitions(session, relation, spec, keys)
    for column_name in _mentioned(spec.elements, spec.where):
        column = relation.column(column_name)
        if column is not None and column.generated == "v":
            raise ServerError("0A000", "indexes on virtual generated columns are not supported")
    name = spec.name or _choose_name(session, relation, spec)
    session.free_name(relation.namespace, name)
    oid = catalog.new_oid()
    catalog.add_relation(
        Relation(
            oid,
            name,
            relation.namespace,
            "I" if relation.kind == "p" else "i",
            relation.owner,
            persistence=relation.persistence,
            identity="n",
            partition=bool(spec.parent),
            seen=True,
        )
    )
    index = Index(
        oid,
        relation.oid,
        keys,
        included,
        unique=spec.unique or spec.primary or spec.without_overlaps,
        primary=spec.primary,
        exclusion=spec.exclusion,
        immediate=not spec.deferrable,
        valid=not (relation.kind == "p" and spec.only and catalog.children.has(relation.oid)),
        nulls_not_distinct=spec.nulls_not_distinct,
        method=spec.method,
        parent=spec.parent,
        only=spec.only,
        expressions=tuple(expressions),
        predicate=where,
        always=always,
        unsorted=spec.unsorted or first_unsorted(session, relation, spec.elements),
        operators=spec.operators,
    )
    catalog.add_index(index)
    constraint = _constraint(session, relation, spec, name, index) if spec.kind else None
    _depend(session, relation, spec, index, constraint)
    if relation.kind == "p" and not spec.only:
        for child in sorted(catalog.children.get(relation.oid)):
            adopt_index(session, relation, index, catalog.relations[child], spec, constraint)
    return index


def _refuse_included_expressions(session: Session, relation: Relation, spec: IndexSpec) -> None:
    if any("expr" in element and bare_column(session, relation, element) is None for element in spec.included):
        raise ServerError("0A000", "expressions are not supported in included columns")


def _read_predicate(session: Session, relation: Relation, spec: IndexSpec) -> tuple[Node | None, bool | None]:
    """The predicate that the index gets, and whether it always holds (``Index.always``). Raises ServerError."""
    if spec.where is None or spec.copied:
        return spec.where, spec.always
    # Loaded only for indexes that have something of the kind.
    from pubcheck.postgres.ddl.index_elements import read_predicate

    return read_predicate(session, relation, spec.where)


def _look_closer(session: Session, relation: Relation, spec: IndexSpec) -> None:
    """Raises ServerError for expressions, COLLATE and operator classes that certainly are refused."""
    if not relation.seen:
        return
    for element in spec.elements:
        if not ("opclass" in element or "collation" in element or element.get("expr")):
            continue
        from pubcheck.postgres.ddl.index_elements import refuse_column, refuse_expression

        name = element.get("name") or bare_column(session, relation, element)
        column = relation.column(name) if name else None
        if column is not None:
            refuse_column(session, element, column.type, spec.method)
        elif "expr" in element:
            refuse_expression(session, relation, element, spec.method)


def _refuse_in_partitions(session: Session, relation: Relation, spec: IndexSpec, keys: Sequence[int]) -> None:
    """Refuse a unique index of a partitioned table that does not include the partition key. Raises ServerError
    0A000."""
    if spec.exclusion and not session.catalog.major.exclusion_partitioned:
        raise ServerError("0A000", "exclusion constraints are not supported on partitioned tables")
    if not (spec.unique or spec.exclusion):
        return
    missing = [key for key in relation.partition_key if key not in keys]
    if missing:
        kind = "PRIMARY KEY" if spec.primary else "EXCLUDE" if spec.exclusion else "UNIQUE"
        column = relation.columns[missing[0] - 1].name if missing[0] else ""
        raise ServerError(
            "0A000",
            "unique constraint on partitioned table must include all partitioning columns",
            detail=f'{kind} constraint on table "{relation.name}" lacks column "{column}" '
            "which is part of the partition key.",
        )


def _choose_name(session: Session, relation: Relation, spec: IndexSpec) -> str:
    """ChooseIndexName."""
    if spec.primary:
        return choose_relation_name(session.catalog, relation.namespace, relation.name, None, "pkey", constraint=True)
    label = "excl" if spec.exclusion and not spec.without_overlaps else "key" if spec.kind else "idx"
    middle = addition(index_column_names((*spec.elements, *spec.included)))
    return choose_relation_name(
        session.catalog, relation.namespace, relation.name, middle, label, constraint=bool(spec.kind)
    )


def _constraint(session: Session, relation: Relation, spec: IndexSpec, name: str, index: Index) -> Constraint:
    catalog = session.catalog
    row = Constraint(
        catalog.new_oid(),
        truncate(name),
        relation.oid,
        spec.kind,
        index.keys,
        index.oid,
        deferrable=spec.deferrable,
        deferred=spec.deferred,
        parent=spec.parent_constraint,
        local=not spec.parent_constraint,
        inherited=1 if spec.parent_constraint else 0,
    )
    catalog.add_constraint(row)
    if spec.primary:
        require_not_null(session, relation.oid, index.keys)
    return row


def _depend(session: Session, relation: Relation, spec: IndexSpec, index: Index, constraint: Constraint | None) -> None:
    """Make the index depend on its columns, table and constraint (index_create, CreateConstraintEntry)."""
    catalog = session.catalog
    depender = (RELATION, index.oid, 0)
    numbers = {*index.keys, *index.included} - {0}
    holder = depender
    if constraint is not None:
        holder = (CONSTRAINT, constraint.oid, 0)
        catalog.depend(depender, holder, INTERNAL)
    computed_from: set[int] = set()
    if spec.where is not None or index.expressions:
        row = catalog.relations[relation.oid]
        for mentioned in _mentioned(spec.elements, spec.where):
            column = row.column(mentioned)
            if column is not None:
                computed_from.add(column.number)
    for number in numbers:
        catalog.depend(holder, (RELATION, relation.oid, number), AUTO)
    for number in computed_from - numbers:
        # The index goes with the column, but to drop it with its constraint takes CASCADE (dependency.c).
        catalog.depend(holder, (RELATION, relation.oid, number), AUTO if constraint is None else NORMAL)
    numbers |= computed_from
    if index.trees:
        from pubcheck.postgres.ddl.object_address import functions_called

        for function in functions_called(session, list(index.trees)):
            catalog.depend(depender, (PROC, function, 0), NORMAL)
    for element in spec.elements:
        created = class_created(session, element) if "opclass" in element else 0
        if created:
            catalog.depend(depender, (OTHER, created, 0), NORMAL)
    if not numbers or (constraint is not None and 0 in index.keys):
        # The key of a constraint that is an expression is the column 0: the whole table (CreateConstraintEntry).
        catalog.depend(holder, (RELATION, relation.oid, 0), AUTO)
    if spec.parent:
        catalog.depend(depender, (RELATION, spec.parent, 0), PARTITION)
        if constraint is not None and spec.parent_constraint:
            catalog.depend(holder, (CONSTRAINT, spec.parent_constraint, 0), PARTITION)


def adopt_index(
    session: Session,
    parent: Relation,
    index: Index,
    child: Relation,
    spec: IndexSpec | None = None,
    constraint: Constraint | None = None,
) -> None:
    """Give a partition its part of a partitioned index: a matching index it has, else a new one.

    DefineIndex's recursion, where there is a ``spec``, and AttachPartitionEnsureIndexes, which look alike and differ
    in what a constraint's index may represent; neither asks whether it is deferrable. A foreign partition takes none.
    """
    catalog = session.catalog
    if child.kind == "f":
        return
    same_kind = spec is None and catalog.major.attaches_same_kind
    for oid in catalog.indexes_of.get(child.oid):
        candidate = catalog.indexes[oid]
        held = catalog.owner_of_index(oid)
        if (
            not candidate.parent
            and (constraint is None or (held is not None and (held.kind == constraint.kind or not same_kind)))
            and match(session, parent, index, child, candidate)
        ):
            attach_index(session, index, candidate, constraint, held)
            return
    if spec is None:
        spec = spec_of(session, parent, index, constraint)
    define_index(
        session,
        child,
        replace(
            spec,
            name="",
            only=False,
            where=index.predicate,
            copied=True,
            always=index.always,
            parent=index.oid,
            parent_constraint=constraint.oid if constraint else 0,
        ),
    )


def match(session: Session, parent: Relation, index: Index, child: Relation, candidate: Index) -> bool:
    """Return whether an index of a partition may be the part of a partitioned one (CompareIndexInfo)."""
    return (
        candidate.unique == index.unique
        and candidate.method == index.method
        and candidate.nulls_not_distinct == index.nulls_not_distinct
        and [_name_of(child, key) for key in candidate.keys] == [_name_of(parent, key) for key in index.keys]
        and [_name_of(child, key) for key in candidate.included] == [_name_of(parent, key) for key in index.included]
        and _same_expressions(session, parent, index, child, candidate)
    )


def _same_expressions(session: Session, parent: Relation, index: Index, child: Relation, candidate: Index) -> bool:
    """Return whether the expressions and predicates of two indexes are equal once their constants are folded."""
    if not (index.trees or candidate.trees):
        return True
    # Loaded only where there are any.
    from pubcheck.postgres.ddl.index_elements import planned_form

    return planned_form(session, parent, index) == planned_form(session, child, candidate)


def attach_index(
    session: Session, index: Index, part: Index, constraint: Constraint | None, held: Constraint | None
) -> None:
    """IndexSetParentIndex, and ConstraintSetParentConstraint where both are constraints'."""
    catalog = session.catalog
    catalog.put_index(replace(part, parent=index.oid))
    catalog.relations.put(part.oid, replace(catalog.relations[part.oid], partition=True))
    catalog.depend((RELATION, part.oid, 0), (RELATION, index.oid, 0), PARTITION)
    if constraint is not None and held is not None:
        catalog.constraints.put(held.oid, replace(held, parent=constraint.oid, local=False, inherited=1))
        catalog.depend((CONSTRAINT, held.oid, 0), (CONSTRAINT, constraint.oid, 0), PARTITION)
    validate_partitioned(session, index.oid)


def validate_partitioned(session: Session, oid: int) -> None:
    """A partitioned index made with ONLY becomes valid when every partition has its part (validatePartitionedIndex)."""
    catalog = session.catalog
    index = catalog.indexes[oid]
    if index.valid:
        return
    for child in catalog.children.get(index.table):
        parts = (catalog.indexes[part] for part in catalog.indexes_of.get(child))
        if not any(part.parent == oid and part.valid for part in parts):
            return
    catalog.put_index(replace(index, valid=True))
    if index.parent:
        validate_partitioned(session, index.parent)


def rebuild_indexes(session: Session, relation: int) -> None:
    """Rebuild the indexes of a table that is rewritten: they are valid then (finish_heap_swap)."""
    catalog = session.catalog
    if catalog.relations[relation].kind != "p":
        for oid in catalog.indexes_of.get(relation):
            if not catalog.indexes[oid].valid:
                catalog.put_index(replace(catalog.indexes[oid], valid=True))


def spec_of(session: Session, relation: Relation, index: Index, constraint: Constraint | None) -> IndexSpec:
    """Return an existing index as the definition of another table's index (generateClonedIndexStmt)."""
    expressions = iter(index.expressions)
    return IndexSpec(
        tuple({"name": _name_of(relation, key)} if key else {"expr": next(expressions)} for key in index.keys),
        tuple({"name": _name_of(relation, key)} for key in index.included),
        unique=index.unique and not index.exclusion,
        primary=index.primary,
        exclusion=index.exclusion,
        without_overlaps=index.unique and index.exclusion,
        deferrable=not index.immediate,
        deferred=constraint is not None and constraint.deferred,
        nulls_not_distinct=index.nulls_not_distinct,
        where=index.predicate,
        method=index.method,
        kind=constraint.kind if constraint else "",
        copied=True,
        always=index.always,
        unsorted=index.unsorted,
        operators=index.operators,
    )


def _name_of(relation: Relation, number: int) -> str:
    return relation.columns[number - 1].name if number else ""
