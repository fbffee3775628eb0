"""MERGE (parser/parse_merge.c; executor/nodeModifyTable.c: ExecMerge)."""

from __future__ import annotations

from typing import Any, NamedTuple

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.assignments import assignments
from pubcheck.simulate.executor.expressions import Scope, Step, frame_of
from pubcheck.simulate.executor.from_rows import NULLS, FromClause
from pubcheck.simulate.executor.insert import Source, target_columns, value_steps, with_defaults
from pubcheck.simulate.executor.row_operations import by_numbers_of, delete_row, for_child, insert_row, update_row
from pubcheck.simulate.executor.statement_scope import Changes, Rows, add_sources, condition, returning, target_item
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.targets import members, refuse_write, target_relation
from pubcheck.simulate.executor.triggers import Event, assigned_columns, with_statement_triggers
from pubcheck.simulate.executor.views import Target, base_target
from pubcheck.simulate.heap import Version
from pubcheck.simulate.not_followed import NotFollowed

Row = list[Any]
_OPERATIONS = ("insert", "update", "delete")
_MATCHED, _BY_TARGET, _BY_SOURCE = (
    "MERGE_WHEN_MATCHED", "MERGE_WHEN_NOT_MATCHED_BY_TARGET", "MERGE_WHEN_NOT_MATCHED_BY_SOURCE",
)  # fmt: skip
"""What a row is about: a pair of a source row and a target row, the one alone, or the other."""


class _Pair(NamedTuple):
    """A row of the join of source and target."""

    kind: str
    row: Row
    place: int
    """That of the target row among the rows of the target; one beyond them without a target row."""
    table: Table | None = None
    version: Version | None = None


class _Action:
    """A WHEN clause."""

    def __init__(self, session: Backend, scope: Scope, table: Table, node: Node) -> None:
        self.kind = node.get("matchKind", _MATCHED)
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
        self.target = base_target(session, self.relation, *_OPERATIONS)
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
        self.action = ""
        """The operation of the last row, as merge_action() returns it."""
        scope.merge_action = lambda row: self.action
        scope.items = [*scope.items[1:], *scope.items[:1]]  # RETURNING * has the columns of the source first
        self.outputs, self.returned = returning(session, scope, node)

    def run(self) -> Rows:
        session = self.session
        for action in self.actions:
            if action.command in ("CMD_UPDATE", "CMD_DELETE"):
                for table in self.members:
                    refuse_write(session, table, "update" if action.command == "CMD_UPDATE" else "delete", certain=True)
        changed: set[int] = set()
        for pair in self._joined():
            shown = self._apply(pair, changed)
            if shown is not None:
                yield () if self.returned is None else self.returned([shown, *pair.row[1:]])

    def _targets(self) -> list[tuple[Table, Version, Any]]:
        snapshot = self.session.statement_snapshot()
        return [
            (table, version, self._by_root(table, version))
            for table in self.members
            for version in table.storage.scan()
            if snapshot.sees(version)
        ]

    def _by_root(self, table: Table, version: Version) -> Any:
        """A row by the numbers of the table that the statement names."""
        own = table.oid == self.relation.oid
        return version if own else by_numbers_of(table.relation, self.relation, version)

    def _joined(self) -> list[_Pair]:
        """The rows of the join in the order of the source, then the target rows alone. Raises NotFollowed where the
        order depends on the plan."""
        targets = self._targets()
        row: Row = [NULLS] * self.width
        pairs: list[_Pair] = []
        for _ in self.sources.rows(row):
            matches = []
            for place, (table, version, shown) in enumerate(targets):
                row[0] = shown
                if self.join is None or self.join(row) is True:
                    matches.append(_Pair(_MATCHED, list(row), place, table, version))
            row[0] = NULLS
            pairs += matches or [_Pair(_BY_TARGET, list(row), len(targets))]
        joined = {pair.place for pair in pairs}
        pairs += [
            _Pair(_BY_SOURCE, [shown, *[NULLS] * (self.width - 1)], place, table, version)
            for place, (table, version, shown) in enumerate(targets)
            if place not in joined
        ]
        self._require_order([pair for pair in pairs if self._action(pair) is not None])
        return pairs

    def _require_order(self, effective: list[_Pair]) -> None:
        """Rows may be joined in the order of either side. A hash join gives those that have no match in its own order,
        after the others."""
        places = [pair.place for pair in effective]
        kinds = [pair.kind for pair in effective]
        is_full = _BY_SOURCE in kinds and any(action.kind == _BY_TARGET for action in self.actions)
        alone = max(kinds.count(_BY_SOURCE), kinds.count(_BY_TARGET) if is_full else 0)
        if len(effective) > 1 and (places != sorted(places) or alone > 1 or not self.sources.certain):
            raise NotFollowed("the order in which a MERGE joins its rows")

    def _action(self, pair: _Pair) -> _Action | None:
        for action in self.actions:
            if action.kind == pair.kind and (action.condition is None or action.condition(pair.row) is True):
                return action if action.command != "CMD_NOTHING" else None
        return None

    def _apply(self, pair: _Pair, changed: set[int]) -> Any:
        """Do what the first clause that holds says. Return the row that RETURNING sees as the target's; None if nothing
        was done."""
        session, row = self.session, pair.row
        action = self._action(pair)
        if action is None:
            return None
        self.action = action.command.removeprefix("CMD_")
        if pair.table is None or pair.version is None:
            self.frame.row = row  # the values of VALUES are those of a level below
            values = {number: step(row) for number, step in action.steps}
            return self._shown(insert_row(session, self.relation, values))
        if id(pair.version) in changed:
            raise ServerError(
                "21000",
                "MERGE command cannot affect row a second time",
                hint="Ensure that not more than one source row matches any one target row.",
            )
        changed.add(id(pair.version))
        if action.command == "CMD_DELETE":
            return row[0] if delete_row(session, pair.table, pair.version) else None
        values = {**row[0], **{number: step(row) for number, step in action.steps}}
        own = pair.table.oid == self.relation.oid
        updated = update_row(
            session,
            self.relation,
            pair.table,
            pair.version,
            values if own else for_child(self.relation, pair.table.relation, values, pair.version),
            frozenset(self.relation.columns[number - 1].name for number, _ in action.steps),
        )
        return self._shown(updated)

    def _shown(self, stored: Version | None) -> Any:
        return None if stored is None else self.target.row_of(self.session, stored)


def prepare_merge(session: Backend, node: Node, outer: Scope) -> Changes:
    merge = _Merge(session, node, outer)
    clauses = [item["MergeWhenClause"] for item in node["mergeWhenClauses"]]
    commands = {clause["commandType"] for clause in clauses}
    updates = [assigned_columns(clause) for clause in clauses if clause["commandType"] == "CMD_UPDATE"]
    assigned = frozenset(name for names in updates for name in names)
    events: list[Event] = [(operation, assigned) for operation in _OPERATIONS if f"CMD_{operation.upper()}" in commands]
    return with_statement_triggers(session, merge.relation, events, Changes(merge.outputs, merge.run))
