"""Triggers of rows and of statements, foreign keys of a table, and the queue of what runs after a statement
(commands/trigger.c: ExecBSInsertTriggers, ExecIRInsertTriggers and their kin)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from functools import partial
from typing import Any

from pubcheck.postgres.catalog.rows import Constraint, OtherObject, Relation
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.assignments import assignments
from pubcheck.simulate.executor.expressions import Scope
from pubcheck.simulate.executor.foreign_keys import Action, ForeignKey
from pubcheck.simulate.executor.from_rows import FromClause
from pubcheck.simulate.executor.routines import trigger_routine
from pubcheck.simulate.executor.settings import is_replica
from pubcheck.simulate.executor.statement_scope import Changes, Rows, add_sources, condition, returning, target_item
from pubcheck.simulate.executor.tables import Table, cached, table_of
from pubcheck.simulate.executor.targets import (
    EVENTS,
    Firing,
    Transition,
    fires,
    has_transition_tables,
    note_change,
    triggers_on,
)
from pubcheck.simulate.heap import Version
from pubcheck.simulate.not_followed import NotFollowed

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


Event = tuple[str, Set[str]]
"""An operation, and the columns that an UPDATE assigns."""
Call = Callable[[], Any]


def with_statement_triggers(session: Backend, relation: Relation, events: list[Event], changes: Changes) -> Changes:
    """Return the changes of a statement with the triggers of the statement around them."""
    triggers = list(_triggers_on(session, relation))
    if not triggers:
        return changes
    transitions: dict[tuple[int, str], Transition] = {}
    if any(has_transition_tables(node) for _, node in triggers):
        transitions = {(relation.oid, operation): Transition(relation) for operation, _ in events}
    of_statements = [(row, node) for row, node in triggers if not node.get("row")]
    before = list(_calls(session, relation, of_statements, events, transitions, before=True))
    after = list(_calls(session, relation, of_statements, events[::-1], transitions, before=False))

    def run() -> Rows:
        for call in before:
            session.increment_command()
            call()
        if before:
            session.increment_command()
        if transitions.keys() & session.transitions.keys():
            raise NotFollowed("transition tables of a table that a statement changes twice")
        session.transitions |= transitions
        yield from changes.run()
        session.after += after

    return Changes(changes.outputs, run)


def assigned_columns(node: Node) -> Set[str]:
    return {item["ResTarget"].get("name", "") for item in node.get("targetList", ())}


def truncate_calls(session: Backend, relation: Relation) -> tuple[list[Call], list[Call]]:
    """What TRUNCATE of a table runs before and after."""
    triggers = [(row, node) for row, node in _triggers_on(session, relation) if not node.get("row")]
    events: list[Event] = [("truncate", frozenset())]
    before, after = (list(_calls(session, relation, triggers, events, {}, before=side)) for side in (True, False))
    return before, after


def _triggers_on(session: Backend, relation: Relation) -> Iterator[tuple[OtherObject, Node]]:
    catalog = session.database.catalog
    for row in catalog.others.values():
        if row.kind == "trigger" and row.namespace == relation.oid and fires(session, row, relation.oid):
            yield row, catalog.definitions[("trigger", row.oid)]


def _calls(
    session: Backend,
    relation: Relation,
    triggers: list[tuple[OtherObject, Node]],
    events: list[Event],
    transitions: dict[tuple[int, str], Transition],
    *,
    before: bool,
) -> Iterator[Call]:
    table = table_of(session, relation)
    for operation, assigned in events:
        for _, node in sorted(triggers, key=lambda entry: entry[0].name.encode()):
            if not node["events"] & EVENTS[operation] or bool(node.get("timing", 0) & _BEFORE) is not before:
                continue
            columns = {item["String"]["sval"] for item in node.get("columns", ())}
            if operation == "update" and columns and not columns & assigned:
                continue
            routine = trigger_routine(session, table, node)
            call = partial(routine, operation, None, None, node, transitions.get((relation.oid, operation)))
            if "whenClause" in node:
                call = partial(_conditional, Firing(session, table, {**node, "columns": ()}), operation, call)
            yield call


def _conditional(firing: Firing, operation: str, call: Call) -> Any:
    return call() if firing.holds(operation, None, None, None) else None


class InsteadTriggers:
    """The triggers of one operation on a view, in the order of their names."""

    def __init__(self, session: Backend, view: Relation, operation: str) -> None:
        self._operation = operation
        table, catalog = table_of(session, view), session.database.catalog
        rows = sorted(triggers_on(session, view.oid), key=lambda row: row.name.encode())
        nodes = [catalog.definitions[("trigger", row.oid)] for row in rows if fires(session, row, view.oid)]
        chosen = [node for node in nodes if node.get("row") and node["events"] & EVENTS[operation]]
        self._triggers: list[tuple[Firing, Callable[..., Any], Node]] = [
            (Firing(session, table, node), trigger_routine(session, table, node), node) for node in chosen
        ]

    def run(self, old: Values | None, new: Values | None) -> Values | None:
        """Run the triggers for a row. Return what the last one returns; None where one skips the row."""
        row = new if new is not None else old
        for firing, routine, node in self._triggers:
            if firing.holds(self._operation, frozenset(), old, new):
                row = routine(self._operation, old, row if new is not None else None, node)
                if row is None:
                    return None
        return row


def prepare_instead(session: Backend, node: Node, outer: Scope, view: Relation, operation: str) -> Changes:
    """UPDATE or DELETE of a view with such triggers."""
    scope = Scope(session, outer)
    item = target_item(session, scope, view, node["relation"])
    add_sources(scope, node.get("fromClause", []) + node.get("usingClause", []))
    where = condition(session, scope, node.get("whereClause"))
    table = table_of(session, view)
    steps = assignments(session, scope, table, node["targetList"]) if operation == "update" else []
    outputs, returned = returning(session, scope, node)
    rows_of_view = FromClause(session, scope, [item, *scope.query.sources])
    triggers = InsteadTriggers(session, view, operation)

    def run() -> Rows:
        row: list[Any] = [None] * len(scope.entries)
        matches = [list(row) for _ in rows_of_view.rows(row) if where is None or where(row) is True]
        if len(matches) > 1 and not rows_of_view.certain:
            raise NotFollowed("the order of the rows of a view")
        for match in matches:
            old = match[0]
            new = {**old, **{number: step(match) for number, step in steps}} if operation == "update" else None
            result = triggers.run(old, new)
            if result is not None:
                yield () if returned is None else returned((result, *match[1:]))

    return Changes(outputs, run)
