"""Variables in a query: the query is analysed with columns of an outer relation instead of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

from pubcheck.postgres import input
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.catalog import PG_CATALOG
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.functions import Row
from pubcheck.postgres.oids import BOOL, INT4
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import conjuncts, names, walk
from pubcheck.postgres.plpgsql.values import UNKNOWN, Value, has_unknown, text
from pubcheck.postgres.session import Session

Type = tuple[int, int]
"""A type's oid, 0 where it is not known, and a typmod."""
BOOLEAN, INTEGER = (BOOL, -1), (INT4, -1)


class Variables(Protocol):
    """The types and values of variables by name.

    ``place`` is equal for places where the same names have the same types.
    """

    @property
    def place(self) -> int: ...

    def __bool__(self) -> bool: ...

    def __contains__(self, name: str) -> bool: ...

    def __getitem__(self, name: str) -> tuple[Type, Value]: ...

    def field(self, parts: tuple[str, ...]) -> Value:
        """Return the value of a field, UNKNOWN if the record may not have it."""


_PREFIX = "\x01"
"""The prefix of variables that are passed as columns: nothing in SQL has such a name."""


class FieldUnknown(Unknowable):
    """A field of a record whose type depends on the record's value. ``missing``: the field may not exist."""

    def __init__(self, reason: str, *, missing: bool) -> None:
        super().__init__(reason)
        self.missing = missing


def variable_columns(used: dict[str, int], variables: Variables) -> Iterator[Column]:
    for name, number in used.items():
        (oid, typmod), _ = variables[name]
        yield Column(number, f"{_PREFIX}{number}", oid, typmod=typmod)


class Shape(Struct):
    """The names in a query, whatever exists.

    ``references``: the first names of its column references; ``tables``: the tables that it names; ``own``: the names
    that it defines (``closed``: all of them). Also whether it has parameters, or a sub-select that may return
    ``several`` rows where one is expected.
    """

    references: frozenset[str]
    tables: list[Node]
    own: frozenset[str]
    closed: bool
    parameters: bool
    several: bool


_shapes: dict[int, tuple[Node, Shape]] = {}
_MOST_SHAPES = 1_000


def shape_of(query: Node) -> Shape:
    cached = _shapes.get(id(query))
    if cached is not None and cached[0] is query:
        return cached[1]
    references, own, tables = set[str](), set[str](), list[Node]()
    closed, parameters = True, False
    for kind, body in walk(query):
        if kind == "ColumnRef":
            references.add(body["fields"][0].get("String", {}).get("sval", ""))
        elif kind == "ParamRef":
            parameters = True
        elif kind == "RangeVar":
            tables.append(body)
        elif kind == "Alias":
            own.add(body.get("aliasname", ""))
            own.update(names(body.get("colnames", ())))
        elif kind == "ResTarget" and "name" in body:
            own.add(body["name"])
        elif kind == "RangeFunction":
            calls = [function_call for inner, function_call in walk(body["functions"]) if inner == "FuncCall"]
            own.update(names(call["funcname"])[-1] for call in calls)
        elif kind in ("RangeSubselect", "RangeTableFunc", "JsonTable") and "alias" not in body:
            closed = False
    shape = Shape(frozenset(references), tables, frozenset(own), closed, parameters, _several_rows(query))
    if len(_shapes) >= _MOST_SHAPES:
        _shapes.clear()
    _shapes[id(query)] = query, shape
    return shape


def with_columns(session: Session, query: Node, variables: Variables, used: dict[str, int]) -> Node:
    """Return the query with columns of an outer relation instead of variables.

    Raises Unknowable if a name may also mean a column of the query's own.
    """
    shape = shape_of(query)
    if not variables or not (shape.parameters or any(name in variables for name in shape.references)):
        return query
    changed: Node = _copied(query, variables, used, _own_names(session, shape))
    return changed


def _own_names(session: Session, shape: Shape) -> frozenset[str] | None:
    """The names that may mean columns of a query's own; None for any."""
    if not shape.closed:
        return None
    own_names = set(shape.own)
    for table in shape.tables:
        row = session.find_relation(table)
        columns = _column_names(session, row) if row is not None else None
        if columns is None:
            return None
        own_names.update(columns)
    return frozenset(own_names)


def _column_names(session: Session, row: Relation) -> Sequence[str] | None:
    if row.namespace == PG_CATALOG:
        builtin_columns = session.syscache.builtin.columns(row.name)
        return None if builtin_columns is None else [column.name for column in builtin_columns]
    return [column.name for column in row.columns] if row.seen and row.columns else None


