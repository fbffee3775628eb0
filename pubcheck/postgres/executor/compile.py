"""Expression nodes become functions of a row, constants being folded as the planner folds them.

Follows eval_const_expressions (optimizer/util/clauses.c), which decides what is evaluated at all, and ExecInterpExpr
(executor/execExprInterp.c). An error while constants are folded fails for every row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pubcheck.postgres import input
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.datum import Array
from pubcheck.postgres.errors import ServerError, Unknowable
from pubcheck.postgres.executor.compare import order_of
from pubcheck.postgres.executor.functions import (
    Call,
    Constant,
    Context,
    Implementation,
    Row,
    Step,
    applied,
    applied_to_nulls,
    both,
    evaluation_error,
    implementation,
    inlined,
    nested,
    placed,
    wrapped,
)
from pubcheck.postgres.oids import BPCHAR, CSTRING, INT4, NAME, OID, TEXT, UNKNOWN, VARCHAR
from pubcheck.postgres.primnodes import EXPLICIT_CALL, IMPLICIT, Expr


class Prepared:
    """A filter that is ready: call it with a row.

    Answers True, False or None (NULL). Raises ServerError where the server fails for the row, and Unknowable.
    """

    __slots__ = ("_failure", "_step")

    def __init__(self, expr: Expr, context: Context) -> None:
        self._failure: ServerError | Unknowable | None = None
        self._step: Step | None = None
        try:
            self._step = Builder(context).build(expr)
        except (ServerError, Unknowable) as failure:
            self._failure = failure
        except RecursionError:
            self._failure = _TOO_DEEP

    @property
    def failure(self) -> ServerError | Unknowable | None:
        """The error that every row raises, because the filter fails while its constants are folded."""
        return self._failure

    @property
    def step(self) -> Step:
        """The filter as a step that may raise RecursionError, for the rows of a stream."""
        return self if self._step is None else self._step

    def __call__(self, row: Row) -> bool | None:
        if self._step is None:
            assert self._failure is not None
            raise self._failure.with_traceback(None)
        try:
            answer: bool | None = self._step(row)
        except RecursionError:
            raise _TOO_DEEP.with_traceback(None) from None
        return answer


_TOO_DEEP = Unknowable("what a filter nested so deeply gives")


def prepare(expr: Expr, context: Context) -> Prepared:
    """Make an analysed filter ready to be evaluated many times."""
    return Prepared(expr, context)


def evaluate(expr: Expr, row: Row, context: Context) -> bool | None:
    """The server's answer for one row: True, False or None (NULL). Raises ServerError and Unknowable."""
    return Prepared(expr, context)(row)


