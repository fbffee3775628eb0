"""Transition tables: the rows that a statement changes, for its triggers (MakeTransitionCaptureState)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct, field

from pubcheck.postgres.analysis.namespace_items import Output
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.block_variables import Variables
from pubcheck.simulate.not_followed import NotFollowed


class Transition(Struct):
    """The rows that one operation of a statement changed, by the names of their columns."""

    relation: Relation
    old: list[dict[str, Any]] = field(default_factory=list)
    new: list[dict[str, Any]] = field(default_factory=list)


class TransitionTable:
    """One side of a transition as a source of rows."""

    def __init__(self, relation: Relation, rows: list[dict[str, Any]]) -> None:
        self._names = [column.name for column in relation.live()]
        self._rows = rows

    def rows(self) -> Iterator[tuple[Any, ...]]:
        for row in self._rows:
            yield tuple(row[name] for name in self._names)


def has_transition_tables(node: Node) -> bool:
    return "transitionRels" in node


def note_change(session: Backend, relation: Relation, operation: str, old: Any, new: Any) -> None:
    """Note a row that was changed, for the statement on its table or on a table above it."""
    if not session.transitions:
        return
    catalog = session.database.catalog
    for oid in (relation.oid, *catalog.ancestors(relation.oid)):
        transition = session.transitions.get((oid, operation))
        if transition is not None:
            for row, rows in ((old, transition.old), (new, transition.new)):
                if row is not None:
                    rows.append({column.name: row[column.number] for column in relation.live()})


def refuse_move(session: Backend) -> None:
    """A row that moves to another partition is an update for transition tables. Raises NotFollowed."""
    if any(operation == "update" for _, operation in session.transitions):
        raise NotFollowed("the transition tables of a row that moves to another partition")


def provide(session: Backend, variables: Variables, node: Node, transition: Transition | None) -> None:
    """Give the queries of a trigger's function its transition tables."""
    for item in node.get("transitionRels", ()):
        table = item["TriggerTransition"]
        if transition is None:
            raise NotFollowed(f'the trigger "{node["trigname"]}", with transition tables')
        rows = transition.new if table.get("isNew") else transition.old
        relation, cache = transition.relation, session.catalog_session.syscache
        level = variables.level
        level.queries[table["name"]] = [
            Output(c.name, c.type, c.typmod, c.collation or cache.type(c.type).collation) for c in relation.live()
        ]
        level.query_sources[table["name"]] = TransitionTable(relation, rows)
