"""Changes of views whose triggers run instead of them (commands/trigger.c: ExecIRInsertTriggers and its kin)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.assignments import assignments
from pubcheck.simulate.executor.expressions import Scope
from pubcheck.simulate.executor.from_rows import FromClause
from pubcheck.simulate.executor.routines import trigger_routine
from pubcheck.simulate.executor.statement_scope import Changes, Rows, add_sources, condition, returning, target_item
from pubcheck.simulate.executor.tables import table_of
from pubcheck.simulate.executor.targets import EVENTS
from pubcheck.simulate.executor.trigger_firing import Firing, fires, triggers_on
from pubcheck.simulate.not_followed import NotFollowed

Values = dict[int, Any]


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
