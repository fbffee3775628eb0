"""Function calls, and columns of composite values that look like them (parser/parse_func.c)."""

from __future__ import annotations

from pubcheck.postgres.analysis import candidates
from pubcheck.postgres.analysis.candidates import Candidate, function_candidates, matching, select
from pubcheck.postgres.analysis.coerce import coerce_to_boolean, coerce_type
from pubcheck.postgres.analysis.namespace_items import Nested
from pubcheck.postgres.analysis.operators import coerce_arguments
from pubcheck.postgres.analysis.parse_state import ParseState, expr_location, relation_column
from pubcheck.postgres.analysis.pathways import find_pathway, is_complex, resolve
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.errors import OUT_OF_PLACE, ServerError, Unknowable
from pubcheck.postgres.oids import ANY, INTERNAL, POLYMORPHIC, RECORD
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import EXPLICIT_CALL, SQL_SYNTAX, UNKNOWN, VARIADIC, Expr

MAX_ARGUMENTS = 100
"""FUNC_MAX_ARGS."""


def call_function(p: ParseState, names: list[str], args: list[Expr], call: Node | None, location: int) -> Expr:
    """``f(args)``; ``call`` is the FuncCall node, or None for an operator-like construct of the grammar.

    Raises ServerError 42883, 42725, 42809, 42803, 42P20, 0A000, 42601. (ParseFuncOrColumn)
    """
    expr = _call(p, names, args, call or {}, location)
    assert expr is not None
    return expr


def column_of(p: ParseState, name: str, value: Expr, location: int) -> Expr | None:
    """``value.name``: a field of a composite value, or a function of that name; None where there is neither."""
    return _call(p, [name], [value], None, location)


def _call(p: ParseState, names: list[str], args: list[Expr], call: Node | None, location: int) -> Expr | None:
    column = call is None
    call = call or {}
    filter_ = call.get("agg_filter")
    condition: Expr | None = None
    if filter_ is not None:
        clause, p.clause = p.clause, "FILTER"
        condition = coerce_to_boolean(p, p.transform(filter_), "FILTER")
        p.clause = clause
    if len(args) > MAX_ARGUMENTS:
        message = f"cannot pass more than {MAX_ARGUMENTS} arguments to a function"
        raise p.error("54023", message, location)
    argument_names = _argument_names(p, args)
    types = [arg.type for arg in args]
    variadic_call = call.get("func_variadic", False)
    plain = not any(call.get(key) for key in ("agg_order", "agg_star", "agg_distinct", "over")) and filter_ is None
    projection = (
        len(args) == 1
        and plain
        and not variadic_call
        and not argument_names
        and len(names) == 1
        and (types[0] == RECORD or is_complex(p.cache, types[0]))
    )
    if projection and column:
        field = _project(p, names[0], args[0], location)
        if field is not None:
            return field
    try:
        detail = _detail(p, names, args, argument_names, types, not variadic_call)
    except ServerError as error:
        # Raised while names are looked up: the server points at the call.
        error.location = location if error.location is None else error.location
        raise
    signature = _Signature(p, names, types, argument_names)
    if detail == "coercion":
        _no_decoration(p, names, call, location)
        target = _type_named(p, names)
        return coerce_type(p, args[0], types[0], target, -1, "e", EXPLICIT_CALL, location)
    if isinstance(detail, str):
        if column:
            return None
        field = _project(p, names[0], args[0], location) if projection and detail != "many" else None
        if field is not None:
            return field
        raise _not_one(p, names, types, argument_names, signature, detail, call, location)
    proc = p.cache.proc(detail.oid)
    _check_kind(p, names, proc, args, call, signature, location)
    if proc.returns == INTERNAL and p.major.internal_not_callable:
        raise p.error("0A000", 'functions returning type "internal" cannot be called explicitly', location)
    expr = _build_call(p, names, args, proc, detail, call, location)
    if expr.node == "Aggref" and condition is not None:
        expr.value = (expr.value[0], condition, *expr.value[2:])
    if expr.node == "WindowFunc":
        expr.value = (expr.value[0], condition, expr.value[2])
    return expr


def _not_one(
    p: ParseState,
    names: list[str],
    types: list[int],
    argument_names: list[str],
    signature: _Signature,
    detail: str,
    call: Node,
    location: int,
) -> ServerError:
    """Return the error for a call that no function fits, or "many" do."""
    if detail == "many":
        reason = candidates.ambiguous(p, "function")
        message = "function {signature} is not unique"
        return p.error(
            "42725",
            message,
            location,
            "function-ambiguous",
            detail=reason[0],
            hint=reason[1],
            signature=str(signature),
        )
    if detail == "misplaced":
        reason = candidates.misplaced_variadic(p)
    else:
        reason = candidates.no_function(p, names, len(types), argument_names, call)
    exists = bool(p.cache.procs(names))
    return p.missing(NO_FUNCTION, "no-function", str(signature), location, types, exists=exists, reason=reason)


