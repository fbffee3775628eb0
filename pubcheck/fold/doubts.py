"""What is there by assumption: what a statement made that may not have run, or whose refusal is only assumed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pubcheck.checks.history import Change
from pubcheck.postgres.catalog import PUBLICATION_NAMESPACE, PUBLICATION_REL, Catalog
from pubcheck.postgres.catalog.rows import (
    Constraint,
    Index,
    Publication,
    PublicationNamespace,
    PublicationRel,
    Relation,
    Type,
)
from pubcheck.postgres.parse import Node
from pubcheck.postgres.session import Session
from pubcheck.postgres.tree import without_locations


def _wider(former: Relation, row: Relation) -> bool:
    """Whether a relation has only been given more columns: what it had before it has for certain."""
    count = len(former.columns)
    return row.columns[:count] == former.columns and replace(row, columns=former.columns) == former


def net_changes(changes: Iterable[Change]) -> list[Change]:
    """Return what changes come to: each row once, with its first former value, and without rows that are as before.

    A row that was removed and one like it that was added cancel out: their oids differ, and nobody can tell.
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


def doubt_changes(catalog: Catalog, changes: Iterable[Change]) -> None:
    """What these changes come to is there by assumption."""
    for heap, key, former in net_changes(changes):
        row = heap.get(key)
        if isinstance(row, Relation):
            if not (isinstance(former, Relation) and _wider(former, row)):
                unsee(catalog, heap, key)
        elif isinstance(row, Publication | Type):
            unsee(catalog, heap, key)
        elif heap is catalog.gone and key[0] in (PUBLICATION_REL, PUBLICATION_NAMESPACE):
            catalog.gone.remove(key)
        other = row if row is not None else former
        if isinstance(other, PublicationRel | PublicationNamespace):
            unsee(catalog, catalog.publications, other.publication)
        elif isinstance(other, Index):
            unsee(catalog, catalog.relations, other.table)
        elif isinstance(other, Constraint) and other.kind in "pux":
            unsee(catalog, catalog.relations, other.relation)


def names_made(changes: Iterable[Change]) -> Iterator[str]:
    """The names of what was made, and of the columns of tables that were."""
    for heap, key, former in changes:
        row = heap.get(key)
        if isinstance(row, Relation):
            known = former.columns if isinstance(former, Relation) else ()
            yield from (column.name for column in row.columns if column not in known)
        if isinstance(row, Struct) and not isinstance(former, Struct):
            yield getattr(row, "name", "")


def names_taken(changes: Iterable[Change]) -> Iterator[str]:
    """The names of what was taken away."""
    for heap, key, former in changes:
        if key not in heap:
            yield getattr(former, "name", "")


def doubt_statement(catalog: Catalog, name: str, mark: int) -> None:
    """What a statement that perhaps ran did, since ``mark`` of the journal.

    What it took away may still be there: it is, by assumption.
    """
    journal = catalog.journal
    if name not in TO_DROP:
        doubt_changes(catalog, journal.entries[mark:])
        return
    taken = [
        (heap, key)
        for heap, key, former in journal.entries[mark:]
        if isinstance(former, Relation | Publication | Type) and key not in heap
    ]
    journal.undo(mark)
    for heap, key in taken:
        unsee(catalog, heap, key)


TO_DROP = ("DropStmt", "DropOwnedStmt")


def unsee(catalog: Catalog, heap: dict[Any, Any], key: Any) -> None:
    """A row is there by assumption from here on."""
    row = heap.get(key)
    if row is not None and row.seen:
        catalog.journal.entries.append((heap, key, row))
        heap[key] = replace(row, seen=False)


def doubt_publication(session: Session, name: str, node: Node, changes: list[Change]) -> None:
    """What CREATE or ALTER PUBLICATION did, where it names something that is not visible: without that, nothing.

    Of an ALTER that names one thing there is nothing else to doubt.
    """
    if not session.assumed or (name == "AlterPublicationStmt" and len(node.get("pubobjects", ())) < 2):
        return
    catalog = session.catalog
    for heap, key, _ in changes:
        row = heap.get(key)
        if isinstance(row, PublicationRel | PublicationNamespace):
            unsee(catalog, catalog.publications, row.publication)
        elif isinstance(row, Publication):
            unsee(catalog, heap, key)


def doubt_source(catalog: Catalog, source: int) -> None:
    """What a source made is there by assumption: it may not be meant for this database."""
    relations = catalog.relations
    for oid, row in [*relations.items()]:
        if row.seen and row.place is not None and row.place.source == source:
            relations[oid] = replace(row, seen=False)


def doubt_drop(session: Session, node: Node, changes: list[Change]) -> None:
    """DROP of several things, one of which is not visible: without that all the others are still there."""
    gone = session.catalog.gone
    if session.assumed and len(node["objects"]) > 1:
        for key in [key for heap, key, _ in changes if heap is gone]:
            gone.remove(key)


def doubt_refused(session: Session, name: str, node: Node) -> None:
    """A statement whose refusal is only assumed: what it would have made may be there after all."""
    if name == "AlterTableStmt":
        session.blind = True
    elif name == "CreatePublicationStmt":
        session.doubted.add(node["pubname"])
