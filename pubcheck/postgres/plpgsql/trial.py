"""Whether what a block evaluates certainly fails, or may: its queries and expressions analysed as the server does.

The server analyses a query when it is first run (parse analysis), folds its constants while it plans it, and evaluates
the rest for each row. What fails in the first two fails for certain, as does what is evaluated with values that are
known. Of the rest only what is known to give a value for whatever it is given is taken to succeed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

from msgspec import Struct

from pubcheck.postgres import literals
from pubcheck.postgres.catalog import FIRST_NORMAL_OID, PG_CATALOG
from pubcheck.postgres.catalog.rows import Column, Relation
from pubcheck.postgres.ddl.typenames import typmod_of
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.evaluation import Context
from pubcheck.postgres.evaluation.nodes import Builder, Constant, Row, Step
from pubcheck.postgres.expressions.coerce import coerce_to_target_type
from pubcheck.postgres.expressions.filters import parse_state
from pubcheck.postgres.expressions.nodes import IMPLICIT, Expr
from pubcheck.postgres.expressions.queries import analyze_query
from pubcheck.postgres.expressions.scopes import Nested
from pubcheck.postgres.expressions.state import ParseState
from pubcheck.postgres.expressions.walk import MESSAGE as OF_FILTERS
from pubcheck.postgres.oids import BOOL, INT2, INT4, INT8, NUMERIC, TEXT
from pubcheck.postgres.parse import Node, SyntaxRefused, TooDeep, parse
from pubcheck.postgres.plpgsql.evaluate import walk
from pubcheck.postgres.plpgsql.values import UNKNOWN, Failed, Value, text, unknown
from pubcheck.postgres.session import Session
from pubcheck.postgres.tree import names

Type = tuple[int, int]
"""A type's oid, 0 where it is not known, and a typmod."""
BOOLEAN, INTEGER = (BOOL, -1), (INT4, -1)


class Variables(Protocol):
    """The types and values of variables by name. ``place``: the same where the same names have the same types."""

    @property
    def place(self) -> int: ...

    def __bool__(self) -> bool: ...

    def __contains__(self, name: str) -> bool: ...

    def __getitem__(self, name: str) -> tuple[Type, Value]: ...

    def field(self, parts: tuple[str, ...]) -> Value:
        """The value of a field, UNKNOWN where the record is not known to have it."""


_VARCHAR, _NAME, _BPCHAR, _UNKNOWN = 1043, 19, 1042, 705
_TEXTS = frozenset((TEXT, _VARCHAR, _NAME, _UNKNOWN))
_PREFIX = "\x01"
"""What the names of variables begin with where they stand as columns: nothing in SQL is called so."""
_MOST = 3_000
"""Queries that are analysed in one block; of later ones only the words are looked at."""


class _Field(Unknowable):
    """The field of a record, of which another value tells more or less. ``missing``: perhaps there is no such field."""

    def __init__(self, reason: str, *, missing: bool) -> None:
        super().__init__(reason)
        self.missing = missing


