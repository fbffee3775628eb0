"""SQL/JSON constructors, predicates and query functions of 16 and 17 (parser/parse_expr.c, from getJsonEncodingConst
on).

No row filter may hold one of them, so that of the result only its type counts; everything that the server looks at
before it says so is looked at in its order. Where a major has no such construct its text is an ordinary call.
"""

from __future__ import annotations

from msgspec import Struct

from pubcheck.postgres.analysis.casts import type_and_typmod
from pubcheck.postgres.analysis.coerce import coerce_to_boolean, coerce_to_specific_type, coerce_to_target_type
from pubcheck.postgres.analysis.comparisons import has_columns
from pubcheck.postgres.analysis.functions import call_function
from pubcheck.postgres.analysis.parse_state import ParseState, expr_location
from pubcheck.postgres.errors import NO_CAST, OUT_OF_PLACE, ServerError
from pubcheck.postgres.oids import (
    BOOL,
    BYTEA,
    DATE,
    FLOAT4,
    FLOAT8,
    INT2,
    INT4,
    INT8,
    JSON,
    JSONB,
    JSONPATH,
    NUMERIC,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    TIMETZ,
    VARCHAR,
)
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import EXPLICIT_CAST, IMPLICIT, UNKNOWN, Expr

_PASSED_AS_THEY_ARE = frozenset(
    (BOOL, NUMERIC, INT2, INT4, INT8, FLOAT4, FLOAT8, TEXT, VARCHAR, DATE, TIME, TIMETZ, TIMESTAMP, TIMESTAMPTZ)
)
"""Types that jsonpath variables have of themselves (GetJsonPathVar)."""


class _Returning(Struct):
    """JsonReturning: type 0 where no RETURNING says it; ``format`` "", "json" or "jsonb"."""

    type: int = 0
    typmod: int = -1
    format: str = ""
    location: int = -1


def _as_function(p: ParseState, name: str, args: list[Node], body: Node, call: Node | None = None) -> Expr:
    """A construct that the major does not know: a call of a function that has its name."""
    values = [p.transform(argument) for argument in args]
    return call_function(p, [name], values, call or {}, body.get("location", -1))


# Parts that constructs share.


def _value_expression(
    p: ParseState, construct: str, body: Node, default: str, target: int = 0, *, passed: bool = False
) -> Expr:
    """transformJsonValueExpr: a value with FORMAT JSON or without, coerced to a target type if there is one.

    Raises ServerError 42804, 42846.
    """
    value = p.transform(body["raw_expr"])
    if value.type == UNKNOWN:
        value = coerce_to_specific_type(p, value, TEXT, construct)
    location = expr_location(value)
    json_format = body["format"]
    category = p.cache.type(value.type).category
    is_json = value.type in (JSON, JSONB)
    explicit = json_format["format_type"] != "JS_FORMAT_DEFAULT"
    format_location: int = json_format.get("location", -1)
    if explicit:
        if json_format["encoding"] != "JS_ENC_DEFAULT" and value.type != BYTEA:
            message = "JSON ENCODING clause is only allowed for bytea input type"
            raise p.error("42804", message, format_location)
        target_format = "" if is_json else "json"
    elif passed:
        if value.type in _PASSED_AS_THEY_ARE or category == "S":
            return value
        target_format = default
    else:
        target_format = "" if is_json else default
    if not target_format and (not target or value.type == target):
        return value
    if not passed and not target and value.type != BYTEA and category != "S":
        kind = "explicit" if explicit else "implicit"
        place = format_location if format_location >= 0 else location
        raise p.error("42804", f"cannot use non-string types with {kind} FORMAT JSON clause", place)
    source = TEXT if target_format == "json" and value.type == BYTEA else value.type
    document = value if source == value.type else Expr("FuncExpr", TEXT, [value], location)
    into = target or (JSONB if target_format == "jsonb" else JSON)
    coerced = coerce_to_target_type(p, document, source, into, -1, "e", EXPLICIT_CAST, location)
    if coerced is None:
        if target:
            raise p.error("42846", NO_CAST, location, "no-cast", source=p.type_name(source), target=p.type_name(target))
        coerced = document
    return value if coerced is value else Expr("JsonValueExpr", into, [value], location)


