"""Expressions of statements, as functions of rows: the evaluator of row filters with what only statements may have.

A row is a sequence: for each entry of FROM the values of its columns, by column number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from msgspec.structs import replace

from pubcheck.postgres.analysis.analyze import transform
from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.analysis.collate import assign_collations
from pubcheck.postgres.analysis.namespace_items import Item, Nested, Output
from pubcheck.postgres.analysis.parse_state import NOTHING, ParseState
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.compile import Builder
from pubcheck.postgres.executor.functions import Constant
from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import IMPLICIT, Expr, nodes
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.row_locks import xmax_of
from pubcheck.simulate.not_followed import NotFollowed

Step = Callable[[Any], Any]
"""A function of a row of a query, or of one table's values by column number."""


Row = Any


class Frame:
    """The current row of one query level, for the sub-selects that refer to it."""

    __slots__ = ("row",)

    def __init__(self) -> None:
        self.row: Any = ()


class Scope(Nested):
    """The names that an expression of a statement sees, and where in a row their values are."""

    def __init__(self, session: Backend, parent: ParseState | None = None) -> None:
        top = ParseState(session.catalog_session, NOTHING, session.inputs, transform)
        super().__init__(parent or session.variables or top)
        self.common_tables: list[Any] = []
        """The WITH queries that change rows."""
        self.where: Expr | None = None
        self.uses_sources = False
        """Whether new values come from other entries than the target."""

    def add_relation(self, session: Backend, relation: Relation, alias: str) -> Item:
        cache = session.catalog_session.syscache
        columns = [
            Output(c.name, c.type, c.typmod, c.collation or cache.type(c.type).collation) for c in relation.live()
        ]
        item = Item(alias or relation.name, columns, relation=relation, alias=bool(alias))
        self.items.append(item)
        self.entries.append(item)
        return item


def top_level(session: Backend) -> Nested:
    """A query level outside of the block that is running."""
    with session.inside(None):
        return Nested(Scope(session))


def has_unknown_order(session: Backend, where: Expr | None) -> bool:
    """Whether NOT EXISTS is part of a condition: either side of an anti-join may be the hashed one."""
    if where is None or not session.database.catalog.major.anti_joins_hash_either_side:
        return False
    if where.node == "BoolExpr" and where.value == "AND":
        return any(has_unknown_order(session, part) for part in where.args)
    negated = where.args[0] if where.node == "BoolExpr" and where.value == "NOT" else None
    return negated is not None and negated.node == "SubLink" and negated.value[0] == "EXISTS"


def frame_of(level: Any) -> Frame:
    """The frame of a query level, made when it is first asked for."""
    frame: Frame = vars(level).setdefault("executor_frame", Frame())
    return frame


def place_of(level: Nested, item: Item, name: str | int | None) -> tuple[int, int]:
    """The entry of a row, and the number in it, of a column. One that shares its name has a number as name."""
    position = level.entries.index(item)
    if isinstance(name, int):
        return position, name
    for index, column in enumerate(item.columns or ()):
        if column.name == name:
            if item.relation is not None and item.source is None:
                if item.relation.oid < FIRST_NORMAL_OID:
                    raise Unknowable(f'the rows of "{item.relation.name}"')
                return position, item.relation.live()[index].number
            return position, index
    if name == "tableoid":
        return position, TABLEOID
    raise Unknowable(f'the value of "{name}"')


TABLEOID = -6
_SHORT = 24
"""Values that are no longer are never stored out of line."""