class Builder:
    def __init__(self, context: Context) -> None:
        self.context = context
        self.cache = context.cache
        self.tested: list[Step] = []
        """The tested expressions of the open CASEs, innermost last."""

    def build(self, expr: Expr) -> Step:
        builder = _BUILDERS.get(expr.node)
        if builder is None:
            raise Unknowable(f"what {expr.node} gives")
        return builder(self, expr)

    def folded(self, step: Step, args: Sequence[Step]) -> Step:
        """The step, evaluated at once where all that it works with is constant."""
        return Constant(step({})) if all(isinstance(arg, Constant) for arg in args) else step

    # Columns and constants.

    def column(self, expr: Expr) -> Step:
        number = expr.value
        if not number or number < 0:
            raise Unknowable("the value of a whole row")
        return lambda row: row[number]

    def constant(self, expr: Expr) -> Step:
        if isinstance(expr.value, str) and expr.type >= FIRST_NORMAL_OID and self.cache.element_type(expr.type):
            # The analysis keeps the text of an array whose elements it cannot read.
            raise Unknowable(f"what the input function of {self.cache.format_type(expr.type)} gives")
        return Constant(None if expr.null else expr.value)

    def relabelled(self, expr: Expr) -> Step:
        """Binary-coercible types have the same values here, except for the sign of an oid."""
        inner = expr.args[0]
        step = self.build(inner)
        if inner.type == INT4 and expr.type in _OIDS:
            return self.folded(wrapped(step, 0), [step])
        return self.folded(wrapped(step, -(1 << 31)), [step]) if inner.type in _OIDS and expr.type == INT4 else step

    def through_text(self, expr: Expr) -> Step:
        """A cast by the output function of one type and the input function of the other."""
        inner, source, target = self.build(expr.args[0]), expr.args[0].type, expr.type
        inputs, context = self.context.inputs, self.context

        def convert(value: Any) -> Any:
            text = value if source in _TEXTS else context.output.writer(source)(value)
            if target == TEXT:
                return text
            try:
                return input.read(inputs, target, text, expr.typmod)
            except ServerError as error:
                raise evaluation_error(error.sqlstate, error.message, error.detail, error.hint) from None

        bounded = context.budget.bounded(convert)

        def step(row: Row) -> Any:
            value = inner(row)
            return None if value is None else bounded(value)

        return self.folded(step, [inner])

    def converted_array(self, expr: Expr) -> Step:
        """ArrayCoerceExpr: each element is converted (array_map)."""
        array = self.build(expr.args[0])
        held: list[Any] = [None]
        self.tested.append(lambda row: held[0])
        try:
            convert = self.build(expr.args[1])
        finally:
            self.tested.pop()
        budget = self.context.budget

        def step(row: Row) -> Array | None:
            value = array(row)
            if value is None:
                return None
            budget.spend(len(value.elements))
            elements = []
            for element in value.elements:
                held[0] = element
                elements.append(convert(row))
            return Array(elements, value.lengths, value.lowers)

        return self.folded(step, [array])

    # Calls.

    def implementation(self, expr: Expr, oid: int) -> Implementation:
        return implementation(self.context, Call(self.context, expr, self.cache.proc(oid)))

    def call(self, expr: Expr) -> Step:
        expr = inlined(self.cache, expr)
        implementation = self.implementation(expr, expr.functions[0])
        args = [self.build(arg) for arg in placed(self.cache, expr)]
        simplified = self.simplified(expr, args)
        if simplified is not None:
            return simplified
        if implementation.strict and any(isinstance(arg, Constant) and arg.value is None for arg in args):
            return Constant(None)
        apply = applied if implementation.guarded else applied_to_nulls
        step = apply(implementation.function, args)
        if expr.type in _OIDS and self.cache.proc(expr.functions[0]).returns == INT4:
            step = wrapped(step, 0)
        return self.folded(step, args)

    def simplified(self, expr: Expr, args: Sequence[Step]) -> Step | None:
        """Return a constant answer where 17 and later know without the value whether a constant range that is empty
        or endless contains it, even if it is NULL (range_contains_elem_support)."""
        name = self.cache.proc(expr.functions[0]).name
        if name == "interval" and len(args) == 2 and expr.form == EXPLICIT_CALL:
            raise Unknowable("what an interval of that type modifier is")
        if name in ("varchar", "varbit") and len(args) == 3 and not isinstance(args[2], Constant):
            raise Unknowable("whether a length coercion is left out")
        if not self.context.major.range_containment_simplified or name not in (
            "range_contains_elem",
            "elem_contained_by_range",
        ):
            return None
        constant, operand = args if name == "range_contains_elem" else reversed(args)
        if not isinstance(constant, Constant) or constant.value is None or isinstance(operand, Constant):
            return None
        if constant.value.empty:
            return Constant(False)
        return Constant(True) if constant.value.lower is None and constant.value.upper is None else None

    def distinct(self, expr: Expr) -> Step:
        equal = self.implementation(expr, expr.functions[0]).function
        left, right = (self.build(arg) for arg in expr.args)

        def step(row: Row) -> bool:
            left_value, right_value = left(row), right(row)
            if left_value is None or right_value is None:
                return left_value is not right_value
            return not equal(left_value, right_value)

        return self.folded(step, [left, right])

    def null_if(self, expr: Expr) -> Step:
        equal = self.implementation(expr, expr.functions[0]).function
        left, right = (self.build(arg) for arg in expr.args)
        for side in (left, right):
            if isinstance(side, Constant) and side.value is None:
                return left

        def step(row: Row) -> Any:
            left_value, right_value = left(row), right(row)
            if left_value is None or right_value is None:
                return left_value
            return None if equal(left_value, right_value) else left_value

        return self.folded(step, [left, right])

    def any_or_all(self, expr: Expr) -> Step:
        """ExecEvalScalarArrayOp."""
        implementation = self.implementation(expr, expr.functions[0])
        function, strict, use_or = implementation.plain, implementation.strict, bool(expr.value)
        budget = self.context.budget
        left, right = (self.build(arg) for arg in expr.args)

        def step(row: Row) -> bool | None:
            value, array = left(row), right(row)
            if array is None:
                return None
            if not array.elements:
                return not use_or
            if value is None and strict:
                return None
            unknown = False
            budget.spend(len(array.elements))
            for element in array.elements:
                answer = None if element is None and strict else function(value, element)
                if answer is None:
                    unknown = True
                elif answer is use_or:
                    return bool(use_or)
            return None if unknown else not use_or

        return self.folded(step, [left, right])

    def row_comparison(self, expr: Expr) -> Step:
        """RowCompareExpr: the first pair that differs decides."""
        half: int = expr.value
        lefts, rights = expr.args[:half], expr.args[half:]
        pairs = []
        for left, right in zip(lefts, rights, strict=True):
            if left.type == right.type or (left.type in _INTEGERS and right.type in _INTEGERS):
                order = order_of(self.context, left.type, left.collation or right.collation)
            else:
                raise Unknowable("how rows of different types compare")
            pairs.append((self.build(left), self.build(right), order))
        name = self.cache.operator(expr.operators[-1]).name
        test = _TESTS.get(name)
        if test is None:
            raise Unknowable(f"how rows compare by {name}")

        def step(row: Row) -> bool | None:
            for left, right, order in pairs:
                left_value, right_value = left(row), right(row)
                if left_value is None or right_value is None:
                    return None
                sign = order(left_value, right_value)
                if sign:
                    return test(sign)
            return test(0)

        return step

    # Logic.

    def logic(self, expr: Expr) -> Step:
        if expr.value == "NOT":
            return self.negation(expr)
        ending = expr.value == "OR"
        steps: list[Step] = []
        unknown = False
        for arg in expr.args:
            step = self.build(arg)
            if isinstance(step, Constant):
                if step.value is ending:
                    return step
                unknown = unknown or step.value is None
                continue
            steps.append(step)
        if not steps:
            return Constant(None if unknown else not ending)
        otherwise = None if unknown else not ending
        if len(steps) == 1 and not unknown:
            return steps[0]
        if len(steps) == 2:
            return both(steps[0], steps[1], ending, otherwise)

        def run(row: Row) -> bool | None:
            answer: bool | None = otherwise
            for step in steps:
                value = step(row)
                if value is ending:
                    return bool(ending)
                if value is None:
                    answer = None
            return answer

        return run

    def negation(self, expr: Expr) -> Step:
        inner = self.build(expr.args[0])

        def step(row: Row) -> bool | None:
            value = inner(row)
            return None if value is None else not value

        return self.folded(step, [inner])

    def null_test(self, expr: Expr) -> Step:
        expected = expr.value == "IS_NULL"
        inner = expr.args[0]
        if inner.node == "RowExpr" and expr.form != IMPLICIT:
            fields = [self.build(arg) for arg in inner.args]
            return self.folded(lambda row: all((field(row) is None) is expected for field in fields), fields)
        step = self.build(inner)
        return self.folded(lambda row: (step(row) is None) is expected, [step])

    def boolean_test(self, expr: Expr) -> Step:
        words = expr.value.split()
        negated, expected = "NOT" in words, {"TRUE": True, "FALSE": False, "UNKNOWN": None}[words[-1]]
        step = self.build(expr.args[0])
        return self.folded(lambda row: (step(row) is expected) is not negated, [step])

    # Choices.

    def case(self, expr: Expr) -> Step:
        args = list(expr.args)
        test: Step | None = self.build(args.pop(0)) if expr.value else None
        held: list[Any] = [None]
        if test is not None:
            self.tested.append(test if isinstance(test, Constant) else lambda row: held[0])
        try:
            branches, otherwise = self._branches(args)
        finally:
            if test is not None:
                self.tested.pop()
        if not branches:
            return otherwise

        def searched(row: Row) -> Any:
            for condition, result in branches:
                if condition(row) is True:
                    return result(row)
            return otherwise(row)

        if test is None or isinstance(test, Constant):
            return searched

        def tested(row: Row) -> Any:
            outer = held[0]
            held[0] = test(row)
            try:
                return searched(row)
            finally:
                held[0] = outer

        return tested

    def _branches(self, args: list[Expr]) -> tuple[list[tuple[Step, Step]], Step]:
        """Return the WHENs that constant conditions leave, and the result if none of them holds."""
        branches: list[tuple[Step, Step]] = []
        for index in range(0, len(args) - 1, 2):
            condition = self.build(args[index])
            if isinstance(condition, Constant):
                if condition.value is True:
                    return branches, self.build(args[index + 1])
                continue
            branches.append((condition, self.build(args[index + 1])))
        return branches, self.build(args[-1])

    def case_test(self, expr: Expr) -> Step:
        if not self.tested:
            raise Unknowable("what a CASE tests")
        return self.tested[-1]

    def coalesce(self, expr: Expr) -> Step:
        steps: list[Step] = []
        for arg in expr.args:
            step = self.build(arg)
            if isinstance(step, Constant):
                if step.value is None:
                    continue
                steps.append(step)
                break
            steps.append(step)
        if not steps:
            return Constant(None)
        if len(steps) == 1:
            return steps[0]

        def run(row: Row) -> Any:
            for step in steps:
                value = step(row)
                if value is not None:
                    return value
            return None

        return run

    def greatest(self, expr: Expr) -> Step:
        order = order_of(self.context, expr.type, expr.input_collation or expr.collation)
        sign = -1 if expr.value == "LEAST" else 1
        steps = [self.build(arg) for arg in expr.args]

        def run(row: Row) -> Any:
            best = None
            for value in [step(row) for step in steps]:
                if value is not None and (best is None or order(value, best) * sign > 0):
                    best = value
            return best

        return self.folded(run, steps)

    # Arrays and rows.

    def array(self, expr: Expr) -> Step:
        steps = [self.build(arg) for arg in expr.args]
        if not expr.value:
            return self.folded(lambda row: Array([step(row) for step in steps]), steps)
        return self.folded(lambda row: nested([step(row) for step in steps]), steps)

    def row(self, expr: Expr) -> Step:
        steps = [self.build(arg) for arg in expr.args]
        return self.folded(lambda row: tuple(step(row) for step in steps), steps)

    def not_distinct(self, expr: Expr) -> Step:
        return self.build(expr.args[0])

    def xml(self, expr: Expr) -> Step:
        raise Unknowable("what XML expressions give")