NO_FUNCTION = "function {signature} does not exist"


class _Signature:
    """func_signature_string, built only when it is read."""

    def __init__(self, p: ParseState, names: list[str], types: list[int], argument_names: list[str]) -> None:
        self._parts = p, names, types, argument_names

    def __str__(self) -> str:
        p, names, types, argument_names = self._parts
        first = len(types) - len(argument_names)
        shown = [
            (f"{argument_names[index - first]} => " if index >= first else "") + p.type_name(oid)
            for index, oid in enumerate(types)
        ]
        return f"{'.'.join(names)}({', '.join(shown)})"


def _argument_names(p: ParseState, args: list[Expr]) -> list[str]:
    names: list[str] = []
    for arg in args:
        if arg.node == "NamedArgExpr":
            if arg.value in names:
                raise p.error("42601", f'argument name "{arg.value}" used more than once', arg.location)
            names.append(arg.value)
        elif names:
            raise p.error("42601", "positional argument cannot follow named argument", expr_location(arg))
    return names


def _detail(
    p: ParseState, names: list[str], args: list[Expr], argument_names: list[str], types: list[int], expand: bool
) -> Candidate | str:
    """Return the function that the call resolves to, or "coercion", "many", "none" or "misplaced", if VARIADIC is
    not at the last argument (func_get_detail)."""
    offered = function_candidates(p.cache, names, len(args), argument_names, expand=expand)
    actual = tuple(types)
    best = next((candidate for candidate in offered if candidate.args[: len(actual)] == actual), None)
    if best is None:
        if len(args) == 1 and not argument_names and _is_coercion(p, names, args[0]):
            return "coercion"
        fitting = matching(p, types, offered)
        if len(fitting) > 1:
            best = select(p, types, fitting)
            if best is None:
                return "many"
        elif fitting:
            best = fitting[0]
    if best is None:
        return "none"
    if not best.oid:
        return "many"
    if argument_names and not expand and best.positions is not None and best.positions[len(args) - 1] != len(args) - 1:
        return "misplaced"
    return best


def _type_named(p: ParseState, names: list[str]) -> int:
    """FuncNameAsType: the type of that name if it is not a row type; 0 if there is none."""
    try:
        oid = p.session.named_type(names)
    except ServerError:
        return 0
    if not oid:
        return 0
    row = p.cache.type(oid)
    return 0 if row.relation or (row.kind == "p" and not row.seen) else oid


def _is_coercion(p: ParseState, names: list[str], arg: Expr) -> bool:
    target = _type_named(p, names)
    if not target:
        return False
    if arg.type == UNKNOWN and arg.node == "Const":
        return True
    path, _ = find_pathway(p.cache, target, arg.type, "e")
    if path == "io":
        composite = arg.type == RECORD or is_complex(p.cache, arg.type)
        return not (composite and p.cache.type(target).category == "S")
    return path == "relabel"


def _no_decoration(p: ParseState, names: list[str], call: Node, location: int) -> None:
    """A function that is not an aggregate takes nothing that only an aggregate or window function does."""
    name = ".".join(names)
    if call.get("agg_star"):
        raise p.error("42809", f"{name}(*) specified, but {name} is not an aggregate function", location)
    for key, words in (
        ("agg_distinct", "DISTINCT"),
        ("agg_within_group", "WITHIN GROUP"),
        ("agg_order", "ORDER BY"),
        ("agg_filter", "FILTER"),
    ):
        if call.get(key):
            raise p.error("42809", f"{words} specified, but {name} is not an aggregate function", location)
    if call.get("over"):
        message = f"OVER specified, but {name} is not a window function nor an aggregate function"
        raise p.error("42809", message, location)
    if call.get("ignore_nulls"):
        raise p.error("42809", f"RESPECT/IGNORE NULLS specified, but {name} is not a window function", location)


