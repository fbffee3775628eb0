"""Whether a row trigger fires for a row: UPDATE OF and WHEN (commands/trigger.c: TriggerEnabled)."""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

from pubcheck.postgres.analysis.coerce import coerce_to_boolean
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.parse import Node
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope, compile_expression, frame_of
from pubcheck.simulate.executor.tables import Table
from pubcheck.simulate.not_followed import NotFollowed

Row = dict[int, Any] | None
Condition = Callable[[Row, Row], bool]


class Firing:
    """The conditions of one trigger."""

    def __init__(self, session: Backend, table: Table, node: Node) -> None:
        self._columns = frozenset(item["String"]["sval"] for item in node.get("columns", ()))
        generated = {column.name for column in table.relation.live() if column.generated}
        if self._columns & generated:
            raise NotFollowed(f'the trigger "{node["trigname"]}" of a generated column')
        self._when = _condition(session, table, node["whenClause"]) if "whenClause" in node else None

    def holds(self, operation: str, assigned: Set[str] | None, old: Row, new: Row) -> bool:
        """Whether the trigger fires; ``assigned`` are the columns that an UPDATE assigns, None if they are unknown."""
        if operation == "update" and self._columns:
            if assigned is None:
                raise NotFollowed("a trigger of UPDATE OF columns")
            if not self._columns & assigned:
                return False
        return self._when is None or self._when(old, new)


def _by_columns(node: Any, names: list[str]) -> Any:
    """Replace OLD.* IS [NOT] DISTINCT FROM NEW.* by comparisons of the columns, which is how records are compared."""
    if isinstance(node, list | tuple):
        return [_by_columns(item, names) for item in node]
    if not isinstance(node, dict):
        return node
    comparison = node.get("A_Expr", {})
    if comparison.get("kind") in ("AEXPR_DISTINCT", "AEXPR_NOT_DISTINCT"):
        sides = [_record(comparison[side]) for side in ("lexpr", "rexpr")]
        if all(sides):
            tests = [{"A_Expr": {**comparison, **_sides(sides, name)}} for name in names]
            kind = "OR_EXPR" if comparison["kind"] == "AEXPR_DISTINCT" else "AND_EXPR"
            return {"BoolExpr": {"boolop": kind, "args": tests}} if len(tests) > 1 else tests[0]
    return {key: _by_columns(value, names) for key, value in node.items()}


def _sides(records: list[str], column: str) -> Node:
    sides = zip(("lexpr", "rexpr"), records, strict=True)
    parts = {side: [{"String": {"sval": text}} for text in (record, column)] for side, record in sides}
    return {side: {"ColumnRef": {"fields": fields, "location": -1}} for side, fields in parts.items()}


def _record(node: Node) -> str:
    """The name of OLD or NEW, or of OLD.* or NEW.*, else ""."""
    fields = node.get("ColumnRef", {}).get("fields", ())
    name = fields[0].get("String", {}).get("sval", "") if fields else ""
    is_row = len(fields) == 1 or (len(fields) == 2 and "A_Star" in fields[1])
    return name if is_row and name in ("old", "new") else ""


def _condition(session: Backend, table: Table, when: Node) -> Condition:
    """WHEN: an expression over OLD and NEW."""
    scope = Scope(session)
    for name in ("old", "new"):
        scope.add_relation(session, table.relation, name)
    names = [column.name for column in table.relation.live()]
    expr = coerce_to_boolean(scope, scope.transform(_by_columns(when, names)), "WHEN")
    assign_collations(scope, expr)
    step = compile_expression(session, scope, expr)
    frame = frame_of(scope)

    def holds(old: Row, new: Row) -> bool:
        row = [old, new]
        frame.row = row
        return step(row) is True

    return holds
