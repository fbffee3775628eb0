"""The choice among several functions or operators for a call (FuncnameGetCandidates, func_select_candidate), and why
none fits: the DETAIL and HINT that servers give for it (func_lookup_failure_details, oper_lookup_failure_details).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from pubcheck.postgres.analysis.coerce import can_coerce_type
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.catalog.rows import Proc
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.oids import INTERNAL
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import UNKNOWN
from pubcheck.postgres.session.syscache import SysCache


class Candidate(Struct, gc=False):
    """One function or operator that has the name and can take so many arguments.

    ``oid`` is 0 where several are equally good. ``args`` are the types in the order of the call: named arguments in
    their places, a variadic parameter repeated, defaulted ones last. ``variadic`` counts the arguments that make up
    the variadic array, ``defaults`` those that are not given.
    """

    oid: int
    args: tuple[int, ...]
    path: int = 0
    variadic: int = 0
    defaults: int = 0
    positions: tuple[int, ...] | None = None
    """With named arguments: the number of the parameter of each argument."""


def function_candidates(
    cache: SysCache, names: list[str], arity: int, argument_names: Sequence[str], *, expand: bool
) -> list[Candidate]:
    """The functions that a call with ``arity`` arguments may mean; ``expand`` says that VARIADIC was not written."""
    by_types: dict[tuple[int, ...], Candidate] = {}
    single = len(names) > 1
    special_before = False
    for path, proc in cache.procs(names):
        candidate = _candidate(proc, path, arity, argument_names, expand)
        if candidate is None:
            continue
        special_before = special_before or bool(candidate.variadic or candidate.defaults or argument_names)
        types = candidate.args[: len(candidate.args) - candidate.defaults]
        if types in by_types and (special_before or not single) and not _prevails(candidate, by_types[types]):
            continue
        # One that prevails comes last.
        by_types.pop(types, None)
        by_types[types] = candidate
    return list(by_types.values())


def _candidate(proc: Proc, path: int, arity: int, argument_names: Sequence[str], expand: bool) -> Candidate | None:
    parameters = len(proc.arguments)
    if argument_names:
        if proc.variadic and expand:
            return None
        defaults = max(parameters - arity, 0)
        if defaults > proc.defaults or parameters < arity:
            return None
        positions = _match_names(proc, arity, argument_names)
        if positions is None:
            return None
        args = tuple(proc.arguments[position] for position in positions)
        return Candidate(proc.oid, args, path, 0, defaults, positions)
    variadic = proc.variadic if expand and parameters <= arity else 0
    if parameters > arity:
        if parameters - arity > proc.defaults:
            return None
        return Candidate(proc.oid, proc.arguments, path, 0, parameters - arity)
    if variadic:
        count = arity - parameters + 1
        return Candidate(proc.oid, proc.arguments[:-1] + (variadic,) * count, path, count)
    if parameters != arity:
        return None
    return Candidate(proc.oid, proc.arguments, path)


def _match_names(proc: Proc, arity: int, argument_names: Sequence[str]) -> tuple[int, ...] | None:
    """MatchNamedCall: the parameter of each argument, then those that take their defaults."""
    positions, complete = _matched_positions(proc, arity, argument_names)
    if positions is None or not complete or len(set(positions)) < len(positions):
        return None
    return (*positions, *(position for position in range(len(proc.arguments)) if position not in positions))


def _matched_positions(proc: Proc, arity: int, argument_names: Sequence[str]) -> tuple[list[int] | None, bool]:
    """Return the parameter of each argument, None if a parameter's name is unknown; and whether all other parameters
    have defaults."""
    names = [
        name
        for name, mode in zip(proc.argument_names, proc.modes or "i" * len(proc.argument_names), strict=False)
        if mode in "ibv"
    ]
    positions = list(range(arity - len(argument_names)))
    for name in argument_names:
        if name not in names:
            return None, False
        positions.append(names.index(name))
    required = range(len(proc.arguments) - proc.defaults)
    return positions, all(position in positions for position in required)


def _prevails(new: Candidate, old: Candidate) -> bool:
    """Return whether a new candidate replaces an old one with the same types.

    The one that is earlier in the path wins, then the one that is not variadic. Where neither is better, the old one
    stays, and calls resolve to neither.
    """
    if new.path != old.path:
        return new.path < old.path
    if bool(new.variadic) != bool(old.variadic):
        return not new.variadic
    old.oid = 0
    return False


def matching(p: ParseState, types: Sequence[int], candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates that accept the types by implicit coercion (func_match_argtypes)."""
    count = len(types)
    fitting = []
    for candidate in candidates:
        args = candidate.args[:count]
        if 0 in args:
            raise Unknowable("the argument types of a function or an operator that the unit makes")
        if INTERNAL in args and p.major.internal_not_callable:
            continue
        if can_coerce_type(p, types, args, "i"):
            fitting.append(candidate)
    return fitting


