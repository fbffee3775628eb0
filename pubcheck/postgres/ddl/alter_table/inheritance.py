"""Parents, partitions and the type of a table: ATTACH and DETACH PARTITION, INHERIT and NO INHERIT, OF and NOT OF,
MERGE PARTITIONS and SPLIT PARTITION (commands/tablecmds.c).

MERGE and SPLIT drop the old partitions and create new tables as CREATE TABLE ... PARTITION OF does: with the indexes of
the partitioned table, REPLICA IDENTITY DEFAULT, and no membership of their own in a publication.
"""

from __future__ import annotations

import itertools
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.catalog import AUTO, CONSTRAINT, NORMAL, PARTITION, RELATION, TYPE
from pubcheck.postgres.catalog.rows import Column, Index, NotNull, Relation
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.ddl.indexes import adopt_index, attach_index, match, validate_partitioned
from pubcheck.postgres.ddl.objects import require_owner
from pubcheck.postgres.ddl.partition_bounds import read_bound, refuse_overlap
from pubcheck.postgres.ddl.tables import create_table
from pubcheck.postgres.ddl.tables.inheritance import clone_foreign_key
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import DIFFERENT, Session, difference, put_columns


def _refuse_excluded(session: Session, child: Relation) -> None:
    """A table that EXCEPT names cannot become a partition (19)."""
    catalog = session.catalog
    exclusions = [catalog.publication_exclusions[oid] for oid in sorted(catalog.excluded_from.get(child.oid))]
    if not exclusions:
        return
    publications = [catalog.publications[exclusion.publication] for exclusion in exclusions]
    session.rests_on(child, *publications)
    raise ServerError(
        "55000",
        'cannot attach table "{relation}" as partition because it is referenced in {publications} EXCEPT clause',
        key="attach-excluded",
        detail="The publication EXCEPT clause cannot contain tables that are partitions.",
        hint="Change the publication's EXCEPT clause using ALTER PUBLICATION ... SET ALL TABLES.",
        relation=child.name,
        publications=f"publication{'s' * (len(publications) > 1)} "
        + ", ".join(f'"{publication.name}"' for publication in publications),
    ).about(publications[0].name, session.qualified(child))


def _attach_partition(session: Session, parent_oid: int, child_oid: int, spec: Node) -> None:
    """ATExecAttachPartition with a PartitionBoundSpec.

    Raises ServerError for a table that cannot become a partition.
    """
    catalog = session.catalog
    parent, child = catalog.relations[parent_oid], catalog.relations[child_oid]
    if parent.kind != "p":
        if parent.seen:
            raise ServerError("42809", f'ALTER action ATTACH PARTITION cannot be performed on relation "{parent.name}"')
        parent = replace(parent, kind="p")
        catalog.relations.put(parent_oid, parent)
    if not session.owns(child.owner):
        raise ServerError("42501", f"must be owner of table {child.name}")
    if child.partition:
        raise ServerError("42809", f'"{child.name}" is already a partition')
    if child.kind not in "rpf":
        raise ServerError("42809", f'"{child.name}" is not a table')
    if child.of_type:
        raise ServerError("42809", "cannot attach a typed table as partition")
    _refuse_excluded(session, child)
    if child.parents:
        raise ServerError("42809", "cannot attach inheritance child as partition")
    if any(catalog.children.get(child_oid)) and child.kind != "p":
        raise ServerError("42809", "cannot attach inheritance parent as partition")
    if parent_oid in catalog.descendants(child_oid):
        detail = f'"{parent.name}" is already a child of "{child.name}".'
        raise ServerError("42P07", "circular inheritance not allowed", detail=detail)
    if (child.persistence == "t") != (parent.persistence == "t") and parent.seen and child.seen:
        raise ServerError("42809", "cannot attach a temporary relation as partition of permanent relation")
    if parent.seen and child.seen:
        for column in child.live():
            if parent.column(column.name) is None:
                raise ServerError(
                    "42804", f'table "{child.name}" contains column "{column.name}" not found in parent "{parent.name}"'
                )
    if catalog.major.partitions_inherit_identity and any(column.identity for column in child.live()):
        raise ServerError("55000", f'table "{child.name}" being attached contains an identity column')
    bound = read_bound(session, parent, spec)
    merge_into_existing(session, parent, child)
    child = catalog.relations[child_oid]
    refuse_overlap(session, parent, child.name, bound)
    catalog.set_parents(child, (parent_oid,), partition=True, bound=bound)
    catalog.define("bound", child_oid, spec)
    catalog.depend((RELATION, child_oid, 0), (RELATION, parent_oid, 0), AUTO)
    for oid in catalog.indexes_of.get(parent_oid):
        adopt_index(
            session,
            catalog.relations[parent_oid],
            catalog.indexes[oid],
            catalog.relations[child_oid],
            constraint=catalog.owner_of_index(oid),
        )
    for oid in catalog.constraints_of.get(parent_oid):
        constraint = catalog.constraints[oid]
        if constraint.kind == "f":
            clone_foreign_key(session, constraint, catalog.relations[parent_oid], child_oid)


