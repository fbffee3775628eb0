"""SELECT, INSERT, UPDATE, DELETE and MERGE as statements, with all that they cause; and the names that they see: WITH,
the target, FROM; and RETURNING."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from pubcheck.postgres.analysis.coerce import coerce_to_boolean, coerce_type
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.from_clause import from_clause, renamed
from pubcheck.postgres.analysis.namespace_items import Item, Nested, Output
from pubcheck.postgres.analysis.select import analyze_query, select_target, with_clause
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.oids import TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import strings
from pubcheck.postgres.primnodes import IMPLICIT, UNKNOWN
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.expressions import Scope, StatementBuilder, Step, compile_expression
from pubcheck.simulate.executor.query import plan
from pubcheck.simulate.not_followed import NotFollowed

_PREPARE: Deferred[str, Callable[[Any, Node, Any], Any]] = Deferred(
    "pubcheck.simulate.executor",
    {
        "DeleteStmt": "update_delete:prepare_delete",
        "InsertStmt": "insert:prepare_insert",
        "MergeStmt": "merge:prepare_merge",
        "UpdateStmt": "update_delete:prepare_update",
    },
)


def prepare_changes(session: Any, kind: str, node: Node, outer: Any) -> Any:
    """Analyse a statement in its scope: a ``Changes``. Raises ServerError, NotFollowed."""
    return _PREPARE[kind](session, node, outer)


Rows = Iterator[tuple[Any, ...]]


class Changes:
    """A statement that changes rows, before it runs: ``run`` does it, and yields the rows of RETURNING."""

    def __init__(self, outputs: list[Output], run: Callable[[], Rows]) -> None:
        self.outputs, self.run = outputs, run


class CommonTable:
    """The rows of a WITH query that changes data: it runs as far as its rows are asked for, the rest at the end."""

    def __init__(self, changes: Changes) -> None:
        self._rows = changes.run()
        self._read: list[tuple[Any, ...]] = []

    def rows(self) -> Rows:
        position = 0
        while True:
            if position == len(self._read):
                row = next(self._rows, None)
                if row is None:
                    return
                self._read.append(row)
            yield self._read[position]
            position += 1

    def finish(self) -> None:
        self._read += self._rows


def statement_scope(session: Backend, node: Node) -> Scope:
    """The scope of a statement, with its WITH queries."""
    scope = Scope(session)
    if "withClause" in node:
        _with(session, scope, node["withClause"])
    return scope


def _with(session: Backend, scope: Scope, clause: Node) -> None:
    for item in clause["ctes"]:
        table = item["CommonTableExpr"]
        ((kind, body),) = table["ctequery"].items()
        if kind == "SelectStmt":
            with_clause(scope, {**clause, "ctes": [item]})
            continue
        if kind == "MergeStmt" and not session.database.catalog.major.merge_returning:
            raise ServerError("0A000", "MERGE not supported in WITH query")
        changes = prepare_changes(session, kind, body, scope)
        names = strings(table.get("aliascolnames", ()))
        scope.queries[table["ctename"]] = renamed(changes.outputs, names)
        common = CommonTable(changes)
        scope.query_sources[table["ctename"]] = common
        scope.common_tables.append(common)


def add_sources(scope: Scope, entries: list[Node]) -> None:
    """FROM of UPDATE, USING of DELETE and MERGE."""
    from_clause(scope, entries, analyze_query)


def condition(session: Backend, scope: Nested, tree: Node | None, clause: str = "WHERE") -> Step | None:
    if tree is None:
        return None
    scope.clause = clause
    expr = coerce_to_boolean(scope, scope.transform(tree), clause)
    assign_collations(scope, expr)
    if clause == "WHERE" and isinstance(scope, Scope):
        scope.where = expr
    return compile_expression(session, scope, expr)


def target_item(session: Backend, scope: Scope, relation: Relation, rv: Node) -> Item:
    alias = rv.get("alias", {})
    if "colnames" in alias:
        raise NotFollowed("a table alias with column names")
    return scope.add_relation(session, relation, alias.get("aliasname", ""))


def returning(session: Backend, scope: Nested, node: Node) -> tuple[list[Output], Callable[[Any], Any] | None]:
    """RETURNING: its columns, and the function of a row that gives them."""
    clause = node.get("returningClause")
    if clause is None:
        return [], None
    if "options" in clause:
        raise NotFollowed("RETURNING with aliases of OLD and NEW")
    targets = []
    scope.clause = "RETURNING"
    for item in clause["exprs"]:
        targets += select_target(scope, item["ResTarget"])
    builder = StatementBuilder(session, scope, in_order=True)
    steps, outputs = [], []
    for target in targets:
        expr = target.expr
        if expr.type == UNKNOWN:
            expr = coerce_type(scope, expr, UNKNOWN, TEXT, -1, "i", IMPLICIT, -1)
        assign_collations(scope, expr)
        steps.append(builder.build(expr))
        outputs.append(Output(target.name, expr.type, expr.typmod, expr.collation))
    return outputs, lambda row: tuple([step(row) for step in steps])


Row = tuple[Any, ...]


def rows_of(session: Backend, node: Node) -> Result:
    """The rows of a query."""
    scope = statement_scope(session, node)
    inner = Nested(scope)
    body = {key: value for key, value in node.items() if key != "withClause"}
    outputs = analyze_query(inner, {"SelectStmt": body})
    if outputs is None:
        raise Unknowable("the columns of a SELECT")
    query = plan(session, inner)
    rows = _run(session, query.run, scope.common_tables)
    return Result(query.names, query.types, rows, len(rows), in_order=query.in_order or query.certain)


def run_changes(session: Backend, kind: str, node: Node) -> Result:
    """Run a statement that changes rows, and what its row triggers and foreign keys do afterwards."""
    scope = statement_scope(session, node)
    changes = prepare_changes(session, kind, node, scope)
    return complete(session, changes, scope.common_tables)


def complete(session: Backend, changes: Changes, common_tables: Sequence[CommonTable] = ()) -> Result:
    """Run prepared changes to their end, then what they queue."""
    rows = _run(session, changes.run, common_tables)
    names = tuple(output.name for output in changes.outputs)
    types = tuple(output.type for output in changes.outputs)
    return Result(names, types, rows if names else (), len(rows), changes_rows=True)


def _run(session: Backend, run: Callable[[], Iterable[Row]], common_tables: Sequence[CommonTable]) -> tuple[Row, ...]:
    outer, session.after = session.after, []
    transitions, session.transitions = session.transitions, {}
    try:
        rows = tuple(run())
        for common in common_tables:
            common.finish()
        session.fire_after()
    finally:
        session.after, session.transitions = outer, transitions
    return rows
