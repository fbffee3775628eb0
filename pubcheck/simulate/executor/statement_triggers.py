"""Triggers that fire once for a statement (nodeModifyTable.c: fireBSTriggers, fireASTriggers)."""

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
from pubcheck.simulate.executor.targets import DELETE, INSERT, UPDATE
from pubcheck.simulate.executor.trigger_firing import fires
from pubcheck.simulate.not_followed import NotFollowed

_BEFORE = 2
_EVENTS = {"insert": INSERT, "update": UPDATE, "delete": DELETE}
Event = tuple[str, Set[str]]
"""An operation, and the columns that an UPDATE assigns."""


def with_statement_triggers(session: Backend, operation: str, node: Node, changes: Changes) -> Changes:
    """Return the changes of INSERT, UPDATE or DELETE with the triggers of the statement around them."""
    relation = session.catalog_session.relation(node["relation"])
    triggers = _of_statements(session, relation)
    if not triggers:
        return changes
    events = [(operation, _assigned(node))]
    conflict = node.get("onConflictClause", {})
    if conflict.get("action") == "ONCONFLICT_UPDATE":
        events.append(("update", _assigned(conflict)))
    before = list(_calls(session, relation, triggers, events, before=True))
    after = list(_calls(session, relation, triggers, events[::-1], before=False))

    def run() -> Rows:
        for call in before:
            session.increment_command()
            call()
        if before:
            session.increment_command()
        yield from changes.run()
        session.after += after

    return Changes(changes.outputs, run)


def _of_statements(session: Backend, relation: Relation) -> list[OtherObject]:
    catalog = session.database.catalog
    return [
        row
        for row in catalog.others.values()
        if row.kind == "trigger"
        and row.namespace == relation.oid
        and not catalog.definitions[("trigger", row.oid)].get("row")
        and fires(session, row, relation.oid)
    ]


def _assigned(node: Node) -> Set[str]:
    return {item["ResTarget"].get("name", "") for item in node.get("targetList", ())}


def _calls(
    session: Backend, relation: Relation, triggers: list[OtherObject], events: list[Event], *, before: bool
) -> Iterator[Callable[[], Any]]:
    table = table_of(session, relation)
    for operation, assigned in events:
        for row in sorted(triggers, key=lambda row: row.name.encode()):
            node = session.database.catalog.definitions[("trigger", row.oid)]
            if not node["events"] & _EVENTS[operation] or bool(node.get("timing", 0) & _BEFORE) is not before:
                continue
            if "transitionRels" in node or "whenClause" in node:
                raise NotFollowed(f'the trigger "{row.name}", with WHEN or transition tables')
            columns = {item["String"]["sval"] for item in node.get("columns", ())}
            if operation == "update" and columns and not columns & assigned:
                continue
            routine = trigger_routine(session, table, node)
            yield partial(routine, operation, None, None, node)
