"""Functions in FROM, and functions that return sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pubcheck.postgres import oids
from pubcheck.postgres.analysis.namespace_items import Item, Nested
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import StatementBuilder, Step
from pubcheck.simulate.not_followed import NotFollowed


def function_rows(session: Backend, level: Nested, item: Item) -> Callable[[Any], Iterator[tuple[Any, ...]]]:
    """The rows of an entry of FROM that calls functions, as a function of the entries before it."""
    builder = StatementBuilder(session, level)
    steps = [_rows_of(builder, expr) for expr in item.source]
    ordinality = item.ordinality
    if len(steps) == 1 and not ordinality:
        only = steps[0]
        return lambda row: ((value,) for value in only(row))

    def rows(row: Any) -> Iterator[tuple[Any, ...]]:
        for number, values in enumerate(itertools.zip_longest(*(step(row) for step in steps)), 1):
            yield (*values, number) if ordinality else values

    return rows


def _rows_of(builder: StatementBuilder, expr: Expr) -> Step:
    if expr.type == oids.RECORD or builder.cache.type(expr.type).kind == "c":
        raise NotFollowed("a function in FROM that returns rows")
    if expr.node == "FuncExpr" and builder.cache.proc(expr.functions[0]).returns_set:
        return set_step(builder, expr)
    step = builder.build(expr)
    return lambda row: (step(row),)


class SetStep:
    """A call of a function that returns a set: it gives the set for a row."""

    returns_set = True

    def __init__(self, session: Backend, make: Callable[..., Iterable[Any]], arguments: list[Step]) -> None:
        self.session, self.make, self.arguments = session, make, arguments

    def __call__(self, row: Any) -> Iterator[Any]:
        values = [argument(row) for argument in self.arguments]
        if None not in values:
            for value in self.make(*values):
                self.session.spend_step()
                yield value


def set_step(builder: StatementBuilder, expr: Expr) -> Step:
    proc = builder.cache.proc(expr.functions[0])
    names = ",".join(builder.cache.type(oid).name for oid in proc.arguments)
    make = _FUNCTIONS.get(f"{proc.name}({names})")
    if make is None:
        raise NotFollowed(f"the rows of {proc.name}({names})")
    return SetStep(builder.session, make, [builder.build(argument) for argument in expr.args])


def _series(start: Any, stop: Any, step: Any = 1) -> Iterator[Any]:
    if step == 0:
        raise ServerError("22023", "step size cannot equal zero")
    value = start
    while (value <= stop) if step > 0 else (value >= stop):
        yield value
        value = value + step


def _unnest(array: Any) -> Iterable[Any]:
    return array.elements  # type: ignore[no-any-return]


_FUNCTIONS: dict[str, Callable[..., Iterable[Any]]] = {
    "generate_series(int4,int4)": _series,
    "generate_series(int4,int4,int4)": _series,
    "generate_series(int8,int8)": _series,
    "generate_series(int8,int8,int8)": _series,
    "generate_series(numeric,numeric)": _series,
    "generate_series(numeric,numeric,numeric)": _series,
    "unnest(anyarray)": _unnest,
}
