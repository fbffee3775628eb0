"""The change of one row on its way to the subscriber: the logged row and the published one.

A row is a mapping of column numbers to values, None for NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final, Literal

from msgspec import Struct

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Filter
from pubcheck.postgres.replication.publication_lookup import PublishedChanges, ReplicaIdentity
from pubcheck.postgres.replication.subscription_set import Combined

Row = Mapping[int, object]
RowOperation = Literal["insert", "update", "delete"]
Matches = Callable[[Filter, Row], "bool | None"]
"""Evaluates a filter for a row of its relation; may raise the server's errors."""


class _Unchanged:
    """A value that was not logged, because it is stored out of line and did not change."""

    def __repr__(self) -> str:
        return "UNCHANGED"


UNCHANGED: Final = _Unchanged()


class LoggedChange(Struct, frozen=True):
    """A change as the publisher's log has it. ``old`` has NULL outside the identity's key, unless that is FULL."""

    operation: RowOperation
    old: Row | None
    new: Row | None


class Change(Struct, frozen=True):
    """A change as it is sent: an UPDATE may have become another. Rows are by numbers of the table that changed, with
    the published columns only, in the order sent.
    """

    operation: RowOperation
    arrives_as: int
    old: Row | None
    new: Row | None


def update_operation(old: bool | None, new: bool | None) -> RowOperation | None:
    """Return the operation that an UPDATE is published as for these filter results of the old and the new row
    (pgoutput_row_filter).

    A NULL answer is not a match, which is not the same as no old row: use ``logged_change`` for that.
    """
    if old:
        return "update" if new else "delete"
    return "insert" if new else None


def logged_change(
    identity: ReplicaIdentity,
    operation: RowOperation,
    old: Row | None,
    new: Row | None,
    stored_apart: Collection[int] = (),
) -> LoggedChange:
    """Return the part of a change that is logged (heapam.c: ExtractReplicaIdentity).

    An UPDATE logs the old row only if a column of the identity changed or is ``stored_apart`` (out of line, TOAST),
    or if the identity is FULL; values stored apart that did not change are missing in the new row.
    """
    old_row: Row | None = None
    if old is not None and identity.full:
        old_row = dict(old)
    elif old is not None and identity.columns:
        changed = new is None or any(
            old[number] != new[number] or number in stored_apart for number in identity.columns
        )
        if changed:
            old_row = {number: value if number in identity.columns else None for number, value in old.items()}
    written: Row | None = new
    if old is not None and new is not None and stored_apart:
        written = {
            number: UNCHANGED if number in stored_apart and value == old[number] else value
            for number, value in new.items()
        }
    return LoggedChange(operation, old_row, written)


def published_change(
    catalog: Catalog, published: Combined | PublishedChanges, change: LoggedChange, matches: Matches
) -> Change | None:
    """Return the change that is published for a logged change; None for nothing (pgoutput_change, pgoutput_row_filter).

    ``matches`` gets rows by the column numbers of the relation that the changes are published as.
    """
    filters = _filters(published, change.operation)
    if filters is None:
        return None
    old, new, operation = change.old, change.new, change.operation
    if operation == "delete" and old is None:
        return None
    if filters:
        numbers = _numbers(catalog, published)

        def passes(row: Row) -> bool:
            if numbers is not None:
                row = {numbers[number]: value for number, value in row.items() if number in numbers}
            return any(matches(condition, row) for condition in filters)

        if old is None or new is None:
            row = new if old is None else old
            if row is None or not passes(row):
                return None
        else:
            # Identity columns that are stored apart are logged with the old row only.
            whole = {
                number: old[number] if value is UNCHANGED and old[number] is not None else value
                for number, value in new.items()
            }
            became = update_operation(passes(old), passes(whole))
            if became is None:
                return None
            operation = became
            if became == "insert":
                old, new = None, whole
            elif became == "delete":
                new = None
    return Change(operation, published.arrives_as, _chosen(old, published.columns), _chosen(new, published.columns))


def _filters(published: Combined | PublishedChanges, operation: RowOperation) -> tuple[Filter, ...] | None:
    if isinstance(published, PublishedChanges):
        if operation not in published.operations:
            return None
        return () if published.filter is None else (published.filter,)
    filters = published.filters(operation)
    return None if filters is None else tuple(condition for _, condition in filters)


def _numbers(catalog: Catalog, published: Combined | PublishedChanges) -> dict[int, int] | None:
    """The table's column numbers as those of the relation that its changes arrive as; None where they are the same."""
    if published.arrives_as == published.relation:
        return None
    names = {column.name: column.number for column in catalog.relations[published.arrives_as].live()}
    own = catalog.relations[published.relation].live()
    return {column.number: names[column.name] for column in own if column.name in names}


def _chosen(row: Row | None, columns: tuple[int, ...]) -> Row | None:
    return None if row is None else {number: row[number] for number in columns}
