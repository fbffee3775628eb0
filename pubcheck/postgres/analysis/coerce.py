"""Coercions: which there are, and the nodes they become (parser/parse_coerce.c)."""

from __future__ import annotations

from collections.abc import Sequence

from pubcheck.postgres import input, oids
from pubcheck.postgres.analysis.parse_state import ParseState, expr_location
from pubcheck.postgres.analysis.pathways import (
    _ANYTHING,
    _NONE,
    Path,
    _inherits,
    can_coerce,
    common_type,
    consistent,
    find_pathway,
    is_complex,
)
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import NO_CAST, TYPES_UNMATCHED, ServerError, Unknowable
from pubcheck.postgres.primnodes import IMPLICIT, UNKNOWN, Expr
from pubcheck.postgres.session.syscache import SysCache


def can_coerce_type(p: ParseState, inputs: Sequence[int], targets: Sequence[int], context: str) -> bool:
    """Return whether all inputs can become the targets, polymorphic ones among them (can_coerce_type)."""
    cache, generic = p.cache, False
    for source, target in zip(inputs, targets, strict=True):
        if source == target:
            continue
        if target in oids.POLYMORPHIC:
            generic = True
        elif not can_coerce(cache, source, target, context):
            return False
    return not generic or consistent(cache, inputs, targets)


# The nodes.


def coerce_to_target_type(
    p: ParseState, node: Expr, source: int, target: int, typmod: int, context: str, form: str, location: int
) -> Expr | None:
    """The expression as a type and typmod, or None where there is no such coercion (coerce_to_target_type)."""
    if not can_coerce_type(p, (source,), (target,), context):
        return None
    inner = node
    while inner.node == "CollateExpr":
        inner = inner.args[0]
    result = coerce_type(p, inner, source, target, typmod, context, form, location)
    result = _coerce_typmod(p, result, target, typmod, context, form, location)
    if inner is not node and p.cache.type(target).collation:
        result = _recollate(node, result)
    return result


def _recollate(collate: Expr, argument: Expr) -> Expr:
    return Expr(
        "CollateExpr",
        argument.type,
        [argument],
        collate.location,
        typmod=argument.typmod,
        collation=collate.collation,
        value=collate.value,
    )


def coerce_type(
    p: ParseState, node: Expr, source: int, target: int, typmod: int, context: str, form: str, location: int
) -> Expr:
    """The expression as a type to which it is known to be coercible (coerce_type)."""
    if source == target or target in _ANYTHING:
        return node
    cache = p.cache
    if target in oids.POLYMORPHIC and source != UNKNOWN:
        base, _ = cache.base_type(source)
        return node if base == source else _relabel(node, base, -1, form, location)
    if source == UNKNOWN and node.node == "Const":
        return _read_literal(p, node, target, typmod, context, form, location)
    if node.node == "CollateExpr":
        result = coerce_type(p, node.args[0], source, target, typmod, context, form, location)
        return _recollate(node, result) if cache.type(target).collation else result
    path, function = find_pathway(cache, target, source, context)
    if path:
        base, base_typmod = cache.base_type(target, typmod)
        if path != "relabel":
            result = _build(p, node, path, function, base, base_typmod, context, form, location)
            return _coerce_to_domain(p, result, base, base_typmod, target, context, form, location)
        result = _coerce_to_domain(p, node, base, base_typmod, target, context, form, location)
        return result if result is not node else _relabel(node, target, -1, form, location)
    if source == oids.RECORD and is_complex(cache, target):
        return _record_to_complex(p, node, target, context, form, location)
    if target in (oids.RECORD, oids.RECORD_ARRAY):
        return node
    if _inherits(cache, source, target):
        base, _ = cache.base_type(source)
        if base != source:
            node = _relabel(node, base, -1, IMPLICIT, location)
        return Expr("ConvertRowtypeExpr", target, [node], location, form=form)
    raise p.error(
        "XX000", f"failed to find conversion function from {p.type_name(source)} to {p.type_name(target)}", None
    )