def returning(p: ParseState, output: Node | None, *, any_format: bool) -> _Returning:
    """transformJsonOutput. Raises ServerError 42704, 0A000."""
    if output is None:
        return _Returning()
    json_format = output["returning"]["format"]
    oid, typmod = type_and_typmod(p, output["typeName"])
    if output["typeName"].get("setof"):
        raise p.error("0A000", "returning SETOF types is not supported in SQL/JSON functions")
    row = p.cache.type(oid)
    if row.kind == "p" and p.major.json_refuses_pseudo_types:
        raise p.error("0A000", "returning pseudo-types is not supported in SQL/JSON functions")
    location: int = json_format.get("location", -1)
    if json_format["format_type"] == "JS_FORMAT_DEFAULT":
        return _Returning(oid, typmod, "jsonb" if oid == JSONB else "json", location)
    if not any_format and oid not in (BYTEA, JSON, JSONB) and row.category != "S":
        raise p.error("0A000", "cannot use JSON format with non-string output types", location)
    encoding = json_format["encoding"]
    if oid != BYTEA and encoding != "JS_ENC_DEFAULT":
        raise p.error("0A000", "cannot set JSON encoding for non-bytea output types", location)
    if encoding not in ("JS_ENC_DEFAULT", "JS_ENC_UTF8"):
        hint = "Only UTF8 JSON encoding is supported."
        raise p.error("0A000", "unsupported JSON encoding", location, hint=hint)
    return _Returning(oid, typmod, "json", location)


def _constructor_output(p: ParseState, output: Node | None, args: list[Expr]) -> _Returning:
    """transformJsonConstructorOutput: without RETURNING, jsonb if any argument is, else json."""
    result = returning(p, output, any_format=True)
    if not result.type:
        binary = any(argument.type == JSONB for argument in args)
        result.type, result.format = (JSONB, "jsonb") if binary else (JSON, "json")
    return result


def _constructor(p: ParseState, name: str, args: list[Expr], to: _Returning, location: int) -> Expr:
    """makeJsonConstructorExpr. Raises ServerError 42846."""
    expr = Expr("JsonConstructorExpr", to.type, args, location, typmod=to.typmod, value=name)
    result = JSONB if to.format == "jsonb" else JSON
    if to.type == result or (to.type == BYTEA and to.format == "json"):
        return expr
    placeholder = Expr("CaseTestExpr", result)
    if p.major.json_coerces_by_assignment:
        context, form = "a", IMPLICIT
    else:
        _, typmod = p.cache.base_type(to.type, to.typmod)
        if typmod > 0 and p.major.json_coerces_to_length:
            placeholder = coerce_to_specific_type(p, placeholder, TEXT, "JSON_CONSTRUCTOR()")
            context, form = "i", IMPLICIT
        else:
            context, form = "e", EXPLICIT_CAST
    source = placeholder.type
    if coerce_to_target_type(p, placeholder, source, to.type, to.typmod, context, form, to.location) is None:
        raise p.error("42846", NO_CAST, to.location, "no-cast", source=p.type_name(source), target=p.type_name(to.type))
    return expr


# Constructors of 16.


def object_constructor(p: ParseState, body: Node) -> Expr:
    """JSON_OBJECT('key': value, ...)."""
    if not p.major.sql_json_constructors:
        return _as_function(p, "json_object", [], body)
    args = _pairs(p, "JSON_OBJECT()", [item["JsonKeyValue"] for item in body.get("exprs", ())])
    to = _constructor_output(p, body.get("output"), args)
    return _constructor(p, "JSON_OBJECT", args, to, body.get("location", -1))


