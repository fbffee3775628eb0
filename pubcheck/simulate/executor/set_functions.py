"""Functions in FROM, and functions that return sets."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres import oids
from pubcheck.postgres.analysis.namespace_items import Item, Nested
from pubcheck.postgres.analysis.operators import find_operator
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.executor.json import json_as_text
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope, StatementBuilder, Step
from pubcheck.simulate.not_followed import NotFollowed


def function_rows(session: Backend, level: Nested, item: Item) -> Callable[[Any], Iterator[tuple[Any, ...]]]:
    """The rows of an entry of FROM that calls functions, as a function of the entries before it."""
    builder = StatementBuilder(session, level)
    if len(item.source) == 1 and item.source[0].node == "FuncExpr" and not item.ordinality:
        name = session.catalog_session.syscache.proc(item.source[0].functions[0]).name
        if name in ("jsonb_to_recordset", "jsonb_to_record"):
            return _records(builder, item, as_set=name == "jsonb_to_recordset")
    steps = [_rows_of(builder, expr) for expr in item.source]
    ordinality = item.ordinality
    if len(steps) == 1 and not ordinality:
        only = steps[0]
        if getattr(only, "returns_rows", False):
            return only
        return lambda row: ((value,) for value in only(row))
    if any(getattr(step, "returns_rows", False) for step in steps):
        raise NotFollowed("a function that returns rows, with another one or with ordinality")

    def rows(row: Any) -> Iterator[tuple[Any, ...]]:
        for number, values in enumerate(itertools.zip_longest(*(step(row) for step in steps)), 1):
            yield (*values, number) if ordinality else values

    return rows


def _records(builder: StatementBuilder, item: Item, *, as_set: bool) -> Callable[[Any], Iterator[tuple[Any, ...]]]:
    """jsonb_to_recordset(): the members of objects as the columns that the statement names."""
    document = builder.build(item.source[0].args[0])
    columns, inputs = item.columns or [], builder.session.inputs

    def value_of(member: Any, type_oid: int, typmod: int) -> Any:
        if type_oid == oids.JSONB:
            return member
        text = None if member is None else json_as_text(member)
        if text is not None and isinstance(member, list | dict):
            raise NotFollowed("a member of a document that is an array or an object, as another type")
        return None if text is None else inputs.read(type_oid, text, typmod)

    def rows(row: Any) -> Iterator[tuple[Any, ...]]:
        value = document(row)
        for entry in () if value is None else value if as_set else [value]:
            if not isinstance(entry, dict):
                raise NotFollowed("a document that is not an object, as a row")
            yield tuple([value_of(entry.get(c.name), c.type, c.typmod) for c in columns])

    return rows


def _rows_of(builder: StatementBuilder, expr: Expr) -> Step:
    if expr.node == "FuncExpr" and builder.cache.proc(expr.functions[0]).name in _ROWS:
        return _step(builder, expr, _ROWS[builder.cache.proc(expr.functions[0]).name], returns_rows=True)
    if expr.type == oids.RECORD or builder.cache.type(expr.type).kind == "c":
        raise NotFollowed("a function in FROM that returns rows")
    if expr.node == "FuncExpr" and builder.cache.proc(expr.functions[0]).returns_set:
        return set_step(builder, expr)
    step = builder.build(expr)
    return lambda row: (step(row),)


class SetStep:
    """A call of a function that returns a set: it gives the set for a row."""

    returns_set = True

    def __init__(
        self, session: Backend, make: Callable[..., Iterable[Any]], arguments: list[Step], *, returns_rows: bool = False
    ) -> None:
        self.session, self.make, self.arguments = session, make, arguments
        self.returns_rows = returns_rows

    def __call__(self, row: Any) -> Iterator[Any]:
        values = [argument(row) for argument in self.arguments]
        if None not in values:
            for value in self.make(*values):
                self.session.spend_step()
                yield value


def set_step(builder: StatementBuilder, expr: Expr) -> Step:
    proc = builder.cache.proc(expr.functions[0])
    names = ",".join(builder.cache.type(oid).name for oid in proc.arguments)
    if names in ("timestamp,timestamp,interval", "timestamptz,timestamptz,interval"):
        return _series_of_times(builder, expr)
    make = _FUNCTIONS.get(f"{proc.name}({names})")
    if make is None:
        raise NotFollowed(f"the rows of {proc.name}({names})")
    return _step(builder, expr, make)


def _step(
    builder: StatementBuilder, expr: Expr, make: Callable[..., Iterable[Any]], *, returns_rows: bool = False
) -> SetStep:
    arguments = [builder.build(argument) for argument in expr.args]
    return SetStep(builder.session, make, arguments, returns_rows=returns_rows)


def _series(start: Any, stop: Any, step: Any = 1) -> Iterator[Any]:
    if step == 0:
        raise ServerError("22023", "step size cannot equal zero")
    value = start
    while (value <= stop) if step > 0 else (value >= stop):
        yield value
        value = value + step


def _series_of_times(builder: StatementBuilder, expr: Expr) -> SetStep:
    """generate_series() of timestamps: each is the one before it plus the step, as the operator + adds it."""
    start, _, step = expr.args
    held: list[Any] = [None, None]
    arguments = [replace(start, node="Param", args=[], value=lambda row: held[0])]
    arguments.append(replace(step, node="Param", args=[], value=lambda row: held[1]))
    operator = find_operator(Scope(builder.session), ["+"], start.type, step.type, -1)
    function = builder.cache.operator(operator.oid).function
    add = builder.build(Expr("OpExpr", start.type, arguments, operators=(operator.oid,), functions=(function,)))
    zero = builder.session.inputs.read(oids.INTERVAL, "0")

    def series(first: Any, last: Any, by: Any) -> Iterator[Any]:
        held[:] = [first, by]
        if by == zero:
            raise ServerError("22023", "step size cannot equal zero")
        rises = by > zero
        while held[0] <= last if rises else held[0] >= last:
            yield held[0]
            held[0] = add(())

    return _step(builder, expr, series)


def _members(document: Any) -> Iterator[tuple[Any, ...]]:
    if not isinstance(document, dict):
        raise ServerError("22023", "cannot call jsonb_each on a non-object")
    return iter(document.items())


def _text_members(document: Any) -> Iterator[tuple[Any, ...]]:
    return ((key, json_as_text(value)) for key, value in _members(document))


def _elements(document: Any) -> Iterable[Any]:
    if not isinstance(document, list):
        raise ServerError("22023", "cannot extract elements from an object or a scalar")
    return document


def _text_elements(document: Any) -> Iterable[Any]:
    return map(json_as_text, _elements(document))


def _keys(document: Any) -> Iterable[Any]:
    if not isinstance(document, dict):
        raise ServerError("22023", "cannot call jsonb_object_keys on a scalar or an array")
    return list(document)


def _parts(text: str, separator: str) -> Iterable[Any]:
    return text.split(separator) if separator and text else [text] if text else []


def _unnest(array: Any) -> Iterable[Any]:
    return array.elements  # type: ignore[no-any-return]


_FUNCTIONS: dict[str, Callable[..., Iterable[Any]]] = {
    "generate_series(int4,int4)": _series,
    "generate_series(int4,int4,int4)": _series,
    "generate_series(int8,int8)": _series,
    "generate_series(int8,int8,int8)": _series,
    "generate_series(numeric,numeric)": _series,
    "generate_series(numeric,numeric,numeric)": _series,
    "jsonb_array_elements(jsonb)": _elements,
    "jsonb_array_elements_text(jsonb)": _text_elements,
    "jsonb_object_keys(jsonb)": _keys,
    "string_to_table(text,text)": _parts,
    "unnest(anyarray)": _unnest,
}
_ROWS: dict[str, Callable[..., Iterable[tuple[Any, ...]]]] = {
    "jsonb_each": _members,
    "jsonb_each_text": _text_members,
}