def _check_kind(
    p: ParseState, names: list[str], proc: Proc, args: list[Expr], call: Node, signature: _Signature, location: int
) -> None:
    name = ".".join(names)
    if proc.kind == "p":
        raise p.error("42809", f"{signature} is a procedure", location, hint="To call a procedure, use CALL.")
    if proc.kind == "f":
        _no_decoration(p, names, call, location)
    elif proc.kind == "a":
        _check_aggregate(p, name, proc, args, call, signature, location)
        if call.get("ignore_nulls"):
            raise p.error("42809", "aggregate functions do not accept RESPECT/IGNORE NULLS", location)
    elif not call.get("over"):
        raise p.error("42809", f"window function {name} requires an OVER clause", location)
    elif call.get("agg_within_group"):
        raise p.error("42809", f"window function {name} cannot have WITHIN GROUP", location)


def _check_aggregate(
    p: ParseState, name: str, proc: Proc, args: list[Expr], call: Node, signature: _Signature, location: int
) -> None:
    aggregate = p.cache.aggregate(proc.oid)
    if not call.get("agg_within_group"):
        if aggregate.kind != "n":
            raise p.error("42809", f"WITHIN GROUP is required for ordered-set aggregate {name}", location)
        return
    if aggregate.kind == "n":
        if proc.oid >= FIRST_NORMAL_OID:
            raise Unknowable("whether an aggregate of the unit is an ordered-set aggregate", location)
        message = f"{name} is not an ordered-set aggregate, so it cannot have WITHIN GROUP"
        raise p.error("42809", message, location)
    if call.get("over"):
        raise p.error("0A000", f"OVER is not supported for ordered-set aggregate {name}", location)
    aggregated = len(call.get("agg_order", ()))
    direct = len(args) - aggregated
    if aggregate.kind == "h":
        if direct == aggregated:
            return
        hint = (
            f"To use the hypothetical-set aggregate {name}, the number of hypothetical direct arguments "
            f"(here {direct}) must match the number of ordering columns (here {aggregated})."
        )
    else:
        if direct == aggregate.direct:
            return
        plural = "" if aggregate.direct == 1 else "s"
        hint = (
            f"There is an ordered-set aggregate {name}, but it requires {aggregate.direct} direct argument{plural}, "
            f"not {direct}."
        )
    raise p.error("42883", NO_FUNCTION, location, "no-function", hint=hint, signature=str(signature))


def _build_call(
    p: ParseState, names: list[str], args: list[Expr], proc: Proc, candidate: Candidate, call: Node, location: int
) -> Expr:
    cache = p.cache
    count = len(args)
    # Arguments that are left to their defaults have the declared types.
    actual = [arg.type for arg in args] + list(candidate.args[count:])
    if not proc.returns:
        raise Unknowable("the result type of a function that the unit makes", location)
    targets, result = resolve(cache, actual, candidate.args, proc.returns)
    args = coerce_arguments(p, args, targets)
    variadic_call = call.get("func_variadic", False) and bool(proc.variadic)
    if candidate.variadic and proc.variadic != ANY:
        args = _gather(p, args, count - candidate.variadic)
    elif variadic_call and proc.variadic == ANY and args:
        last = args[-1]
        if not cache.element_type(cache.base_type(actual[count - 1])[0]):
            raise p.error("42804", "VARIADIC argument must be an array", expr_location(last))
    if proc.returns_set:
        if proc.kind == "a":
            raise p.error("42P13", "aggregates cannot return sets", location)
        p.take_set(location)
    if proc.kind != "f":
        other_arguments = _check_aggregation(p, names, args, proc, call, location)
        over = bool(call.get("over"))
        if type(p) is ParseState:
            sqlstate, construct = ("42P20", "window functions") if over else ("42803", "aggregate functions")
            raise p.error(sqlstate, OUT_OF_PLACE, location, "out-of-place", what=construct, clause=p.clause)
        from pubcheck.postgres.analysis import grouping

        assert isinstance(p, Nested)
        expr = Expr("WindowFunc" if over else "Aggref", result, args, location, functions=(proc.oid,))
        if over:
            expr.value = (call["over"], None, bool(call.get("ignore_nulls")))
            return grouping.place_window(p, expr, call["over"])
        expr = grouping.place_aggregate(p, expr, other_arguments)
        sorting = tuple(zip(other_arguments, call.get("agg_order", ()), strict=False))
        if sorting or call.get("agg_distinct"):
            expr.value = (*expr.value, None, sorting, bool(call.get("agg_distinct")))
        return expr
    form = SQL_SYNTAX if call.get("funcformat") == "COERCE_SQL_SYNTAX" else EXPLICIT_CALL
    variadic = VARIADIC if variadic_call and proc.variadic == ANY else None
    return Expr("FuncExpr", result, args, location, functions=(proc.oid,), form=form, value=variadic)