class Trial:
    """Looks at what is evaluated in a session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self.followed: frozenset[int] = frozenset()
        """Functions of the query at hand whose bodies are run besides: nothing is said of whether they fail."""
        self._left = _MOST
        self._types: dict[str, Type] = {}
        self._known: dict[tuple[int, int, tuple[Type | None, ...], frozenset[int]], _Analysed] = {}

    @contextmanager
    def following(self, functions: Iterable[int]) -> Iterator[None]:
        """The bodies of these functions are run besides."""
        before, self.followed = self.followed, frozenset(functions)
        try:
            yield
        finally:
            self.followed = before

    def function_of(self, call: Node, variables: Variables) -> int | None:
        """The one of several functions of its name that a call in an expression means; None where that is not known."""
        query: Node = {"targetList": [{"ResTarget": {"val": {"FuncCall": call}}}]}
        assumed = self.session.assumed
        try:
            found = self._nested(query, variables, {})[0].analysed[0]
        except (ServerError, Unknowable, RecursionError, IndexError):
            return None
        finally:
            self.session.assumed = assumed
        return found.functions[0] if found.node == "FuncExpr" else None

    def type_named(self, written: str) -> Type:
        """The type that a declaration names; (0, -1) where that is not known."""
        found = self._types.get(written)
        if found is None:
            found = self._types[written] = self._type(written)
        return found

    def _type(self, written: str) -> Type:
        try:
            parsed = parse(f"SELECT NULL::{written}")
        except (SyntaxRefused, TooDeep):
            return 0, -1
        if parsed is None or parsed[0] != "SelectStmt":
            return 0, -1
        value = parsed[1]["targetList"][0]["ResTarget"].get("val", {})
        if "TypeCast" not in value:
            return 0, -1
        node = value["TypeCast"]["typeName"]
        assumed = self.session.assumed
        try:
            oid = self.session.type_oid(node)
            return oid, typmod_of(self.session, node, oid) if oid and "typmods" in node else -1
        except (ServerError, Unknowable):
            return 0, -1
        finally:
            self.session.assumed = assumed

    def read(self, value: str, written: str) -> None:
        """A text is assigned to a variable that is declared so. Raises Failed if it certainly cannot be."""
        oid, typmod = self.type_named(written)
        if oid in (BOOL, INT2, INT4, INT8, NUMERIC):
            try:
                literals.read(parse_state(self.session, _relation(())).inputs, oid, value, typmod)
            except Unknowable:
                return
            except ServerError as error:
                raise Failed(error.sqlstate, error.message, detail=error.detail, hint=error.hint) from None

    def element(self, array: Type) -> Type | None:
        """The type of an array's elements; None where that is not known."""
        try:
            oid = self.session.syscache.element_type(array[0]) if array[0] else 0
        except Unknowable:
            return None
        return (oid, array[1]) if oid else None

    def may_fail(self, query: Node, variables: Variables, targets: Sequence[Type | None] = ()) -> bool:
        """Whether evaluating a SelectStmt may fail. ``targets`` are the types of the variables that its values are for.

        Raises Failed where it certainly fails; its location is a byte offset in the text of the query.
        """
        session, journal = self.session, self.session.catalog.journal
        key = (id(query), variables.place, tuple(targets), self.followed)
        stamp = (journal.mark(), journal.undos, session.blind)
        known = self._known.get(key)
        fresh = known is None or known.query is not query or known.stamp != stamp
        if fresh and self._left <= 0:
            return words_may_fail(query)
        assumed, session.assumed = session.assumed, False
        try:
            if known is None or fresh:
                self._left -= 1
                known = self._known[key] = self._analysed(query, variables, targets, stamp)
            return known.verdict if known.verdict is not None else self._evaluated(known, variables)
        except ServerError as error:
            if session.assumed or session.blind or error.message == OF_FILTERS:
                return True
            raise Failed(
                error.sqlstate, error.message, detail=error.detail, hint=error.hint, location=error.location
            ) from None
        finally:
            session.assumed = assumed

    def _analysed(self, query: Node, variables: Variables, targets: Sequence[Type | None], stamp: _Stamp) -> _Analysed:
        try:
            return self._analyse(query, variables, targets, stamp)
        except _Field as field:
            return _Analysed(query, _NEVER, field.missing or words_may_fail(query))
        except (Unknowable, RecursionError):
            verdict = self._rests_on_unseen(query) or words_may_fail(query)
        return _Analysed(query, stamp, verdict)

    def _rests_on_unseen(self, query: Node) -> bool:
        """Whether a query names a table or function that is not visible."""
        try:
            return self._names_unseen(query)
        except (ServerError, Unknowable):
            return True

    def _names_unseen(self, query: Node) -> bool:
        session = self.session
        named = {body["ctename"] for kind, body in walk(query) if kind == "CommonTableExpr"}
        for kind, body in walk(query):
            if kind == "RangeVar" and not ("schemaname" not in body and body["relname"] in named):
                row = session.find_relation(body)
                if row is None or not row.seen:
                    return True
            elif kind == "FuncCall" and not any(True for _ in session.syscache.procs(names(body["funcname"]))):
                return True
        return False

    def _analyse(self, query: Node, variables: Variables, targets: Sequence[Type | None], stamp: _Stamp) -> _Analysed:
        used: dict[str, int] = {}
        nested, outputs = self._nested(query, variables, used)
        folder = _Folder(Context(nested.inputs), self.followed)
        steps = [folder.build(part) for part in nested.analysed]
        straight = query.keys() <= _STRAIGHT
        certain = straight and "whereClause" not in query
        if outputs is not None:
            for target, part in zip(targets, nested.analysed[: len(outputs)], strict=False):
                if target is not None and target[0]:
                    steps.append(folder.assigned(nested, part, target, certain=certain))
        risky = folder.risky or _shape(query).several
        waiting = [step for step in steps if not isinstance(step, Constant)] if straight else []
        if straight and not waiting:
            return _Analysed(query, stamp, False)
        return _Analysed(query, stamp, None if straight else risky, risky, certain, waiting, used, nested)

    def _nested(
        self, query: Node, variables: Variables, used: dict[str, int]
    ) -> tuple[Nested, Sequence[object] | None]:
        """A query as the parser analyses it, and its columns; ``used``: of the variables in it, their numbers."""
        said = _with_columns(self.session, query, variables, used)
        nested = Nested(parse_state(self.session, _relation(_columns(used, variables))))
        return nested, analyze_query(nested, {"SelectStmt": said})

    def _evaluated(self, known: _Analysed, variables: Variables) -> bool:
        """Whether what is worked out with the values at hand may fail. Raises ServerError if it certainly does."""
        values = _values(known.state, known.used, variables) if known.state is not None else None
        # Each of them, as the server does: a later one may fail.
        given = [_Folder.evaluated(step, values, certain=known.certain) for step in known.steps]
        return known.risky and not all(given)


