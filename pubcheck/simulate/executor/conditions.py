"""The parts of conditions."""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.postgres.primnodes import Expr


def conjuncts(condition: Expr | None) -> Iterator[Expr]:
    """The parts of a condition that AND connects."""
    if condition is None:
        return
    if condition.node == "BoolExpr" and condition.value == "AND":
        for part in condition.args:
            yield from conjuncts(part)
    else:
        yield condition
