"""Variables of a PL/pgSQL block: single values, rows and records (plpgsql/pl_exec.c: exec_assign_value)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct

from pubcheck.lazy_regex import lazy_compile
from pubcheck.postgres.analysis.casts import type_and_typmod
from pubcheck.postgres.analysis.namespace_items import Item, Output
from pubcheck.postgres.catalog.rows import Relation
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.parse import Node, parse
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.backend import Backend, Result
from pubcheck.simulate.executor.expressions import Scope, compile_expression, converted, frame_of, top_level
from pubcheck.simulate.not_followed import NotFollowed

_ROWTYPE = lazy_compile(r"(\w+)(\s+)((?:\w+\s*\.\s*)?\w+)\s*%\s*ROWTYPE\b", re.IGNORECASE)


class Scalar(Struct):
    """The type of a variable with a single value, and the place of its value."""

    type: int
    typmod: int
    place: int
    not_null: bool = False


class Variables:
    """The variables of a block, as columns and entries of a query level around the block's queries."""

    def __init__(self, session: Backend) -> None:
        self.session = session
        self.level = top_level(session)
        self.scalars: dict[str, Scalar] = {}
        self.values: list[Any] = []
        self.row: list[Any] = []
        self.records: dict[str, Item] = {}
        self._row_types: set[str] = set()
        self._item = Item("", [])
        self._item.name_visible = False
        self._add_entry(self._item, self.values)
        self.level.variables = self._item
        frame_of(self.level).row = self.row

    def _add_entry(self, item: Item, values: Any) -> None:
        self.level.items.append(item)
        self.level.entries.append(item)
        self.row.append(values)

    def add_scalar(
        self, name: str, type_oid: int, value: Any = None, *, typmod: int = -1, not_null: bool = False
    ) -> None:
        """A variable with a single value. One that is known gets another type, as that of a CASE does."""
        collation = self.session.catalog_session.syscache.type(type_oid).collation
        assert self._item.columns is not None
        known = self.scalars.get(name)
        if known is None:
            known = Scalar(type_oid, typmod, len(self.values), not_null)
            self.values.append(value)
            self._item.columns.append(Output(name, type_oid, typmod, collation=collation))
        self.scalars[name] = Scalar(type_oid, typmod, known.place, not_null)
        self.values[known.place] = value
        self._item.columns[known.place] = Output(name, type_oid, typmod, collation=collation)

    def add_row(self, name: str, relation: Relation, row: Any) -> None:
        """NEW or OLD, with its values by column number."""
        self._add_record(name, Item(name, self._columns(relation), relation=relation, alias=True), row)

    def _columns(self, relation: Relation) -> list[Output]:
        cache = self.session.catalog_session.syscache
        return [Output(c.name, c.type, c.typmod, c.collation or cache.type(c.type).collation) for c in relation.live()]

    def _add_record(self, name: str, item: Item, row: Any) -> None:
        item.columns_visible = False
        self.records[name] = item
        self._add_entry(item, row)

    def add_record(self, name: str, relation: Relation | None) -> None:
        """A variable of type record, or of the row type of a relation."""
        columns = None if relation is None else self._columns(relation)
        item = Item(name, columns, alias=True)
        if relation is not None:
            self._row_types.add(name)
        self._add_record(name, item, None if columns is None else [None] * len(columns))

    def remove_scalar(self, name: str) -> None:
        """Hide a variable from the statements that follow."""
        assert self._item.columns is not None
        place = self.scalars.pop(name).place
        self._item.columns[place] = Output("", self._item.columns[place].type)

    def value_of(self, name: str) -> Any:
        return self.values[self.scalars[name].place]

    def record(self, name: str) -> Any:
        """The values of a record; those of NEW and OLD are by column number."""
        return self.row[self.level.entries.index(self.records[name])]

    # Assignments.

    def set(self, name: str, value: Any) -> None:
        """Set a variable to a value of its type."""
        scalar = self.scalars[name]
        if value is None and scalar.not_null:
            raise ServerError("22004", f'null value cannot be assigned to variable "{name}" declared NOT NULL')
        self.values[scalar.place] = value

    def store(self, name: str, value: Any, type_oid: int) -> None:
        """Assign a value of any type to a variable or to a field of a record."""
        record, _, field = name.partition(".")
        if field and record in self.records:
            self.set_field(record, field, lambda column: self._cast(value, type_oid, column.type, column.typmod))
        elif name in self.scalars:
            scalar = self.scalars[name]
            self.set(name, self._cast(value, type_oid, scalar.type, scalar.typmod))
        else:
            raise NotFollowed(f'an assignment to "{name}"')

    def set_field(self, record: str, field: str, value_for: Callable[[Output], Any]) -> None:
        """Set a field of a record; ``value_for`` gives the value for the field's column."""
        item = self.records[record]
        if item.columns is None:
            raise ServerError("55000", f'record "{record}" is not assigned yet')
        place = next((place for place, column in enumerate(item.columns) if column.name == field), None)
        if place is None:
            raise ServerError("42703", f'record "{record}" has no field "{field}"')
        value = value_for(item.columns[place])
        row = self.record(record)
        row[place if item.relation is None else item.relation.live()[place].number] = value

    def store_row(self, name: str, row: Sequence[Any] | None, columns: Sequence[str], types: Sequence[int]) -> None:
        """Assign a row of a query to a record."""
        item = self.records[name]
        if item.relation is not None:
            raise NotFollowed(f'an assignment to "{name}"')
        cache = self.session.catalog_session.syscache
        if name in self._row_types:
            assert item.columns is not None
            if row is not None and len(row) != len(item.columns):
                raise NotFollowed("an assignment of a row with other columns")
            values = [None] * len(item.columns)
            if row is not None:
                targets = zip(row, types, item.columns, strict=True)
                values = [self._cast(value, source, column.type, column.typmod) for value, source, column in targets]
        else:
            pairs = zip(columns, types, strict=True)
            item.columns = [Output(column, of, -1, cache.type(of).collation) for column, of in pairs]
            values = list(row) if row is not None else [None] * len(columns)
        self.row[self.level.entries.index(item)] = values

    def copy_record(self, name: str, source: str) -> None:
        """Assign a record to another one."""
        item, row = self.records[source], self.record(source)
        if item.columns is None:
            raise ServerError("55000", f'record "{source}" is not assigned yet')
        by_place = row if item.relation is None else [row[column.number] for column in item.relation.live()]
        self.store_row(name, by_place, [c.name for c in item.columns], [c.type for c in item.columns])

    def store_result(self, target: Node, result: Result, row: Sequence[Any] | None) -> None:
        """Assign a row of a query's result to the target of INTO or of a loop; None sets all to NULL."""
        if "PLpgSQL_rec" in target:
            self.store_row(target["PLpgSQL_rec"]["refname"], row, result.columns, result.types)
            return
        if "PLpgSQL_row" not in target:
            name = target["PLpgSQL_var"]["refname"]
            self.store(name, None if row is None else row[0], result.types[0])
            return
        fields = target["PLpgSQL_row"]["fields"]
        for number, field in enumerate(fields):
            if row is None or number >= len(row):
                self.store(field["name"], None, 0)
            else:
                self.store(field["name"], row[number], result.types[number])

    def _cast(self, value: Any, source: int, target: int, typmod: int) -> Any:
        """exec_cast_value: by the casts of assignments."""
        if value is None or (source == target and typmod < 0):
            return value
        scope = Scope(self.session)
        held = Expr("Param", source, [], collation=self.session.catalog_session.syscache.type(source).collation)
        held.value = lambda row: value
        cast = converted(scope, held, target, typmod, "an assignment of a value of another type")
        return compile_expression(self.session, scope, cast)(())


def without_row_types(text: str) -> str:
    """A body in which variables of row types are records, whose fields the parser accepts."""
    return _ROWTYPE.sub(r"\1\2record", text)


def declared_type(session: Backend, written: str) -> tuple[int, int]:
    """The type that a declaration names, and its modifier."""
    parsed = parse(f"SELECT NULL::{written}")
    assert parsed is not None
    name = parsed[1]["targetList"][0]["ResTarget"]["val"]["TypeCast"]["typeName"]
    return type_and_typmod(Scope(session), name)
