"""Triggers of statements: BEFORE and AFTER the rows of INSERT, UPDATE, DELETE, MERGE, COPY and TRUNCATE
(commands/trigger.c: ExecBSInsertTriggers and its kin)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from functools import partial
from typing import Any

from pubcheck.postgres.catalog.rows import OtherObject, Relation
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.routines import trigger_routine
from pubcheck.simulate.executor.statement_scope import Changes, Rows
from pubcheck.simulate.executor.tables import table_of
from pubcheck.simulate.executor.targets import EVENTS
from pubcheck.simulate.executor.transition_tables import Transition, has_transition_tables
from pubcheck.simulate.executor.trigger_firing import Firing, fires
from pubcheck.simulate.not_followed import NotFollowed

_BEFORE = 2
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