def merge_into_existing(session: Session, parent: Relation, child: Relation) -> None:
    """MergeAttributesIntoExisting: the child must have the parent's columns, NOT NULL and generated alike."""
    named = {column.name: column for column in child.live()}
    for column in parent.live():
        existing = named.get(column.name)
        if existing is None:
            if child.seen:
                raise ServerError("42804", f'child table is missing column "{column.name}"')
            continue
        if child.seen and parent.seen:
            if wrong := difference(column, existing):
                message = f'child table "{child.name}" has different {wrong} for column "{column.name}"'
                raise ServerError(DIFFERENT[wrong], message)
            above = column.constraint
            if column.not_null and not existing.not_null and not (above is not None and above.no_inherit):
                raise ServerError("42804", f'column "{column.name}" in child table must be marked NOT NULL')
            if column.generated != existing.generated and (column.generated or session.catalog.major.own_generation):
                raise ServerError("42804", f'column "{column.name}" in child table must match its generation')
    names = {column.name for column in parent.live()}
    put_columns(
        session,
        child,
        tuple(
            replace(
                column,
                inherited=column.inherited + 1,
                local=False if parent.kind == "p" else column.local,
                constraint=_merged(parent, column),
            )
            if column.name in names and not column.dropped
            else column
            for column in child.columns
        ),
    )
    _merge_checks(session, parent, child)


def _merge_checks(session: Session, parent: Relation, child: Relation) -> None:
    """MergeConstraintsIntoExisting: the child must have the parent's CHECK constraints, by name and inheritable."""
    catalog = session.catalog
    for oid in catalog.constraints_of.get(parent.oid):
        above = catalog.constraints[oid]
        if above.kind != "c" or above.no_inherit:
            continue
        held = catalog.constraint(child.oid, above.name)
        if held is None or held.kind != "c":
            if child.seen:
                raise ServerError("42804", f'child table is missing constraint "{above.name}"')
            continue
        if held.no_inherit:
            raise ServerError(
                "42P17", f'constraint "{held.name}" conflicts with non-inherited constraint on child table'
            )
        local = held.local and parent.kind != "p"
        catalog.constraints.put(held.oid, replace(held, inherited=held.inherited + 1, local=local))


def _merged(parent: Relation, column: Column) -> NotNull | None:
    """The child's NOT NULL constraint when it inherits its parent's (MergeConstraintsIntoExisting, 18)."""
    above, held = parent.column(column.name), column.constraint
    if held is None or above is None or above.constraint is None or not above.not_null or above.constraint.no_inherit:
        return held
    if held.no_inherit:
        raise ServerError("42P17", f'constraint "{held.name}" conflicts with non-inherited constraint on child table')
    if above.constraint.validated and not held.validated:
        raise ServerError("42P17", f'constraint "{held.name}" conflicts with NOT VALID constraint on child table')
    return replace(held, inherited=held.inherited + 1, local=held.local and parent.kind != "p")


def _detach_partition(session: Session, parent_oid: int, child_oid: int) -> None:
    """ATExecDetachPartition: the table keeps copies of everything it had as a partition."""
    catalog = session.catalog
    parent, child = catalog.relations[parent_oid], catalog.relations[child_oid]
    if parent_oid not in child.parents:
        if parent.seen and child.seen:
            raise ServerError("42P01", f'relation "{child.name}" is not a partition of relation "{parent.name}"')
        return
    _leave(session, parent_oid, child_oid)
    child = catalog.relations[child_oid]
    catalog.set_parents(child, (), partition=False, bound=None)
    if catalog.major.partitions_inherit_identity:
        child = catalog.relations[child_oid]
        put_columns(session, child, tuple(replace(column, identity="") for column in child.columns))
    for oid in catalog.indexes_of.get(child_oid):
        index = catalog.indexes[oid]
        if index.parent:
            catalog.put_index(replace(index, parent=0))
            catalog.relations.put(oid, replace(catalog.relations[oid], partition=False))
            catalog.forget_dependencies((RELATION, oid), how=PARTITION)
    for oid in catalog.constraints_of.get(child_oid):
        constraint = catalog.constraints[oid]
        if constraint.parent:
            catalog.constraints.put(oid, replace(constraint, parent=0, local=True, inherited=0))
            catalog.forget_dependencies((CONSTRAINT, oid), on=(CONSTRAINT, constraint.parent))


