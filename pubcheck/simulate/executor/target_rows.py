"""The rows that UPDATE or DELETE changes, each with the rows of FROM that it is joined to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope, Step, has_unknown_order
from pubcheck.simulate.executor.from_rows import NULLS, FromClause
from pubcheck.simulate.executor.index_conditions import IndexConditions
from pubcheck.simulate.executor.pruning import Pruning
from pubcheck.simulate.executor.row_operations import by_numbers_of
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.executor.views import Target
from pubcheck.simulate.heap import Version
from pubcheck.simulate.not_followed import NotFollowed

Row = list[Any]


class TargetRows:
    """``scope`` has the target as its first entry, and the entries of FROM after it."""

    def __init__(self, session: Backend, scope: Scope, target: Target, where: Step | None) -> None:
        self.session, self.scope, self.target, self.where = session, scope, target, where
        self.root = target.relation
        self.sources: FromClause | None = None
        if scope.query.sources:
            self.sources = FromClause(session, scope, scope.query.sources)
        item = scope.entries[0]
        where_of_target = None if target.is_view else scope.where
        self.conditions = IndexConditions(session, where_of_target, item)
        self.pruning = Pruning(session, scope, where_of_target, item)

    def base_row(self, table: Table, version: Version) -> dict[int, Any]:
        """A row by the numbers of the table that the statement names."""
        if table.oid == self.root.oid:
            return version
        return by_numbers_of(table.relation, self.root, version)

    def of(self, table: Table) -> Iterator[tuple[Version, Row]]:
        """The rows of one table. A row of it that is joined several times is taken once, by the first."""
        rows = self._joined(table) if self.sources is not None else self._of(table)
        if not has_unknown_order(self.session, self.scope.where):
            yield from rows
            return
        listed = [(version, list(row)) for version, row in rows]
        if len(listed) > 1:
            raise NotFollowed("the order of rows after NOT EXISTS")
        yield from listed

    def _of(self, table: Table) -> Iterator[tuple[Version, Row]]:
        snapshot = self.session.statement_snapshot()
        row: Row = [NULLS] * max(len(self.scope.entries), 1)
        where = self.where
        visible = self.target.sees
        states, oldest = self.session.database.xids.states, self.session.oldest_xid()
        for version in self.conditions.candidates(table):
            if not snapshot.sees(version):
                continue
            base = table.with_virtual(version) if table.virtual else version
            base_row = base if table.oid == self.root.oid else by_numbers_of(table.relation, self.root, base)
            row[0] = base_row if visible is None else visible(base_row)
            if row[0] is not None and (where is None or where(row) is True):
                table.storage.prune(version, states, oldest)  # an index leads to pages of rows that match
                yield version, row

    def _joined(self, table: Table) -> Iterator[tuple[Version, Row]]:
        """The server may join in any order: it has to be the same by the target's rows and by FROM's."""
        assert self.sources is not None
        snapshot = self.session.statement_snapshot()
        row: Row = [NULLS] * max(len(self.scope.entries), 1)
        targets = []
        for version in table.storage.scan(self.session.database.xids.states, self.session.oldest_xid()):
            if snapshot.sees(version):
                base_row = self.base_row(table, version)
                seen = base_row if self.target.sees is None else self.target.sees(base_row)
                if seen is not None:
                    targets.append((version, seen))
        by_target: list[tuple[Version, Row]] = []
        for version, seen in targets:
            row[0] = seen
            by_target += [(version, list(row)) for _ in self.sources.rows(row) if self._passes(row)]
        chosen = _first_of_each(by_target)
        if len({id(version) for version, _ in by_target}) < len(by_target):
            self._require_same_effect(by_target)
        if len(chosen) > 1:
            by_source = self._by_source(targets, row)
            source_rows = {tuple(map(id, joined[1:])) for _, joined in chosen}
            if len(source_rows) > 1 and not self.sources.certain:
                raise NotFollowed("the order in which a join gives its rows")
            if [id(version) for version, _ in _first_of_each(by_source)] != [id(version) for version, _ in chosen]:
                raise NotFollowed("the order in which a join gives its rows")
        yield from chosen

    def _passes(self, row: Row) -> bool:
        return self.where is None or self.where(row) is True

    def _by_source(self, targets: list[tuple[Version, Any]], row: Row) -> list[tuple[Version, Row]]:
        assert self.sources is not None
        if self.sources.lateral:
            return []
        row[0] = NULLS
        sources = [list(row) for _ in self.sources.rows(row)]
        pairs = []
        for source in sources:
            for version, seen in targets:
                source[0] = seen
                if self._passes(source):
                    pairs.append((version, list(source)))
        return pairs

    def _require_same_effect(self, pairs: list[tuple[Version, Row]]) -> None:
        """A row that is joined several times is changed by the first: the others must not say anything else."""
        if self.scope.uses_sources:
            raise NotFollowed("which of several joined rows an UPDATE takes")


def _first_of_each(pairs: list[tuple[Version, Row]]) -> list[tuple[Version, Row]]:
    seen: dict[int, tuple[Version, Row]] = {}
    for pair in pairs:
        seen.setdefault(id(pair[0]), pair)
    return list(seen.values())
