"""The rows of FROM: tables in the order of a sequential scan, views, functions, sub-selects, WITH queries and joins."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from pubcheck.postgres import oids
from pubcheck.postgres.analysis.from_clause import Join
from pubcheck.postgres.analysis.namespace_items import Item, Nested
from pubcheck.postgres.analysis.operators import find_operator
from pubcheck.postgres.analysis.select import analyze_query
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.json import json_as_text
from pubcheck.postgres.lazy_dispatch import Deferred
from pubcheck.postgres.primnodes import Expr, conjuncts, nodes
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.executor.expressions import Scope, StatementBuilder, Step, frame_of, top_level
from pubcheck.simulate.executor.tables import table_of
from pubcheck.simulate.executor.targets import members, refuse_row_security
from pubcheck.simulate.heap import Version
from pubcheck.simulate.not_followed import NotFollowed


def scan_relation(session: Backend, relation: Relation, *, inherited: bool = True) -> Iterator[Version]:
    """The visible rows of a table and of those below it, by the table's own column numbers."""
    if relation.oid < FIRST_NORMAL_OID:
        raise NotFollowed(f'the rows of "{relation.name}"')
    if relation.kind not in "rpm":
        raise NotFollowed(f'the rows of "{relation.name}", which is not a table')
    refuse_row_security(session, relation)
    snapshot = session.statement_snapshot()
    states, oldest = session.database.xids.states, session.oldest_xid()
    if relation.kind == "m":
        yield from filter(snapshot.sees, table_of(session, relation).storage.scan())
        return
    for table in list(members(session, relation, inherited=inherited)):
        numbers = conversion(relation, table.relation)
        virtual = table.virtual
        for version in table.storage.scan(states, oldest):
            if snapshot.sees(version):
                row = version if not virtual else table.with_virtual(version)
                yield row if numbers is None else convert(row, numbers)


def conversion(parent: Relation, child: Relation) -> list[tuple[int, int]] | None:
    """The parent's column numbers with those of a child's columns of the same names; None where all are the same."""
    pairs = []
    for column in parent.live():
        own = child.column(column.name)
        assert own is not None
        pairs.append((column.number, own.number))
    return None if all(number == other for number, other in pairs) else pairs


def convert(row: Version, numbers: list[tuple[int, int]]) -> Version:
    converted = Version({number: row[other] for number, other in numbers}, row.size, row.xmin, row.cmin)
    converted.base = row.base or row
    return converted


Row = list[Any]
Source = Callable[[Row], Iterator[None]]
"""Fills its entries of a row in place, once for each of its rows."""
_PLANS: Deferred[str, Callable[[Backend, Nested], Any]] = Deferred("pubcheck.simulate.executor", {"plan": "query:plan"})
"""What makes the plan of a sub-select, which has a FROM clause in turn."""


class _Nulls(dict[int, None]):
    """The row of the other side of an outer join."""

    def __missing__(self, number: int) -> None:
        return None


NULLS = _Nulls()


def _filling(position: int, values_for: Callable[[Row], Iterable[Any]]) -> Source:
    """Return the source of one entry; ``values_for`` gives its rows for what the entries before it have."""

    def rows(row: Row) -> Iterator[None]:
        for values in values_for(row):
            row[position] = values
            yield

    return rows


