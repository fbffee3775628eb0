"""INSERT, UPDATE and DELETE of one row, with triggers, partitions and foreign keys (executor/nodeModifyTable.c); and
what foreign keys do when a row that is referred to is deleted or gets another key (utils/adt/ri_triggers.c)."""

from __future__ import annotations

from collections.abc import Set
from typing import Any

from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.changes import (
    check_constraints,
    compute_generated,
    delete_version,
    insert_version,
    update_version,
)
from pubcheck.simulate.executor.foreign_keys import Action, ForeignKey, column_number
from pubcheck.simulate.executor.partitions import no_partition, partitioning
from pubcheck.simulate.executor.row_locks import NO_KEY_UPDATE, take
from pubcheck.simulate.executor.row_text import failing_row
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.targets import DELETE, UPDATE, refuse_move, refuse_statement_triggers, refuse_write
from pubcheck.simulate.executor.triggers import triggers_of
from pubcheck.simulate.heap import ABORTED, IN_PROGRESS, Version
from pubcheck.simulate.not_followed import NotFollowed
from pubcheck.simulate.server_state import Record

Values = dict[int, Any]


def leaf_of(session: Backend, relation: Relation, values: Values) -> tuple[Table, Values]:
    """The partition that a row belongs to, and the row by its column numbers. Raises ServerError 23514."""
    if relation.kind == "p" and relation.partition:
        check_partition(session, table_of(session, relation), values)
    while relation.kind == "p":
        child = partitioning(session, relation).child_of(values)
        if child is None:
            raise no_partition(session, relation, values)
        values = by_numbers_of(relation, child, values)
        relation = child
    return table_of(session, relation), values


def by_numbers_of(source: Relation, target: Relation, values: Values) -> Values:
    """A row by the column numbers of another relation with columns of the same names."""
    converted: Values = {}
    for column in target.live():
        own = source.column(column.name)
        converted[column.number] = None if own is None else values[own.number]
    return converted


def for_child(parent: Relation, child: Relation, values: Values, old: Values) -> Values:
    """The new row of a child by its own column numbers; columns that only the child has keep their old values."""
    converted = dict(old)
    for column in parent.live():
        own = child.column(column.name)
        if own is not None:
            converted[own.number] = values[column.number]
    return converted


def check_partition(session: Backend, table: Table, values: Values) -> None:
    """The partition constraint of a table that is written directly (ExecPartitionCheck). Raises ServerError 23514."""
    relation, row = table.relation, values
    catalog = session.database.catalog
    while relation.partition:
        parent = catalog.relations[relation.parents[0]]
        row = by_numbers_of(relation, parent, row)
        child = partitioning(session, parent).child_of(row)
        if child is None or child.oid != relation.oid:
            name = table.relation.name
            raise ServerError(
                "23514",
                f'new row for relation "{name}" violates partition constraint',
                detail=failing_row(table, values),
            )
        relation = parent


def insert_row(session: Backend, relation: Relation, values: Values) -> Version | None:
    """Insert a row into a table or the partition that takes it. None where a trigger suppressed it."""
    table, values = leaf_of(session, relation, values)
    return insert_into(session, table, values, routed=relation.oid != table.oid)


def insert_into(session: Backend, table: Table, values: Values, *, routed: bool) -> Version | None:
    ready = ready_row(session, table, values, routed=routed)
    return None if ready is None else store_row(session, table, ready)


def ready_row(session: Backend, table: Table, values: Values, *, routed: bool) -> Values | None:
    """A row as it is stored, after its triggers and checks. None where a trigger suppressed it."""
    triggers = triggers_of(session, table)
    if triggers.before["insert"]:
        changed = triggers.fire_before("insert", None, values)
        if changed is None:
            return None
        values = changed
    compute_generated(table, values)
    check_constraints(table, values)
    if table.relation.partition and (not routed or triggers.before["insert"]):
        check_partition(session, table, values)
    return values


def store_row(
    session: Backend, table: Table, values: Values, *, speculative: bool = False, joined: bool = False
) -> Version:
    """Store a row and queue what runs after it. ``joined``: rows before it on its page are in the same record."""
    version = insert_version(session, table, values, speculative=speculative, joined=joined)
    triggers_of(session, table).queue("insert", None, version)
    return version


def current(session: Backend, version: Version, verb: str) -> bool:
    """Whether a row is still the newest version for this statement; False if the statement changed it already.

    Raises NotFollowed where the server waits for another transaction, or goes on with that one's new version, and
    ServerError 27000 if a trigger or a function of the statement has changed the row.
    """
    xmax = version.xmax
    if not xmax:
        return True
    state = session.database.xids.states[xmax]
    if state == ABORTED:
        return True
    if state == IN_PROGRESS and xmax not in session.current.ids:
        raise NotFollowed("the statement waits for another transaction")
    if state != IN_PROGRESS:
        if session.current.isolation:
            message = "could not serialize access due to concurrent " + ("update" if version.successor else "delete")
            raise ServerError("40001", message)
        raise NotFollowed("a row that another transaction has just changed")
    if version.cmax != session.command:
        raise ServerError(
            "27000",
            f"tuple to be {verb} was already modified by an operation triggered by the current command",
            hint="Consider using an AFTER trigger instead of a BEFORE trigger to propagate changes to other rows.",
        )
    return False


