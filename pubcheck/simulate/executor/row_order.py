"""The order of rows under ORDER BY."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from operator import itemgetter
from typing import Any

from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.executor.compare import order_of
from pubcheck.postgres.parse import Node
from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.backend import Backend
from pubcheck.simulate.not_followed import NotFollowed


def row_order(session: Backend, targets: list[Any], sort: list[Any]) -> Callable[[Any, Any], int]:
    """The order of rows under ORDER BY."""
    return comparison(session, [(itemgetter(targets.index(target)), target.expr, by) for target, by in sort])


def comparison(
    session: Backend, sort: Sequence[tuple[Callable[[Any], Any], Expr | Column, Node]]
) -> Callable[[Any, Any], int]:
    """The order of rows by the values that functions of a row give, each an expression's, under its SortBy."""
    context = session.context()
    keys = []
    for value_of, expr, by in sort:
        if "useOp" in by:
            raise NotFollowed("ORDER BY ... USING")
        order = order_of(context, expr.type, expr.collation)
        descending = by.get("sortby_dir") == "SORTBY_DESC"
        nulls = by.get("sortby_nulls", "SORTBY_NULLS_DEFAULT")
        first = nulls == "SORTBY_NULLS_FIRST" or (nulls == "SORTBY_NULLS_DEFAULT" and descending)
        keys.append((value_of, order, -1 if descending else 1, -1 if first else 1))

    def compare(one: Any, other: Any) -> int:
        for value_of, order, sign, null_sign in keys:
            left, right = value_of(one), value_of(other)
            if left is None or right is None:
                if left is not right:
                    return null_sign if left is None else -null_sign
                continue
            answer = order(left, right)
            if answer:
                return answer * sign
        return 0

    return compare
