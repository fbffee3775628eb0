"""Function calls in an expression, and what is written or parsed like one: XMLELEMENT, XMLPARSE and similar too
(parser/parse_expr.c: transformFuncCall, transformXmlExpr).
"""

from __future__ import annotations

from pubcheck.postgres.analysis.analyze import column, transform
from pubcheck.postgres.analysis.casts import type_and_typmod
from pubcheck.postgres.analysis.coerce import coerce_to_boolean, coerce_to_specific_type, coerce_to_target_type
from pubcheck.postgres.analysis.functions import call_function, column_of
from pubcheck.postgres.analysis.parse_state import MissingColumn, ParseState
from pubcheck.postgres.oids import BOOL, INT4, TEXT, XML
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names as names_of
from pubcheck.postgres.primnodes import IMPLICIT, Expr


def call(p: ParseState, body: Node) -> Expr:
    """Analyse a FuncCall; the sort keys of WITHIN GROUP are arguments too (transformFuncCall)."""
    names, location = names_of(body["funcname"]), body.get("location", -1)
    if (
        not p.major.system_functions_qualified
        and names[-1] in _SYSTEM_FUNCTIONS
        and not p.session.text.startswith(b"pg_catalog", location)
    ):
        names = names[-1:]
        if names == ["system_user"] and body.get("funcformat") == "COERCE_SQL_SYNTAX":
            return column(p, {"fields": body["funcname"][-1:], "location": location})
    args = [transform(p, argument) for argument in body.get("args", ())]
    if body.get("agg_within_group"):
        args += [transform(p, item["SortBy"]["node"]) for item in body["agg_order"]]
    return call_function(p, names, args, body, location)


_SYSTEM_FUNCTIONS = frozenset(("json_object", "system_user"))
"""Names that the grammar takes for pg_catalog's since 16; before that they are names like any other."""


def column_as_call(p: ParseState, reference: MissingColumn) -> Expr:
    """``t.total`` is total(t) where t has no such column. Raises the error about the column if there is no function."""
    called = column_of(p, reference.name, reference.row, reference.location)
    if called is None:
        raise reference.error()
    return called


def merge_action(p: ParseState, body: Node) -> Expr:
    """MERGE_ACTION(), which is a function like any other before 17."""
    location: int = body.get("location", -1)
    if not p.major.merge_returning:
        return call_function(p, ["merge_action"], [], {}, location)
    if p.merge_action is not None:
        return Expr("Param", TEXT, [], location, value=p.merge_action)
    message = "MERGE_ACTION() can only be used in the RETURNING list of a MERGE command"
    raise p.error("42601", message, location, "construct-out-of-place")


_ARGUMENTS: dict[str, tuple[int, ...]] = {
    "XMLCONCAT": (XML,),
    "XMLELEMENT": (0,),
    "XMLFOREST": (XML,),
    "XMLPARSE": (TEXT, BOOL),
    "XMLPI": (TEXT,),
    "XMLROOT": (XML, TEXT, INT4),
    "IS DOCUMENT": (XML,),
}
"""The types of the arguments, the last one for all that follow; 0 for any type."""


def xml_expression(p: ParseState, body: Node) -> Expr:
    """``args`` are the named arguments, then the others; ``value`` is the construct and how many are named.

    Raises ServerError 42601, 42804.
    """
    op: str = body["op"].removeprefix("IS_")
    construct = "IS DOCUMENT" if op == "DOCUMENT" else op
    location: int = body.get("location", -1)
    args = _named(p, body, construct)
    named = len(args)
    types = _ARGUMENTS[construct]
    for index, argument in enumerate(body.get("args", ())):
        value = p.transform(argument)
        target = types[min(index, len(types) - 1)]
        if target == BOOL:
            value = coerce_to_boolean(p, value, construct)
        elif target:
            value = coerce_to_specific_type(p, value, target, construct)
        args.append(value)
    return Expr("XmlExpr", BOOL if op == "DOCUMENT" else XML, args, location, value=(construct, named))


def _named(p: ParseState, body: Node, construct: str) -> list[Expr]:
    """Analyse XMLATTRIBUTES or the elements of a forest; an element without a name must be a column, whose name it
    gets."""
    args: list[Expr] = []
    names: list[str] = []
    for item in body.get("named_args", ()):
        target = item["ResTarget"]
        value = target["val"]
        args.append(p.transform(value))
        place: int = target.get("location", -1)
        name = target.get("name")
        if name is None:
            if "ColumnRef" not in value:
                kind = "attribute" if construct == "XMLELEMENT" else "element"
                raise p.error("42601", f"unnamed XML {kind} value must be a column reference", place)
            strings = [field["String"]["sval"] for field in value["ColumnRef"]["fields"] if "String" in field]
            name = strings[-1]
        if construct == "XMLELEMENT" and name in names:
            raise p.error("42601", f'XML attribute name "{name}" appears more than once', place)
        names.append(name)
    return args


def serialize(p: ParseState, body: Node) -> Expr:
    """XMLSERIALIZE (transformXmlSerialize). Raises ServerError 42804, 42704, 42846."""
    location: int = body.get("location", -1)
    value = coerce_to_specific_type(p, p.transform(body["expr"]), XML, "XMLSERIALIZE")
    target, typmod = type_and_typmod(p, body["typeName"])
    expr = Expr("XmlExpr", TEXT, [value], location, value=("XMLSERIALIZE", 0))
    result = coerce_to_target_type(p, expr, TEXT, target, typmod, "i", IMPLICIT, -1)
    if result is None:
        raise p.error("42846", f"cannot cast XMLSERIALIZE result to {p.type_name(target)}", location)
    return result