def select(p: ParseState, types: Sequence[int], candidates: list[Candidate]) -> Candidate | None:
    """The best of several that can take the types, None where they tie (func_select_candidate)."""
    cache = p.cache
    positions = range(len(types))
    bases = [oid if oid == UNKNOWN else cache.base_type(oid)[0] for oid in types]
    typed = [position for position in positions if bases[position] != UNKNOWN]
    candidates = _best(candidates, lambda args: sum(args[position] == bases[position] for position in typed))
    if len(candidates) == 1:
        return candidates[0]
    categories = {position: cache.type(bases[position]).category for position in typed}
    candidates = _best(
        candidates,
        lambda args: sum(
            args[position] == bases[position] or _preferred_in(cache, args[position], categories[position])
            for position in typed
        ),
    )
    if len(candidates) == 1:
        return candidates[0]
    if len(typed) == len(types):
        return None
    narrowed = _by_category(cache, [position for position in positions if bases[position] == UNKNOWN], candidates)
    if len(narrowed) == 1:
        return narrowed[0]
    candidates = narrowed
    kinds = {bases[position] for position in typed}
    if len(kinds) != 1:
        return None
    assumed = [kinds.pop()] * len(types)
    fitting = [candidate for candidate in candidates if can_coerce_type(p, assumed, candidate.args[: len(types)], "i")]
    return fitting[0] if len(fitting) == 1 else None


def _best(candidates: list[Candidate], score: Callable[[tuple[int, ...]], int]) -> list[Candidate]:
    scores = [score(candidate.args) for candidate in candidates]
    best = max(scores)
    return [candidate for candidate, its in zip(candidates, scores, strict=True) if its == best]


def _preferred_in(cache: SysCache, oid: int, category: str) -> bool:
    row = cache.type(oid)
    return row.preferred and row.category == category


def _by_category(cache: SysCache, unknown: Sequence[int], candidates: list[Candidate]) -> list[Candidate]:
    """Keep the candidates whose parameters for the unknown-type literals have the preferred type category."""
    chosen: dict[int, tuple[str, bool]] = {}
    for position in unknown:
        rows = [cache.type(candidate.args[position]) for candidate in candidates]
        categories = {row.category for row in rows}
        if "S" in categories:
            category = "S"
        elif len(categories) == 1:
            category = categories.pop()
        else:
            return candidates
        chosen[position] = category, any(row.preferred and row.category == category for row in rows)
    fitting = [
        candidate
        for candidate in candidates
        if all(
            (row := cache.type(candidate.args[position])).category == category and (row.preferred or not preferred)
            for position, (category, preferred) in chosen.items()
        )
    ]
    return fitting or candidates


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
    positions, complete = _matched_positions(proc, arity, argument_names)
    if positions is None:
        return 1
    if len(set(positions)) < len(positions):
        return 2
    if not complete:
        return 3
    return 4 if proc.variadic and expand else 5
