"""The table that a write of a view changes (rewrite/rewriteHandler.c: rewriteTargetView).

A view over one table, or over such a view, is written by writing that table, where each column that is set is one of
the table's. What has rules or triggers of its own, or shows what it computes, is left alone.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from pubcheck.checks.write.replica_identity import others_on
from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.session import Session


class Written(Struct, frozen=True):
    """``table`` is what is written, ``columns`` what of it is set; ``only`` without the tables below it.

    ``conditions``: a view on the way has some. ``allowed``: whoever runs the statement certainly may."""

    table: Relation
    columns: tuple[str, ...]
    only: bool
    conditions: bool
    allowed: bool


def shown_table(catalog: Catalog, row: Relation) -> Relation:
    """Return the table that a simple view shows in the end; any other relation itself.

    CREATE OR REPLACE VIEW can make views that show each other. The server refuses to write them (fireRIRrules).
    """
    met: set[int] = set()
    while row.oid not in met and row.oid in catalog.shown and catalog.shown[row.oid].table in catalog.relations:
        met.add(row.oid)
        row = catalog.relations[catalog.shown[row.oid].table]
    return row


def written(session: Session, view: Relation, columns: Sequence[str]) -> Written | None:
    """Return what an UPDATE or DELETE of a view that sets these columns writes, or None if that is unknown."""
    catalog, row, names = session.catalog, view, list(columns)
    if shown_table(catalog, view).kind == "v":
        return None
    allowed = session.superuser() or session.owns(view.owner)
    only = conditions = False
    while row.kind == "v":
        shown = catalog.shown.get(row.oid)
        if shown is None or not row.seen or _has_own_rules(catalog, row) or not _only_values(session, shown.calls):
            return None
        table = catalog.relations[shown.table]
        numbers = [_number(row, name, shown.columns) for name in names]
        if not all(numbers) or len(numbers) > len(set(numbers)):
            return None
        names = [table.columns[number - 1].name for number in numbers]
        owner = catalog.roles[row.owner]
        allowed = (
            allowed
            and (owner.superuser or row.owner == table.owner)
            and (session.superuser() or session.owns(row.owner))
        )
        only, conditions = only or shown.only, conditions or shown.conditions
        row = table
    return Written(row, tuple(names), only, conditions, allowed)


def _number(view: Relation, name: str, columns: tuple[int, ...]) -> int:
    """The number in the table of a view's column, 0 if it is none of the table's."""
    column = view.column(name)
    return columns[column.number - 1] if column is not None and column.number <= len(columns) else 0


def _has_own_rules(catalog: Catalog, view: Relation) -> bool:
    """Return whether rules or triggers of a view may do something else."""
    return any(others_on(catalog, view, kind) for kind in ("rule", "trigger"))


def _only_values(session: Session, calls: tuple[tuple[str, ...], ...]) -> bool:
    """Return whether functions certainly give one value a row: no aggregates, window functions or sets."""
    try:
        procs = [session.syscache.procs(list(call)) for call in calls]
    except Unknowable:
        return False
    return all(rows and all(row.kind == "f" and not row.returns_set for _, row in rows) for rows in procs)