def _relabel(node: Expr, target: int, typmod: int, form: str, location: int) -> Expr:
    return Expr("RelabelType", target, [node], location, typmod=typmod, form=form)


def _read_literal(p: ParseState, node: Expr, target: int, typmod: int, context: str, form: str, location: int) -> Expr:
    """A literal of type unknown, read by the input function of the type it meets."""
    base, base_typmod = p.cache.base_type(target, typmod)
    row = p.cache.type(base)
    input_typmod = base_typmod if base == oids.INTERVAL else -1
    if node.null and base != oids.INTERNAL:  # whose input function is not strict, and refuses NULL too
        value = None
    else:
        try:
            value = input.read(p.inputs, base, "" if node.null else node.value, input_typmod)
        except Unknowable:
            # The input functions of the unit's own types are not followed: no filter may hold such a constant anyway.
            if base < FIRST_NORMAL_OID or row.kind != "b":
                raise
            value = node.value
        except ServerError as error:
            if error.location is None and node.location >= 0:
                error.location = node.location
                error.culprit = node.location
            raise
        if p.inputs.frozen:
            p.frozen.append((node.location, frozenset(p.inputs.frozen)))
            p.inputs.frozen.clear()
    constant = Expr(
        "Const", base, [], node.location, typmod=input_typmod, collation=row.collation, value=value, null=node.null
    )
    return _coerce_to_domain(p, constant, base, base_typmod, target, context, form, location)


def _coerce_to_domain(
    p: ParseState, node: Expr, base: int, typmod: int, target: int, context: str, form: str, location: int
) -> Expr:
    if base == target:
        return node
    node = _coerce_typmod(p, node, base, typmod, context, IMPLICIT, location)
    return Expr("CoerceToDomain", target, [node], location, form=form)


def _coerce_typmod(p: ParseState, node: Expr, target: int, typmod: int, context: str, form: str, location: int) -> Expr:
    """coerce_type_typmod: the length coercion, or a relabelling that shows the typmod."""
    if typmod == node.typmod:
        return node
    if typmod >= 0:
        path, function = _typmod_function(p.cache, target)
        if path:
            return _build(p, node, path, function, target, typmod, context, form, location)
    # applyRelabelType: a Const is relabelled in place, of nested RelabelTypes the outermost stays.
    while node.node == "RelabelType":
        node = node.args[0]
    if node.node == "Const":
        place, collation = node.location, node.collation
        return Expr("Const", target, [], place, typmod=typmod, collation=collation, value=node.value, null=node.null)
    if node.type == target and node.typmod == typmod:
        return node
    return _relabel(node, target, typmod, form, location)


def _typmod_function(cache: SysCache, oid: int) -> Path:
    """find_typmod_coercion_function."""
    element = cache.element_type(oid)
    cast = cache.cast(element or oid, element or oid)
    if cast is None or not cast.function:
        return _NONE
    return ("array" if element else "function"), cast.function


def _build(
    p: ParseState,
    node: Expr,
    path: str,
    function: int,
    target: int,
    typmod: int,
    context: str,
    form: str,
    location: int,
) -> Expr:
    """build_coercion_expression."""
    if path == "function":
        args = [node]
        parameter_count = len(p.cache.proc(function).arguments)
        if parameter_count >= 2:
            args.append(Expr("Const", oids.INT4, value=typmod))
        if parameter_count == 3:
            args.append(Expr("Const", oids.BOOL, value=context == "e"))
        # exprIsLengthCoercion: the result of a length coercion has that length.
        shown = typmod if parameter_count >= 2 else -1
        return Expr("FuncExpr", target, args, location, typmod=shown, functions=(function,), form=form)
    if path == "array":
        cache = p.cache
        base, source_typmod = cache.base_type(node.type, node.typmod)
        element = Expr("CaseTestExpr", cache.element_type(base), typmod=source_typmod)
        element_type = cache.element_type(target)
        coerced = coerce_to_target_type(p, element, element.type, element_type, typmod, context, form, location)
        if coerced is None:
            raise p.error("XX000", "failed to coerce array element type as expected", None)
        return Expr("ArrayCoerceExpr", target, [node, coerced], location, typmod=coerced.typmod, form=form)
    return Expr("CoerceViaIO", target, [node], location, form=form)


