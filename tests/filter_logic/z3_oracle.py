"""Questions about two filters, asked of an SMT solver: z3, over integers, for the columns and operators it can express.

A condition is a pair of formulas, that it is true and that it is false; it is NULL if neither holds.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import z3

from pubcheck.filter_logic.questions import Finding, NoRow, Undecided
from pubcheck.filter_logic.truth import TRUE
from pubcheck.postgres import oids
from pubcheck.postgres.executor import Context
from pubcheck.postgres.executor.compile import Builder
from pubcheck.postgres.executor.functions import Constant
from pubcheck.postgres.primnodes import Expr
from tests.filter_logic.world import QUESTIONS, World

_BOUNDS = {
    oids.INT2: (-(1 << 15), (1 << 15) - 1),
    oids.INT4: (-(1 << 31), (1 << 31) - 1),
    oids.INT8: (-(1 << 63), (1 << 63) - 1),
}
_TEXTS = (oids.TEXT, oids.VARCHAR)
_CASTS = frozenset(("RelabelType", "CollateExpr"))
Truth = tuple[z3.BoolRef, z3.BoolRef]
Term = tuple[Any, z3.BoolRef]
"""A value, and whether it is NULL."""


class Inexpressible(Exception):
    """The filter has something that is not translated."""


class Translator:
    """Translates filters over one table. Texts are numbers, of which only equality is translated."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.context = Context(world.context.inputs)
        self.texts: dict[str, int] = {}
        self.bounds: list[z3.BoolRef] = []
        self.columns: dict[int, Term] = {}

    def condition(self, expr: Expr) -> Truth:
        node = expr.node
        if node == "BoolExpr":
            parts = [self.condition(arg) for arg in expr.args]
            if expr.value == "NOT":
                return parts[0][1], parts[0][0]
            trues, falses = [part[0] for part in parts], [part[1] for part in parts]
            if expr.value == "AND":
                return z3.And(*trues), z3.Or(*falses)
            return z3.Or(*trues), z3.And(*falses)
        if node == "Const":
            return z3.BoolVal(expr.value is True), z3.BoolVal(expr.value is False)
        if node == "Var":
            value, null = self.term(expr)
            return z3.And(value, z3.Not(null)), z3.And(z3.Not(value), z3.Not(null))
        if node == "NullTest":
            return self._null_test(expr)
        if node == "BooleanTest":
            true, false = self.condition(expr.args[0])
            holds = {"TRUE": true, "FALSE": false, "UNKNOWN": z3.Not(z3.Or(true, false))}[expr.value.split()[-1]]
            return (z3.Not(holds), holds) if "NOT" in expr.value else (holds, z3.Not(holds))
        if node == "CaseExpr" and not expr.value:
            return self._case(expr)
        if node in ("OpExpr", "DistinctExpr"):
            return self._comparison(expr)
        if node == "ScalarArrayOpExpr":
            return self._any_or_all(expr)
        raise Inexpressible

    def _null_test(self, expr: Expr) -> Truth:
        inner = expr.args[0]
        if inner.type == oids.BOOL and inner.node != "Var":
            true, false = self.condition(inner)
            null = z3.Not(z3.Or(true, false))
        else:
            null = self.term(inner)[1]
        return (null, z3.Not(null)) if expr.value == "IS_NULL" else (z3.Not(null), null)

    def _case(self, expr: Expr) -> Truth:
        true, false = self.condition(expr.args[-1])
        for place in range(len(expr.args) - 3, -1, -2):
            holds = self.condition(expr.args[place])[0]
            result = self.condition(expr.args[place + 1])
            true, false = z3.If(holds, result[0], true), z3.If(holds, result[1], false)
        return true, false

    def _comparison(self, expr: Expr) -> Truth:
        name = self.world.context.cache.operator(expr.operators[0]).name
        left, right = expr.args
        if left.type == oids.BOOL:
            first, second = self.condition(left), self.condition(right)
            known = z3.And(z3.Or(*first), z3.Or(*second))
            equal = first[0] == second[0]
        else:
            (value, null), (other, other_null) = self.term(left), self.term(right)
            known = z3.Not(z3.Or(null, other_null))
            if expr.node == "DistinctExpr":
                distinct = z3.Or(null != other_null, z3.And(known, value != other))
                return distinct, z3.Not(distinct)
            if name in ("<", "<=", ">", ">="):
                if left.type in (*_TEXTS, oids.BPCHAR):
                    raise Inexpressible
                holds = {"<": value < other, "<=": value <= other, ">": value > other, ">=": value >= other}[name]
                return z3.And(known, holds), z3.And(known, z3.Not(holds))
            equal = value == other
        if name == "=":
            return z3.And(known, equal), z3.And(known, z3.Not(equal))
        if name == "<>":
            return z3.And(known, z3.Not(equal)), z3.And(known, equal)
        raise Inexpressible

    def _any_or_all(self, expr: Expr) -> Truth:
        name = self.world.context.cache.operator(expr.operators[0]).name
        if name not in ("=", "<>"):
            raise Inexpressible
        value, null = self.term(expr.args[0])
        array = Builder(self.context).build(expr.args[1])
        if not isinstance(array, Constant) or any(element is None for element in array.value.elements):
            raise Inexpressible
        element_type = self.world.context.cache.element_type(expr.args[1].type)
        equals = [value == self._number(element, element_type) for element in array.value.elements]
        holds = z3.Or(*equals) if name == "=" else z3.And(*[z3.Not(equal) for equal in equals])
        known = z3.Not(null)
        return z3.And(known, holds), z3.And(known, z3.Not(holds))

    def term(self, expr: Expr) -> Term:
        if expr.node in _CASTS:
            return self.term(expr.args[0])
        if expr.node == "Var":
            return self._column(expr)
        widened = expr.node == "FuncExpr" and len(expr.args) == 1 and expr.args[0].type in _BOUNDS
        if widened and (expr.type in _BOUNDS or expr.type == oids.NUMERIC):
            return self.term(expr.args[0])
        if expr.node == "CoalesceExpr":
            (value, null), (other, other_null) = self.term(expr.args[0]), self.term(expr.args[1])
            return z3.If(null, other, value), z3.And(null, other_null)
        step = Builder(self.context).build(expr) if not _reads(expr) else None
        if not isinstance(step, Constant) or step.value is None:
            raise Inexpressible
        return self._number(step.value, expr.type), z3.BoolVal(False)

    def _number(self, value: Any, oid: int) -> Any:
        if isinstance(value, str) and oid in (*_TEXTS,):
            return z3.IntVal(self.texts.setdefault(value, len(self.texts)))
        if oid in _BOUNDS:
            return z3.IntVal(value)
        if oid == oids.NUMERIC and value == value:
            exact = Fraction(value)
            return z3.RealVal(f"{exact.numerator}/{exact.denominator}")
        if oid == oids.DATE and isinstance(value, int):
            return z3.IntVal(value)
        raise Inexpressible

    def _column(self, expr: Expr) -> Term:
        number = expr.value
        if number not in self.columns:
            column = next(column for column in self.world.relation.columns if column.number == number)
            null = z3.BoolVal(False) if column.not_null else z3.Bool(f"null{number}")
            value: Any
            if column.type == oids.BOOL:
                value = z3.Bool(f"value{number}")
            else:
                value = z3.Int(f"value{number}")
                if column.type in _BOUNDS:
                    low, high = _BOUNDS[column.type]
                    self.bounds += [value >= low, value <= high]
                elif column.type == oids.DATE:
                    pass  # the infinities are days like others, far away
                elif column.type not in _TEXTS or column.typmod >= 0:
                    raise Inexpressible
            self.columns[number] = value, null
        return self.columns[number]


