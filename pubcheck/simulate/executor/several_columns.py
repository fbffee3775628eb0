"""SET (a, b) = (SELECT ...) of UPDATE (parser/parse_expr.c: transformMultiAssignRef)."""

from __future__ import annotations

from typing import Any

from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.select import analyze_select
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import UNKNOWN, Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope, Step, assign, compile_expression, frame_of
from pubcheck.simulate.executor.query import Plan, plan


class FromSubSelect:
    """The sub-selects that give values for several columns of a statement, each with its columns."""

    def __init__(self, session: Backend, scope: Scope) -> None:
        self._session, self._scope = session, scope
        self._queries: dict[int, _Query] = {}

    def step(self, reference: Node, column: Column) -> Step:
        """The value of one of the columns."""
        select = reference["source"]["SubLink"]["subselect"]["SelectStmt"]
        query = self._queries.get(id(select))
        if query is None:
            query = self._queries[id(select)] = _Query(self._session, self._scope, select)
            if len(query.targets) != reference["ncolumns"]:
                raise ServerError("42601", "number of columns does not match number of values")
        return query.value_for(column, reference["colno"] - 1)


class _Query:
    """A sub-select, run once for each row of the statement."""

    def __init__(self, session: Backend, scope: Scope, select: Node) -> None:
        self._session, self._scope = session, scope
        inner = Nested(scope)
        targets = analyze_select(inner, select)
        if targets is None:
            raise Unknowable("the columns of a sub-select")
        self._level = inner
        self.targets = [target for target in targets if not target.junk]
        self._plan: Plan | None = None
        self._row: Any = None
        self._result: tuple[Any, ...] = ()

    def value_for(self, column: Column, number: int) -> Step:
        target = self.targets[number]
        scope = Scope(self._session, self._scope)
        if target.expr.type == UNKNOWN:
            target.expr = assign(scope, column, target.expr)
            return lambda row: self._values(row, number == 0)[number]
        held = Expr("Param", target.expr.type, [], typmod=target.expr.typmod, collation=target.expr.collation)
        held.value = lambda row: self._values(row, number == 0)[number]
        return compile_expression(self._session, scope, assign(scope, column, held))

    def _values(self, row: Any, is_first: bool) -> tuple[Any, ...]:
        """The values for a row of the statement, which the step of the first column works out."""
        if not is_first and self._result:
            return self._result
        frame = frame_of(self._scope)
        held, frame.row = frame.row, row
        try:
            if self._plan is None:
                self._plan = plan(self._session, self._level)
            rows = list(self._plan.run())
        finally:
            frame.row = held
        if len(rows) > 1:
            raise ServerError("21000", "more than one row returned by a subquery used as an expression")
        self._result = rows[0] if rows else (None,) * len(self.targets)
        return self._result