def _pairs(p: ParseState, construct: str, pairs: list[Node]) -> list[Expr]:
    args: list[Expr] = []
    for pair in pairs:
        args.append(p.transform(pair["key"]))
        args.append(_value_expression(p, construct, pair["value"], ""))
    return args


def array_constructor(p: ParseState, body: Node) -> Expr:
    """JSON_ARRAY(value, ...)."""
    items = [item["JsonValueExpr"] for item in body.get("exprs", ())]
    if not p.major.sql_json_constructors:
        return _as_function(p, "json_array", [item["raw_expr"] for item in items], body)
    args = [_value_expression(p, "JSON_ARRAY()", item, "") for item in items]
    to = _constructor_output(p, body.get("output"), args)
    return _constructor(p, "JSON_ARRAY", args, to, body.get("location", -1))


def object_aggregate(p: ParseState, body: Node) -> Expr:
    """JSON_OBJECTAGG, which is refused like any aggregate once its parts are in order."""
    args = _pairs(p, "JSON_OBJECTAGG()", [body["arg"]])
    raise _aggregate(p, body["constructor"], args)


def array_aggregate(p: ParseState, body: Node) -> Expr:
    """JSON_ARRAYAGG."""
    constructor = body["constructor"]
    if not p.major.sql_json_constructors:
        return _as_function(p, "json_arrayagg", [body["arg"]["raw_expr"]], constructor, constructor)
    args = [_value_expression(p, "JSON_ARRAYAGG()", body["arg"], "")]
    raise _aggregate(p, constructor, args)


def _aggregate(p: ParseState, constructor: Node, args: list[Expr]) -> ServerError:
    """transformJsonAggConstructor."""
    location: int = constructor.get("location", -1)
    _constructor_output(p, constructor.get("output"), args)
    if "agg_filter" in constructor:
        coerce_to_boolean(p, p.transform(constructor["agg_filter"]), "FILTER")
    if "over" in constructor:
        if "agg_order" in constructor:
            return p.error("0A000", "aggregate ORDER BY is not implemented for window functions", location)
        return p.error("42P20", OUT_OF_PLACE, location, "out-of-place", what="window functions", clause="WHERE")
    for item in constructor.get("agg_order", ()):
        p.transform(item["SortBy"]["node"])
    return p.error("42803", OUT_OF_PLACE, location, "out-of-place", what="aggregate functions", clause="WHERE")


def is_json(p: ParseState, body: Node) -> Expr:
    """IS JSON (transformJsonIsPredicate). Raises ServerError 42804."""
    value, oid = _document(p, body["expr"], body["format"])
    if oid not in (TEXT, JSON, JSONB):
        location = expr_location(value) if p.major.json_predicate_position else None
        raise p.error("42804", f"cannot use type {p.type_name(oid)} in IS JSON predicate", location)
    return Expr("JsonIsPredicate", BOOL, [value], body.get("location", -1), value="IS JSON")


def _document(p: ParseState, node: Node, json_format: Node) -> tuple[Expr, int]:
    """transformJsonParseArg: a text to be parsed, and the type it is parsed as."""
    value = p.transform(node)
    if value.type == BYTEA:
        return value, TEXT
    oid = value.type
    if oid == UNKNOWN or p.cache.type(oid).category == "S":
        text = coerce_to_target_type(p, value, oid, TEXT, -1, "i", IMPLICIT, -1)
        value, oid = text or value, TEXT
    if json_format["encoding"] != "JS_ENC_DEFAULT":
        message = "cannot use JSON FORMAT ENCODING clause for non-bytea input types"
        raise p.error("0A000", message, json_format.get("location", -1))
    return value, oid


# Constructors of 17.


