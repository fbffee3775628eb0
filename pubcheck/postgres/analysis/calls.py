"""Function calls in an expression, and what is written or parsed like one (transformFuncCall)."""

from __future__ import annotations

from pubcheck.postgres.analysis.analyze import column, transform
from pubcheck.postgres.analysis.columns import MissingColumn
from pubcheck.postgres.analysis.functions import call_function, column_of
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.oids import TEXT
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import names as names_of
from pubcheck.postgres.primnodes import Expr


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