def _leave(session: Session, parent_oid: int, child_oid: int) -> None:
    """Columns are the child's own again, and the child no longer depends on the parent (RemoveInheritance)."""
    catalog = session.catalog
    parent, child = catalog.relations[parent_oid], catalog.relations[child_oid]
    above = {column.name for column in parent.live()}
    put_columns(
        session,
        child,
        tuple(
            replace(
                column,
                inherited=max(0, column.inherited - 1),
                local=column.local or column.inherited <= 1,
                constraint=_detached_not_null(parent, column),
            )
            if column.name in above
            else column
            for column in child.columns
        ),
    )
    for oid in catalog.constraints_of.get(child_oid):
        held = catalog.constraints[oid]
        parent_constraint = catalog.constraint(parent_oid, held.name)
        if (
            held.kind == "c"
            and held.inherited
            and parent_constraint is not None
            and parent_constraint.kind == "c"
            and not parent_constraint.no_inherit
        ):
            left = replace(held, inherited=held.inherited - 1, local=held.local or held.inherited == 1)
            catalog.constraints.put(oid, left)
    catalog.forget_dependencies((RELATION, child_oid), 0, on=(RELATION, parent_oid))


def _detached_not_null(parent: Relation, column: Column) -> NotNull | None:
    above, held = parent.column(column.name), column.constraint
    if held is None or not held.inherited or above is None or not above.not_null:
        return held
    if above.constraint is not None and above.constraint.no_inherit:
        return held
    return replace(held, inherited=held.inherited - 1, local=held.local or held.inherited == 1)


def _add_inherit(session: Session, child_oid: int, parent_oid: int) -> None:
    """ATExecAddInherit."""
    catalog = session.catalog
    child, parent = catalog.relations[child_oid], catalog.relations[parent_oid]
    if parent.kind == "p" or parent.partition or child.partition or child.kind == "p":
        raise ServerError("42809", f'cannot inherit from "{parent.name}"')
    if parent.persistence == "t" and child.persistence != "t":
        raise ServerError("42809", f'cannot inherit from temporary relation "{parent.name}"')
    if parent_oid in child.parents:
        raise ServerError("42P07", f'relation "{parent.name}" would be inherited from more than once')
    if parent_oid in catalog.descendants(child_oid):
        detail = f'"{parent.name}" is already a child of "{child.name}".'
        raise ServerError("42P07", "circular inheritance not allowed", detail=detail)
    merge_into_existing(session, parent, child)
    catalog.set_parents(catalog.relations[child_oid], (*child.parents, parent_oid))
    catalog.depend((RELATION, child_oid, 0), (RELATION, parent_oid, 0), NORMAL)


def _drop_inherit(session: Session, child_oid: int, parent_oid: int) -> None:
    """ATExecDropInherit."""
    catalog = session.catalog
    child, parent = catalog.relations[child_oid], catalog.relations[parent_oid]
    if child.partition:
        raise ServerError("42809", "cannot change inheritance of a partition")
    if parent_oid not in child.parents:
        raise ServerError("42P01", f'relation "{parent.name}" is not a parent of relation "{child.name}"')
    _leave(session, parent_oid, child_oid)
    remaining = tuple(parent for parent in child.parents if parent != parent_oid)
    catalog.set_parents(catalog.relations[child_oid], remaining)


def attach(session: Session, relation: int, command: Node, recurse: bool) -> None:
    child = session.relation(command["def"]["PartitionCmd"]["name"])
    index = session.catalog.indexes.get(relation)
    require_owner(session, child)
    if index is None:
        _attach_partition(session, relation, child.oid, command["def"]["PartitionCmd"].get("bound", {}))
        return
    catalog = session.catalog
    part = catalog.indexes.get(child.oid)
    if part is None:
        raise ServerError("42809", f'"{child.name}" is not an index')
    if part.parent != index.oid:
        _refuse_part(session, index, part)
        attach_index(session, index, part, catalog.owner_of_index(index.oid), catalog.owner_of_index(part.oid))
    validate_partitioned(session, index.oid)


