"""Names of types, casts, COLLATE and ARRAY[...], which a cast gives its type (parser/parse_type.c, parse_expr.c);
subscripts and field selection (transformIndirection in parser/parse_expr.c, transformContainerSubscripts in
parse_node.c, utils/adt/arraysubs.c and jsonbsubs.c).
"""

from __future__ import annotations

from pubcheck.postgres.analysis.coerce import (
    coerce_to_common_type,
    coerce_to_target_type,
    coerce_type,
    select_common_type,
    select_common_typmod,
)
from pubcheck.postgres.analysis.functions import column_of
from pubcheck.postgres.analysis.parse_state import ParseState, expr_location, node_location
from pubcheck.postgres.analysis.pathways import can_coerce, is_complex
from pubcheck.postgres.errors import NO_CAST, NO_QUALIFIED_COLUMN, NO_SCHEMA, ServerError, Unknowable
from pubcheck.postgres.oids import INT2, INT2VECTOR, INT4, JSONB, OID, OIDVECTOR, RECORD, TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import EXPLICIT_CAST, IMPLICIT, UNKNOWN, Expr


def type_and_typmod(p: ParseState, type_name: Node) -> tuple[int, int]:
    """The type's oid and its modifier, -1 for none (typenameTypeIdAndMod).

    Raises ServerError 42704, 3F000, and those of the modifiers' input functions.
    """
    location: int = type_name.get("location", -1)
    names = [part["String"]["sval"] for part in type_name["names"]]
    try:
        oid = p.session.type_oid(type_name)
    except ServerError as error:
        if error.sqlstate not in ("42704", "3F000"):
            raise
        raise _missing(p, names, type_name, location) from None
    if not oid:
        if not p.cache.complete_names:
            raise Unknowable(f'type "{".".join(names)}"', location)
        raise _missing(p, names, type_name, location)
    p.cache.type(oid)
    if "typmods" not in type_name:
        return oid, type_name.get("typemod", 0)
    from pubcheck.postgres.input.typmods import typmod_of

    return oid, typmod_of(p.cache, oid, type_name["typmods"], location, _written(names, type_name))


def _written(names: list[str], type_name: Node) -> str:
    """TypeNameToString."""
    return ".".join(names) + ("[]" if "arrayBounds" in type_name else "")


def _missing(p: ParseState, names: list[str], type_name: Node, location: int) -> ServerError:
    """The refusal of a name that no type has."""
    if len(names) > 1 and names[-2] not in p.session.catalog.namespace_names:
        return p.error("3F000", NO_SCHEMA, location, "no-schema-of-expression", schema=names[-2])
    message = 'type "{name}" does not exist'
    return p.error("42704", message, location, "no-type", name=_written(names, type_name))


def cast(p: ParseState, body: Node) -> Expr:
    """CAST(), :: and TYPE 'literal' (transformTypeCast). Raises ServerError 42846 and the errors of its parts."""
    type_name = body["typeName"]
    target, typmod = type_and_typmod(p, type_name)
    argument = body["arg"]
    expr: Expr | None = None
    if "A_ArrayExpr" in argument:
        base, base_typmod = p.cache.base_type(target, typmod)
        element = p.cache.element_type(base)
        if element:
            expr = array(p, argument["A_ArrayExpr"], (base, element, base_typmod))
    if expr is None:
        expr = p.transform(argument)
    location: int = body.get("location", -1)
    if location < 0:
        location = type_name.get("location", -1)
    result = coerce_to_target_type(p, expr, expr.type, target, typmod, "e", EXPLICIT_CAST, location)
    if result is None:
        raise p.error("42846", NO_CAST, location, "no-cast", source=p.type_name(expr.type), target=p.type_name(target))
    return result


def collate(p: ParseState, body: Node) -> Expr:
    """COLLATE (transformCollateClause). Raises ServerError 42804 and 42704."""
    argument = p.transform(body["arg"])
    location: int = body.get("location", -1)
    # A literal that nothing has given a type yet takes any collation.
    if argument.type != UNKNOWN and not p.cache.type(argument.type).collation:
        raise p.error("42804", f"collations are not supported by type {p.type_name(argument.type)}", location)
    names = [part["String"]["sval"] for part in body["collname"]]
    chosen = p.cache.collation_named(names, location).oid
    return Expr(
        "CollateExpr", argument.type, [argument], location, typmod=argument.typmod, collation=chosen, value=chosen
    )


