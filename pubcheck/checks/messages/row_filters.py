"""Explain refused row filters: which part is refused, what it is in the server's catalog, and a remedy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from pubcheck.checks.messages.refusals import explain, rule_of
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.oids import TIMESTAMPTZ
from pubcheck.postgres.parse_tree import find
from pubcheck.postgres.primnodes import EXPLICIT_CAST, IMPLICIT
from pubcheck.postgres.session import SYSTEM_COLUMNS
from pubcheck.postgres.tokens import name_end

if TYPE_CHECKING:
    from pubcheck.checks.remedies.filter_rewrites import Rewriting
    from pubcheck.postgres.analysis.parse_state import ParseState
    from pubcheck.postgres.analysis.row_filter import Evidence
    from pubcheck.postgres.primnodes import Expr

_VOLATILITY = {"s": "STABLE", "v": "VOLATILE"}
_MAX_SHOWN = 160
"""Characters of SQL in a message."""


class FilterExplanation(Struct, frozen=True):
    """A refused filter in words; all places are byte offsets in the statement.

    ``start`` and ``end`` are the culprit's (``end`` 0: not known). ``title`` is that of a fix, if there is one: put
    ``text`` in the place of what is between ``edit_start`` and ``edit_end``; ``safe`` says that the filter lets the
    very same rows through.
    """

    headline: str
    help: str | None
    start: int
    end: int
    title: str = ""
    edit_start: int = 0
    edit_end: int = 0
    text: str = ""
    safe: bool = False


def explain_filter_error(error: ServerError, *, with_rewriting: bool = True) -> FilterExplanation | None:
    """The words for a filter that the walk refused; None for any other error.

    To look for another way of writing it takes about a millisecond, which ``with_rewriting`` = False saves.
    """
    from pubcheck.postgres.analysis.row_filter import Evidence

    evidence = error.evidence
    if not isinstance(evidence, Evidence):
        return None
    from pubcheck.checks.remedies.filter_rewrites import rewrite

    try:
        headline = f"the row filter is refused: {_within(evidence)}{_reason(evidence)}"
    except Unknowable:
        return None
    if not with_rewriting:
        return FilterExplanation(headline, _advice(evidence), error.culprit or 0, 0)
    start, end = _culprit_extent(evidence, error)
    rewriting = rewrite(evidence)
    if rewriting is None:
        return FilterExplanation(headline, _advice(evidence), start, end)
    if rewriting.statements:
        return FilterExplanation(headline, _with_columns(rewriting), start, end)
    statement = evidence.state.session.text
    old = statement[rewriting.start : rewriting.end].decode(errors="replace")
    before, after, text = _difference(old, rewriting.text)
    return FilterExplanation(
        headline,
        _shown(rewriting),
        start,
        end,
        "rewrite the row filter",
        rewriting.start + len(old[:before].encode()),
        rewriting.end - len(old[len(old) - after :].encode()),
        text,
        rewriting.safe,
    )


# --- Why ----------------------------------------------------------------------------------------------------------


def _within(evidence: Evidence) -> str:
    """The virtual column in whose expression the culprit is, if it does."""
    culprit, text = evidence.refusal.culprit, evidence.state.session.text
    # The server has no place for what it puts in for a virtual column; kept is that of the column.
    if culprit.location >= 0 or culprit.start < 0:
        return ""
    name = text[culprit.start : name_end(text, culprit.start)].decode(errors="replace")
    return f"in the expression of the virtual column {name}, "


def _reason(evidence: Evidence) -> str:
    """Return what makes the culprit not immutable or not built in, by its name in the catalog."""
    refusal, p = evidence.refusal, evidence.state
    culprit, cache = refusal.culprit, p.cache
    match rule_of(refusal.error).code:
        case "PUB208":
            return (
                f"{_column(p, culprit)} is a system column, which describes where a row is stored and not its content"
            )
        case "PUB211":
            operator = cache.operator(refusal.oid)
            sides = [p.type_name(oid) for oid in (operator.left, operator.right) if oid]
            return f"the operator {operator.name} ({', '.join(sides)}) is not built in"
        case "PUB212" if culprit.node == "Var" and culprit.value == 0:
            return "the whole row has the table's own type, which is not built in"
        case "PUB212":
            return f"{_subject(p, culprit)} has the type {p.type_name(refusal.oid)}, {_kind(p, refusal.oid)}"
        case "PUB213":
            name = cache.collation(refusal.oid).name
            return f'{_subject(p, culprit)} uses the collation "{name}", which is not built in'
        case "PUB209":
            volatility = _VOLATILITY.get(cache.proc(refusal.oid).volatility, "not immutable")
            zone = " (it depends on TimeZone)" if _of_time_zone(p, refusal.oid) else ""
            return f"{_call(p, culprit)} {signature(p, refusal.oid)}, which is {volatility}{zone}"
        case "PUB210":
            return f"{_call(p, culprit)} {signature(p, refusal.oid)}, which is not built in"
        case _:
            return _construct(p, culprit)


def signature(p: ParseState, oid: int) -> str:
    """A function with its argument types."""
    proc = p.cache.proc(oid)
    return f"{proc.name}({', '.join(map(p.type_name, proc.arguments))})"


def _of_time_zone(p: ParseState, oid: int) -> bool:
    """Return whether a stable function is so because days and hours are those of a time zone."""
    proc = p.cache.proc(oid)
    return proc.volatility == "s" and TIMESTAMPTZ in (*proc.arguments, proc.returns) and bool(proc.arguments)


def _call(p: ParseState, expr: Expr) -> str:
    """Return the words for the call of a function: by name, by an operator or by a cast."""
    if expr.node != "FuncExpr":
        operator = p.cache.operator(expr.operators[0])
        sides = [p.type_name(argument.type) for argument in expr.args[:2]]
        if expr.node == "RowCompareExpr":
            return f"the comparison {operator.name} of rows calls"
        if len(sides) < 2:
            return f"the operator {operator.name} on {sides[0]} calls"
        kind = "comparison" if operator.name in ("=", "<>", "<", ">", "<=", ">=") else "operator"
        return f"the {kind} {operator.name} between {sides[0]} and {sides[1]} calls"
    if expr.form in (IMPLICIT, EXPLICIT_CAST):
        hidden = "" if expr.form == EXPLICIT_CAST else "implicit "
        return f"the {hidden}cast from {p.type_name(expr.args[0].type)} to {p.type_name(expr.type)} calls"
    return "it calls"


def _subject(p: ParseState, expr: Expr) -> str:
    if expr.node == "Var":
        return f"column {_column(p, expr)}"
    words = {"Const": "the constant", "FuncExpr": "the result of the function", "CollateExpr": "COLLATE"}
    return words.get(expr.node, "this expression")


def _column(p: ParseState, expr: Expr) -> str:
    names = {number: name for name, number in SYSTEM_COLUMNS.items()}
    names.update((column.number, column.name) for column in p.relation.columns)
    return f'"{names.get(expr.value, "?")}"'


_KINDS = {"c": "a row type", "d": "a domain", "e": "an enum", "m": "a multirange", "r": "a range"}


def _kind(p: ParseState, oid: int) -> str:
    row = p.cache.type(oid)
    if row.subscript == "a" and row.element:
        return "an array of a type that is not built in"
    return f"{_KINDS.get(row.kind, 'a type')} that is not built in"


def _construct(p: ParseState, expr: Expr) -> str:
    """A kind of node that filters may not hold."""
    if expr.node == "CoerceViaIO":
        return (
            f"the cast from {p.type_name(expr.args[0].type)} to {p.type_name(expr.type)} goes through text "
            "(CoerceViaIO), for which there is no function"
        )
    if expr.node == "ArrayCoerceExpr":
        source = p.type_name(expr.args[0].type)
        return f"the array of type {source} is cast to {p.type_name(expr.type)} element by element (ArrayCoerceExpr)"
    if expr.node == "SQLValueFunction":
        return f"{expr.value} depends on the time or the session"
    return _CONSTRUCTS.get(expr.node, f"a filter must not contain {expr.node}")


_CONSTRUCTS = {
    "CoerceToDomain": "a cast to a domain checks its constraints (CoerceToDomain), which a filter may not",
    "ConvertRowtypeExpr": "a row is cast to another row type (ConvertRowtypeExpr)",
    "FieldSelect": "a field of a composite value is selected (FieldSelect)",
    "JsonConstructorExpr": "SQL/JSON constructors are not allowed (JsonConstructorExpr)",
    "JsonExpr": "SQL/JSON query functions are not allowed (JsonExpr)",
    "JsonIsPredicate": "IS JSON is not allowed (JsonIsPredicate)",
    "NamedArgExpr": "an argument is given by its name (NamedArgExpr)",
    "NextValueExpr": "a sequence is advanced",
    "SubLink": "a sub-select is not allowed: a filter sees one row and no other table",
    "SubscriptingRef": "subscripts are not allowed (SubscriptingRef)",
}


# --- What to do ---------------------------------------------------------------------------------------------------

_TIMELESS = (
    "a filter cannot depend on the time: publish all rows and delete the old ones on the subscriber, or publish "
    "partitions"
)
_CLOCKS = frozenset(("now", "transaction_timestamp", "statement_timestamp", "clock_timestamp", "timeofday"))


def _advice(evidence: Evidence) -> str | None:
    """Return the advice for a filter for which no rewriting is known."""
    refusal = evidence.refusal
    culprit = refusal.culprit
    code = rule_of(refusal.error).code
    if code not in ("PUB207", "PUB209"):
        return explain(refusal.error)[1]
    if _asks_the_time(evidence):
        return _TIMELESS
    if code == "PUB209":
        return "use an immutable function, or a column that the application or a trigger maintains"
    if culprit.node == "SQLValueFunction":
        return "a filter cannot depend on the session: store the value in a column and filter on that column"
    if culprit.node == "SubLink":
        return "copy the value from the other table into a column of this one"
    return "keep the result in a column of the table and filter on that"


def _asks_the_time(evidence: Evidence) -> bool:
    for kind, body in find(evidence.tree, "FuncCall", "SQLValueFunction"):
        if kind == "FuncCall":
            name, arguments = body["funcname"][-1]["String"]["sval"], len(body.get("args", ()))
            if name in _CLOCKS or (name == "age" and arguments == 1):
                return True
        elif "TIME" in body["op"] or "DATE" in body["op"]:
            return True
    return False


def _shown(rewriting: Rewriting) -> str:
    """The filter, or what changes in it, and what is to be known."""
    text = _one_line(rewriting.text)
    if len(text) <= _MAX_SHOWN:
        action = f"write WHERE ({text})"
    else:
        steps = [f"{_one_line(after)} for {_one_line(before)}" for before, after in rewriting.steps]
        action = f"write {', and '.join(steps)}"
    return "; ".join([action, *rewriting.notes])


def _with_columns(rewriting: Rewriting) -> str:
    added = " ".join(rewriting.statements)
    return "; ".join(
        [
            f"store it in a generated column: {added} Then write WHERE ({_one_line(rewriting.text)})",
            *rewriting.notes,
        ]
    )


def _one_line(text: str) -> str:
    return " ".join(text.split())


# --- Places -------------------------------------------------------------------------------------------------------


def _difference(old: str, new: str) -> tuple[int, int, str]:
    """(characters that both begin with, characters that both end with, what is between in the new one)."""
    shorter = min(len(old), len(new))
    before = next((n for n in range(shorter) if old[n] != new[n]), shorter)
    left = shorter - before
    after = next((n for n in range(left) if old[-1 - n] != new[-1 - n]), left)
    return before, after, new[before : len(new) - after]


def _culprit_extent(evidence: Evidence, error: ServerError) -> tuple[int, int]:
    """The text of what is refused; where that is not found, the place that the server gives."""
    from pubcheck.checks.remedies.filter_rewrites import place_of
    from pubcheck.checks.remedies.filter_rewrites.filter_source import Text, filter_extent

    statement = evidence.state.session.text
    culprit = evidence.refusal.culprit
    place = place_of(culprit)
    fallback = error.culprit if error.culprit is not None else max(place, 0)
    extent = filter_extent(statement, evidence.tree)
    if extent is None or place < 0:
        return fallback, 0
    try:
        text = Text(statement[slice(*extent)])
        around = text.around(place - extent[0])
        own = [site for site in around if site.location == place - extent[0] and culprit.location >= 0]
        site_kinds = _WRITTEN_AS.get(culprit.node)
        fitting = [site for site in around if site_kinds is None or site.kind in site_kinds]
        start, end = text.extent((own or fitting or around)[0].node)
    except (ValueError, IndexError, RecursionError):
        return fallback, 0
    return extent[0] + start, extent[0] + end


_WRITTEN_AS = {
    "ArrayCoerceExpr": ("A_Expr", "A_ArrayExpr", "TypeCast", "ColumnRef", "FuncCall"),
    "FieldSelect": ("A_Indirection", "ColumnRef"),
    "SubscriptingRef": ("A_Indirection",),
}
