"""INSERT ... ON CONFLICT (execIndexing.c: ExecCheckIndexConstraints, nodeModifyTable.c: ExecOnConflictUpdate)."""

from __future__ import annotations

from typing import Any

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
        self.names = _inferred(self.clause, table)
        self.where: Step | None = None
        self.steps: list[tuple[int, Step]] = []
        if self.updates:
            scope = Scope(session, outer)
            target_item(session, scope, table.relation, node["relation"])
            scope.add_relation(session, table.relation, "excluded")
            self.where = condition(session, scope, self.clause.get("whereClause"))
            self.steps = assignments(session, scope, table, self.clause["targetList"])

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
                    if [leaf.relation.columns[number - 1].name for number in unique.index.keys] == keys
                ][:1]
        raise ServerError("42704", f'constraint "{name}" for table "{self.table.relation.name}" does not exist')

    def insert(self, values: Values) -> Version | None:
        """Insert a row or do what the clause says. Return the row that was inserted or updated, or None."""
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
                return self._update(leaf, other, row) if self.updates else None
        return insert_into(session, leaf, row, routed=leaf is not self.table, speculative=bool(leaf.has_indexes))

    def _update(self, leaf: Table, other: Version, proposed: Values) -> Version | None:
        session = self.session
        own = other.xmin in session.current.ids
        if own and other.cmin >= session.current.command:
            raise ServerError(
                "21000",
                "ON CONFLICT DO UPDATE command cannot affect row a second time",
                hint="Ensure that no rows proposed for insertion within the same command have duplicate constrained "
                "values.",
            )
        if leaf.logged:
            # The row is locked before it is looked at (table_tuple_lock).
            session.database.append(Record, 14, xid=session.xid(), top=session.current.top, origin=session.origin)
        root = self.table.relation
        present: Values = by_numbers_of(leaf.relation, root, other) if leaf is not self.table else other
        excluded = by_numbers_of(leaf.relation, root, proposed) if leaf is not self.table else proposed
        row = (present, excluded)
        if self.where is not None and self.where(row) is not True:
            return None
        changed = {**present, **{number: step(row) for number, step in self.steps}}
        new = by_numbers_of(root, leaf.relation, changed) if leaf is not self.table else changed
        assigned = frozenset(root.columns[number - 1].name for number, _ in self.steps)
        return update_row(session, leaf.relation, leaf, other, new, assigned)


def _inferred(clause: Node, table: Table) -> set[str] | str | None:
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
        names.add(name)
    return names