def _gather(p: ParseState, args: list[Expr], first: int) -> list[Expr]:
    """The arguments from ``first`` on as the array that a variadic function takes."""
    rest = args[first:]
    array = p.cache.array_type(rest[0].type)
    place = min((position for position in map(expr_location, rest) if position >= 0), default=-1)
    if not array:
        raise p.error("42704", f"could not find array type for data type {p.type_name(rest[0].type)}", place)
    return [*args[:first], Expr("ArrayExpr", array, rest, place)]


def _check_aggregation(
    p: ParseState, names: list[str], args: list[Expr], proc: Proc, call: Node, location: int
) -> list[Expr]:
    """Check the clauses of an aggregate or window function: the rules that hold everywhere, ORDER BY and FILTER."""
    name, star = ".".join(names), call.get("agg_star", False)
    if proc.kind == "a" and not args and not star and not call.get("agg_within_group"):
        raise p.error("42809", f"{name}(*) must be used to call a parameterless aggregate function", location)
    if not call.get("over"):
        if any(arg.node == "NamedArgExpr" for arg in args):
            raise p.error("0A000", "aggregates cannot use named arguments", location)
        return _sort(p, args, call)
    if call.get("agg_distinct"):
        raise p.error("0A000", "DISTINCT is not implemented for window functions", location)
    if call.get("agg_order"):
        raise p.error("0A000", "aggregate ORDER BY is not implemented for window functions", location)
    if proc.kind == "w" and call.get("agg_filter"):
        raise p.error("0A000", "FILTER is not implemented for non-aggregate window functions", location)
    return []


def _sort(p: ParseState, args: list[Expr], call: Node) -> list[Expr]:
    """Check that the sort and DISTINCT keys of an aggregate have an order (transformAggregateCall)."""
    from pubcheck.postgres.analysis.grouping import equal_trees, order

    keys: list[Expr] = []
    for item in () if call.get("agg_within_group") else call.get("agg_order", ()):
        by = item["SortBy"]
        key = p.transform(by["node"])
        if key.type != UNKNOWN:
            place: int = by.get("location", -1) if "useOp" in by else -1
            order(p, key, place if place >= 0 else expr_location(key), by.get("useOp"))
        keys.append(key)
    if not call.get("agg_distinct"):
        return keys
    for key in keys:
        if not any(equal_trees(key, arg) for arg in args):
            message = "in an aggregate with DISTINCT, ORDER BY expressions must appear in argument list"
            raise p.error("42P10", message, expr_location(key))
    for arg in args:
        if arg.type != UNKNOWN and not p.cache.type_cache(arg.type).eq:
            message = f"could not identify an equality operator for type {p.type_name(arg.type)}"
            raise p.error("42883", message, expr_location(arg))
    for arg in args:
        if arg.type != UNKNOWN and not p.cache.type_cache(arg.type).lt:
            message = f"could not identify an ordering operator for type {p.type_name(arg.type)}"
            detail = "Aggregates with DISTINCT must be able to sort their inputs."
            raise p.error("42883", message, expr_location(arg), detail=detail)
    return keys


def _project(p: ParseState, name: str, value: Expr, location: int) -> Expr | None:
    """Return a field of a composite value (ParseComplexProjection)."""
    cache = p.cache
    if value.node == "Var" and value.value == 0:
        return relation_column(p, p.relation, name, location)
    if value.type == RECORD:
        return _project_record(p, name, value, location)
    column = next((field for field in cache.fields(value.type) if field.name == name and not field.dropped), None)
    if column is None:
        return None
    cache.type(column.type)
    return Expr(
        "FieldSelect",
        column.type,
        [value],
        typmod=column.typmod,
        collation=column.collation,
        value=column.number,
    )


def _project_record(p: ParseState, name: str, value: Expr, location: int) -> Expr | None:
    """A ROW's fields are f1, f2..., a function's its OUT parameters (expandRecordVariable, get_expr_result_tupdesc)."""
    if value.node == "RowExpr":
        fields = [(f"f{number}", field.type, field.typmod) for number, field in enumerate(value.args, 1)]
    elif value.node == "FuncExpr":
        row = p.cache.proc(value.functions[0])
        outputs = [index for index, mode in enumerate(row.modes) if mode in "obt"]
        names, types = row.argument_names or ("",) * len(row.modes), p.cache.parameter_types(row)
        fields = [(names[index] or f"column{number}", types[index], -1) for number, index in enumerate(outputs, 1)]
    else:
        return None
    for number, (field, oid, typmod) in enumerate(fields, 1):
        if field == name:
            if oid in POLYMORPHIC:
                raise Unknowable("the columns that a function returns", location)
            return Expr("FieldSelect", oid, [value], typmod=typmod, value=number)
    return None
