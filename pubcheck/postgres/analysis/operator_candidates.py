"""The choice of an operator whose operands must be coerced (parser/parse_oper.c)."""

from __future__ import annotations

from pubcheck.postgres.analysis import lookup_failures
from pubcheck.postgres.analysis.candidates import Candidate, matching, select
from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.catalog.rows import Operator


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
            reason=lookup_failures.no_operator(p, names, not left, visible=bool(offered)),
        )
    chosen = candidates[0] if len(candidates) == 1 else select(p, types, candidates)
    if chosen is None:
        detail, hint = lookup_failures.ambiguous(p, "operator")
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