_INTEGERS = frozenset((20, 21, 23))
_TEXTS = frozenset((TEXT, VARCHAR, BPCHAR, NAME, CSTRING, UNKNOWN))
"""Types whose values are their texts."""
_OIDS = frozenset((OID, 24, 2202, 2203, 2204, 2205, 2206, 3734, 3769, 4089, 4096, 4191))
"""oid and the types of the names of objects, which have no sign."""
_TESTS: dict[str, Callable[[int], bool]] = {
    "<": lambda order: order < 0,
    "<=": lambda order: order <= 0,
    ">": lambda order: order > 0,
    ">=": lambda order: order >= 0,
}
_BUILDERS: dict[str, Callable[[Builder, Expr], Step]] = {
    "ArrayCoerceExpr": Builder.converted_array,
    "ArrayExpr": Builder.array,
    "BoolExpr": Builder.logic,
    "BooleanTest": Builder.boolean_test,
    "CaseExpr": Builder.case,
    "CaseTestExpr": Builder.case_test,
    "CoalesceExpr": Builder.coalesce,
    "CoerceViaIO": Builder.through_text,
    "CollateExpr": Builder.not_distinct,
    "Const": Builder.constant,
    "DistinctExpr": Builder.distinct,
    "FuncExpr": Builder.call,
    "MinMaxExpr": Builder.greatest,
    "NamedArgExpr": Builder.not_distinct,
    "NullIfExpr": Builder.null_if,
    "NullTest": Builder.null_test,
    "OpExpr": Builder.call,
    "RelabelType": Builder.relabelled,
    "RowCompareExpr": Builder.row_comparison,
    "RowExpr": Builder.row,
    "ScalarArrayOpExpr": Builder.any_or_all,
    "Var": Builder.column,
    "XmlExpr": Builder.xml,
}
