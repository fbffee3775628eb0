"""INSERT ... ON CONFLICT (execIndexing.c: ExecCheckIndexConstraints, nodeModifyTable.c: ExecOnConflictUpdate)."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.assignments import assignments
from pubcheck.simulate.executor.changes import conflicting, excluded_by
from pubcheck.simulate.executor.conflict_targets import arbiters_of, exclusions_of, of_table
from pubcheck.simulate.executor.expressions import Scope, Step
from pubcheck.simulate.executor.row_operations import by_numbers_of, leaf_of, lock, ready_row, store_row, update_row
from pubcheck.simulate.executor.statement_scope import condition, target_item
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.targets import refuse_write
from pubcheck.simulate.executor.views import Target
from pubcheck.simulate.heap import Version
from pubcheck.simulate.not_followed import NotFollowed

Values = dict[int, Any]


class OnConflict:
    """The conflict clause of an INSERT into a table, into the partitions of one, or through a view."""

    def __init__(self, session: Backend, outer: Scope, target: Target, node: Node) -> None:
        self.session, self.target = session, target
        self.table = table = table_of(session, target.relation)
        self.clause: Node = node["onConflictClause"]
        self.updates = self.clause["action"] == "ONCONFLICT_UPDATE"
        self.selects = self.clause["action"] == "ONCONFLICT_SELECT"
        clause = of_table(self.clause, target) if target.is_view else self.clause
        self.arbiters = arbiters_of(session, table, clause, outer)
        self.exclusions = exclusions_of(session, table, self.clause)
        self.where: Step | None = None
        self.steps: list[tuple[int, Step]] = []
        if self.selects:
            self._refuse_select(node)
        if self.updates or self.selects:
            scope = Scope(session, outer)
            target_item(session, scope, target.named, node["relation"])
            scope.add_relation(session, target.named, "excluded")
            self.where = condition(session, scope, self.clause.get("whereClause"))
        if self.updates:
            steps = assignments(session, scope, table_of(session, target.named), self.clause["targetList"])
            self.steps = [(target.base_number(number), step) for number, step in steps]

    def _refuse_select(self, node: Node) -> None:
        """Raise the server's error for a DO SELECT without what it needs (transformOnConflictArbiter)."""
        location = self.clause.get("location")
        if "returningClause" not in node:
            raise ServerError("42601", "ON CONFLICT DO SELECT requires a RETURNING clause", location=location)
        if "infer" not in self.clause:
            message = "ON CONFLICT DO SELECT requires inference specification or constraint name"
            raise ServerError("42601", message, location=location)

    def insert(self, values: Values) -> Version | None:
        """Insert a row or do what the clause says. Return the row that was inserted, updated or selected, or None."""
        session = self.session
        leaf, values = leaf_of(session, self.table.relation, values)
        if self.updates and leaf is not self.table:
            refuse_write(session, leaf, "update", certain=True)
        row = ready_row(session, leaf, values, routed=leaf is not self.table)
        if row is None:
            return None
        for unique in self.arbiters(leaf):
            index = leaf.storage.index(unique.index.oid, unique.key_of)
            key = index.key_of(row)
            other = None if key is None else conflicting(session, index.at(key), None)
            if other is not None:
                if self.updates:
                    return self._update(leaf, other, row)
                return self._select(leaf, other, row) if self.selects else None
        for exclusion in self.exclusions(leaf):
            if excluded_by(session, leaf, exclusion, row, None) is not None:
                return None
        return store_row(session, leaf, row, speculative=bool(leaf.has_indexes))

    def _update(self, leaf: Table, other: Version, proposed: Values) -> Version | None:
        session = self.session
        if self._is_own(other):
            raise ServerError(
                "21000",
                "ON CONFLICT DO UPDATE command cannot affect row a second time",
                hint="Ensure that no rows proposed for insertion within the same command have duplicate constrained "
                "values.",
            )
        lock(session, leaf, other)
        root = self.table.relation
        present, new_values = self._rows(leaf, other, proposed)
        row = self.target.named_row(present), self.target.named_row(new_values)
        if self.where is not None and self.where(row) is not True:
            return None
        changed = {**present, **{number: step(row) for number, step in self.steps}}
        new = by_numbers_of(root, leaf.relation, changed) if leaf is not self.table else changed
        assigned = frozenset(root.columns[number - 1].name for number, _ in self.steps)
        return update_row(session, leaf.relation, leaf, other, new, assigned)

    def _select(self, leaf: Table, other: Version, proposed: Values) -> Version | None:
        """ExecOnConflictSelect."""
        if self._is_own(other):
            raise NotFollowed("ON CONFLICT DO SELECT of a row that the same command inserted")
        if self.clause["locks"]:
            lock(self.session, leaf, other)
        row = tuple(map(self.target.named_row, self._rows(leaf, other, proposed)))
        return None if self.where is not None and self.where(row) is not True else other

    def _is_own(self, other: Version) -> bool:
        """Return whether this command made the row."""
        return other.xmin in self.session.current.ids and other.cmin >= self.session.command

    def _rows(self, leaf: Table, present: Values, proposed: Values) -> tuple[Values, Values]:
        """Return both rows by the numbers of the table that the statement changes."""
        if leaf is self.table:
            return present, proposed
        root = self.table.relation
        return by_numbers_of(leaf.relation, root, present), by_numbers_of(leaf.relation, root, proposed)
