"""What a table gets from others: the columns and constraints of its parents (INHERITS, PARTITION OF) or its type, a
partition's keys (commands/tablecmds.c: MergeAttributes, MergeChildAttribute, CloneForeignKeyConstraints), and the
parts of a table that LIKE copies (parser/parse_utilcmd.c: transformTableLikeClause, expandTableLikeClause).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, CONSTRAINT, FIRST_NORMAL_OID, NORMAL, PARTITION, PROC, RELATION
from pubcheck.postgres.catalog.rows import Column, Constraint, Index, NotNull, Relation
from pubcheck.postgres.ddl.constraints import merge_not_null
from pubcheck.postgres.ddl.index_keys import IndexSpec
from pubcheck.postgres.ddl.indexes import adopt_index, define_index, spec_of
from pubcheck.postgres.ddl.new_objects import choose_constraint_name
from pubcheck.postgres.ddl.not_null import require_not_null
from pubcheck.postgres.ddl.partition_bounds import read_bound, refuse_overlap
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import DIFFERENT, Session, difference


def _check_parent(session: Session, parent: Relation, partition: bool, persistence: str) -> None:
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


def _inherited_columns(session: Session, parents: Iterable[Relation]) -> list[Column]:
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


def _columns_of_type(session: Session, node: Node) -> list[Column] | None:
    """Return the columns of a composite type; None if the type is unknown."""
    oid = session.type_oid(node)
    row = session.catalog.types.get(oid)
    if row is None and not oid:
        return None
    if row is None or not row.relation or session.catalog.relations[row.relation].kind != "c":
        raise ServerError("42809", f"type {node['names'][-1]['String']['sval']} is not a composite type")
    return list(session.catalog.relations[row.relation].live())


def _merge_column(session: Session, existing: Column, column: Column, *, typed: bool) -> Column:
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
                _copy_check(session, constraint, child, inherited=True)
        elif constraint.kind == "f" and parent.kind == "p":
            clone_foreign_key(session, constraint, parent, child)


def _copy_check(session: Session, constraint: Constraint, target: int, *, inherited: bool) -> None:
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


def _clone_indexes(session: Session, parent: Relation, child: int) -> None:
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


class Ancestry:
    """What a CREATE TABLE takes from elsewhere, in the server's order.

    ``parents`` are rows of the catalog, ``bound`` is that of a partition, ``of_type`` the oid of a type, or 0.
    """

    def __init__(self, session: Session, node: Node, former: Relation | None, namespace: int, persistence: str) -> None:
        self._session, self._node = session, node
        self.parents = _parents(session, node, former, namespace, persistence) if "inhRelations" in node else []
        self.bound = None
        if "partbound" in node:
            self.bound = read_bound(session, session.catalog.relations[self.parents[0].oid], node["partbound"])
        self.of_type = session.type_oid(node["ofTypename"]) if "ofTypename" in node else 0

    def columns(self) -> tuple[list[Column], bool]:
        """Return the columns of the parents and the type, and whether all of them are known."""
        columns = _inherited_columns(self._session, self.parents) if self.parents else []
        seen = all(parent.seen for parent in self.parents)
        if "ofTypename" in self._node:
            of_type = _columns_of_type(self._session, self._node["ofTypename"])
            seen = of_type is not None
            columns += of_type or ()
        return columns, seen

    def merge(self, existing: Column, column: Column, *, typed: bool) -> Column:
        return _merge_column(self._session, existing, column, typed=typed)

    def refuse_overlap(self, name: str) -> None:
        """Raise ServerError if the bound of a new partition overlaps with another one's."""
        if self.bound is not None:
            refuse_overlap(self._session, self.parents[0], name, self.bound)

    def depend(self, row: Relation) -> None:
        for parent in self.parents:
            how = AUTO if row.partition else NORMAL
            self._session.catalog.depend((RELATION, row.oid, 0), (RELATION, parent.oid, 0), how)

    def inherit_constraints(self, row: Relation) -> None:
        """Copy the parents' constraints and indexes."""
        for parent in self.parents:
            inherit_constraints(self._session, parent, row.oid)
        if row.partition and self.parents:
            # In DefineRelation, before the statements for the partition's own keys run.
            _clone_indexes(self._session, self.parents[0], row.oid)


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
        _check_parent(session, parent, "partbound" in node, persistence)
    return parents