def array(p: ParseState, body: Node, cast_type: tuple[int, int, int] | None = None) -> Expr:
    """ARRAY[...] (transformArrayExpr). ``cast_type`` are the array type, element type and typmod that a cast asks for.

    Raises ServerError 42P18, 42704, 42804, 42846.
    """
    location: int = body.get("location", -1)
    nested = False
    items: list[Expr] = []
    for element in body.get("elements", ()):
        if "A_ArrayExpr" in element:
            item = array(p, element["A_ArrayExpr"], cast_type)
            nested = True
        else:
            item = p.transform(element)
            if not nested and item.type not in (INT2VECTOR, OIDVECTOR):
                nested = bool(p.cache.element_type(item.type))
        items.append(item)
    if cast_type is not None:
        array_type, element_type, typmod = cast_type
        target = array_type if nested else element_type
        elements = [_forced(p, item, target, typmod) for item in items]
        return _array(p, array_type, target, elements, location, nested)
    if not items:
        raise p.error(
            "42P18",
            "cannot determine type of empty array",
            location,
            hint="Explicitly cast to the desired type, for example ARRAY[]::integer[].",
        )
    common = select_common_type(p, items, "ARRAY")
    array_type = common if nested else p.cache.array_type(common)
    if nested and not p.cache.element_type(common):
        raise p.error("42704", f"could not find element type for data type {p.type_name(common)}", location)
    if not array_type:
        raise p.error("42704", f"could not find array type for data type {p.type_name(common)}", location)
    elements = [coerce_to_common_type(p, item, common, "ARRAY") for item in items]
    return _array(p, array_type, common, elements, location, nested)


def _array(p: ParseState, oid: int, item: int, items: list[Expr], location: int, nested: bool) -> Expr:
    typmod = select_common_typmod(items, item) if items else -1
    return Expr("ArrayExpr", oid, items, location, typmod=typmod, value=nested)


def _forced(p: ParseState, item: Expr, target: int, typmod: int) -> Expr:
    result = coerce_to_target_type(p, item, item.type, target, typmod, "e", EXPLICIT_CAST, -1)
    if result is None:
        location = expr_location(item)
        raise p.error("42846", NO_CAST, location, "no-cast", source=p.type_name(item.type), target=p.type_name(target))
    return result


_MAX_DIMENSIONS = 6
"""MAXDIM."""
_VECTORS = {INT2VECTOR: 1005, OIDVECTOR: 1028}
"""int2vector and oidvector are subscripted as the arrays int2[] and oid[] (transformContainerType)."""
_VECTOR_ELEMENTS = {1005: INT2, 1028: OID}


def indirection(p: ParseState, body: Node) -> Expr:
    """``value[1].field``. Raises ServerError 42804, 42703, 42809, 0A000, 54000."""
    result = p.transform(body["arg"])
    location = expr_location(result)
    subscripts: list[Node] = []
    for step in body["indirection"]:
        if "A_Indices" in step:
            subscripts.append(step["A_Indices"])
            continue
        if "A_Star" in step:
            raise p.error("0A000", 'row expansion via "*" is not supported here', location)
        if subscripts:
            result = _subscript(p, result, subscripts)
            subscripts = []
        name = step["String"].get("sval", "")
        field = column_of(p, name, result, location)
        if field is None:
            raise _unknown_field(p, result, name, location)
        result = field
    return _subscript(p, result, subscripts) if subscripts else result


