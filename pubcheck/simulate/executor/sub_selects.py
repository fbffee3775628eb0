"""Sub-selects in expressions (executor/nodeSubplan.c)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.datum import Array
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.executor.expressions import StatementBuilder, Step, frame_of
from pubcheck.simulate.executor.query import plan
from pubcheck.simulate.not_followed import NotFollowed

Rows = list[tuple[Any, ...]]


def sub_select(builder: StatementBuilder, expr: Expr) -> Step:
    """A sub-select as a function of the outer row; one that does not refer to it is run once."""
    form, _, outer, level = expr.value
    query = plan(builder.session, level)
    frame = frame_of(builder.level) if builder.level is not None else None
    if builder.level is None and outer:
        raise NotFollowed("a sub-select that refers to the row of a definition")
    once: list[Rows] = []

    def rows(row: Any) -> Rows:
        if once:
            return once[0]
        held = None
        if frame is not None:
            held, frame.row = frame.row, row
        try:
            result = list(query.run())
        finally:
            if frame is not None:
                frame.row = held
        if not outer:
            once.append(result)
        return result

    return _FORMS[form](builder, expr, rows, query)


def _exists(builder: StatementBuilder, expr: Expr, rows: Callable[[Any], Rows], query: Any) -> Step:
    return lambda row: bool(rows(row))


def _scalar(builder: StatementBuilder, expr: Expr, rows: Callable[[Any], Rows], query: Any) -> Step:
    def step(row: Any) -> Any:
        result = rows(row)
        if len(result) > 1:
            raise ServerError("21000", "more than one row returned by a subquery used as an expression")
        return result[0][0] if result else None

    return step


def _array(builder: StatementBuilder, expr: Expr, rows: Callable[[Any], Rows], query: Any) -> Step:
    def step(row: Any) -> Any:
        result = rows(row)
        if not query.certain and len(result) > 1:
            raise NotFollowed("the order of the rows of an array's sub-select")
        return Array([values[0] for values in result])

    return step


def _quantified(use_or: bool) -> Callable[[StatementBuilder, Expr, Callable[[Any], Rows], Any], Step]:
    def make(builder: StatementBuilder, expr: Expr, rows: Callable[[Any], Rows], query: Any) -> Step:
        held: list[Any] = [()]
        numbers = iter(range(1600))

        def bound(node: Expr) -> Expr:
            if node.node == "Param" and node.value is None:
                number = next(numbers)
                return replace(node, value=lambda row: held[0][number])
            return replace(node, args=[bound(arg) for arg in node.args])

        test = builder.build(bound(expr.args[0]))

        def step(row: Any) -> Any:
            unknown = False
            for values in rows(row):
                held[0] = values
                answer = test(row)
                if answer is None:
                    unknown = True
                elif answer is use_or:
                    return use_or
            return None if unknown else not use_or

        return step

    return make


def _row_comparison(builder: StatementBuilder, expr: Expr, rows: Callable[[Any], Rows], query: Any) -> Step:
    raise NotFollowed("the comparison of a row with a sub-select")


_FORMS: dict[str, Callable[[Any, Expr, Callable[[Any], Rows], Any], Step]] = {
    "EXISTS": _exists,
    "EXPR": _scalar,
    "ARRAY": _array,
    "ANY": _quantified(True),
    "ALL": _quantified(False),
    "ROWCOMPARE": _row_comparison,
}