def parse(p: ParseState, body: Node) -> Expr:
    """JSON(text) (transformJsonParseExpr)."""
    item, location = body["expr"], body.get("location", -1)
    if not p.major.sql_json_functions:
        return _as_function(p, "json", [item["raw_expr"]], body)
    if body.get("unique_keys"):
        value, oid = _document(p, item["raw_expr"], item["format"])
        if oid != TEXT:
            message = "cannot use non-string types with WITH UNIQUE KEYS clause"
            raise p.error("42804", message, location)
    else:
        value = _value_expression(p, "JSON()", item, "json", JSON)
    return _constructor(p, "JSON", [value], _Returning(JSON, format="json"), location)


def scalar(p: ParseState, body: Node) -> Expr:
    """JSON_SCALAR(value) (transformJsonScalarExpr)."""
    if not p.major.sql_json_functions:
        return _as_function(p, "json_scalar", [body["expr"]], body)
    value = p.transform(body["expr"])
    if value.type == UNKNOWN:
        value = coerce_to_specific_type(p, value, TEXT, "JSON_SCALAR")
    return _constructor(p, "JSON_SCALAR", [value], _Returning(JSON, format="json"), body.get("location", -1))


def serialize(p: ParseState, body: Node) -> Expr:
    """JSON_SERIALIZE(value) (transformJsonSerializeExpr)."""
    if not p.major.sql_json_functions:
        return _as_function(p, "json_serialize", [body["expr"]["raw_expr"]], body)
    value = _value_expression(p, "JSON_SERIALIZE()", body["expr"], "json")
    to = _Returning(TEXT, format="json")
    if "output" in body:
        to = returning(p, body["output"], any_format=True)
        if to.type != BYTEA and p.cache.type(to.type).category != "S":
            message = f"cannot use type {p.type_name(to.type)} in RETURNING clause of JSON_SERIALIZE()"
            raise p.error("42804", message, hint="Try returning a string type or bytea.")
    return _constructor(p, "JSON_SERIALIZE", [value], to, body.get("location", -1))


_NAMES = {"JSON_EXISTS_OP": "JSON_EXISTS", "JSON_QUERY_OP": "JSON_QUERY", "JSON_VALUE_OP": "JSON_VALUE"}
_FORMATS = {"JSON_EXISTS": "", "JSON_QUERY": "jsonb", "JSON_VALUE": ""}
_RESULTS = {"JSON_EXISTS": BOOL, "JSON_QUERY": JSONB, "JSON_VALUE": TEXT}
_BEHAVIORS: dict[str, tuple[frozenset[str], str]] = {
    "JSON_EXISTS": (
        frozenset(("ERROR", "TRUE", "FALSE", "UNKNOWN")),
        "Only ERROR, TRUE, FALSE, or UNKNOWN is allowed in {} for JSON_EXISTS().",
    ),
    "JSON_QUERY": (
        frozenset(("ERROR", "NULL", "EMPTY", "EMPTY_ARRAY", "EMPTY_OBJECT", "DEFAULT")),
        "Only ERROR, NULL, EMPTY ARRAY, EMPTY OBJECT, or DEFAULT expression is allowed in {} for JSON_QUERY().",
    ),
    "JSON_VALUE": (
        frozenset(("ERROR", "NULL", "DEFAULT")),
        "Only ERROR, NULL, or DEFAULT expression is allowed in {} for JSON_VALUE().",
    ),
}
"""The behaviours allowed ON EMPTY and ON ERROR, and the DETAIL for anything else."""
_DEFAULTS = frozenset(("Const", "FuncExpr", "OpExpr"))
_WRAPPERS = frozenset(
    ("CoerceViaIO", "CoerceToDomain", "ArrayCoerceExpr", "ConvertRowtypeExpr", "RelabelType", "CollateExpr")
)