def _unknown_field(p: ParseState, value: Expr, name: str, location: int) -> ServerError:
    """unknown_attribute."""
    if value.node == "Var" and value.value == 0:
        if not p.relation.seen:
            raise Unknowable(f'the type of column "{name}"', location)
        column = f"{p.relation.name}.{name}"
        return p.error("42703", NO_QUALIFIED_COLUMN, location, "no-column", column=column)
    if value.node == "Var" and type(value.value) is tuple and value.value[2] is None:
        column = f"{value.value[1].name}.{name}"
        return p.error("42703", NO_QUALIFIED_COLUMN, location, "no-column", column=column)
    if is_complex(p.cache, value.type):
        return p.error("42703", f'column "{name}" not found in data type {p.type_name(value.type)}', location)
    if value.type == RECORD:
        return p.error("42703", f'could not identify column "{name}" in record data type', location)
    message = f"column notation .{name} applied to type {p.type_name(value.type)}, which is not a composite type"
    return p.error("42809", message, location)


def _subscript(p: ParseState, value: Expr, subscripts: list[Node]) -> Expr:
    base, typmod = p.cache.base_type(value.type, value.typmod)
    base = _VECTORS.get(base, base)
    row = p.cache.type(base)
    if row.subscript == "u" and row.name == "hstore":
        return _hstore_subscript(p, value, subscripts)
    if row.subscript == "u":
        raise Unknowable(f"how type {p.type_name(base)} is subscripted", expr_location(value))
    if not row.subscript:
        message = f"cannot subscript type {p.type_name(base)} because it does not support subscripting"
        raise p.error("42804", message, expr_location(value))
    slices = any(index.get("is_slice") for index in subscripts)
    if row.subscript == "j":
        below = [_jsonb_index(p, index, slices) for index in subscripts]
        result = JSONB
    else:
        below = _array_indices(p, subscripts, slices)
        result = base if slices else _VECTOR_ELEMENTS.get(base, row.element)
    return Expr("SubscriptingRef", result, [value, *below], typmod=typmod)


def _hstore_subscript(p: ParseState, value: Expr, subscripts: list[Node]) -> Expr:
    """hstore_subscript_transform (contrib/hstore)."""
    if len(subscripts) != 1 or subscripts[0].get("is_slice"):
        raise p.error("0A000", "hstore allows only one subscript")
    index = p.transform(subscripts[0]["uidx"])
    key = coerce_to_target_type(p, index, index.type, TEXT, -1, "a", IMPLICIT, -1)
    if key is None:
        raise p.error("42804", "hstore subscript must have type text", expr_location(index))
    return Expr("SubscriptingRef", TEXT, [value, key])


def _array_indices(p: ParseState, subscripts: list[Node], slices: bool) -> list[Expr]:
    """Upper bounds first, as the node has them; array_subscript_transform looks at each lower bound before its
    upper."""
    upper: list[Expr] = []
    lower: list[Expr] = []
    for index in subscripts:
        if slices and "lidx" in index:
            lower.append(_integer(p, index["lidx"]))
        if "uidx" in index:
            upper.append(_integer(p, index["uidx"]))
    if len(subscripts) > _MAX_DIMENSIONS:
        message = f"number of array dimensions ({len(subscripts)}) exceeds the maximum allowed ({_MAX_DIMENSIONS})"
        raise p.error("54000", message)
    return upper + lower


def _integer(p: ParseState, node: Node) -> Expr:
    index = p.transform(node)
    coerced = coerce_to_target_type(p, index, index.type, INT4, -1, "a", IMPLICIT, -1)
    if coerced is None:
        raise p.error("42804", "array subscript must have type integer", node_location(node))
    return coerced


def _jsonb_index(p: ParseState, index: Node, slices: bool) -> Expr:
    if slices:
        place = node_location(index.get("uidx") or index.get("lidx"))
        raise p.error("42804", "jsonb subscript does not support slices", place)
    key = p.transform(index["uidx"])
    if key.type == UNKNOWN:
        return coerce_type(p, key, key.type, TEXT, -1, "i", IMPLICIT, -1)
    fitting = [target for target in (INT4, TEXT) if can_coerce(p.cache, key.type, target, "i")]
    if len(fitting) != 1:
        types = "only one type, integer or text" if fitting else "either integer or text"
        raise p.error(
            "42804",
            f"subscript type {p.type_name(key.type)} is not supported",
            expr_location(key),
            hint=f"jsonb subscript must be coercible to {types}.",
        )
    return coerce_type(p, key, key.type, fitting[0], -1, "i", IMPLICIT, -1)
