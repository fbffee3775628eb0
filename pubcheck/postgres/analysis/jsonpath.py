"""JSON_EXISTS, JSON_VALUE and JSON_QUERY of 17 (transformJsonFuncExpr in parser/parse_expr.c)."""

from __future__ import annotations

from pubcheck.postgres.analysis.coerce import coerce_to_target_type
from pubcheck.postgres.analysis.comparisons import has_columns
from pubcheck.postgres.analysis.json import Returning, as_function, returning, value_expression
from pubcheck.postgres.analysis.locations import expr_location
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.oids import BOOL, INT4, JSONB, JSONPATH, TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import EXPLICIT_CAST, IMPLICIT, Expr

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
        return as_function(p, name.lower(), [body["context_item"]["raw_expr"], body["pathspec"]], body)
    _check_clauses(p, name, body, location)
    document = value_expression(p, name, body["context_item"], _FORMATS[name], JSONB)
    path = p.transform(body["pathspec"])
    place = expr_location(path)
    coerced = coerce_to_target_type(p, path, path.type, JSONPATH, -1, "e", IMPLICIT, place)
    if coerced is None:
        message = f"JSON path expression must be of type jsonpath, not of type {p.type_name(path.type)}"
        raise p.error("42804", message, place)
    passing = [item["JsonArgument"]["val"] for item in body.get("passing", ())]
    args = [document, coerced, *(value_expression(p, name, item, "jsonb", passed=True) for item in passing)]
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


def _behavior(p: ParseState, behavior: Node | None, to: Returning) -> list[Expr]:
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