def _reads(expr: Expr) -> bool:
    return expr.node == "Var" or any(map(_reads, expr.args))


def disagreement(world: World, findings: dict[str, Finding], first: Expr, second: Expr) -> tuple[bool, str | None]:
    """Return whether the solver was asked, and an answer of which it says the opposite."""
    if world.generated:
        return False, None
    translator = Translator(world)
    try:
        truths = translator.condition(first), translator.condition(second)
        never_false = [z3.Not(translator.condition(condition)[1]) for condition in world.conditions]
    except Inexpressible:
        return False, None
    possible = z3.Solver()
    possible.add(*translator.bounds, *never_false)
    if possible.check() != z3.sat:
        return False, None  # columns that the filters do not read have contradictory constraints
    for name, finding in findings.items():
        if isinstance(finding, Undecided):
            continue
        solver = z3.Solver()
        solver.set("timeout", 5000)
        solver.add(*translator.bounds, *never_false)
        for (true, _), wanted in zip(truths, QUESTIONS[name], strict=True):
            if wanted == TRUE:
                solver.add(true)
            elif not wanted & TRUE:
                solver.add(z3.Not(true))
        answer = solver.check()
        if answer != z3.unknown and (answer == z3.unsat) is not isinstance(finding, NoRow):
            return True, f"{name}: {type(finding).__name__}, but the solver says {answer}"
    return True, None
