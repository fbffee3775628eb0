"""Parents, partitions and the type of a table: ATTACH and DETACH PARTITION, INHERIT and NO INHERIT, OF and NOT OF
(commands/tablecmds.c).
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import NORMAL, RELATION, TYPE
from pubcheck.postgres.catalog.rows import Index
from pubcheck.postgres.ddl.columns import difference
from pubcheck.postgres.ddl.indexes import attach_index, match, validate_partitioned
from pubcheck.postgres.ddl.objects import require_owner
from pubcheck.postgres.ddl.partitions import add_inherit, attach_partition, detach_partition, drop_inherit
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session


def attach(session: Session, relation: int, command: Node, recurse: bool) -> None:
    child = session.relation(command["def"]["PartitionCmd"]["name"])
    index = session.catalog.indexes.get(relation)
    require_owner(session, child)
    if index is None:
        attach_partition(session, relation, child.oid, command["def"]["PartitionCmd"].get("bound", {}))
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
    detach_partition(session, relation, session.relation(partition["name"]).oid)


def inherit(session: Session, relation: int, command: Node, recurse: bool) -> None:
    parent = session.relation(command["def"]["RangeVar"])
    require_owner(session, parent)
    add_inherit(session, relation, parent.oid)


def no_inherit(session: Session, relation: int, command: Node, recurse: bool) -> None:
    drop_inherit(session, relation, session.relation(command["def"]["RangeVar"]).oid)


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