def _record_to_complex(p: ParseState, node: Expr, target: int, context: str, form: str, location: int) -> Expr:
    """coerce_record_to_complex: a ROW as a composite type, field by field."""
    cache = p.cache
    where = location if location >= 0 else expr_location(node)

    def refuse(detail: str | None = None, position: int = where) -> ServerError:
        return p.error(
            "42846", NO_CAST, position, "no-cast", detail=detail, source="record", target=p.type_name(target)
        )

    if node.node != "RowExpr":
        raise refuse()
    base, typmod = cache.base_type(target)
    fields = cache.fields(base)
    values = list(node.args)
    args: list[Expr] = []
    number = 0
    for field in fields:
        if field.dropped:
            args.append(Expr("Const", oids.INT4, null=True))
            continue
        if number == len(values):
            raise refuse("Input has too few columns.")
        value = values[number]
        number += 1
        cache.type(field.type)
        coerced = coerce_to_target_type(p, value, value.type, field.type, field.typmod, context, IMPLICIT, -1)
        if coerced is None:
            raise refuse(
                f"Cannot cast type {p.type_name(value.type)} to {p.type_name(field.type)} in column {number}.",
                location if location >= 0 else expr_location(value),
            )
        args.append(coerced)
    if number < len(values):
        raise refuse("Input has too many columns.")
    row = Expr("RowExpr", base, args, location, form=form)
    return _coerce_to_domain(p, row, base, typmod, target, context, form, location)


# What constructs require.


def coerce_to_boolean(p: ParseState, node: Expr, construct: str) -> Expr:
    """Raises ServerError 42804 (coerce_to_boolean)."""
    return coerce_to_specific_type(p, node, oids.BOOL, construct)


def coerce_to_specific_type(p: ParseState, node: Expr, target: int, construct: str) -> Expr:
    """Raises ServerError 42804 (coerce_to_specific_type)."""
    if node.type == target:
        return node
    result = coerce_to_target_type(p, node, node.type, target, -1, "a", IMPLICIT, -1)
    if result is None:
        raise p.error(
            "42804",
            "argument of {what} must be type {target}, not type {type}",
            expr_location(node),
            "argument-type",
            what=construct,
            target=p.type_name(target),
            type=p.type_name(node.type),
        )
    return result


# Common types.


def select_common_type(p: ParseState, exprs: Sequence[Expr], construct: str | None) -> int:
    """Return the common type of CASE, VALUES and similar constructs (select_common_type).

    Raises ServerError 42804; answers 0 instead where ``construct`` is None.
    """

    def refuse(first: int, second: int, index: int) -> ServerError | None:
        if construct is None:
            return None
        return p.error(
            "42804",
            TYPES_UNMATCHED,
            expr_location(exprs[index]),
            "types-unmatched",
            what=construct,
            one=p.type_name(first),
            other=p.type_name(second),
        )

    return common_type(p.cache, [expr.type for expr in exprs], refuse)


def coerce_to_common_type(p: ParseState, node: Expr, target: int, construct: str) -> Expr:
    """Raises ServerError 42846 (coerce_to_common_type)."""
    if node.type == target:
        return node
    if not can_coerce_type(p, (node.type,), (target,), "i"):
        raise p.error(
            "42846",
            f"{construct} could not convert type {p.type_name(node.type)} to {p.type_name(target)}",
            expr_location(node),
        )
    return coerce_type(p, node, node.type, target, -1, "i", IMPLICIT, -1)


def verify_common_type(p: ParseState, target: int, exprs: Sequence[Expr]) -> bool:
    return all(can_coerce_type(p, (expr.type,), (target,), "i") for expr in exprs)


def select_common_typmod(exprs: Sequence[Expr], target: int) -> int:
    """The typmod that all expressions share, else -1 (select_common_typmod)."""
    if any(expr.type != target for expr in exprs):
        return -1
    typmods = {expr.typmod for expr in exprs}
    return typmods.pop() if len(typmods) == 1 else -1
