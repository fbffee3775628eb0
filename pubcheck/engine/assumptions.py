"""Changes that are only assumed: the statement may not have run, or its refusal is only assumed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import is_not
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.checks.write.write_refusal_history import Change
from pubcheck.postgres.catalog import PUBLICATION, PUBLICATION_NAMESPACE, PUBLICATION_REL, RELATION, Catalog
from pubcheck.postgres.catalog.rows import (
    ASSUMABLE,
    Column,
    Constraint,
    Index,
    Publication,
    PublicationNamespace,
    PublicationRel,
    Relation,
    Type,
)
from pubcheck.postgres.catalog.tables import MAY_NOT_RUN, Reason
from pubcheck.postgres.ddl.object_descriptions import RELATION_KINDS
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import list_items, range_var, strings, without_locations
from pubcheck.postgres.session import Session


def _only_gained_columns(former: Relation, row: Relation) -> bool:
    """Return whether a relation only gained columns. Everything that it had before is certain."""
    count = len(former.columns)
    return row.columns[:count] == former.columns and replace(row, columns=former.columns) == former


def net_changes(changes: Iterable[Change]) -> list[Change]:
    """Return the net effect of changes: each row once, with its first former value, without rows that end as they
    began.

    A removed row and an added row that differ only by their oids cancel each other out.
    """
    first: dict[tuple[int, Any], Change] = {}
    for heap, key, former in changes:
        first.setdefault((id(heap), key), (heap, key, former))
    net = [
        (heap, key, former)
        for heap, key, former in first.values()
        if former is not heap.get(key) and not (key in heap and heap[key] == former)
    ]
    removed = {_likeness(former) for heap, key, former in net if key not in heap}
    added = {_likeness(heap[key]) for heap, key, former in net if key in heap and not isinstance(former, Struct)}
    cancelled = (removed & added) - {None}
    if not cancelled:
        return net
    return [
        (heap, key, former)
        for heap, key, former in net
        if (key in heap and isinstance(former, Struct)) or _likeness(heap.get(key, former)) not in cancelled
    ]


def _likeness(row: object) -> object:
    """Return a value that two rows share if they differ by their oids and places only; None for other kinds of rows."""
    if isinstance(row, PublicationRel):
        condition = None if row.filter is None else str(without_locations(row.filter.tree))
        return row.publication, row.relation, row.columns, condition
    if isinstance(row, PublicationNamespace):
        return row.publication, row.namespace
    if isinstance(row, Index):
        return None if row.trees else replace(row, oid=0)
    if isinstance(row, Constraint) and row.kind in "pux":
        return replace(row, oid=0, index=0)
    if isinstance(row, Relation) and row.kind == "i":
        return replace(row, oid=0, place=None)
    return None


def assume_changes(catalog: Catalog, changes: Iterable[Change]) -> None:
    """Mark the net effect of these changes as assumed."""
    for heap, key, former in net_changes(changes):
        row = heap.get(key)
        if isinstance(row, Relation):
            if not (isinstance(former, Relation) and _only_gained_columns(former, row)):
                mark_unseen(catalog, heap, key)
        elif isinstance(row, Publication | Type):
            mark_unseen(catalog, heap, key)
        elif heap is catalog.gone and key[0] in (PUBLICATION_REL, PUBLICATION_NAMESPACE):
            catalog.gone.remove(key)
        changed_row = row if row is not None else former
        if isinstance(changed_row, PublicationRel | PublicationNamespace):
            mark_unseen(catalog, catalog.publications, changed_row.publication)
        elif isinstance(changed_row, Index):
            mark_unseen(catalog, catalog.relations, changed_row.table)
        elif isinstance(changed_row, Constraint) and changed_row.kind in "pux":
            mark_unseen(catalog, catalog.relations, changed_row.relation)


IdentityChanges = dict[int, tuple[Relation, Relation]]
"""Relations whose replica identity alone changed, by oid: the former row and the current one."""


def identity_changes(relations: Mapping[int, Relation], changes: Iterable[Change]) -> IdentityChanges:
    """Return the relations for which these changes set the replica identity and nothing else."""
    identities: IdentityChanges = {}
    indexed = set[int]()
    for heap, key, former in net_changes(changes):
        row = heap.get(key)
        if heap is relations and isinstance(former, Relation) and isinstance(row, Relation):
            if replace(row, identity=former.identity, seen=former.seen) == former:
                identities[key] = former, row
        elif isinstance(former, Index):
            indexed.add(former.table)
    return {oid: change for oid, change in identities.items() if oid not in indexed}


def sets_identities_only(relations: Mapping[int, Relation], changes: Sequence[Change]) -> bool:
    """Return whether a statement changed only replica identities."""
    return not changes or len(net_changes(changes)) == len(identity_changes(relations, changes))


def joined_identities(
    relations: Mapping[int, Relation], alternatives: Sequence[IdentityChanges], *, complete: bool
) -> Iterator[tuple[int, Relation]]:
    """Yield the relations whose identity one of these alternatives changed, as they are afterwards.

    ``complete``: one of the alternatives ran. An identity that all of them leave is then certain.
    """
    for oid in {oid: None for changes in alternatives for oid in changes}:
        changes = [changes[oid] for changes in alternatives if oid in changes]
        row, (former, last) = relations.get(oid), changes[-1]
        if row is None or row.identity != former.identity:
            continue  # an alternative changed it otherwise: that change is assumed
        agree = complete and len(changes) == len(alternatives)
        agree = agree and all(after.seen and after.identity == last.identity for _, after in changes)
        yield oid, replace(row, identity=last.identity, seen=row.seen and agree)


def created_names(changes: Iterable[Change]) -> Iterator[str]:
    """Yield the names of created objects and of new columns."""
    for heap, key, former in changes:
        row = heap.get(key)
        if isinstance(row, Relation):
            known = former.columns if isinstance(former, Relation) else ()
            yield from (column.name for column in _new_columns(row.columns, known))
        if isinstance(row, Struct) and not isinstance(former, Struct):
            yield getattr(row, "name", "")


def dropped_names(changes: Iterable[Change]) -> Iterator[str]:
    """Yield the names of dropped objects."""
    for heap, key, former in changes:
        if key not in heap:
            yield getattr(former, "name", "")


def assume_statement(catalog: Catalog, name: str, mark: int) -> None:
    """Mark as assumed the changes of a statement that may not have run, since ``mark`` of the journal.

    Objects that it dropped are restored and marked as assumed.
    """
    journal = catalog.journal
    if name not in TO_DROP:
        assume_changes(catalog, journal.entries[mark:])
        return
    dropped = [
        (heap, key)
        for heap, key, former in journal.entries[mark:]
        if isinstance(former, Relation | Publication | Type) and key not in heap
    ]
    journal.undo(mark)
    for heap, key in dropped:
        mark_unseen(catalog, heap, key)


TO_DROP = ("DropStmt", "DropOwnedStmt")


def mark_unseen(catalog: Catalog, heap: dict[Any, Any], key: Any) -> None:
    """Mark a row as assumed."""
    row = heap.get(key)
    if row is not None and row.seen:
        catalog.journal.entries.append((heap, key, row))
        catalog.reasons.assume_row(row.oid, MAY_NOT_RUN)
        heap[key] = replace(row, seen=False)


def assume_source(catalog: Catalog, source: int) -> None:
    """Mark the objects that a source created as assumed: it may not be meant for this database."""
    relations = catalog.relations
    for oid, row in [*relations.items()]:
        if row.seen and row.place is not None and row.place.source == source:
            relations[oid] = replace(row, seen=False)
            place = row.place.source, row.place.statement
            catalog.reasons.rows.setdefault(oid, Reason("whether this statement is for this database", place))


def assume_unknown(session: Session, name: str, node: Node, changes: list[Change]) -> None:
    """Mark as assumed the changes of a statement that names an unknown object: if that is missing, the server refused
    all of it.

    Objects that the statement itself creates, such as a table with a foreign key, stay certain: if the table is
    missing, there is nothing to report.
    """
    catalog = session.catalog
    if name in _CREATING:
        _doubt_recreated(session, changes)
    if name in _OF_QUERIES and not session.vouched:
        assume_changes(catalog, changes)
    if name not in _DOUBTED or (session.basis.certain and name != "AlterTableStmt"):
        return
    if _is_plain(catalog, name, node) or (session.basis.certain and not rests_on_unseen(changes)):
        return
    if name == "IndexStmt":
        for heap, key, _ in changes:
            if isinstance(heap.get(key), Relation) and key in catalog.indexes:
                mark_unseen(catalog, heap, key)
        return
    freed = [key for heap, key, _ in changes if heap is catalog.gone and key in heap]
    assume_changes(catalog, [change for change in changes if change[0] is not catalog.gone])
    for key in freed:
        catalog.gone.remove(key)
    session.perhaps_there.update(freed)


def _doubt_recreated(session: Session, changes: list[Change]) -> None:
    """Mark as assumed the objects that take a name that may still be in use."""
    catalog = session.catalog
    # The unit created an object of that name before and may have dropped it.
    replaced = {
        (former.namespace, former.name)
        for heap, key, former in changes
        if type(former) is Relation and not former.seen and former.place is not None
    }
    if not replaced and not session.perhaps_there:
        return
    for heap, key, _ in changes:
        row = heap.get(key)
        if isinstance(row, Relation):
            name = row.namespace, row.name
            if name in replaced or (RELATION, *name) in session.perhaps_there:
                mark_unseen(catalog, heap, key)
        elif isinstance(row, Publication) and (PUBLICATION, 0, row.name) in session.perhaps_there:
            mark_unseen(catalog, heap, key)


_OF_QUERIES = ("CreateTableAsStmt", "ViewStmt")
_CREATING = ("CreateStmt", "CreateTableAsStmt", "CreatePublicationStmt")


def _is_plain(catalog: Catalog, name: str, node: Node) -> bool:
    """Return whether a statement changes only unknown objects.

    Roles belong to the cluster and are assumed to exist.
    """
    if name in ("DropStmt", "DropRoleStmt"):
        return len(node["objects" if name == "DropStmt" else "roles"]) < 2
    if name == "AlterTableStmt":
        commands = node.get("cmds", ())
        if len(commands) == 1:
            return bool(commands[0]["AlterTableCmd"]["subtype"] == "AT_ChangeOwner")
        return {item["AlterTableCmd"]["subtype"] for item in commands} <= {"AT_ChangeOwner"}
    if name == "AlterPublicationStmt":
        row = catalog.publications.get(catalog.publication_names.get(node["pubname"], 0))
        sets = node.get("action") == "AP_SetObjects"
        return row is None or not row.seen or (not sets and len(node.get("pubobjects", ())) < 2)
    return False


_DOUBTED = frozenset(
    (
        "AlterObjectSchemaStmt", "AlterPublicationStmt", "AlterTableStmt", "AlterTypeStmt", "CreatePublicationStmt",
        "DropRoleStmt", "DropStmt", "IndexStmt", "RenameStmt",
    )
)  # fmt: skip
"""Statements that change objects that earlier statements created, and CREATE PUBLICATION."""
AFFECTED = _DOUBTED.union(_CREATING, _OF_QUERIES)
"""Statements for which ``assume_unknown`` may do something."""


def rests_on_unseen(changes: Iterable[Change]) -> bool:
    """Return whether a changed object is assumed, replaces an assumed one, or gained columns of unknown types."""
    compared: set[int] = set()
    for heap, key, former in changes:
        if type(heap) is dict:
            continue  # an index over rows, as in most changes
        row = heap.get(key)
        if type(row) not in ASSUMABLE and type(former) not in ASSUMABLE:
            continue
        if getattr(former, "seen", True) is False and getattr(row, "seen", True):
            return True
        if not isinstance(former, Struct) and getattr(row, "seen", True) is False:
            return True
        if isinstance(row, Relation) and row.seen and row.kind in "rp" and row.oid not in compared:
            compared.add(row.oid)  # the first former row is the one before the statement
            known = former.columns if isinstance(former, Relation) else ()
            for position, column in enumerate(row.columns):
                if not column.type and not column.dropped and column not in known[position : position + 1]:
                    return True
    return False


def _new_columns(columns: tuple[Column, ...], known: tuple[Column, ...]) -> tuple[Column, ...]:
    """Return the columns that are new or changed. Each column stays at the position of its number."""
    if columns[: len(known)] == known:
        return tuple(column for column in columns[len(known) :] if not column.dropped)
    pairs = compress(zip(columns, known, strict=False), map(is_not, columns, known))
    changed = (column for column, before in pairs if column != before)
    return tuple(column for column in (*changed, *columns[len(known) :]) if not column.dropped)


def assume_refused(session: Session, name: str, node: Node) -> None:
    """Record that a statement whose refusal is only assumed may have changed something."""
    if name in ("AlterTableStmt", "RenameStmt", "AlterObjectSchemaStmt"):
        session.blind = True
        assume_targets(session, name, node)
    elif name == "CreatePublicationStmt":
        session.doubted.add(node["pubname"])


def assume_targets(session: Session, name: str, node: Node) -> None:
    """Mark the target relations of a statement as assumed: its refusal may be wrong."""
    targets = [node["relation"]] if "relation" in node else []
    if name == "DropStmt" and node["removeType"] in RELATION_KINDS:
        targets = [range_var(strings(list_items(item))) for item in node["objects"]]
    for target in targets:
        relation = session.find_relation(target)
        if relation is not None:
            mark_unseen(session.catalog, session.catalog.relations, relation.oid)
