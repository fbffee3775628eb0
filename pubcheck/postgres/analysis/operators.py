"""Operators: their resolution and their nodes (parser/parse_oper.c)."""

from __future__ import annotations

from pubcheck.postgres.analysis.candidates import Candidate, ambiguous, matching, no_operator, select
from pubcheck.postgres.analysis.coerce import coerce_type
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.analysis.pathways import resolve
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.catalog.rows import Operator
from pubcheck.postgres.errors import ServerError
from pubcheck.postgres.oids import BOOL, POLYMORPHIC
from pubcheck.postgres.primnodes import IMPLICIT, UNKNOWN, Expr


def choose_operator(
    p: ParseState, names: list[str], offered: list[tuple[int, Operator]], left: int, right: int, location: int
) -> Operator:
    """Return the operator that fits best (oper_select_candidate). Raises ServerError 42883 or 42725."""
    rows: dict[tuple[int, int], tuple[int, Operator]] = {}
    for place, row in offered:
        previous = rows.get((row.left, row.right))
        if previous is None or place < previous[0]:
            rows[row.left, row.right] = place, row
    types = (left, right) if left else (right,)
    candidates = matching(
        p,
        types,
        [Candidate(row.oid, (row.left, row.right) if left else (row.right,)) for _, row in rows.values()],
    )
    if not candidates:
        raise p.missing(
            "operator does not exist: {signature}",
            "no-operator",
            p.operator_signature(names, left, right),
            location,
            types,
            exists=bool(offered),
            reason=no_operator(p, names, not left, visible=bool(offered)),
        )
    chosen = candidates[0] if len(candidates) == 1 else select(p, types, candidates)
    if chosen is None:
        detail, hint = ambiguous(p, "operator")
        raise p.error(
            "42725",
            "operator is not unique: {signature}",
            location,
            "operator-ambiguous",
            detail=detail,
            hint=hint,
            signature=p.operator_signature(names, left, right),
        )
    return next(row for _, row in rows.values() if row.oid == chosen.oid)


_resolved: dict[tuple[int, str, int, int], Operator] = {}
"""The built-in operator that a name resolves to between built-in types: (major, name, left, right)."""


def find_operator(p: ParseState, names: list[str], left: int, right: int, location: int) -> Operator:
    """The operator between two types, ``left`` 0 for a prefix one (oper, left_oper).

    Raises ServerError 42883, 42725 or 3F000.
    """
    try:
        offered = p.cache.operators(names, not left)
    except ServerError as error:
        error.location = location if error.location is None else error.location
        raise
    plain = left < FIRST_NORMAL_OID > right and not p.cache.catalog.casts
    plain = plain and (len(names) == 1 or names[-2] == "pg_catalog")
    plain = plain and not any(row.oid >= FIRST_NORMAL_OID for _, row in offered)
    if not plain:
        return _resolve(p, names, offered, left, right, location)
    key = (p.major.number, names[-1], left, right)
    if key not in _resolved:
        _resolved[key] = _resolve(p, names, offered, left, right, location)
    return _resolved[key]


def _resolve(
    p: ParseState, names: list[str], offered: list[tuple[int, Operator]], left: int, right: int, location: int
) -> Operator:
    exact = _exact(p, offered, left, right)
    if exact is not None:
        return exact
    # Loaded only where the operands must be coerced.
    from pubcheck.postgres.analysis.operators import choose_operator

    return choose_operator(p, names, offered, left, right, location)


def _exact(p: ParseState, offered: list[tuple[int, Operator]], left: int, right: int) -> Operator | None:
    """binary_oper_exact, also for prefix operators: no coercion; a literal gets the type of the other operand."""
    if not left:
        return _with_types(offered, 0, right)
    literal = UNKNOWN in (left, right)
    if left == UNKNOWN:
        left = right
    elif right == UNKNOWN:
        right = left
    operator = _with_types(offered, left, right)
    if operator is None and literal and left != UNKNOWN:
        base, _ = p.cache.base_type(left)
        if base != left:
            operator = _with_types(offered, base, base)
    return operator


def _with_types(offered: list[tuple[int, Operator]], left: int, right: int) -> Operator | None:
    best: tuple[int, Operator] | None = None
    for place, row in offered:
        if row.left == left and row.right == right and (best is None or place < best[0]):
            best = place, row
    return best[1] if best is not None else None


def _usable(p: ParseState, names: list[str], row: Operator, location: int) -> None:
    if not row.function and not row.procedure:
        raise p.error(
            "42883", f"operator is only a shell: {p.operator_signature(names, row.left, row.right)}", location
        )
    if not row.function or not row.returns:
        p.cache.type(0)


def make_op(p: ParseState, names: list[str], left: Expr | None, right: Expr, location: int) -> Expr:
    """An operator applied to one or two expressions (make_op)."""
    row = find_operator(p, names, left.type if left is not None else 0, right.type, location)
    _usable(p, names, row, location)
    args = [right] if left is None else [left, right]
    declared = (row.right,) if left is None else (row.left, row.right)
    targets, result = resolve(p.cache, [arg.type for arg in args], declared, row.returns)
    args = coerce_arguments(p, args, targets)
    proc = p.cache.proc(row.function)
    if proc.returns_set:
        p.take_set(location)
    return Expr("OpExpr", result, args, location, functions=(row.function,), operators=(row.oid,))


def make_scalar_array_op(p: ParseState, names: list[str], use_or: bool, left: Expr, right: Expr, location: int) -> Expr:
    """``left op ANY (right)`` or ALL (make_scalar_array_op)."""
    cache = p.cache
    array = right.type
    element = UNKNOWN
    if array != UNKNOWN:
        element = cache.element_type(cache.base_type(array)[0])
        if not element:
            raise p.error("42809", "op ANY/ALL (array) requires array on right side", location)
    row = find_operator(p, names, left.type, element, location)
    _usable(p, names, row, location)
    targets, result = resolve(cache, [left.type, element], (row.left, row.right), row.returns)
    if result != BOOL:
        raise p.error("42809", "op ANY/ALL (array) requires operator to yield boolean", location)
    if cache.proc(row.function).returns_set:
        raise p.error("42809", "op ANY/ALL (array) requires operator not to return a set", location)
    if targets[1] in POLYMORPHIC:
        array_type = array
    else:
        array_type = cache.array_type(targets[1])
        if not array_type:
            raise p.error("42704", f"could not find array type for data type {p.type_name(targets[1])}", location)
    args = coerce_arguments(p, [left, right], [targets[0], array_type])
    return Expr(
        "ScalarArrayOpExpr", BOOL, args, location, functions=(row.function,), operators=(row.oid,), value=use_or
    )


def coerce_arguments(p: ParseState, args: list[Expr], targets: list[int]) -> list[Expr]:
    """make_fn_arguments: implicit coercions, underneath a named argument's name."""
    coerced = []
    for arg, target in zip(args, targets, strict=False):
        if arg.type != target:
            if arg.node == "NamedArgExpr":
                inner = coerce_type(p, arg.args[0], arg.type, target, -1, "i", IMPLICIT, -1)
                arg = Expr("NamedArgExpr", inner.type, [inner], arg.location, value=arg.value)
            else:
                arg = coerce_type(p, arg, arg.type, target, -1, "i", IMPLICIT, -1)
        coerced.append(arg)
    return coerced