def query_function(p: ParseState, body: Node) -> Expr:
    """Analyse a JSON query function. Raises ServerError 42601, 42804, 42846 and the errors of its parts."""
    name, location = _NAMES[body["op"]], body.get("location", -1)
    if not p.major.sql_json_functions:
        return _as_function(p, name.lower(), [body["context_item"]["raw_expr"], body["pathspec"]], body)
    _check_clauses(p, name, body, location)
    document = _value_expression(p, name, body["context_item"], _FORMATS[name], JSONB)
    path = p.transform(body["pathspec"])
    place = expr_location(path)
    coerced = coerce_to_target_type(p, path, path.type, JSONPATH, -1, "e", IMPLICIT, place)
    if coerced is None:
        message = f"JSON path expression must be of type jsonpath, not of type {p.type_name(path.type)}"
        raise p.error("42804", message, place)
    passing = [item["JsonArgument"]["val"] for item in body.get("passing", ())]
    args = [document, coerced, *(_value_expression(p, name, item, "jsonb", passed=True) for item in passing)]
    to = returning(p, body.get("output"), any_format=False)
    if not to.type:
        to.type, to.typmod = _RESULTS[name], -1
    if name != "JSON_EXISTS":
        args += _behavior(p, body.get("on_empty"), to)
    args += _behavior(p, body.get("on_error"), to)
    return Expr("JsonExpr", to.type, args, location, typmod=to.typmod, value=name)


def _check_clauses(p: ParseState, name: str, body: Node, location: int) -> None:
    output = body.get("output")
    if output is not None and name != "JSON_QUERY":
        json_format = output["returning"]["format"]
        if json_format["format_type"] != "JS_FORMAT_DEFAULT" or json_format["encoding"] != "JS_ENC_DEFAULT":
            message = f"cannot specify FORMAT JSON in RETURNING clause of {name}()"
            raise p.error("42601", message, json_format.get("location", -1))
    wrapped = body.get("wrapper") in ("JSW_CONDITIONAL", "JSW_UNCONDITIONAL")
    if name == "JSON_QUERY" and wrapped and body.get("quotes") == "JS_QUOTES_OMIT":
        message = "SQL/JSON QUOTES behavior must not be specified when WITH WRAPPER is used"
        raise p.error("42601", message, location)
    allowed, detail = _BEHAVIORS[name]
    for key, clause in (("on_empty", "ON EMPTY"), ("on_error", "ON ERROR")):
        behavior = body.get(key)
        if behavior is not None and behavior["btype"].removeprefix("JSON_BEHAVIOR_") not in allowed:
            place: int = behavior.get("location", -1)
            raise p.error("42601", f"invalid {clause} behavior", place, detail=detail.format(clause))


def _behavior(p: ParseState, behavior: Node | None, to: _Returning) -> list[Expr]:
    """A DEFAULT expression must be constant and of a type that can be cast (transformJsonBehavior).

    The values of the other behaviours are coerced when the filter runs.
    """
    if behavior is None or behavior["btype"] != "JSON_BEHAVIOR_DEFAULT":
        return []
    value = p.transform(behavior["expr"])
    place = expr_location(value)
    inner = value
    while inner.node in _WRAPPERS:
        inner = inner.args[0]
    if inner.node not in _DEFAULTS:
        message = "can only specify a constant, non-aggregate function, or operator expression for DEFAULT"
        raise p.error("42804", message, place)
    if has_columns(value):
        raise p.error("42804", "DEFAULT expression must not contain column references", place)
    null = value.node == "Const" and value.null
    boolean = value.type == BOOL and p.cache.base_type(to.type)[0] != INT4
    if value.type == to.type or null or value.type == JSONB or boolean:
        return [value]
    string = p.cache.type(p.cache.base_type(to.type)[0]).category in ("S", "V")
    coerced = coerce_to_target_type(
        p, value, value.type, to.type, to.typmod, "a" if string else "e", EXPLICIT_CAST, place
    )
    if coerced is None:
        type_name = p.type_name(to.type)
        raise p.error(
            "42846",
            f"cannot cast behavior expression of type {p.type_name(value.type)} to {type_name}",
            place,
            hint=f"You will need to explicitly cast the expression to type {type_name}.",
        )
    return [coerced]
