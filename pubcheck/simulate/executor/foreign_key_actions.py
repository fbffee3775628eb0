"""What foreign keys do when a row that is referred to is deleted or gets another key (utils/adt/ri_triggers.c)."""

from __future__ import annotations

from typing import Any

from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.foreign_keys import Action, ForeignKey, column_number
from pubcheck.simulate.executor.row_operations import delete_row, update_row
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.executor.targets import DELETE, UPDATE, refuse_statement_triggers, refuse_write
from pubcheck.simulate.not_followed import NotFollowed


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
