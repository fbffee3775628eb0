"""A relation that was assumed because something referred to it, and is created later: its earlier memberships and keys
are adopted, by the names of columns.
"""

from __future__ import annotations

from msgspec.structs import replace

from pubcheck.postgres.catalog import CONSTRAINT, RELATION, Object
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.ddl.deletion import perform_deletion
from pubcheck.postgres.session import Session


def drop_former(session: Session, former: Relation) -> None:
    """Drop a relation that may no longer be there, and all that depends on it."""
    perform_deletion(session, [(RELATION, former.oid, 0)], True)
    session.notices.clear()


def replace_assumed(session: Session, assumed: Relation, row: Relation) -> None:
    """Put a relation that is created in the place of one that was only referred to."""
    row = adopt_keys(session, assumed, row)
    session.catalog.remove_relation(assumed)
    session.catalog.add_relation(row)
    adopt_members(session, assumed, row)


def adopt_members(session: Session, assumed: Relation, row: Relation) -> None:
    """Move the memberships of an assumed relation to the one that is created; columns keep their names.

    Filters and lists over columns that it does not have are forgotten.
    """
    catalog = session.catalog
    # Either it was there before, and is not made here, or what gave it to publications was refused.
    session.doubt_publications({catalog.publication_rels[oid].publication for oid in catalog.memberships.get(row.oid)})
    new_numbers = {column.name: column.number for column in row.live()}
    numbers = {column.number: new_numbers[column.name] for column in assumed.columns if column.name in new_numbers}
    for member in catalog.memberships.get(row.oid):
        entry = catalog.publication_rels[member]
        condition, listed = entry.filter, entry.columns
        if condition is not None:
            condition = replace(
                condition,
                columns=tuple(numbers[number] for number in condition.columns if number in numbers),
                places=tuple((numbers[number], place) for number, place in condition.places if number in numbers),
                analysed=False,
                expr=None,
            )
        if listed is not None:
            listed = tuple(sorted(numbers[number] for number in listed if number in numbers))
        places = tuple((numbers[number], place) for number, place in entry.column_places if number in numbers)
        catalog.publication_rels.put(member, replace(entry, filter=condition, columns=listed, column_places=places))


def adopt_keys(session: Session, assumed: Relation, row: Relation) -> Relation:
    """Move the keys and indexes of an assumed relation to ``row``, which replaces it; columns keep their names.

    If a column of a key is missing, the relation has other keys; if its columns are unknown, it has them.
    """
    catalog = session.catalog
    new_numbers = {column.name: column.number for column in row.live()}
    if not row.seen:
        more = [column for column in assumed.live() if column.name not in new_numbers]
        added = [replace(column, number=number) for number, column in enumerate(more, len(row.columns) + 1)]
        row = replace(row, columns=(*row.columns, *added))
        new_numbers |= {column.name: column.number for column in added}
    numbers = {column.number: new_numbers[column.name] for column in assumed.columns if column.name in new_numbers} | {
        0: 0
    }
    lost: list[Object] = []
    for oid in catalog.constraints_of.get(row.oid):
        constraint = catalog.constraints[oid]
        if all(key in numbers for key in constraint.keys):
            catalog.constraints.put(oid, replace(constraint, keys=tuple(numbers[key] for key in constraint.keys)))
        else:
            lost.append((CONSTRAINT, oid, 0))
    for oid in catalog.indexes_of.get(row.oid):
        index = catalog.indexes[oid]
        if all(key in numbers for key in (*index.keys, *index.included)):
            keys, included = (tuple(numbers[key] for key in group) for group in (index.keys, index.included))
            catalog.put_index(replace(index, keys=keys, included=included))
        elif catalog.owner_of_index(oid) is None:
            lost.append((RELATION, oid, 0))
    _forget(session, lost)
    return row


def _forget(session: Session, objects: list[Object]) -> None:
    """Drop objects that may or may not have existed."""
    catalog, notices = session.catalog, list(session.notices)
    if objects:
        before = set(catalog.gone)
        perform_deletion(session, objects, True)
        session.notices[:] = notices
        for key in set(catalog.gone) - before:
            catalog.gone.remove(key)