def _refuse_part(session: Session, index: Index, part: Index) -> None:
    """ATExecAttachPartitionIdx. Raises ServerError 55000 and 42P17."""
    catalog = session.catalog
    table, parent = catalog.relations[part.table], catalog.relations[index.table]
    siblings = (catalog.indexes[oid] for oid in catalog.indexes_of.get(table.oid))
    message = (
        f'cannot attach index "{catalog.relations[part.oid].name}" as a partition of index '
        f'"{catalog.relations[index.oid].name}"'
    )
    if part.parent or any(sibling.parent == index.oid for sibling in siblings) or parent.oid not in table.parents:
        raise ServerError("55000", message)
    lacks = catalog.owner_of_index(index.oid) is not None and catalog.owner_of_index(part.oid) is None
    if lacks or not match(session, parent, index, table, part):
        raise ServerError("42P17", message)


def detach(session: Session, relation: int, command: Node, recurse: bool) -> None:
    partition, rows = command["def"]["PartitionCmd"], session.catalog.relations
    if partition.get("concurrent"):
        session.refuse_in_transaction("ALTER TABLE ... DETACH CONCURRENTLY")
        if any(rows[oid].bound == ("d",) for oid in session.catalog.children.get(relation)):
            raise ServerError("55000", "cannot detach partitions concurrently when a default partition exists")
    _detach_partition(session, relation, session.relation(partition["name"]).oid)


def inherit(session: Session, relation: int, command: Node, recurse: bool) -> None:
    parent = session.relation(command["def"]["RangeVar"])
    require_owner(session, parent)
    _add_inherit(session, relation, parent.oid)


def no_inherit(session: Session, relation: int, command: Node, recurse: bool) -> None:
    _drop_inherit(session, relation, session.relation(command["def"]["RangeVar"]).oid)


def add_of(session: Session, relation: int, command: Node, recurse: bool) -> None:
    """ATExecAddOf: the table must have exactly the type's columns, in order."""
    oid = session.type_oid(command["def"]["TypeName"])
    row = session.catalog.relations[relation]
    composite = session.catalog.types.get(oid)
    if oid and (composite is None or not composite.relation):
        raise ServerError("42809", f"type {command['def']['TypeName']['names'][-1]['String']['sval']} is not composite")
    if row.parents:
        raise ServerError("42809", "typed tables cannot inherit")
    if composite is not None and row.seen:
        attributes = session.catalog.relations[composite.relation].live()
        held = row.live()
        same_names = [column.name for column in held] == [column.name for column in attributes]
        if not same_names or any(map(difference, held, attributes)):
            raise ServerError("42804", f'table "{row.name}" does not have the columns of its type')
    session.catalog.relations.put(relation, replace(row, of_type=oid))
    if oid:
        session.catalog.depend((RELATION, relation, 0), (TYPE, oid, 0), NORMAL)


def drop_of(session: Session, relation: int, command: Node, recurse: bool) -> None:
    catalog = session.catalog
    row = catalog.relations[relation]
    if not row.of_type and row.seen:
        raise ServerError("42809", f'"{row.name}" is not a typed table')
    catalog.forget_dependencies((RELATION, relation), 0, on=(TYPE, row.of_type))
    catalog.relations.put(relation, replace(row, of_type=0))


def merge(session: Session, relation: int, command: Node, recurse: bool) -> None:
    parent, spec = session.catalog.relations[relation], command["def"]["PartitionCmd"]
    old = [_partition(session, parent, part["SinglePartitionSpec"]["name"]) for part in spec["partlist"]]
    if len(old) < 2:
        raise ServerError("22023", "list of partitions to be merged should include at least two partitions")
    if len({partition.oid for partition in old}) < len(old):
        raise ServerError("42P07", "partition is already included in the list of partitions to be merged")
    _refuse_gaps([row.bound for row in old if row.bound != ("d",)], any(row.bound == ("d",) for row in old))
    bound = {"known": _merged_bound([partition.bound for partition in old]), **_merged_spec(session, old)}
    _replace(session, parent, old, [(spec["name"], bound)])