class StatementBuilder(Builder):
    """Builds the expressions of one query level; of an expression over one table, ``level`` is None."""

    def __init__(self, session: Backend, level: ParseState | None, *, in_order: bool = False) -> None:
        """``in_order``: the expressions are evaluated for each row in its turn, so that they may change something."""
        super().__init__(session.context())
        self.session = session
        self.level = level
        self.in_order = in_order

    def build(self, expr: Expr) -> Step:
        return _BUILDERS[expr.node](self, expr) if expr.node in _ALL else super().build(expr)

    def build_target(self, expr: Expr) -> Step:
        """An entry of the select list, which may return a set."""
        if expr.node == "FuncExpr" and self.cache.proc(expr.functions[0]).returns_set:
            return _SETS["FuncExpr"](self, expr)
        return self.build(expr)

    def over(self, expr: Expr, inner: Expr, number: int) -> Step:
        """A coercion of ``inner``, which is the value at ``number`` in a row."""
        if expr is inner:
            return lambda row: row[number]
        arguments = [_stand_in(arg, inner, number) for arg in expr.args]
        return self.build(replace(expr, args=arguments))

    # Values that are made anew. An UPDATE that leaves a value as it is does not store it again.

    def call(self, expr: Expr) -> Step:
        return self._made_anew(super().call(expr))

    def through_text(self, expr: Expr) -> Step:
        return self._made_anew(super().through_text(expr))

    def _made_anew(self, step: Step) -> Step:
        """Functions return a value of their own; Python's may return their argument, as ``text + ""`` does."""
        return step if isinstance(step, Constant) else lambda row: _copy(step(row))

    # Columns.

    def reference(self, expr: Expr) -> Step:
        if type(expr.value) is not tuple:
            if expr.node == "Var" and expr.value == TABLEOID:
                return lambda row: row[TABLEOID]
            return self.column(expr)
        level, item, name = expr.value
        if not isinstance(item, Item):
            raise Unknowable("a column of a set operation")
        if name is None or (item.scalar and name == item.name and len(item.columns or ()) != 1):
            return self._whole_item(level, item)
        if name == "xmax" and item.relation is not None and level is self.level:
            assert isinstance(level, Nested)
            place, session = level.entries.index(item), self.session
            return lambda row: xmax_of(session, row[place])
        position, number = (level.entries.index(item), 0) if item.scalar else place_of(level, item, name)
        if level is self.level:
            return lambda row: row[position][number]
        frame = frame_of(level)
        return lambda row: frame.row[position][number]

    def _whole_item(self, level: Any, item: Item) -> Step:
        numbers = [place_of(level, item, column.name) for column in item.columns or ()]
        own = level is self.level
        frame = frame_of(level)

        def whole(row: Row) -> Any:
            values = row if own else frame.row
            return tuple([values[position][number] for position, number in numbers])

        return whole

    def field(self, expr: Expr) -> Step:
        inner = self.build(expr.args[0])
        source, number = expr.args[0], expr.value
        if source.type >= FIRST_NORMAL_OID:
            live = [column.number for column in self.cache.fields(source.type) if not column.dropped]
            number = live.index(number) + 1

        def step(row: Row) -> Any:
            value = inner(row)
            return None if value is None else value[number - 1]

        return self.folded(step, [inner])

    def parameter(self, expr: Expr) -> Step:
        if callable(expr.value):
            step: Step = expr.value
            return step
        raise Unknowable("a parameter")

    def aggregate(self, expr: Expr) -> Step:
        raise Unknowable("an aggregate of an outer query")

    def subscript(self, expr: Expr) -> Step:
        """An element of an array; slices and jsonb are not followed."""
        value, *indexes = [self.build(arg) for arg in expr.args]
        base = self.cache.base_type(expr.args[0].type)[0]
        if expr.type == base or not self.cache.element_type(base):
            raise Unknowable("a slice of an array")

        def step(row: Row) -> Any:
            array = value(row)
            places = [index(row) for index in indexes]
            if array is None or None in places or len(places) != len(array.lengths):
                return None
            offset = 0
            for place, length, lower in zip(places, array.lengths, array.lowers, strict=True):
                if not lower <= place < lower + length:
                    return None
                offset = offset * length + place - lower
            return array.elements[offset]

        return self._made_anew(self.folded(step, [value, *indexes]))


def _copy(value: Any) -> Any:
    """Return a long text or bytea that is equal and another object; any other value as it is."""
    is_long = isinstance(value, str | bytes) and len(value) > _SHORT
    return value[:1] + value[1:] if is_long else value


def _stand_in(expr: Expr, inner: Expr, number: int) -> Expr:
    if expr is inner:
        return Expr("Param", inner.type, [], typmod=inner.typmod, value=lambda row: row[number])
    return replace(expr, args=[_stand_in(arg, inner, number) for arg in expr.args])


_HOMES = {
    "CoerceToDomain": "domains:to_domain",
    "FuncExpr": "session_functions:function_call",
    "OpExpr": "session_functions:function_call",
    "SQLValueFunction": "session_functions:value_function",
    "SubLink": "query:sub_select",
}
_OWN = {
    "Aggref": StatementBuilder.aggregate,
    "CoerceViaIO": StatementBuilder.through_text,
    "FieldSelect": StatementBuilder.field,
    "Param": StatementBuilder.parameter,
    "SubscriptingRef": StatementBuilder.subscript,
    "Var": StatementBuilder.reference,
}
_ALL = frozenset((*_HOMES, *_OWN))
_BUILDERS: Deferred[str, Callable[[StatementBuilder, Expr], Step]] = Deferred(
    "pubcheck.simulate.executor", _HOMES, loaded=_OWN
)
_SETS: Deferred[str, Callable[[StatementBuilder, Expr], Step]] = Deferred(
    "pubcheck.simulate.executor", {"FuncExpr": "from_rows:set_step"}
)


def compile_expression(session: Backend, scope: ParseState | None, expr: Expr, *, in_order: bool = False) -> Step:
    """Make an analysed expression ready; constants are folded. Raises ServerError and Unknowable."""
    return StatementBuilder(session, scope, in_order=in_order).build(expr)


def is_volatile(session: Backend, expr: Expr) -> bool:
    """Whether an expression calls a volatile function."""
    proc = session.catalog_session.syscache.proc
    calls = (function for node in nodes(expr) for function in node.functions if function)
    return any(proc(function).volatility == "v" for function in calls)


def assigned(p: ParseState, column: Column, tree: Node) -> Expr:
    """An expression as a value for a column (transformAssignedExpr)."""
    expr = p.transform(tree)
    return assign(p, column, expr)


def converted(
    p: ParseState, expr: Expr, type_oid: int, typmod: int, problem: str, *, casts: Literal["a", "i"] = "a"
) -> Expr:
    """An expression as a type, by the casts of assignments or by implicit ones. Raises NotFollowed with the
    ``problem`` if there is no such cast."""
    coerced = coerce_to_target_type(p, expr, expr.type, type_oid, typmod, casts, IMPLICIT, -1)
    if coerced is None:
        raise NotFollowed(problem)
    assign_collations(p, coerced)
    return coerced


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
