"""Expressions of statements, as functions of rows: the evaluator of row filters with what only statements may have.

A row is a sequence: for each entry of FROM the values of its columns, by column number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from pubcheck.postgres.analysis.analyze import transform
from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.namespace_items import Item, Nested, Output
from pubcheck.postgres.analysis.parse_state import NOTHING, ParseState
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.compile import Builder
from pubcheck.postgres.executor.steps import Constant
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import IMPLICIT, Expr

if TYPE_CHECKING:
    from pubcheck.simulate.session import ServerSession


Step = Callable[[Any], Any]
"""A function of a row of a query, or of one table's values by column number."""


class Frame:
    """The current row of one query level, for the sub-selects that refer to it."""

    __slots__ = ("row",)

    def __init__(self) -> None:
        self.row: Any = ()


class Scope(Nested):
    """The names that an expression of a statement sees, and where in a row their values are."""

    def __init__(self, session: ServerSession, parent: ParseState | None = None) -> None:
        top = ParseState(session.catalog_session, NOTHING, session.inputs, transform)
        super().__init__(parent or top)
        self.frame = Frame()

    def add_relation(self, session: ServerSession, relation: Relation, alias: str) -> Item:
        cache = session.catalog_session.syscache
        columns = [
            Output(c.name, c.type, c.typmod, c.collation or cache.type(c.type).collation) for c in relation.live()
        ]
        item = Item(alias or relation.name, columns, relation=relation, alias=bool(alias))
        self.items.append(item)
        self.entries.append(item)
        return item


class StatementBuilder(Builder):
    """Builds the expressions of one query level."""

    def __init__(self, session: ServerSession, scope: ParseState | None) -> None:
        super().__init__(session.context())
        self.session = session
        self.scope = scope

    def build(self, expr: Expr) -> Step:
        builder = _BUILDERS.get(expr.node)
        return super().build(expr) if builder is None else builder(self, expr)

    def reference(self, expr: Expr) -> Step:
        if type(expr.value) is not tuple:
            return self.column(expr)
        level, item, name = expr.value
        position, number = place_of(level, item, name)
        if level is self.scope:
            return lambda row: row[position][number]
        frame: Frame = level.frame
        return lambda row: frame.row[position][number]


_BUILDERS: dict[str, Callable[[StatementBuilder, Expr], Step]] = {"Var": StatementBuilder.reference}


def place_of(level: Nested, item: Item, name: str | None) -> tuple[int, int]:
    """The entry of a row, and the number in it, that a column is at."""
    position = level.entries.index(item)
    if item.relation is not None and name is not None:
        column = item.relation.column(name)
        if column is not None:
            return position, column.number
    raise Unknowable(f'the value of "{name}"')


def compile_expression(session: ServerSession, scope: ParseState | None, expr: Expr) -> Step:
    """Make an analysed expression ready; constants are folded. Raises ServerError and Unknowable."""
    return StatementBuilder(session, scope).build(expr)


def assigned(p: ParseState, column: Column, tree: Node) -> Expr:
    """An expression as a value for a column (transformAssignedExpr)."""
    expr = p.transform(tree)
    return assign(p, column, expr)


def assign(p: ParseState, column: Column, expr: Expr) -> Expr:
    coerced = coerce_to_target_type(p, expr, expr.type, column.type, column.typmod, "a", IMPLICIT, -1)
    if coerced is None:
        types = f"of type {p.type_name(column.type)} but expression is of type {p.type_name(expr.type)}"
        raise ServerError(
            "42804",
            f'column "{column.name}" is {types}',
            hint="You will need to rewrite or cast the expression.",
            location=expr.location if expr.location >= 0 else None,
        )
    assign_collations(p, coerced)
    return coerced


def constant_value(step: Step) -> Any:
    return step.value if isinstance(step, Constant) else None


def evaluate_all(steps: Sequence[Step], row: Any) -> tuple[Any, ...]:
    return tuple([step(row) for step in steps])