class FromClause:
    """The rows of FROM. ``rows`` fills the entries of a row in place, once for each of them.

    ``certain``: whether their order was known so far.
    """

    lateral = False

    def __init__(self, session: Backend, level: Nested, sources: list[Any]) -> None:
        self.session, self.level = session, level
        self.certain = True
        where = level.query.where
        self._is_product = where is None or not any(len(_items_in(part, level)) > 1 for part in conjuncts(where))
        self.rows = self._sources(sources)

    def _sources(self, sources: list[Any]) -> Source:
        if not sources:
            return lambda row: iter((None,))
        combined = self._source_of(sources[0])
        for other in sources[1:]:
            combined = self._nested(combined, self._source_of(other))
        return combined

    def _nested(self, outer: Source, inner: Source) -> Source:
        def rows(row: Row) -> Iterator[None]:
            matches = most = 0
            for _ in outer(row):
                inner_rows = 0
                for _ in inner(row):
                    inner_rows += 1
                    yield
                matches, most = matches + bool(inner_rows), max(most, inner_rows)
                # Without a condition on both sides, the only row of one is joined to the others in their order.
                if (min(matches, most) if self._is_product else max(matches, most)) > 1:
                    self.certain = False

        return rows

    def _source_of(self, source: Any) -> Source:
        if isinstance(source, Join):
            return self._join(source)
        position = self.level.entries.index(source)
        if source.relation is not None and source.source is None:
            is_view = source.relation.kind == "v" and source.relation.oid >= FIRST_NORMAL_OID
            return self._view(source, position) if is_view else self._table(source, position)
        if isinstance(source.source, Nested):
            return self._sub_select(source.source, position)
        if isinstance(source.source, list):
            return _filling(position, function_rows(self.session, self.level, source))
        if hasattr(source.source, "rows"):
            return _filling(position, lambda row: source.source.rows())
        raise NotFollowed(f'the rows of "{source.name}"')

    def _table(self, item: Item, position: int) -> Source:
        session, relation = self.session, item.relation
        assert relation is not None

        return _filling(position, lambda row: scan_relation(session, relation, inherited=not item.only))

    def _view(self, item: Item, position: int) -> Source:
        """The rows of a view's query, by the numbers of the view's columns."""
        session, relation = self.session, item.relation
        assert relation is not None
        if relation.oid in session.views:
            raise NotFollowed(f'the rows of "{relation.name}"')
        session.views.add(relation.oid)
        try:
            level = top_level(session)
            definition: Any = session.database.catalog.definitions[("view", relation.oid)]
            if analyze_query(level, definition["query"]) is None:
                raise Unknowable("the columns of a SELECT")
            inner = _PLANS["plan"](session, level)
        finally:
            session.views.discard(relation.oid)
        numbers = [column.number for column in relation.live()]

        def rows(row: Row) -> Iterator[dict[int, Any]]:
            results = list(inner.run())
            self.certain = self.certain and (inner.in_order or inner.certain or len(results) < 2)
            return (dict(zip(numbers, values, strict=True)) for values in results)

        return _filling(position, rows)

    def _sub_select(self, level: Nested, position: int) -> Source:
        inner = _PLANS["plan"](self.session, level)
        frame = frame_of(self.level)
        if inner.in_order:

            def in_order(row: Row) -> Iterator[Any]:
                frame.row = row
                return inner.run()  # type: ignore[no-any-return]

            return _filling(position, in_order)

        def rows(row: Row) -> list[Any]:
            held, frame.row = frame.row, row
            try:
                results = list(inner.run())
            finally:
                frame.row = held
            self.certain = self.certain and (inner.certain or len(results) < 2)
            return results

        return _filling(position, rows)

    def _join(self, join: Join) -> Source:
        left, right = self._source_of(join.left), self._source_of(join.right)
        condition = self._join_condition(join)
        kind = join.kind
        if kind not in ("JOIN_INNER", "JOIN_LEFT"):
            raise NotFollowed("the order of the rows of a RIGHT or FULL JOIN")
        nullable = [self.level.entries.index(item) for item in _items(join.right)] if kind == "JOIN_LEFT" else []

        def rows(row: Row) -> Iterator[None]:
            outer_rows = 0
            for _ in left(row):
                matches = 0
                for _ in right(row):
                    if condition is None or condition(row) is True:
                        matches += 1
                        yield
                if not matches and nullable:
                    for position in nullable:
                        row[position] = NULLS
                    matches = 1
                    yield
                outer_rows += bool(matches)
                if outer_rows > 1 or matches > 1:
                    self.certain = False

        return rows

    def _join_condition(self, join: Join) -> Step | None:
        builder = StatementBuilder(self.session, self.level)
        if join.condition is not None:
            return builder.build(join.condition)
        if not join.using:
            return None
        tests = []
        for name in join.using:
            left, right = (_column_of(self.level, side, name) for side in (join.left, join.right))
            equal = find_operator(self.level, ["="], left.type, right.type, -1)
            row = self.session.catalog_session.syscache.operator(equal.oid)
            tests.append(Expr("OpExpr", 16, [left, right], operators=(row.oid,), functions=(row.function,)))
        steps = [builder.build(test) for test in tests]
        return lambda row: all(step(row) is True for step in steps)


def _items_in(expr: Expr, level: Nested) -> set[int]:
    """The entries of a level that an expression refers to; one with a sub-select may refer to all."""
    items = {id(n.value[1]) for n in nodes(expr) if n.node == "Var" and type(n.value) is tuple and n.value[0] is level}
    return items | ({0, 1} if any(node.node == "SubLink" for node in nodes(expr)) else set())


def _items(source: Any) -> list[Item]:
    return [*_items(source.left), *_items(source.right)] if isinstance(source, Join) else [source]


def _column_of(level: Nested, source: Any, name: str) -> Expr:
    """A column of one side of a join, by its name."""
    for item in _items(source):
        for column in item.columns or ():
            if column.name == name:
                value = (level, item, name)
                return Expr("Var", column.type, [], typmod=column.typmod, collation=column.collation, value=value)
    raise Unknowable(f'the column "{name}"')


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
