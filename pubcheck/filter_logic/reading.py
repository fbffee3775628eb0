"""Conditions over the cells of variables, read from analysed expressions.

A condition that is not followed becomes an open answer, a variable of its own. A condition
without a solution for any open answers is still decided.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from pubcheck.filter_logic import truth
from pubcheck.filter_logic.axes import STRINGS, Axis, Key, Strings
from pubcheck.filter_logic.constraints import (
    is_strict,
    key_of,
    never_fails,
    never_null,
    seen_through,
    substituted,
    variables_in,
)
from pubcheck.filter_logic.division import (
    ABOVE,
    BELOW,
    EQUAL,
    Answer,
    Cell,
    Division,
    TooLarge,
    Variable,
    answers,
    possible_signs,
    signs,
)
from pubcheck.filter_logic.truth import ERROR, FALSE, NULL, TRUE, Condition
from pubcheck.postgres import oids
from pubcheck.postgres.catalog.rows import Column
from pubcheck.postgres.datum import Array
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.compare import by_code_point
from pubcheck.postgres.executor.compile import Builder, Prepared
from pubcheck.postgres.executor.functions import Constant, Context
from pubcheck.postgres.primnodes import IMPLICIT, Expr

_HOLDS: dict[str, int] = {
    "=": EQUAL, "<>": BELOW | ABOVE, "<": BELOW, "<=": BELOW | EQUAL, ">": ABOVE, ">=": ABOVE | EQUAL,
}  # fmt: skip
"""The signs for which a comparison holds."""
_EQUALITY = ("=", "<>")
_ORDERS = frozenset(_HOLDS) - frozenset(_EQUALITY)
_TURNED = {BELOW: ABOVE, EQUAL: EQUAL, ABOVE: BELOW}
_MOST_CUTS = 2000


class Reader(Division):
    """Reads conditions over one relation's columns. All are read before ``finish`` divides the variables."""

    def __init__(self, columns: Sequence[Column], context: Context, *, samples: bool = True) -> None:
        """``samples``: whether values are tried for open answers."""
        super().__init__(columns, context, samples=samples)
        self._conditions: dict[Any, Condition] = {}

    # Reading.

    def condition(self, expr: Expr) -> Condition:
        """Read a condition that rows are asked for."""
        self._expressions.append(expr)
        return self._read(expr)

    def _read(self, expr: Expr) -> Condition:
        node = expr.node
        if node == "BoolExpr":
            # The planner folds constants before anything is evaluated.
            parts = [self._read(arg) for arg in sorted(expr.args, key=lambda arg: bool(variables_in(arg)))]
            if expr.value == "NOT":
                return truth.negated(parts[0])
            return truth.all_of(parts) if expr.value == "AND" else truth.any_of(parts)
        if node == "Const":
            return truth.constant(NULL if expr.null else TRUE if expr.value else FALSE)
        if node == "BooleanTest":
            words = expr.value.split()
            place = ("TRUE", "FALSE", "UNKNOWN").index(words[-1])
            yes, no = (FALSE, TRUE) if "NOT" in words else (TRUE, FALSE)
            return truth.mapped(self._read(expr.args[0]), [yes if number == place else no for number in range(3)])
        if node == "NullTest":
            return self._null_test(expr)
        if node == "CaseExpr" and not expr.value:
            return self._case(expr, self._read)
        if node == "CoalesceExpr":
            return self._coalesce(expr, self._read)
        if node == "Var":
            return self._flag(expr)
        if node in ("OpExpr", "ScalarArrayOpExpr", "DistinctExpr") and len(expr.args) == 2:
            return self._once(expr, self._comparison)
        return self._once(expr, self._open_answer)

    def _once(self, expr: Expr, read: Callable[[Expr], Condition]) -> Condition:
        key = key_of(expr)
        condition = self._conditions.get(key)
        if condition is None:
            condition = self._conditions[key] = read(expr)
        return condition

    def _case(self, expr: Expr, read: Callable[[Expr], Condition]) -> Condition:
        branches = [
            (self._read(expr.args[place]), read(expr.args[place + 1])) for place in range(0, len(expr.args) - 1, 2)
        ]
        return truth.first_that_holds(branches, read(expr.args[-1]))

    def _coalesce(self, expr: Expr, read: Callable[[Expr], Condition]) -> Condition:
        """Read COALESCE; ``read`` reads each argument."""
        branches = [(self._not_null(arg), read(arg)) for arg in expr.args[:-1]]
        return truth.first_that_holds(branches, read(expr.args[-1]))

    def _not_null(self, expr: Expr) -> Condition:
        return self._null_test(Expr("NullTest", oids.BOOL, [expr], value="IS_NOT_NULL"))

    def _null_test(self, expr: Expr) -> Condition:
        inner = expr.args[0]
        if inner.type == oids.BOOL and inner.node != "Var":
            yes, no = (TRUE, FALSE) if expr.value == "IS_NULL" else (FALSE, TRUE)
            return truth.mapped(self._read(inner), (no, no, yes))
        if inner.node == "RowExpr" and expr.form != IMPLICIT:
            # A row within a row is not NULL, whatever its fields are.
            return truth.all_of([self._null_test(replace(expr, args=[field], form=IMPLICIT)) for field in inner.args])
        if inner.node == "Const":
            return truth.constant(TRUE if inner.null is (expr.value == "IS_NULL") else FALSE)
        term = seen_through(self.context.cache, inner)
        if inner.node == "RowExpr" or self.context.cache.type(inner.type).kind == "c" or not self._is_term(term):
            return self._once(expr, self._open_answer)
        variable = self._variable(term)
        if_null, otherwise = (TRUE, FALSE) if expr.value == "IS_NULL" else (FALSE, TRUE)
        return self._tabled([variable], lambda cell: ERROR if cell.answer else if_null if cell.null else otherwise)

    def _flag(self, expr: Expr) -> Condition:
        """Read a column that is a condition by itself."""
        if not self._is_term(expr):
            return self._once(expr, self._open_answer)
        variable = self._variable(expr)

        def answer(cell: Cell) -> int:
            return NULL if cell.null else TRUE if cell.values[0] else FALSE

        return self._tabled([variable], answer)

    # Comparisons.

    def _comparison(self, expr: Expr) -> Condition:
        name = self.context.cache.operator(expr.operators[0]).name
        left, right = expr.args
        if expr.node == "OpExpr" and left.type == right.type == oids.BOOL and name in _EQUALITY:
            equal = self._same(left, right)
            return equal if name == "=" else truth.negated(equal)
        if expr.node == "DistinctExpr" and left.type == right.type == oids.BOOL:
            return self._distinct(self._read(left), self._read(right))
        constants = [self._constant(arg) for arg in expr.args]
        if constants[0] is not None and constants[1] is not None:
            return truth.constant(self._evaluated(Prepared(expr, self.context), {}))
        if constants[0] is None and constants[1] is None:
            return self._between_terms(expr, name)
        side = 0 if constants[0] is None else 1
        constant = constants[1 - side]
        assert constant is not None
        operand = expr.args[side]
        term = seen_through(self.context.cache, operand)
        if expr.node == "OpExpr" and (term.node == "CoalesceExpr" or (term.node == "CaseExpr" and not term.value)):
            return self._of_parts(expr, term)
        return self._with_constant(expr, name, side, term, constant)

    def _of_parts(self, expr: Expr, term: Expr) -> Condition:
        """Read a comparison with CASE or COALESCE as that with each of its results."""
        read = self._coalesce if term.node == "CoalesceExpr" else self._case
        return read(term, lambda part: self._once(substituted(expr, term, part), self._comparison))

    def _same(self, left: Expr, right: Expr) -> Condition:
        first, second = self._read(left), self._read(right)
        both = truth.all_of([first, second])
        neither = truth.all_of([truth.negated(first), truth.negated(second)])
        return truth.any_of([both, neither])

    @staticmethod
    def _distinct(left: Condition, right: Condition) -> Condition:
        """Read IS DISTINCT FROM of two conditions."""
        same = []
        for answer in range(3):
            only = [TRUE if place == answer else FALSE for place in range(3)]
            same.append(truth.all_of([truth.mapped(left, only), truth.mapped(right, only)]))
        return truth.negated(truth.any_of(same))

    def _constant(self, expr: Expr) -> Constant | None:
        """Return an expression that reads no column with its value."""
        if variables_in(expr):
            return None
        step = Builder(self.context).build(expr)
        return step if isinstance(step, Constant) else None

    def _with_constant(self, expr: Expr, name: str, side: int, term: Expr, constant: Constant) -> Condition:
        if constant.value is None and (expr.node == "OpExpr" or expr.node == "ScalarArrayOpExpr"):
            return truth.constant(NULL)
        axis = self._axis(term)
        if axis is None or not self._is_term(term):
            return self._open_answer(expr)
        other = expr.args[1 - side]
        ordered = self._ordered(expr, term)
        cuts = self._cuts(axis, name, other, constant.value, side) if ordered or name not in _ORDERS else None
        if cuts is None:
            if name in _HOLDS and expr.node == "OpExpr" and term.type in STRINGS and isinstance(constant.value, str):
                return self._collated(expr, name, side, term, constant.value)
            return self._open_answer(expr)
        variable = self._variable(term)
        variable.cuts.update(cuts)
        if len(variable.cuts) > _MOST_CUTS:
            raise TooLarge
        return self._tabled([variable], self._evaluation(expr, term))

    def _cuts(self, axis: Axis, name: str, other: Expr, value: Any, side: int) -> list[Key] | None:
        """Return the keys at which a condition may change its answer, None if it depends on more than order."""
        if name in _HOLDS:
            if isinstance(value, Array):
                element = self.context.cache.element_type(other.type)
                values = [(element_value, element) for element_value in value.elements if element_value is not None]
            else:
                values = [(value, other.type)] if value is not None else []
            keys: list[Key] = []
            for constant, oid in values:
                places = axis.cuts(constant, oid)
                if places is None:
                    return None
                keys += places
            return keys
        if name in _PREFIXED and side == 0 and isinstance(value, str):
            return _prefix_cuts(value, name, padded=getattr(axis, "padded", True))
        return None

    def _evaluation(self, expr: Expr, term: Expr) -> Answer:
        """Return a function that evaluates a condition on one variable for the first value of a cell."""
        column = term.value if term.node == "Var" else 0
        if not column:
            expr = substituted(expr, term, replace(term, node="Var", args=[], value=1, functions=(), operators=()))
            column = 1
        prepared = Prepared(expr, self.context)

        def answer(cell: Cell) -> int:
            if cell.answer:
                return ERROR
            if not cell.values:
                return TRUE | FALSE
            return self._evaluated(prepared, {column: cell.values[0]})

        return answer

    def _evaluated(self, prepared: Prepared, row: dict[int, Any]) -> int:
        try:
            answer = prepared(row)
        except ServerError:
            return ERROR
        except Unknowable:
            return truth.ANY
        return NULL if answer is None else TRUE if answer else FALSE

    def _collated(self, expr: Expr, name: str, side: int, term: Expr, value: str) -> Condition:
        """Read the comparison of a text with a constant under a collation whose order is unknown."""
        variable = self._variable(term)
        axis = variable.axis
        assert axis is not None
        key = axis.key(value)
        variable.cuts.add(key)
        sign = self._sign((key_of(term), key, expr.input_collation))
        holds = _HOLDS[name] if side == 0 else _turned(_HOLDS[name])

        def answer(cell: Cell, sign_cell: Cell) -> int:
            if cell.answer:
                return ERROR
            if cell.null:
                return NULL
            equal = cell.exact and cell.low == key
            if equal is not (sign_cell.answer == EQUAL) or (not key and sign_cell.answer == BELOW):
                return 0  # the empty text is the first of all
            return TRUE if holds & sign_cell.answer else FALSE

        return self._tabled([variable, sign], answer)

    def _between_terms(self, expr: Expr, name: str) -> Condition:
        """Read a comparison of two columns or other expressions of the same type."""
        left, right = (seen_through(self.context.cache, arg) for arg in expr.args)
        for term in (left, right):
            if term.node == "CoalesceExpr" or (term.node == "CaseExpr" and not term.value):
                return self._of_parts(expr, term)
        comparable = name in _HOLDS and expr.node in ("OpExpr", "DistinctExpr") and self._comparable(left, right)
        if not comparable or not self._is_term(left) or not self._is_term(right):
            return self._open_answer(expr)
        first, second = self._variable(left), self._variable(right)
        turned = second.number < first.number
        if turned:
            first, second = second, first
        holds = _turned(_HOLDS[name]) if turned else _HOLDS[name]
        distinct = expr.node == "DistinctExpr"
        ordered = self._ordered(expr, left)

        def answer(cell: Cell, other: Cell, sign_cell: Cell) -> int:
            if cell.answer or other.answer:
                return ERROR
            if cell.null or other.null:
                if distinct:
                    return FALSE if cell.null and other.null else TRUE
                return NULL
            possible = possible_signs(cell, other)
            if not ordered and possible != EQUAL:
                # Of texts only equality is known: both signs are possible unless they are the same.
                possible = BELOW | ABOVE | (possible & EQUAL)
            if not possible & sign_cell.answer:
                return 0
            if distinct:
                return FALSE if sign_cell.answer == EQUAL else TRUE
            return TRUE if holds & sign_cell.answer else FALSE

        if first is second:
            return self._tabled([first], lambda cell: self._with_itself(cell, holds, distinct))
        self._related.append((first, second))
        return self._tabled([first, second, self._sign((first.number, second.number, expr.input_collation))], answer)

    @staticmethod
    def _with_itself(cell: Cell, holds: int, distinct: bool) -> int:
        if cell.answer:
            return ERROR
        if cell.null and not distinct:
            return NULL
        return TRUE if holds & EQUAL and not distinct else FALSE

    def _comparable(self, left: Expr, right: Expr) -> bool:
        if left.type != right.type and not (left.type in STRINGS[:2] and right.type in STRINGS[:2]):
            return False
        axis, other = self._axis(left), self._axis(right)
        return axis is not None and (axis is other or (left.type in STRINGS and isinstance(other, Strings)))

    def _ordered(self, expr: Expr, term: Expr) -> bool:
        """Return whether a comparison follows the order of a term's axis."""
        return term.type not in STRINGS or by_code_point(self.context, expr.input_collation)

    def _sign(self, key: Any) -> Variable:
        return self._variable_of(("sign", key), None, None, signs())

    # Open answers.

    def _open_answer(self, expr: Expr) -> Condition:
        """Read a condition that can only be evaluated for single rows."""
        columns = variables_in(expr)
        if any(number <= 0 or number not in self.columns for number in columns):
            raise Unknowable("the value of a whole row or of a system column")
        negated, key = self._without_negation(expr)
        answer_variable = self._variable_of(("answer", key), None, None, answers())
        read = [self._column(number) for number in columns]
        self._open.update(columns)
        allowed = truth.ANY
        if never_fails(self.context.cache, expr):
            allowed &= ~ERROR
        if never_null(self.context.cache, expr):
            allowed &= ~NULL
        if len(read) != 1:
            strict = is_strict(self.context.cache, expr) and len(read) < 4

            def open_answer(*cells: Cell) -> int:
                if any(cell.null for cell in cells[:-1]):
                    return cells[-1].answer & NULL
                answer = cells[-1].answer & allowed
                return _SWAPPED.get(answer, answer) if negated else answer

            if strict:
                return self._tabled([*read, answer_variable], open_answer)
            condition = self._tabled([answer_variable], lambda cell: cell.answer)
            return truth.negated(condition) if negated else condition
        evaluate = self._evaluation(expr, Expr("Var", 0, value=columns[0]))

        def answer(cell: Cell, answer_cell: Cell) -> int:
            if cell.null and not allowed & NULL:
                return evaluate(cell) if answer_cell.answer == NULL else 0
            possible = _SWAPPED.get(answer_cell.answer, answer_cell.answer) if negated else answer_cell.answer
            return possible & (evaluate(cell) if cell.single else allowed)

        return self._tabled([read[0], answer_variable], answer)

    def _without_negation(self, expr: Expr) -> tuple[bool, Any]:
        """Return whether an expression is the negation of an operator, and the key of the latter."""
        if expr.node == "OpExpr":
            name = self.context.cache.operator(expr.operators[0]).name
            if name in _NEGATED or name[1:] in _NEGATED:
                plain = name if name in _NEGATED else name[1:]
                return name != plain, (plain, expr.input_collation, *[key_of(arg) for arg in expr.args])
        return False, key_of(expr)


def _turned(holds: int) -> int:
    return sum(_TURNED[sign] for sign in (BELOW, EQUAL, ABOVE) if holds & sign)


_SWAPPED = {TRUE: FALSE, FALSE: TRUE}
_NEGATED = ("~~", "~~*", "~", "~*")
"""Operators whose negations begin with an exclamation mark."""
_PREFIXED = ("~~", "!~~", "^@")


def _prefix_cuts(pattern: str, name: str, padded: bool) -> list[str] | None:
    """Return the first text that a pattern for prefixes matches, and the first one after all of them."""
    prefix, rest = pattern, "%"
    if name != "^@":
        prefix, rest = "", ""
        letters = iter(pattern)
        for letter in letters:
            if letter in "%_":
                rest = letter + "".join(letters)
                break
            prefix += next(letters, "") if letter == "\\" else letter
    if not pattern and not padded:
        return [""]
    if padded or rest.strip("%") or not prefix or ord(prefix[-1]) == 0x10FFFF:
        return None
    return [prefix] if not rest else [prefix, prefix[:-1] + chr(ord(prefix[-1]) + 1)]
