"""INSERT ... ON CONFLICT (execIndexing.c: ExecCheckIndexConstraints, nodeModifyTable.c: ExecOnConflictUpdate)."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.analysis.namespace_items import refuse_variable
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.changes import check_constraints, compute_generated, conflicting
from pubcheck.simulate.executor.expressions import Scope, Step
from pubcheck.simulate.executor.row_operations import by_numbers_of, insert_into, leaf_of, update_row
from pubcheck.simulate.executor.statement_scope import condition, target_item
from pubcheck.simulate.executor.tables import Table, Unique
from pubcheck.simulate.executor.targets import refuse_write
from pubcheck.simulate.executor.triggers import triggers_of
from pubcheck.simulate.executor.update import assignments
from pubcheck.simulate.heap import Version
from pubcheck.simulate.log import Record
from pubcheck.simulate.not_followed import NotFollowed

Values = dict[int, Any]


class OnConflict:
    """The conflict clause of an INSERT into a table, or into the partitions of one."""

    def __init__(self, session: Backend, outer: Scope, table: Table, node: Node) -> None:
        self.session, self.table = session, table
        self.clause: Node = node["onConflictClause"]
        self.updates = self.clause["action"] == "ONCONFLICT_UPDATE"
        self.selects = self.clause["action"] == "ONCONFLICT_SELECT"
        self.names = _inferred(self.clause, table, outer)
        self.where: Step | None = None
        self.steps: list[tuple[int, Step]] = []
        if self.selects:
            self._refuse_select(node)
        if self.updates or self.selects:
            scope = Scope(session, outer)
            target_item(session, scope, table.relation, node["relation"])
            scope.add_relation(session, table.relation, "excluded")
            self.where = condition(session, scope, self.clause.get("whereClause"))
        if self.updates:
            self.steps = assignments(session, scope, table, self.clause["targetList"])

    def _refuse_select(self, node: Node) -> None:
        """Raise the server's error for a DO SELECT without what it needs (transformOnConflictArbiter)."""
        location = self.clause.get("location")
        if "returningClause" not in node:
            raise ServerError("42601", "ON CONFLICT DO SELECT requires a RETURNING clause", location=location)
        if "infer" not in self.clause:
            message = "ON CONFLICT DO SELECT requires inference specification or constraint name"
            raise ServerError("42601", message, location=location)

    def arbiters(self, leaf: Table) -> list[Unique]:
        """The unique indexes that decide. Raises ServerError 42P10 if no index fits the conflict target."""
        if self.names is None:
            return leaf.uniques
        if isinstance(self.names, str):
            return self._of_constraint(leaf, self.names)
        wanted = self.names
        fitting = [
            unique
            for unique in leaf.uniques
            if unique.index.predicate is None
            and not unique.index.expressions
            and {leaf.relation.columns[number - 1].name for number in unique.index.keys} == wanted
        ]
        if not fitting:
            message = "there is no unique or exclusion constraint matching the ON CONFLICT specification"
            raise ServerError("42P10", message)
        return fitting

    def _of_constraint(self, leaf: Table, name: str) -> list[Unique]:
        catalog = self.session.database.catalog
        for oid in catalog.constraints_of.get(self.table.oid):
            row = catalog.constraints[oid]
            if row.name == name and row.index:
                keys = [self.table.relation.columns[number - 1].name for number in row.keys]
                return [
                    unique
                    for unique in leaf.uniques
                    if not unique.index.expressions
                    and [leaf.relation.columns[number - 1].name for number in unique.index.keys] == keys
                ][:1]
        raise ServerError("42704", f'constraint "{name}" for table "{self.table.relation.name}" does not exist')

    def insert(self, values: Values) -> Version | None:
        """Insert a row or do what the clause says. Return the row that was inserted, updated or selected, or None."""
        session = self.session
        if triggers_of(session, self.table).before["insert"]:
            raise NotFollowed("ON CONFLICT of a table with BEFORE triggers")
        leaf, row = leaf_of(session, self.table.relation, values)
        arbiters = self.arbiters(leaf)
        compute_generated(leaf, row)
        if self.updates and leaf is not self.table:
            refuse_write(session, leaf, "update")
        check_constraints(leaf, row)
        for unique in arbiters:
            index = leaf.storage.index(unique.index.oid, unique.key_of)
            key = index.key_of(row)
            other = None if key is None else conflicting(session, index.at(key), None)
            if other is not None:
                if self.updates:
                    return self._update(leaf, other, row)
                return self._select(leaf, other, row) if self.selects else None
        return insert_into(session, leaf, row, routed=leaf is not self.table, speculative=bool(leaf.has_indexes))

    def _update(self, leaf: Table, other: Version, proposed: Values) -> Version | None:
        session = self.session
        if self._is_own(other):
            raise ServerError(
                "21000",
                "ON CONFLICT DO UPDATE command cannot affect row a second time",
                hint="Ensure that no rows proposed for insertion within the same command have duplicate constrained "
                "values.",
            )
        self._lock(leaf)
        root = self.table.relation
        row = self._rows(leaf, other, proposed)
        present = row[0]
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
            self._lock(leaf)
        row = self._rows(leaf, other, proposed)
        return None if self.where is not None and self.where(row) is not True else other

    def _is_own(self, other: Version) -> bool:
        """Return whether this command made the row."""
        current = self.session.current
        return other.xmin in current.ids and other.cmin >= current.command

    def _lock(self, leaf: Table) -> None:
        """Lock the row before it is looked at (table_tuple_lock)."""
        session = self.session
        if leaf.logged:
            session.database.append(Record, 14, xid=session.xid(), top=session.current.top, origin=session.origin)

    def _rows(self, leaf: Table, present: Values, proposed: Values) -> tuple[Values, Values]:
        """Return both rows by the numbers of the table that the statement names."""
        if leaf is self.table:
            return present, proposed
        root = self.table.relation
        return by_numbers_of(leaf.relation, root, present), by_numbers_of(leaf.relation, root, proposed)


def _inferred(clause: Node, table: Table, outer: Scope) -> set[str] | str | None:
    """The columns of the conflict target, the name of its constraint, or None for any unique index."""
    infer = clause.get("infer")
    if infer is None:
        return None
    if "conname" in infer:
        return str(infer["conname"])
    if "whereClause" in infer:
        raise NotFollowed("a conflict target with a predicate")
    names = set()
    for item in infer["indexElems"]:
        name = item["IndexElem"].get("name")
        if name is None:
            raise NotFollowed("a conflict target with an expression")
        if table.relation.column(name) is None:
            raise ServerError("42703", f'column "{name}" does not exist')
        refuse_variable(outer, name, item["IndexElem"].get("location", -1))
        names.add(name)
    return names