def _copied(item: Any, variables: Variables, used: dict[str, int], own: frozenset[str] | None) -> Any:
    if isinstance(item, list):
        return [_copied(element, variables, used, own) for element in item]
    if not isinstance(item, dict):
        return item
    reference = item.get("ColumnRef")
    if reference is not None:
        name = _variable(reference["fields"], variables)
        if name is None:
            return item
        if own is None or name in own:
            raise Unknowable("whether a name means a variable or a column")
        return {"ColumnRef": {**reference, "fields": _fields(name, used)}}
    parameter = item.get("ParamRef")
    if parameter is not None:
        name = f"${parameter.get('number', 0)}"
        if name not in variables:
            return item
        return {"ColumnRef": {"fields": _fields(name, used), "location": parameter.get("location", -1)}}
    return {key: _copied(value, variables, used, own) for key, value in item.items()}


def _fields(name: str, used: dict[str, int]) -> list[Node]:
    number = used.setdefault(name, len(used) + 1)
    return [{"String": {"sval": f"{_PREFIX}{number}"}}]


def _variable(fields: Sequence[Node], variables: Variables) -> str | None:
    """The variable, or the field of one, that a reference means first of all."""
    parts: list[str] = [field["String"]["sval"] for field in fields if "String" in field]
    if not parts or len(parts) != len(fields):
        return None
    if parts[0] in variables:
        if len(parts) == 1:
            return parts[0]
        raise FieldUnknown("the type of a record's field", missing=variables.field(tuple(parts)) is UNKNOWN)
    return None


def values_of(p: ParseState, used: dict[str, int], variables: Variables) -> Row | None:
    """Return the values of the variables that are used, as the executor has them; None for an unknown one."""
    values: dict[int, Any] = {}
    for name, number in used.items():
        (oid, typmod), value = variables[name]
        if value is not None:
            string = text(value, cast=False)
            if value is UNKNOWN or has_unknown(value) or not isinstance(string, str):
                return None
            try:
                value = input.read(p.inputs, oid, string, typmod)
            except (ServerError, Unknowable):
                return None
        values[number] = value
    return values


def variables_relation(columns: Iterable[Column]) -> Relation:
    """Return the relation whose columns are the variables."""
    return Relation(0, _PREFIX, 0, "c", 0, columns=tuple(columns), seen=True)


_SINGLE_ROW = frozenset(
    ("count", "max", "min", "sum", "avg", "array_agg", "string_agg", "bool_or", "bool_and", "every", "jsonb_agg")
)
_UNIQUE = frozenset(("oid", "pubname", "datname", "rolname", "nspname", "extname", "name", "usename", "subname"))
"""Columns of system catalogs whose values are unique."""


def _several_rows(query: Node) -> bool:
    """Return whether a scalar sub-select of the query may return several rows."""
    for kind, body in walk(query):
        if kind == "SubLink" and body["subLinkType"] in ("EXPR_SUBLINK", "ROWCOMPARE_SUBLINK"):
            select = body["subselect"].get("SelectStmt", {})
            if not _one_row(select):
                return True
    return False


def _one_row(select: Node) -> bool:
    if select.get("limitCount", {}).get("A_Const", {}).get("ival", {}).get("ival") == 1:
        return True
    if "larg" in select or "valuesLists" in select:
        return False
    calls = {names(body["funcname"])[-1] for kind, body in walk(select.get("targetList", ())) if kind == "FuncCall"}
    if calls & _SINGLE_ROW and "groupClause" not in select:
        return True
    if "fromClause" not in select:
        return not calls & {"unnest", "generate_series", "regexp_split_to_table", "jsonb_array_elements"}
    if len(select["fromClause"]) != 1 or "RangeVar" not in select["fromClause"][0]:
        return False
    return any(map(_settles, conjuncts(select.get("whereClause"))))


def _settles(condition: Node) -> bool:
    body = condition.get("A_Expr")
    if body is None or body["kind"] != "AEXPR_OP" or names(body["name"])[-1] != "=":
        return False
    sides = [side.get("ColumnRef", {}).get("fields", ()) for side in (body.get("lexpr", {}), body.get("rexpr", {}))]
    return any(fields and fields[-1].get("String", {}).get("sval") in _UNIQUE for fields in sides)
