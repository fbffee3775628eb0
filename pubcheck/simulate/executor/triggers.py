"""Row triggers and foreign keys of a table, and the queue of what runs after a statement (commands/trigger.c)."""

from __future__ import annotations

from collections.abc import Set
from functools import partial
from typing import Any

from pubcheck.postgres.catalog.rows import Constraint, OtherObject
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.foreign_keys import Action, ForeignKey
from pubcheck.simulate.executor.routines import trigger_routine
from pubcheck.simulate.executor.settings import is_replica
from pubcheck.simulate.executor.tables import Table, cached
from pubcheck.simulate.executor.trigger_firing import Firing, Transition, fires, note_change, triggers_on
from pubcheck.simulate.heap import Version

Values = dict[int, Any]
OPERATIONS = ("insert", "update", "delete")
_ROW, _BEFORE, _INSERT, _DELETE, _UPDATE, _INSTEAD = 1, 2, 4, 8, 16, 64
_EVENTS = {"insert": _INSERT, "delete": _DELETE, "update": _UPDATE}


class Trigger:
    """A trigger of the user: its definition and its function."""

    def __init__(self, session: Backend, table: Table, row: OtherObject, node: Node) -> None:
        self.name, self.node, self.enabled = row.name, node, row.enabled
        self.routine = trigger_routine(session, table, node)
        self.fires = Firing(session, table, node).holds

    def is_deferred(self, session: Backend) -> bool:
        """Whether a constraint trigger is deferred now."""
        return self.node.get("deferrable", False) and session.is_deferred(
            self.name, self.node.get("initdeferred", False)
        )

    def run(
        self, operation: str, old: Values | None, new: Values | None, transition: Transition | None = None
    ) -> Values | None:
        result: Values | None = self.routine(operation, old, new, self.node, transition)
        return result


class Triggers:
    """The triggers of one table. ``references_to`` are the foreign keys that refer to it."""

    def __init__(self, session: Backend, table: Table) -> None:
        self.session, self.table = session, table
        catalog = session.database.catalog
        self.before: dict[str, list[Trigger]] = {operation: [] for operation in OPERATIONS}
        self.after: dict[str, list[Trigger]] = {operation: [] for operation in OPERATIONS}
        replica = is_replica(session)
        for row in triggers_on(session, table.oid):
            node = catalog.definitions[("trigger", row.oid)]
            if not node.get("row") or not fires(session, row, table.oid):
                continue
            trigger = Trigger(session, table, row, node)
            kept = self.before if node.get("timing", 0) & _BEFORE else self.after
            for operation in OPERATIONS:
                if node["events"] & _EVENTS[operation]:
                    kept[operation].append(trigger)
        for triggers in (*self.before.values(), *self.after.values()):
            triggers.sort(key=lambda trigger: trigger.name.encode())
        self.checks: list[ForeignKey] = []
        self.references_to: list[ForeignKey] = []
        if not replica:
            self._foreign_keys()

    def _foreign_keys(self) -> None:
        catalog = self.session.database.catalog
        referenced = {self.table.oid, *catalog.ancestors(self.table.oid)}
        rows: list[Constraint] = [row for row in catalog.constraints.values() if row.kind == "f" and row.enforced]
        for row in sorted(rows, key=lambda row: row.oid):
            if row.relation == self.table.oid:
                self.checks.append(ForeignKey(self.session, row))
            if row.references in referenced and not row.parent:
                self.references_to.append(ForeignKey(self.session, row))

    def fire_before(
        self, operation: str, old: Version | None, new: Values | None, assigned: Set[str] | None = None
    ) -> Values | None:
        """Run the BEFORE triggers. Return the row to go on with (for DELETE the old one), or None for nothing.

        ``assigned`` are the names of the columns that an UPDATE assigns.
        """
        row: Values | None = new if new is not None else old
        for trigger in self.before[operation]:
            proposed = row if new is not None else None
            if not trigger.fires(operation, assigned, old, proposed):
                continue
            row = trigger.run(operation, old, proposed)
            if row is None:
                return None
        return row

    def queue(self, operation: str, old: Version | None, new: Version | None, assigned: Set[str] | None = None) -> None:
        """Queue what runs after the statement for a row, in the order of the triggers' names."""
        note_change(self.session, self.table.relation, operation, old, new)
        events = self.session.after
        if operation != "insert":
            for key in self.references_to:
                event = key.referenced_event(operation, self.table, old, new)
                if event is not None:
                    self._add(events, key, event)
        if operation != "delete":
            for key in self.checks:
                check = key.check_event(self.table, old, new)
                if check is not None:
                    self._add(events, key, check)
        for trigger in self.after[operation]:
            if not trigger.fires(operation, assigned, old, new):
                continue
            transition = self.session.transitions.get((self.table.oid, operation))
            call = partial(trigger.run, operation, old, new, transition)
            if trigger.is_deferred(self.session):
                self.session.defer(trigger.name, call)
            else:
                events.append(call)

    def _add(self, events: list[Any], key: ForeignKey, event: Any) -> None:
        if key.is_deferred(event.action if isinstance(event, Action) else "a"):
            self.session.defer(key.row.name, event)
        else:
            events.append(event)


def triggers_of(session: Backend, table: Table) -> Triggers:
    """The triggers and foreign keys of a table."""
    role = is_replica(session)
    triggers: Triggers = cached(session, ("triggers", table.oid, role), lambda: Triggers(session, table))
    return triggers
