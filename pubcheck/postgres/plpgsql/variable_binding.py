"""Variables in a query: it is analysed with columns of an outer relation instead of them. Constants are folded as in
the planner; the rest is checked by what its functions do for any value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

from msgspec import Struct

from pubcheck.postgres import input, oids
from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, PG_CATALOG
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor import Context
from pubcheck.postgres.executor.compile import Builder
from pubcheck.postgres.executor.functions import Constant, Row, Step
from pubcheck.postgres.oids import BOOL, INT2, INT4, INT8, NAME, NUMERIC, TEXT, VARCHAR
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import conjuncts, names, walk
from pubcheck.postgres.plpgsql.values import UNKNOWN, Value, has_unknown, text
from pubcheck.postgres.primnodes import IMPLICIT, Expr
from pubcheck.postgres.session import Session

_TEXTS = frozenset((TEXT, VARCHAR, NAME, oids.UNKNOWN))


def _is_plain_series(call: Node) -> bool:
    return names(call["funcname"])[-1] == "generate_series" and len(call.get("args", ())) == 2


def words_may_fail(node: Any) -> bool:
    """Return whether a query may fail, judging only by its text."""
    for kind, body in walk(node):
        if kind == "A_Expr" and names(body["name"])[-1] in ("/", "%"):
            return True
        if kind == "FuncCall" and names(body["funcname"])[-1] not in SAFE and not _is_plain_series(body):
            return True
        if kind == "TypeCast" and names(body["typeName"]["names"])[-1] not in _SAFE_CASTS:
            return True
    return False


def _assigned(p: ParseState, expr: Expr, target: Type) -> Expr:
    """The value as the type of the variable that it is assigned to: where there is no such cast, by way of text
    (get_cast_hashentry, COERCION_PLPGSQL)."""
    oid, typmod = target
    coerced = coerce_to_target_type(p, expr, expr.type, oid, typmod, "a", IMPLICIT, -1)
    return Expr("CoerceViaIO", oid, [expr], typmod=typmod) if coerced is None else coerced


class Folder(Builder):
    """Folds constants; a call is ``risky`` unless it is known to return a value for every argument."""

    def __init__(self, context: Context, followed: frozenset[int]) -> None:
        super().__init__(context)
        self.followed = followed
        self.risky = False
        self._built: dict[int, Step] = {}

    def build(self, expr: Expr) -> Step:
        step = self._built.get(id(expr))
        if step is None:
            step = self._built[id(expr)] = self._step(expr)
        return step

    def _step(self, expr: Expr) -> Step:
        if expr.node in ("FuncExpr", "OpExpr"):
            return self.call(expr)
        if expr.node == "Var" and (type(expr.value) is tuple or not expr.value):
            return _unknown
        if expr.node == "CoerceViaIO":
            return self._through_text(expr)
        if expr.node in _OPAQUE:
            for arg in expr.args:
                self.build(arg)
            self.risky = self.risky or not all(map(self._is_safe, expr.functions))
            return _unknown
        try:
            return super().build(expr)
        except Unknowable:
            # A constant that was read is a value, as is a variable's, whether or not anything is known of it.
            self.risky = self.risky or expr.node not in ("Const", "Var")
            return _unknown

    def call(self, expr: Expr) -> Step:
        args = [self.build(arg) for arg in expr.args]
        safe = self._is_safe(expr.functions[0]) or self._is_safe_for(expr, args)
        if not all(isinstance(arg, Constant) for arg in args):
            self.risky = self.risky or not safe
        if _unknown in args:
            return _unknown
        try:
            return super().call(expr)
        except Unknowable:
            self.risky = self.risky or not safe
            return _unknown

    def _is_safe(self, oid: int) -> bool:
        if oid >= FIRST_NORMAL_OID:
            return oid in self.followed
        name = self.cache.proc(oid).name
        return name in SAFE or _COMPARES.search(name) is not None

    def _is_safe_for(self, expr: Expr, args: Sequence[Step]) -> bool:
        """Functions that fail for some settings only."""
        first = args[0].value if args and isinstance(args[0], Constant) else None
        name = self.cache.proc(expr.functions[0]).name
        if _MATCHES.search(name) is not None:
            pattern = args[1].value if len(args) > 1 and isinstance(args[1], Constant) else None
            return isinstance(pattern, str) and _plain_pattern(pattern)
        if name == "current_setting":
            return first in _SETTINGS or (len(args) == 2 and isinstance(args[1], Constant) and args[1].value is True)
        if name == "generate_series":
            return len(args) == 2 or (isinstance(args[2], Constant) and args[2].value not in (None, 0))
        return name == "set_config" and isinstance(first, str) and (first == "search_path" or "." in first)

    def assign(self, p: ParseState, part: Expr, target: Type, *, certain: bool) -> Step:
        """Return the step that assigns a value to a variable of a type; ``certain``: the assignment surely runs."""
        try:
            return self.build(_assigned(p, part, target))
        except ServerError:
            if certain:
                raise
            self.risky = True
            return _unknown

    def _through_text(self, expr: Expr) -> Step:
        """A cast by the output function of one type and the input function of the other."""
        inner, source = self.build(expr.args[0]), expr.args[0].type
        target, typmod, inputs = expr.type, expr.typmod, self.context.inputs
        if target in _TEXTS:
            return _unknown
        if inner is _unknown or source not in _WRITTEN:
            self.risky = True
            return _unknown
        write = self.context.output.writer(source)

        def step(row: Row) -> Any:
            value = inner(row)
            return None if value is None else input.read(inputs, target, write(value), typmod)

        self.risky = self.risky or not isinstance(inner, Constant)
        try:
            return self.folded(step, [inner])
        except Unknowable:
            self.risky = True
            return _unknown

    @staticmethod
    def gives_value(step: Step, values: Row | None, *, certain: bool) -> bool:
        """Return whether a step returns a value for these variables. Raises ServerError if it certainly fails."""
        if isinstance(step, Constant):
            return True
        if values is None:
            return False
        try:
            step(values)
        except Unknowable:
            return False
        except ServerError:
            if certain:
                raise
            return False
        return True


_MATCHES = re.compile("regex(?:eq|ne)$")


_NO_PLAIN_PATTERN = re.compile(r"[^\w\s^$.*+?|()\[\]%:,;/@#-]|[*+?]{2}|\[[^\]]*\[|^[*+?]")


def _plain_pattern(pattern: str) -> bool:
    """Return whether a text is a regular expression for the server for certain."""
    try:
        re.compile(pattern)
    except re.error:
        return False
    return _NO_PLAIN_PATTERN.search(pattern) is None


def _unknown(row: Row) -> Any:
    raise Unknowable("a value")


_OPAQUE = frozenset(
    (
        "Aggref", "WindowFunc", "SubLink", "SQLValueFunction", "Param", "CurrentOfExpr",
        "NextValueExpr",
    )
)  # fmt: skip


_SETTINGS = frozenset(
    (
        "is_superuser", "role", "search_path", "server_version", "server_version_num", "session_authorization",
        "wal_level",
    )
)  # fmt: skip
_WRITTEN = frozenset((TEXT, VARCHAR, NAME, oids.UNKNOWN, INT2, INT4, INT8, NUMERIC, BOOL))
"""Types whose values are all known here."""


_COMPARES = re.compile(
    r"(?<!regex)(?:eq|ne|lt|le|gt|(?<!privile)ge)(?:text|name|_date|_timestamp|_timestamptz)?$|(?:like|nlike|cmp)$"
)
SAFE = frozenset(
    (
        "abs", "age", "array_agg", "array_append", "array_cat", "array_length", "array_lower", "array_ndims",
        "array_position", "array_remove", "array_replace", "array_to_string", "array_upper", "ascii", "avg",
        "bit_length", "bool_and", "bool_or", "bpchar", "btrim", "cardinality", "ceil", "ceiling", "char_length",
        "character_length", "clock_timestamp", "coalesce", "concat", "concat_ws", "count", "current_database",
        "current_schema", "current_schemas", "date", "date_part", "date_trunc", "dense_rank", "every", "exists",
        "first_value", "extract", "float8", "float8mul", "float8pl", "floor", "format", "format_type",
        "gen_random_uuid", "initcap", "int4", "int4mi", "int4mul", "int4pl", "int48mi", "int48pl", "int4um", "int8",
        "int84mi", "int84pl", "int8mi", "int8pl", "int8mul", "int82pl", "int24pl", "int42pl", "jsonb_agg",
        "jsonb_build_object", "json_build_object", "to_jsonb", "to_json", "lag", "last_value", "lead", "left", "length",
        "lower", "lpad", "ltrim", "max", "md5", "min", "name", "now", "nullif", "numeric", "numeric_add", "numeric_mul",
        "numeric_sub", "obj_description", "octet_length", "oid", "pg_backend_pid", "pg_advisory_lock",
        "pg_advisory_unlock", "pg_advisory_xact_lock", "pg_get_constraintdef", "pg_get_expr", "pg_get_functiondef",
        "pg_get_function_result", "pg_get_function_arguments", "pg_get_indexdef", "pg_get_viewdef", "pg_is_in_recovery",
        "pg_my_temp_schema", "pg_notify", "pg_sleep", "pg_table_is_visible", "pg_try_advisory_lock", "pg_typeof",
        "position", "quote_ident", "quote_literal", "quote_nullable", "random", "rank", "repeat", "regexp_count",
        "replace", "reverse", "right", "round", "row_number", "rpad", "rtrim", "session_user", "statement_timestamp",
        "string_agg", "string_to_array", "string_to_table", "strpos", "substr", "substring", "sum", "text",
        "textanycat", "textcat", "anytextcat", "to_char", "to_regclass", "to_regnamespace", "to_regproc",
        "to_regprocedure", "to_regrole", "to_regtype", "transaction_timestamp", "trunc", "txid_current", "unnest",
        "upper", "user", "varchar", "version", "xid8", "array_in", "generate_subscripts", "row_to_json",
        "pg_get_userbyid", "pg_encoding_to_char", "has_schema_privilege", "timestamptz_pl_interval",
        "timestamptz_mi_interval", "timestamp_pl_interval", "timestamp_mi_interval", "date_pl_interval", "timestamptz",
        "timestamp", "arraycontains", "arraycontained", "arrayoverlap", "aclexplode", "pg_relation_is_publishable",
    )
)  # fmt: skip
"""Built-in functions that return a value for every argument, or fail only for arguments that nobody passes."""


_SAFE_CASTS = frozenset(("text", "varchar", "bpchar", "name", "char", "oid", "_text", "_name"))


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
