"""The truth values that a row filter can take when a column is NULL: three-valued logic over sets of values.

A set is a number: 1 for true, 2 for false, 4 for NULL. Values of other types are only NULL or not NULL.
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
    """Return the possible values of an expression where one column is NULL (0: none), columns in ``unsure`` may be, and
    no other column is.

    A function of values that are not NULL is not evaluated. Raises RecursionError for an expression that is too deep.
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
            argument, tested = self.of(expr.args[0]), sum(_TESTS[expr.value])
            return (TRUE if argument & tested else 0) | (FALSE if argument & ~tested else 0)
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
            arguments = [self.of(arg) for arg in expr.args]
            return (VALUE if any(argument & VALUE for argument in arguments) else 0) | (
                NULL if all(argument & NULL for argument in arguments) else 0
            )
        if kind == "DistinctExpr":
            left, right = (self.of(arg) for arg in expr.args)
            if NULL in (left, right):
                unknown_side = right if left == NULL else left
                return (FALSE if unknown_side & NULL else 0) | (TRUE if unknown_side & VALUE else 0)
            return VALUE
        if kind == "NullIfExpr":
            left, right = (self.of(arg) for arg in expr.args)
            return left if NULL in (left, right) else VALUE | NULL
        if kind == "CaseExpr":
            return self._case(expr)
        if kind == "CaseTestExpr":
            return self.tested
        if kind == "RowCompareExpr":
            arguments = [self.of(arg) for arg in expr.args]
            if NULL in (arguments[0], arguments[len(arguments) // 2]):
                return NULL  # the first pair decides before the others are looked at
            return VALUE | NULL if any(argument & NULL for argument in arguments) else VALUE
        return VALUE

    def _null_test(self, expr: Expr) -> int:
        if expr.args[0].node == "RowExpr":
            return VALUE
        argument, tested = self.of(expr.args[0]), NULL if expr.value == "IS_NULL" else VALUE
        return (TRUE if argument & tested else 0) | (FALSE if argument & ~tested else 0)

    def _call(self, expr: Expr, arguments: list[int]) -> int:
        if not any(argument & NULL for argument in arguments):
            return VALUE
        if not all(self.cache.proc(oid).strict for oid in expr.functions):
            return VALUE
        return NULL if NULL in arguments else VALUE | NULL

    def _of_array(self, expr: Expr) -> int:
        """``x op ANY (array)``: with a NULL among the elements it is true, or NULL where it would be false."""
        left, right = (self.of(arg) for arg in expr.args)
        array = expr.args[1]
        if right == NULL:
            return NULL
        if left == NULL:
            # Of no elements at all ANY is false, and ALL true.
            elements = array.args if array.node == "ArrayExpr" else array.node == "Const" and array.value.elements
            return NULL if elements else NULL | (FALSE if expr.value else TRUE)
        possible_values = VALUE | ((left | right) & NULL)
        if array.node == "ArrayExpr" and any(self.of(element) == NULL for element in array.args):
            possible_values = (TRUE if expr.value else FALSE) | NULL
        return possible_values

    def _first_value(self, args: Iterable[Expr]) -> int:
        outcome = 0
        for arg in args:
            argument = self.of(arg)
            outcome |= argument & VALUE
            if not argument & NULL:
                return outcome
        return outcome | NULL

    def _case(self, expr: Expr) -> int:
        args = list(expr.args)
        outer = self.tested
        if expr.value:
            self.tested = self.of(args.pop(0))
        outcome = 0
        for condition, result in zip(args[:-1:2], args[1:-1:2], strict=True):
            condition_values = self.of(condition)
            if condition_values & TRUE:
                outcome |= self.of(result)
            if not condition_values & (FALSE | NULL):
                break
        else:
            outcome |= self.of(args[-1])
        self.tested = outer
        return outcome


def _combined(operation: str, operands: Iterable[int]) -> int:
    """AND, OR or NOT of sets."""
    if operation == "NOT":
        (operand,) = operands
        return (FALSE if operand & TRUE else 0) | (TRUE if operand & FALSE else 0) | (operand & NULL)
    # Kleene: AND is the least of false, NULL, true, and OR the greatest.
    ranks = (FALSE, NULL, TRUE) if operation == "AND" else (TRUE, NULL, FALSE)
    values = ranks[-1]
    for operand in operands:
        values = sum({ranks[min(i, j)] for i in _ranks(values, ranks) for j in _ranks(operand, ranks)})
    return values


def _ranks(values: int, ranks: tuple[int, int, int]) -> list[int]:
    return [rank for rank, value in enumerate(ranks) if values & value]
