"""UPDATE and DELETE (parser/analyze.c: transformUpdateStmt, transformDeleteStmt, transformForPortionOfClause;
executor/nodeModifyTable.c: ExecUpdate, ExecDelete, ExecForPortionOfLeftovers).

A statement FOR PORTION OF is run as one that only takes rows whose range overlaps the portion; an UPDATE also sets the
range to what both have in common. What is left of the range is inserted as rows of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.catalog.rows import Type
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node, parse
from pubcheck.postgres.tokens import folded, in_quotes
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.assignments import assignments
from pubcheck.simulate.executor.expressions import Scope, Step, compile_expression, has_unknown_order
from pubcheck.simulate.executor.from_rows import NULLS, FromClause
from pubcheck.simulate.executor.pruning import IndexConditions, Pruning
from pubcheck.simulate.executor.row_operations import by_numbers_of, delete_row, for_child, insert_row, update_row
from pubcheck.simulate.executor.statement_scope import (
    Changes,
    Rows,
    add_sources,
    condition,
    prepare_changes,
    returning,
    target_item,
)
from pubcheck.simulate.executor.tables import Table, table_of
from pubcheck.simulate.executor.targets import members, refuse_write, target_relation, triggers_on
from pubcheck.simulate.executor.triggers import assigned_columns, prepare_instead, with_statement_triggers
from pubcheck.simulate.executor.views import Target, base_target, fires_instead, instead_action, without_rows
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
        self.conditions = IndexConditions.of(session, where_of_target, item)
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
        if self.scope.uses_sources and len({id(version) for version, _ in by_target}) < len(by_target):
            # A row that is joined several times is changed by the first: the others must not say anything else.
            raise NotFollowed("which of several joined rows an UPDATE takes")
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


def _first_of_each(pairs: list[tuple[Version, Row]]) -> list[tuple[Version, Row]]:
    seen: dict[int, tuple[Version, Row]] = {}
    for pair in pairs:
        seen.setdefault(id(pair[0]), pair)
    return list(seen.values())


_BELOW = (
    "CASE WHEN {value} OPERATOR(pg_catalog.&>) {portion} THEN NULL"
    " ELSE {type}(pg_catalog.lower({value}), pg_catalog.lower({portion}),"
    " CASE WHEN pg_catalog.lower_inc({value}) THEN '[' ELSE '(' END"
    " || CASE WHEN pg_catalog.lower_inc({portion}) THEN ')' ELSE ']' END) END"
)
_ABOVE = (
    "CASE WHEN {value} OPERATOR(pg_catalog.&<) {portion} THEN NULL"
    " ELSE {type}(pg_catalog.upper({portion}), pg_catalog.upper({value}),"
    " CASE WHEN pg_catalog.upper_inc({portion}) THEN '(' ELSE '[' END"
    " || CASE WHEN pg_catalog.upper_inc({value}) THEN ']' ELSE ')' END) END"
)


class Portion:
    """The clause of a statement that changes ``target``."""

    def __init__(self, session: Backend, outer: Scope, target: Target, node: Node) -> None:
        clause = node["forPortionOf"]
        relation = target.relation
        name = folded(clause["column"].encode())
        column = relation.column(name)
        if column is None:
            raise ServerError("42703", f'column "{name}" of relation "{relation.name}" does not exist')
        kind: Type = outer.cache.type(column.type)
        if target.is_view or relation.kind != "r" or kind.kind != "r":
            raise NotFollowed("FOR PORTION OF a view, a partitioned table, or a column that is not a range")
        if relation.parents or len(session.database.catalog.descendants(relation.oid)) > 1:
            raise NotFollowed("FOR PORTION OF a table with inheritance")
        if any(item["ResTarget"]["name"] == name for item in node.get("targetList", ())):
            raise NotFollowed("FOR PORTION OF a column that is set")
        self.session, self.relation, self.column = session, relation, column
        texts = self._texts(kind, node["relation"], name, clause["texts"])
        parsed = parse("SELECT " + ", ".join(texts))
        assert parsed is not None
        common, overlap, *self._rest = (item["ResTarget"]["val"] for item in parsed[1]["targetList"])
        self.statement = {**node, "whereClause": _both(node.get("whereClause"), overlap)}
        if "targetList" in node:
            self.statement["targetList"] = [*node["targetList"], {"ResTarget": {"name": name, "val": common}}]

    def _texts(self, kind: Type, rv: Node, name: str, texts: list[str]) -> list[str]:
        """What both have in common, whether they overlap, and what is left below and above."""
        catalog = self.session.database.catalog
        schema = catalog.namespaces[kind.namespace].name if kind.namespace in catalog.namespaces else "pg_catalog"
        range_type = f"{in_quotes(schema)}.{in_quotes(kind.name)}"
        words = {
            "type": range_type,
            "value": f"{in_quotes(rv.get('alias', {}).get('aliasname', rv['relname']))}.{in_quotes(name)}",
            "portion": f"{range_type}({', '.join(texts)})" if len(texts) > 1 else f"({texts[0]})::{range_type}",
        }
        operators = ("{value} OPERATOR(pg_catalog.*) ({portion})", "{value} OPERATOR(pg_catalog.&&) ({portion})")
        return [text.format(**words) for text in (*operators, _BELOW, _ABOVE)]

    def leftovers(self, scope: Scope) -> list[Step]:
        """Return the steps that give what is left of the range of a row, or None."""
        steps = []
        for tree in self._rest:
            expr = scope.transform(tree)
            assign_collations(scope, expr)
            steps.append(compile_expression(self.session, scope, expr))
        return steps

    def insert(self, table: Table, version: Version, pieces: list[object]) -> None:
        """Insert rows for what is left of the range of a row that was changed."""
        if any(triggers_on(self.session, table.oid)):
            raise NotFollowed("FOR PORTION OF a table with triggers")
        for piece in pieces:
            if piece is not None:
                insert_row(self.session, self.relation, {**version, self.column.number: piece})


def _both(where: Node | None, overlap: Node) -> Node:
    return overlap if where is None else {"BoolExpr": {"boolop": "AND_EXPR", "args": [where, overlap]}}


def prepare_update(session: Backend, node: Node, outer: Scope) -> Changes:
    return _prepare(session, node, outer, "update")


def prepare_delete(session: Backend, node: Node, outer: Scope) -> Changes:
    return _prepare(session, node, outer, "delete")


def _prepare(session: Backend, node: Node, outer: Scope, operation: str) -> Changes:
    rv = node["relation"]
    relation = target_relation(session, rv)
    if relation.kind == "v" and fires_instead(session, relation, operation):
        return prepare_instead(session, node, outer, relation, operation)
    kind = f"{operation.capitalize()}Stmt"
    action = instead_action(session, kind, node, relation)
    if action is not None:
        return without_rows(prepare_changes(session, *action, outer), counted=action[0] == kind)
    target = base_target(session, relation, operation)
    portion = Portion(session, outer, target, node) if "forPortionOf" in node else None
    node = node if portion is None else portion.statement
    updates = operation == "update"
    scope = Scope(session, outer)
    target_item(session, scope, relation, rv)
    add_sources(scope, node.get("fromClause" if updates else "usingClause", []))
    where = condition(session, scope, node.get("whereClause"))
    written = assignments(session, scope, table_of(session, relation), node["targetList"]) if updates else []
    steps = [(target.base_number(number), step) for number, step in written]
    assigned = frozenset(target.relation.columns[number - 1].name for number, _ in steps)
    outputs, returned = returning(session, scope, node)
    leftovers = () if portion is None else portion.leftovers(scope)
    rows = TargetRows(session, scope, target, where)
    tables = list(members(session, target.relation, inherited=rv.get("inh", False), pruning=rows.pruning))

    def updated(table: Table, version: Version, row: list[Any]) -> dict[int, Any]:
        new = {**rows.base_row(table, version), **{number: step(row) for number, step in steps}}
        return new if table.oid == target.relation.oid else for_child(target.relation, table.relation, new, version)

    def run() -> Rows:
        for table in tables:
            refuse_write(session, table, operation, certain=rows.pruning.certain)
        for table in tables:
            for version, row in rows.of(table):
                new = updated(table, version, row) if updates else None
                pieces = [step(row) for step in leftovers]
                if new is None:
                    stored, changed = None, delete_row(session, table, version)
                else:
                    stored = update_row(session, target.relation, table, version, new, assigned)
                    changed = stored is not None
                if not changed:
                    continue
                if portion is not None:
                    portion.insert(table, version, pieces)
                if stored is not None:
                    target.check_option(session, stored)
                    row = [target.row_of(session, stored), *row[1:]]
                yield () if returned is None else returned(row)

    firing = [(operation, assigned_columns(node) if updates else frozenset())]
    return with_statement_triggers(session, relation, firing, Changes(outputs, run))
