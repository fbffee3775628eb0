"""MERGE (parser/parse_merge.c; executor/nodeModifyTable.c: ExecMerge)."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.assignments import assignments
from pubcheck.simulate.executor.expressions import Scope, Step, frame_of
from pubcheck.simulate.executor.from_rows import NULLS, FromClause
from pubcheck.simulate.executor.insert import Source, target_columns, value_steps, with_defaults
from pubcheck.simulate.executor.row_operations import by_numbers_of, delete_row, for_child, insert_row, update_row
from pubcheck.simulate.executor.statement_scope import Changes, Rows, add_sources, condition, target_item
from pubcheck.simulate.executor.statement_triggers import Event, assigned_columns, with_statement_triggers
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.targets import members, refuse_write, target_relation
from pubcheck.simulate.executor.views import Target, base_target
from pubcheck.simulate.heap import Version
from pubcheck.simulate.not_followed import NotFollowed

Row = list[Any]
_OPERATIONS = ("insert", "update", "delete")


class _Action:
    """A WHEN clause."""

    def __init__(self, session: Backend, scope: Scope, table: Table, node: Node) -> None:
        self.matched = node.get("matchKind", "MERGE_WHEN_MATCHED") == "MERGE_WHEN_MATCHED"
        if node.get("matchKind") == "MERGE_WHEN_NOT_MATCHED_BY_SOURCE":
            raise NotFollowed("WHEN NOT MATCHED BY SOURCE")
        self.condition = condition(session, scope, node.get("condition"), "MERGE WHEN AND")
        self.command = node["commandType"]
        self.steps: list[tuple[int, Step]] = []
        if self.command == "CMD_UPDATE":
            self.steps = assignments(session, scope, table, node["targetList"])
        elif self.command == "CMD_INSERT":
            named = node.get("targetList", ())
            overriding = node.get("override", "OVERRIDING_NOT_SET")
            columns = target_columns(table.relation, named)
            into = Source(table, Target(table.relation), columns, overriding, bool(named))
            values = value_steps(session, scope, into, node["values"]) if "values" in node else {}
            self.steps = with_defaults(into, values)


class _Merge:
    def __init__(self, session: Backend, node: Node, outer: Scope) -> None:
        self.session = session
        self.relation = target_relation(session, node["relation"])
        if self.relation.kind == "v":
            raise NotFollowed("MERGE into a view")
        base_target(session, self.relation, *_OPERATIONS)
        self.table = table_of(session, self.relation)
        scope = Scope(session, outer)
        target_item(session, scope, self.relation, node["relation"])
        add_sources(scope, [node["sourceRelation"]])
        self.sources = FromClause(session, scope, scope.query.sources)
        self.width = len(scope.entries)
        self.frame = frame_of(scope)
        self.join = condition(session, scope, node["joinCondition"], "JOIN/ON")
        clauses = [item["MergeWhenClause"] for item in node["mergeWhenClauses"]]
        self.actions = [_Action(session, scope, self.table, clause) for clause in clauses]
        inherited = node["relation"].get("inh", False)
        self.members = list(members(session, self.relation, inherited=inherited))

    def run(self) -> Rows:
        session = self.session
        for action in self.actions:
            if action.command in ("CMD_UPDATE", "CMD_DELETE"):
                for table in self.members:
                    refuse_write(session, table, "update" if action.command == "CMD_UPDATE" else "delete", certain=True)
        changed: set[int] = set()
        for pair in self._joined():
            if self._apply(*pair, changed):
                yield ()

    def _targets(self) -> list[tuple[Table, Version, Any]]:
        snapshot = self.session.statement_snapshot()
        rows = []
        for table in self.members:
            for version in table.storage.scan():
                if snapshot.sees(version):
                    own = table.oid == self.relation.oid
                    rows.append(
                        (table, version, version if own else by_numbers_of(table.relation, self.relation, version))
                    )
        return rows

    def _joined(self) -> list[tuple[Table | None, Version | None, Row]]:
        """Source rows with the target rows that match them. Raises NotFollowed where the order depends on the plan."""
        targets = self._targets()
        row: Row = [NULLS] * self.width
        pairs: list[tuple[Table | None, Version | None, Row]] = []
        for _ in self.sources.rows(row):
            matches: list[tuple[Table | None, Version | None, Row]] = []
            for table, version, shown in targets:
                row[0] = shown
                if self.join is None or self.join(row) is True:
                    matches.append((table, version, list(row)))
            row[0] = NULLS
            pairs += matches or [(None, None, list(row))]
        places = {id(version): number for number, (_, version, _) in enumerate(targets)}
        order = [len(places) if version is None else places[id(version)] for _, version, _ in pairs]
        effective = [place for place, pair in zip(order, pairs, strict=True) if self._action(pair) is not None]
        if effective != sorted(effective) or not self.sources.certain:
            raise NotFollowed("the order in which a MERGE joins its rows")
        return pairs

    def _action(self, pair: tuple[Table | None, Version | None, Row]) -> _Action | None:
        _, version, row = pair
        for action in self.actions:
            if action.matched == (version is not None) and (action.condition is None or action.condition(row) is True):
                return action if action.command != "CMD_NOTHING" else None
        return None

    def _apply(self, table: Table | None, version: Version | None, row: Row, changed: set[int]) -> bool:
        session = self.session
        action = self._action((table, version, row))
        if action is None:
            return False
        if table is None or version is None:
            self.frame.row = row  # the values of VALUES are those of a level below
            values = {number: step(row) for number, step in action.steps}
            return insert_row(session, self.relation, values) is not None
        if id(version) in changed:
            raise ServerError(
                "21000",
                "MERGE command cannot affect row a second time",
                hint="Ensure that not more than one source row matches any one target row.",
            )
        changed.add(id(version))
        if action.command == "CMD_DELETE":
            return delete_row(session, table, version)
        values = {**row[0], **{number: step(row) for number, step in action.steps}}
        own = table.oid == self.relation.oid
        updated = update_row(
            session,
            self.relation,
            table,
            version,
            values if own else for_child(self.relation, table.relation, values, version),
            frozenset(self.relation.columns[number - 1].name for number, _ in action.steps),
        )
        return updated is not None


def prepare_merge(session: Backend, node: Node, outer: Scope) -> Changes:
    if "returningClause" in node:
        raise NotFollowed("MERGE with RETURNING")
    merge = _Merge(session, node, outer)
    clauses = [item["MergeWhenClause"] for item in node["mergeWhenClauses"]]
    commands = {clause["commandType"] for clause in clauses}
    updates = [assigned_columns(clause) for clause in clauses if clause["commandType"] == "CMD_UPDATE"]
    assigned = frozenset(name for names in updates for name in names)
    events: list[Event] = [(operation, assigned) for operation in _OPERATIONS if f"CMD_{operation.upper()}" in commands]
    return with_statement_triggers(session, merge.relation, events, Changes([], merge.run))