def update_row(
    session: Backend, named: Relation, table: Table, old: Version, values: Values, assigned: Set[str] | None = None
) -> Version | None:
    """Update a row of a table; it may move to another partition of ``named``. None where nothing is done.

    ``assigned`` are the names of the columns that the statement assigns.
    """
    if not current(session, old, "updated"):
        return None
    triggers = triggers_of(session, table)
    if triggers.before["update"]:
        lock(session, table, old)
        changed = triggers.fire_before("update", old, values, assigned)
        if changed is None or not current(session, old, "updated"):
            return None
        values = changed
    compute_generated(table, values)
    if table.relation.partition and not _belongs(session, table, values):
        return _move(session, named, table, old, values)
    check_constraints(table, values)
    version = update_version(session, table, old, values)
    triggers.queue("update", old, version, assigned)
    return version


def lock(session: Backend, table: Table, version: Version) -> None:
    """Lock a row before its BEFORE triggers run (GetTupleForTrigger), or before ON CONFLICT looks at it."""
    take(session, version, NO_KEY_UPDATE)
    if table.logged:
        session.append(Record, 14)


def _belongs(session: Backend, table: Table, values: Values) -> bool:
    try:
        check_partition(session, table, values)
    except ServerError:
        return False
    return True


def _move(session: Backend, named: Relation, table: Table, old: Version, values: Values) -> Version | None:
    """ExecCrossPartitionUpdate: a DELETE here and an INSERT there."""
    if named.kind != "p":
        check_constraints(table, values)
        check_partition(session, table, values)
    triggers = triggers_of(session, table)
    if triggers.references_to:
        raise NotFollowed("the move of a row that foreign keys refer to")
    if triggers.before["delete"]:
        lock(session, table, old)
        if triggers.fire_before("delete", old, None) is None:
            return None
    refuse_move(session)
    delete_version(session, table, old)
    triggers.queue("delete", old, None)
    by_root = by_numbers_of(table.relation, named, values)
    return insert_row(session, named, by_root)


def delete_row(session: Backend, table: Table, old: Version) -> bool:
    """Delete a row. False where nothing is done."""
    if not current(session, old, "deleted"):
        return False
    triggers = triggers_of(session, table)
    if triggers.before["delete"]:
        lock(session, table, old)
        if triggers.fire_before("delete", old, None) is None or not current(session, old, "deleted"):
            return False
    delete_version(session, table, old)
    triggers.queue("delete", old, None)
    return True


def act(session: Backend, event: Action) -> None:
    """Run an action: a statement of its own, whose triggers run with those of the statement that caused it."""
    session.increment_command()
    outer, session.running = session.running, session.snapshot()
    try:
        _act(session, event)
    finally:
        session.running = outer


def _act(session: Backend, event: Action) -> None:
    key, action, operation = event.key, event.action, event.operation
    if action in "ar":
        key.refuse_referenced(action, event.table, event.values, event.old)
        return
    deletes = action == "c" and operation == "delete"
    refuse_statement_triggers(session, key.referencing, DELETE if deletes else UPDATE)
    for child, version in list(key.referencing_rows(event.values)):
        refuse_write(session, child, "delete" if deletes else "update", certain=True)
        if deletes:
            delete_row(session, child, version)
            continue
        changed = dict(version)
        names = _set_columns(key, operation, action)
        numbers = [column_number(child.relation, name) for name in names]
        if action == "c":
            assert event.replacement is not None
            changed.update(zip(numbers, _converted(key, child, numbers, event.replacement), strict=True))
        else:
            for number in numbers:
                column = child.relation.columns[number - 1]
                changed[number] = None if action == "n" else child.default(column)(())
        update_row(session, key.referencing, child, version, changed, frozenset(names))
    if action == "d":
        # Rows whose default is the old key still refer to it (RI_FKey_setdefault).
        session.increment_command()
        key.refuse_referenced("a", event.table, event.values, event.old)


def _converted(key: ForeignKey, child: Table, numbers: list[int], values: list[Any]) -> list[Any]:
    for number, name in zip(numbers, key.keys, strict=True):
        column = key.referenced.column(name)
        if column is None or column.type != child.relation.columns[number - 1].type:
            raise NotFollowed("a foreign key between columns of different types that is updated")
    return values


def _set_columns(key: ForeignKey, operation: str, action: str) -> list[str]:
    """The columns that SET NULL or SET DEFAULT changes; ON DELETE may name some."""
    named = [item["String"]["sval"] for item in key.node.get("fk_del_set_cols", ())]
    return named if named and operation == "delete" and action in "nd" else key.columns
