"""Why no function or operator fits a call: the DETAIL and HINT that servers give for it.

Only loaded for a refusal (func_lookup_failure_details in parser/parse_func.c, oper_lookup_failure_details in
parser/parse_oper.c).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pubcheck.postgres.analysis.candidates import matched_positions
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.parse import Node

Reason = tuple[str | None, str | None]
"""A DETAIL and a HINT."""

_CAST = "You might need to add explicit type casts."
_AMBIGUOUS = "Could not choose a best candidate {kind}."
_ELSEWHERE = "{article} {kind} of that name exists, but it is not in the search_path."
_NOWHERE = "There is no {kind} of that name."
_TYPES = "No {kind} of that name accepts the given argument types."
_MISPLACED_ORDER = (
    "No aggregate function matches the given name and argument types.",
    "Perhaps you misplaced ORDER BY; ORDER BY must appear after all regular arguments of the aggregate.",
)
_CLOSEST: Sequence[Reason] = (
    ("No function of that name accepts the given number of arguments.", None),
    ("No function of that name accepts the given argument names.", None),
    ("In the closest available match, an argument was specified both positionally and by name.", None),
    ("In the closest available match, not all required arguments were supplied.", None),
    (None, "This call would be correct if the variadic array were labeled VARIADIC and placed last."),
    (_TYPES.format(kind="function"), _CAST),
)
"""By the number of conditions that the closest function meets: see ``_conditions_met``."""
_MISPLACED_VARIADIC = (None, "The VARIADIC parameter must be placed last, even when using argument names.")


def ambiguous(p: ParseState, kind: str) -> Reason:
    """Return the reason for refusing a call that several functions or operators fit."""
    reason = _AMBIGUOUS.format(kind=kind)
    return (reason, _CAST) if p.major.lookup_failure_details else (None, f"{reason} {_CAST}")


def no_function(p: ParseState, names: list[str], arity: int, argument_names: Sequence[str], call: Node) -> Reason:
    """Return the reason for refusing a call that no function fits."""
    misplaced = len(call.get("agg_order", ())) > 1 and not call.get("agg_within_group")
    if not p.major.lookup_failure_details:
        hint = f"No function matches the given name and argument types. {_CAST}"
        return None, " ".join(_MISPLACED_ORDER) if misplaced else hint
    if misplaced:
        return _MISPLACED_ORDER
    procs = [proc for _, proc in p.cache.procs(names)]
    if not procs:
        everywhere = (any(p.cache.procs_in(namespace, names[-1])) for namespace in p.session.catalog.namespaces)
        return _unseen(names, everywhere, "A", "function")
    expand = not call.get("func_variadic", False)
    return _CLOSEST[max(_conditions_met(proc, arity, argument_names, expand) for proc in procs)]


def misplaced_variadic(p: ParseState) -> Reason:
    """Return the reason for refusing VARIADIC at an argument that is not the last one."""
    older = (None, f"No function matches the given name and argument types. {_CAST}")
    return _MISPLACED_VARIADIC if p.major.lookup_failure_details else older


def no_operator(p: ParseState, names: list[str], prefix: bool, *, visible: bool) -> Reason:
    """Return the reason for refusing an operator between types that no operator of the name takes."""
    plural, article = ("", "an ") if prefix else ("s", "")
    cast = f"You might need to add {article}explicit type cast{plural}."
    if not p.major.lookup_failure_details:
        return None, f"No operator matches the given name and argument type{plural}. {cast}"
    if visible:
        return f"No operator of that name accepts the given argument type{plural}.", cast
    namespaces = p.session.catalog.namespaces
    everywhere = (any(p.cache.operators_in(namespace, names[-1], prefix)) for namespace in namespaces)
    return _unseen(names, everywhere, "An", "operator")


def _unseen(names: list[str], found_in_schemas: Iterable[bool], article: str, kind: str) -> Reason:
    if len(names) > 1:
        return None, None
    return (_ELSEWHERE if any(found_in_schemas) else _NOWHERE).format(article=article, kind=kind), None


def _conditions_met(proc: Proc, arity: int, argument_names: Sequence[str], expand: bool) -> int:
    """Return how far a function is considered for a call: by the number of arguments, then by their names."""
    parameters = len(proc.arguments)
    by_default = 0 <= parameters - arity <= proc.defaults
    if not argument_names:
        variadic = bool(proc.variadic) and expand and parameters <= arity
        return len(_CLOSEST) - 1 if by_default or parameters == arity or variadic else 0
    if not by_default:
        return 0
    positions, complete = matched_positions(proc, arity, argument_names)
    if positions is None:
        return 1
    if len(set(positions)) < len(positions):
        return 2
    if not complete:
        return 3
    return 4 if proc.variadic and expand else 5