def _relation(columns: Iterable[Column]) -> Relation:
    """What the expression is over: the variables."""
    return Relation(0, _PREFIX, 0, "c", 0, tuple(columns))


_Stamp = tuple[int, int, bool]
_NEVER = -1, -1, False


class _Analysed(Struct):
    """What the analysis of a query found: a ``verdict``, or what is to be worked out with the values of variables."""

    query: Node
    stamp: _Stamp
    """The state of the catalog that it rests on."""
    verdict: bool | None
    risky: bool = False
    certain: bool = False
    steps: list[Step] = []
    used: dict[str, int] = {}
    state: ParseState | None = None


def _is_plain_series(call: Node) -> bool:
    return names(call["funcname"])[-1] == "generate_series" and len(call.get("args", ())) == 2


_STRAIGHT = frozenset(("targetList", "whereClause", "limitOption", "op"))
"""What a query of one row consists of."""


def words_may_fail(node: Any) -> bool:
    """Whether a query may fail, by its words alone."""
    for kind, body in walk(node):
        if kind == "A_Expr" and names(body["name"])[-1] in ("/", "%"):
            return True
        if kind == "FuncCall" and names(body["funcname"])[-1] not in SAFE and not _is_plain_series(body):
            return True
        if kind == "TypeCast" and names(body["typeName"]["names"])[-1] not in _SAFE_CASTS:
            return True
    return False


def _columns(used: dict[str, int], variables: Variables) -> Iterator[Column]:
    for name, number in used.items():
        (oid, typmod), _ = variables[name]
        yield Column(number, f"{_PREFIX}{number}", oid, typmod=typmod)


class _Shape(Struct):
    """What the words of a query say, whatever there is: the first names of its ``references``, the ``tables`` that it
    names, the ``own`` names that it gives (``closed``: all of them), and whether it takes parameters, or has a
    sub-select that may give ``several`` rows where one is wanted."""

    references: frozenset[str]
    tables: list[Node]
    own: frozenset[str]
    closed: bool
    parameters: bool
    several: bool


_shapes: dict[int, tuple[Node, _Shape]] = {}
_MOST_SHAPES = 1_000


def _shape(query: Node) -> _Shape:
    known = _shapes.get(id(query))
    if known is not None and known[0] is query:
        return known[1]
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
            calls = [one for inner, one in walk(body["functions"]) if inner == "FuncCall"]
            own.update(names(call["funcname"])[-1] for call in calls)
        elif kind in ("RangeSubselect", "RangeTableFunc", "JsonTable") and "alias" not in body:
            closed = False
    shape = _Shape(frozenset(references), tables, frozenset(own), closed, parameters, _several_rows(query))
    if len(_shapes) >= _MOST_SHAPES:
        _shapes.clear()
    _shapes[id(query)] = query, shape
    return shape


def _with_columns(session: Session, query: Node, variables: Variables, used: dict[str, int]) -> Node:
    """The query with columns of the relation around it in the place of variables. Raises Unknowable where a name may
    mean a column of the query's own as well."""
    shape = _shape(query)
    if not variables or not (shape.parameters or any(name in variables for name in shape.references)):
        return query
    changed: Node = _copied(query, variables, used, _own_names(session, shape))
    return changed


def _own_names(session: Session, shape: _Shape) -> frozenset[str] | None:
    """The names that may mean columns of a query's own; None for any."""
    if not shape.closed:
        return None
    found = set(shape.own)
    for table in shape.tables:
        row = session.find_relation(table)
        columns = _column_names(session, row) if row is not None else None
        if columns is None:
            return None
        found.update(columns)
    return frozenset(found)


def _column_names(session: Session, row: Relation) -> Sequence[str] | None:
    if row.namespace == PG_CATALOG:
        known = session.syscache.builtin.columns(row.name)
        return None if known is None else [column.name for column in known]
    return [column.name for column in row.columns] if row.seen and row.columns else None