def split(session: Session, relation: int, command: Node, recurse: bool) -> None:
    parent, spec = session.catalog.relations[relation], command["def"]["PartitionCmd"]
    parts = [part["SinglePartitionSpec"] for part in spec["partlist"]]
    if len(parts) < 2:
        raise ServerError("22023", "list of new partitions should contain at least two partitions")
    old = _partition(session, parent, spec["name"])
    new = _replace(session, parent, [old], [(part["name"], part["bound"]) for part in parts])
    _refuse_other_rows(old.bound, [row.bound for row in new])


def _refuse_gaps(bounds: list[Any], some_remain: bool) -> None:
    """Raise the server's error if ranges do not follow each other without gaps, where no partition takes the rest
    (check_two_partitions_bounds_range)."""
    if some_remain or not all(bound is not None and bound[0] == "r" for bound in bounds):
        return
    ranges = sorted((bound[1], bound[2]) for bound in bounds)
    if any(before[1] != after[0] for before, after in itertools.pairwise(ranges)):
        raise _refused()


def _refuse_other_rows(old: Any, new: list[Any]) -> None:
    """Raise the server's error if partitions do not take exactly the rows of the one that they replace
    (check_partitions_for_split)."""
    if old is None or any(bound is None for bound in new):
        return
    default, bounds = ("d",) in new, [bound for bound in new if bound != ("d",)]
    if old == ("d",):
        if not default:
            raise _refused()
        return
    if old[0] == "l":
        values = frozenset().union(*(bound[1] for bound in bounds))
        if not values <= old[1] or (values < old[1] and not default):
            raise _refused()
    elif old[0] == "r" and bounds:
        _refuse_gaps(bounds, default)
        low, high = min(bound[1] for bound in bounds), max(bound[2] for bound in bounds)
        if low < old[1] or high > old[2] or ((low, high) != (old[1], old[2]) and not default):
            raise _refused()


def _refused() -> ServerError:
    return ServerError("42P17", "the new partitions do not take the rows of those that they replace")


def _partition(session: Session, parent: Relation, name: Node) -> Relation:
    """checkPartition: a partition of the table without partitions of its own."""
    row = session.relation(name)
    require_owner(session, row)
    if row.seen and parent.seen and (not row.partition or parent.oid not in row.parents):
        raise ServerError("42P01", f'relation "{row.name}" is not a partition of relation "{parent.name}"')
    return row


def _replace(session: Session, parent: Relation, old: list[Relation], new: list[tuple[Node, Node]]) -> list[Relation]:
    perform_deletion(session, [(RELATION, partition.oid, 0) for partition in old], False)
    above = {
        "schemaname": session.catalog.namespaces[parent.namespace].name,
        "relname": parent.name,
        "relpersistence": parent.persistence,
    }
    for name, bound in new:
        relation = {**name, "relpersistence": parent.persistence}
        create_table(session, {"relation": relation, "inhRelations": [{"RangeVar": above}], "partbound": bound})
    return [session.relation(name) for name, _ in new]


def _merged_spec(session: Session, old: list[Relation]) -> Node:
    """Return the bound as CREATE TABLE would write it, if definitions are kept."""
    known: list[tuple[Any, Node]] = []
    for row in old:
        spec = session.catalog.definitions.get(("bound", row.oid))
        if spec is None or row.bound is None:
            return {}
        known.append((row.bound, spec))
    if any(bound[0] == "d" for bound, _ in known):
        return {"is_default": True}
    if known[0][0][0] == "l":
        return {**known[0][1], "listdatums": [datum for _, spec in known for datum in spec["listdatums"]]}
    first, last = min(known, key=lambda entry: entry[0][1]), max(known, key=lambda entry: entry[0][2])
    return {**first[1], "upperdatums": last[1]["upperdatums"]}


def _merged_bound(bounds: list[tuple[Any, ...] | None]) -> tuple[Any, ...] | None:
    """Return the bound of all the rows that fit one of these; None if it is unknown."""
    known = [bound for bound in bounds if bound is not None]
    kinds = {bound[0] for bound in known}
    if "d" in kinds:
        return ("d",)
    if len(known) < len(bounds) or len(kinds) != 1:
        return None
    if kinds == {"l"}:
        return "l", frozenset().union(*(bound[1] for bound in known))
    return ("r", min(bound[1] for bound in known), max(bound[2] for bound in known)) if kinds == {"r"} else None
