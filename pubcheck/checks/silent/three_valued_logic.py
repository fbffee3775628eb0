"""Which truth values a row filter can take when a column is NULL: three-valued logic over sets of possible values.

A set is a number: 1 for true, 2 for false, 4 for NULL. Of other types' values only NULL or not NULL counts.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from pubcheck.postgres.oids import BOOL
from pubcheck.postgres.primnodes import Expr

if TYPE_CHECKING:
    from pubcheck.postgres.session.syscache import SysCache

TRUE, FALSE, NULL = 1, 2, 4
VALUE = TRUE | FALSE

_TESTS = {
    "IS TRUE": (TRUE,),
    "IS NOT TRUE": (FALSE, NULL),
    "IS FALSE": (FALSE,),
    "IS NOT FALSE": (TRUE, NULL),
    "IS UNKNOWN": (NULL,),
    "IS NOT UNKNOWN": (TRUE, FALSE),
}
_STRICT_CALLS = frozenset(("FuncExpr", "OpExpr"))


def possible(cache: SysCache, expr: Expr, column: int = 0, unsure: Collection[int] = ()) -> int:
    """What an expression can be where one column is NULL and no other is, except for ``unsure`` ones, which may be;
    column 0: none is.

    What a function makes of values that are not NULL is not looked into. Raises RecursionError for what is too deep.
    """
    return _Reading(cache, column, unsure).of(expr)


class _Reading:
    def __init__(self, cache: SysCache, column: int, unsure: Collection[int]) -> None:
        self.cache, self.column, self.unsure = cache, column, unsure
        self.tested = VALUE

    def of(self, expr: Expr) -> int:
        kind = expr.node
        if kind == "Var":
            return NULL if expr.value == self.column else VALUE | NULL if expr.value in self.unsure else VALUE
        if kind == "Const":
            if expr.null:
                return NULL
            return (TRUE if expr.value else FALSE) if expr.type == BOOL else VALUE
        if kind == "BoolExpr":
            return _combined(expr.value, map(self.of, expr.args))
        if kind == "NullTest":
            return self._null_test(expr)
        if kind == "BooleanTest":
            given, wanted = self.of(expr.args[0]), sum(_TESTS[expr.value])
            return (TRUE if given & wanted else 0) | (FALSE if given & ~wanted else 0)
        if kind in _STRICT_CALLS:
            return self._call(expr, [self.of(arg) for arg in expr.args])
        if kind in ("RelabelType", "CollateExpr"):
            return self.of(expr.args[0])
        return self._rarer(expr)

    def _rarer(self, expr: Expr) -> int:
        kind = expr.node
        if kind == "ScalarArrayOpExpr":
            return self._of_array(expr)
        if kind == "CoalesceExpr":
            return self._first_value(expr.args)
        if kind == "MinMaxExpr":
            # NULL only where all are.
            given = [self.of(arg) for arg in expr.args]
            return (VALUE if any(one & VALUE for one in given) else 0) | (
                NULL if all(one & NULL for one in given) else 0
            )
        if kind == "DistinctExpr":
            left, right = (self.of(arg) for arg in expr.args)
            if NULL in (left, right):
                other = right if left == NULL else left
                return (FALSE if other & NULL else 0) | (TRUE if other & VALUE else 0)
            return VALUE
        if kind == "NullIfExpr":
            left, right = (self.of(arg) for arg in expr.args)
            return left if NULL in (left, right) else VALUE | NULL
        if kind == "CaseExpr":
            return self._case(expr)
        if kind == "CaseTestExpr":
            return self.tested
        if kind == "RowCompareExpr":
            given = [self.of(arg) for arg in expr.args]
            if NULL in (given[0], given[len(given) // 2]):
                return NULL  # the first pair decides before the others are looked at
            return VALUE | NULL if any(one & NULL for one in given) else VALUE
        return VALUE

    def _null_test(self, expr: Expr) -> int:
        if expr.args[0].node == "RowExpr":
            return VALUE
        given, wanted = self.of(expr.args[0]), NULL if expr.value == "IS_NULL" else VALUE
        return (TRUE if given & wanted else 0) | (FALSE if given & ~wanted else 0)

    def _call(self, expr: Expr, given: list[int]) -> int:
        if not any(one & NULL for one in given):
            return VALUE
        if not all(self.cache.proc(oid).strict for oid in expr.functions):
            return VALUE
        return NULL if NULL in given else VALUE | NULL

    def _of_array(self, expr: Expr) -> int:
        """``x op ANY (array)``: with a NULL among the elements it is true, or NULL where it would be false."""
        left, right = (self.of(arg) for arg in expr.args)
        array = expr.args[1]
        if right == NULL:
            return NULL
        if left == NULL:
            # Of no elements at all ANY is false, and ALL true.
            elements = array.args if array.node == "ArrayExpr" else array.value if array.node == "Const" else None
            return NULL if elements else NULL | (FALSE if expr.value else TRUE)
        possible_values = VALUE | ((left | right) & NULL)
        if array.node == "ArrayExpr" and any(self.of(element) == NULL for element in array.args):
            possible_values = (TRUE if expr.value else FALSE) | NULL
        return possible_values

    def _first_value(self, args: Iterable[Expr]) -> int:
        found = 0
        for arg in args:
            given = self.of(arg)
            found |= given & VALUE
            if not given & NULL:
                return found
        return found | NULL

    def _case(self, expr: Expr) -> int:
        args = list(expr.args)
        outer = self.tested
        if expr.value:
            self.tested = self.of(args.pop(0))
        found = 0
        for condition, result in zip(args[:-1:2], args[1:-1:2], strict=True):
            given = self.of(condition)
            if given & TRUE:
                found |= self.of(result)
            if not given & (FALSE | NULL):
                break
        else:
            found |= self.of(args[-1])
        self.tested = outer
        return found


def _combined(operation: str, given: Iterable[int]) -> int:
    """AND, OR or NOT of sets."""
    if operation == "NOT":
        (one,) = given
        return (FALSE if one & TRUE else 0) | (TRUE if one & FALSE else 0) | (one & NULL)
    # Kleene: AND is the least of false, NULL, true, and OR the greatest.
    ranks = (FALSE, NULL, TRUE) if operation == "AND" else (TRUE, NULL, FALSE)
    possible_values = ranks[-1]
    for one in given:
        possible_values = sum({ranks[min(i, j)] for i in _ranks(possible_values, ranks) for j in _ranks(one, ranks)})
    return possible_values


def _ranks(values: int, ranks: tuple[int, int, int]) -> list[int]:
    return [at for at, value in enumerate(ranks) if values & value]