LIKE_CONSTRAINTS, LIKE_DEFAULTS, LIKE_GENERATED, LIKE_IDENTITY, LIKE_INDEXES, LIKE_STORAGE = 4, 8, 16, 32, 64, 256
"""TableLikeOption bits (nodes/parsenodes.h)."""


def copied_columns(source: Relation, options: int, owned: list[tuple[str, Node]]) -> Iterator[Column]:
    """transformTableLikeClause: names, types and NOT NULL always; the rest as INCLUDING says.

    An identity column gets a sequence of its own, which goes to ``owned``.
    """
    for column in source.live():
        generated = column.generated if options & LIKE_GENERATED else ""
        if column.identity and options & LIKE_IDENTITY:
            owned.append((column.name, {"contype": "CONSTR_IDENTITY"}))
        yield replace(
            column,
            identity=column.identity if options & LIKE_IDENTITY else "",
            generated=generated,
            expression=column.expression if generated else (),
            tree=column.tree if generated or options & LIKE_DEFAULTS else None,
            storage=column.storage if options & LIKE_STORAGE else "",
            has_default=column.has_default and bool(options & LIKE_DEFAULTS),
            inherited=0,
            local=True,
            constraint=column.constraint and NotNull(column.constraint.name, no_inherit=column.constraint.no_inherit),
        )


def with_columns(session: Session, source: Relation) -> Relation:
    """Return a table of LIKE with its columns and types, also for the server's own catalogs."""
    columns = session.syscache.builtin.columns(source.name) if source.oid < FIRST_NORMAL_OID else None
    if columns is None:
        return source
    if session.catalog.major.named_not_null:
        # They have no constraints, which is what LIKE copies.
        columns = tuple(replace(column, not_null=False) for column in columns)
    return replace(source, columns=columns)


def _indexes_of_catalog(session: Session, source: Relation) -> Iterator[IndexSpec]:
    """Nothing in pg_depend says that they are of constraints (get_index_constraint), so that their copies are not."""
    for kind, keys in session.syscache.builtin.indexes(source.name):
        elements = tuple({"name": source.columns[key - 1].name} for key in keys)
        yield IndexSpec(elements, unique=kind != "n", primary=kind == "p", copied=True)


def copy_constraints(session: Session, source: Relation, target: int, options: int) -> None:
    """LIKE: named NOT NULL constraints come with the columns; CHECK constraints by INCLUDING CONSTRAINTS."""
    catalog = session.catalog
    if not options & LIKE_CONSTRAINTS:
        return
    for oid in catalog.constraints_of.get(source.oid):
        constraint = catalog.constraints[oid]
        if constraint.kind == "c":
            _copy_check(session, constraint, target, inherited=False)


def copy_indexes(session: Session, source: Relation, target: int, options: int) -> None:
    """LIKE ... INCLUDING INDEXES: copy indexes and keys under new names (expandTableLikeClause)."""
    catalog = session.catalog
    if not options & LIKE_INDEXES:
        return
    if source.oid < FIRST_NORMAL_OID:
        for spec in _indexes_of_catalog(session, source):
            copy = define_index(session, catalog.relations[target], spec)
            if spec.primary:
                require_not_null(session, target, copy.keys)
        return
    for oid in catalog.indexes_of.get(source.oid):
        index: Index = catalog.indexes[oid]
        spec = spec_of(session, catalog.relations[source.oid], index, catalog.owner_of_index(oid))
        define_index(session, catalog.relations[target], spec)