def _copied(item: Any, variables: Variables, used: dict[str, int], own: frozenset[str] | None) -> Any:
    if isinstance(item, list):
        return [_copied(each, variables, used, own) for each in item]
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
        raise _Field("the type of a record's field", missing=variables.field(tuple(parts)) is UNKNOWN)
    return None


def _values(p: ParseState, used: dict[str, int], variables: Variables) -> Row | None:
    """The values of the variables that are used, as the executor has them; None where one is not known."""
    found: dict[int, Any] = {}
    for name, number in used.items():
        (oid, typmod), value = variables[name]
        if value is not None:
            said = text(value, cast=False)
            if value is UNKNOWN or unknown(value) or not isinstance(said, str):
                return None
            try:
                value = literals.read(p.inputs, oid, said, typmod)
            except (ServerError, Unknowable):
                return None
        found[number] = value
    return found


def _assigned(p: ParseState, expr: Expr, target: Type) -> Expr:
    """The value as the type of the variable that it is assigned to: where there is no such cast, by way of text
    (get_cast_hashentry, COERCION_PLPGSQL)."""
    oid, typmod = target
    made = coerce_to_target_type(p, expr, expr.type, oid, typmod, "a", IMPLICIT, -1)
    return Expr("CoerceViaIO", oid, [expr], typmod=typmod) if made is None else made


_SINGLE_ROW = frozenset(
    ("count", "max", "min", "sum", "avg", "array_agg", "string_agg", "bool_or", "bool_and", "every", "jsonb_agg")
)
_UNIQUE = frozenset(("oid", "pubname", "datname", "rolname", "nspname", "extname", "name", "usename", "subname"))
"""Columns of which catalogs hold no value twice."""


def _several_rows(query: Node) -> bool:
    """Whether a sub-select of the query that stands for a value may give several rows."""
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
    return any(_settles(condition) for condition in _conjuncts(select.get("whereClause")))


def _conjuncts(condition: Node | None) -> list[Node]:
    if condition is None:
        return []
    body = condition.get("BoolExpr")
    return list(body["args"]) if body is not None and body["boolop"] == "AND_EXPR" else [condition]


def _settles(condition: Node) -> bool:
    body = condition.get("A_Expr")
    if body is None or body["kind"] != "AEXPR_OP" or names(body["name"])[-1] != "=":
        return False
    sides = [side.get("ColumnRef", {}).get("fields", ()) for side in (body.get("lexpr", {}), body.get("rexpr", {}))]
    return any(fields and fields[-1].get("String", {}).get("sval") in _UNIQUE for fields in sides)


class _Folder(Builder):
    """Folds constants; what is not constant is ``risky`` unless it is known to give a value for whatever it gets."""

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

    def assigned(self, p: ParseState, part: Expr, target: Type, *, certain: bool) -> Step:
        """What is assigned to a variable of a type; ``certain``: it surely is."""
        try:
            return self.build(_assigned(p, part, target))
        except ServerError:
            if certain:
                raise
            self.risky = True
            return _unknown

    def _through_text(self, expr: Expr) -> Step:
        """A cast by the output function of one type and the input function of the other."""
        inner, how = self.build(expr.args[0]), _WRITTEN.get(expr.args[0].type)
        target, typmod, inputs = expr.type, expr.typmod, self.context.inputs
        if target in _TEXTS:
            return _unknown
        if inner is _unknown or how is None:
            self.risky = True
            return _unknown

        def step(row: Row) -> Any:
            value = inner(row)
            return None if value is None else literals.read(inputs, target, how(value), typmod)

        self.risky = self.risky or not isinstance(inner, Constant)
        try:
            return self.folded(step, [inner])
        except Unknowable:
            self.risky = True
            return _unknown

    @staticmethod
    def evaluated(step: Step, values: Row | None, *, certain: bool) -> bool:
        """Whether a step gives a value for these. Raises ServerError if it certainly does not."""
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
    """Whether a text is a regular expression for the server for certain."""
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
        "is_superuser",
        "role",
        "search_path",
        "server_version",
        "server_version_num",
        "session_authorization",
        "wal_level",
    )
)
_WRITTEN: dict[int, Any] = {
    TEXT: str,
    _VARCHAR: str,
    _NAME: str,
    _UNKNOWN: str,
    INT2: str,
    INT4: str,
    INT8: str,
    NUMERIC: lambda value: format(value, "f"),
    BOOL: lambda value: "t" if value else "f",
}
"""By type, the output function."""
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
"""Functions of the server's that give a value whatever they are given, or fail only for what nobody gives them."""
_SAFE_CASTS = frozenset(("text", "varchar", "bpchar", "name", "char", "oid", "_text", "_name"))
