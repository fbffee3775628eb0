"""Expressions as the planner leaves them: constants are folded, and branches that they exclude are removed
(optimizer/util/clauses.c: eval_const_expressions).

The server reads an index's predicate in this form, and checks in this form whether an expression is immutable.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from pubcheck.postgres.analysis.parse_state import ParseState
from pubcheck.postgres.analysis.pathways import IMMUTABLE, mutability
from pubcheck.postgres.catalog import FIRST_NORMAL_OID
from pubcheck.postgres.errors import Unknowable
from pubcheck.postgres.executor.compile import Builder
from pubcheck.postgres.executor.functions import Constant, Context, Row, Step
from pubcheck.postgres.oids import BOOL, RECORD
from pubcheck.postgres.primnodes import IMPLICIT, Expr

_STRICT = frozenset(("FuncExpr", "OpExpr"))
_NOT_FOLDED = frozenset(("Var", "Const", "Param", "SubLink", "Aggref", "WindowFunc", "RowCompareExpr", "XmlExpr"))
"""Nodes that stay whatever their arguments are."""


def planned(p: ParseState, expr: Expr) -> Expr:
    """An analysed expression as the planner leaves it; its constants have the values that the executor works with.

    Raises ServerError where folding a constant fails, and Unknowable where its value is not known.
    """
    try:
        return _Planner(Context(p.inputs)).fold(expr)
    except RecursionError:
        raise Unknowable("what the planner makes of an expression nested so deeply") from None


class _Planner(Builder):
    """Rewrites a tree from its leaves up; ``build`` returns nodes that are folded already."""

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self._values: dict[int, Constant] = {}
        """The value of a node of the given tree, by the node's identity."""

    def build(self, expr: Expr) -> Step:
        step = self._values.get(id(expr))
        if step is not None:
            return step
        return super().build(expr)

    def fold(self, expr: Expr) -> Expr:
        """Fold a node and all below it."""
        if expr.node == "Const":
            folded = self._as_constant(expr, self.build(expr))
        elif expr.node == "BoolExpr" and expr.value != "NOT":
            folded = self._logic(expr)
        elif expr.node == "CoalesceExpr":
            folded = self._coalesce(expr)
        elif expr.node == "CaseExpr":
            folded = self._case(expr)
        elif expr.node == "NullTest" and expr.form != IMPLICIT and self._is_row(expr.args[0]):
            folded = self._row_test(expr)
        elif expr.node == "CaseTestExpr" and self.tested:
            folded = self._as_constant(expr, self.tested[-1])
        elif not expr.args or expr.node in _NOT_FOLDED:
            folded = expr
        else:
            folded = self._fold_other(expr)
        if folded.node == "Const":
            self._values[id(expr)] = Constant(folded.value)
        return folded

    def _fold_other(self, expr: Expr) -> Expr:
        args = [self.fold(arg) for arg in expr.args]
        strict = expr.node in _STRICT and self.cache.proc(expr.functions[0]).strict
        if strict and any(arg.node == "Const" and arg.null for arg in args):
            return _constant(expr, None)
        if any(arg.node != "Const" for arg in args) or mutability(self.cache, expr) != IMMUTABLE:
            return replace(expr, args=args)
        if any(oid >= FIRST_NORMAL_OID for oid in expr.functions):
            raise Unknowable("what a function gives")
        return self._as_constant(replace(expr, args=args), self.build(expr))

    def _logic(self, expr: Expr) -> Expr:
        """simplify_or_arguments, simplify_and_arguments."""
        ending = expr.value == "OR"
        operands: list[Expr] = []
        null: Expr | None = None
        for arg in expr.args:
            part = self.fold(arg)
            if part.node != "Const":
                operands.append(part)
            elif part.value is ending:
                return part
            elif part.null:
                null = part
        if null is not None:
            operands.append(null)
        if not operands:
            return _constant(expr, not ending)
        return operands[0] if len(operands) == 1 else replace(expr, args=operands)

    def _coalesce(self, expr: Expr) -> Expr:
        args: list[Expr] = []
        for arg in expr.args:
            part = self.fold(arg)
            if part.node == "Const" and part.null:
                continue
            args.append(part)
            if part.node == "Const":
                break
        if not args:
            return _constant(expr, None)
        return args[0] if args[0].node == "Const" else replace(expr, args=args)

    def _is_row(self, expr: Expr) -> bool:
        return expr.node == "RowExpr" or expr.type == RECORD or self.cache.type(expr.type).kind == "c"

    def _row_test(self, expr: Expr) -> Expr:
        """A ROW() whose fields are not all constant is tested field by field; a constant row is not looked into."""
        row = self.fold(expr.args[0])
        if row.node != "RowExpr" or not row.args:
            return replace(expr, args=[row])
        tests: list[Expr] = []
        for field in row.args:
            if field.node != "Const":
                tests.append(replace(expr, args=[field], form=IMPLICIT))
            elif field.null is not (expr.value == "IS_NULL"):
                return _constant(expr, False)
        return tests[0] if len(tests) == 1 else Expr("BoolExpr", BOOL, tests, expr.location, value="AND")

    def _case(self, expr: Expr) -> Expr:
        """WHENs that never hold go, and all that comes after one that always does."""
        if not expr.value:
            return self._branches_left(expr, [], expr.args)
        test = self.fold(expr.args[0])
        constant = test.node == "Const"
        self.tested.append(Constant(test.value) if constant else _not_constant)
        try:
            return self._branches_left(expr, [] if constant else [test], expr.args[1:])
        finally:
            self.tested.pop()

    def _branches_left(self, expr: Expr, test: list[Expr], args: list[Expr]) -> Expr:
        branches: list[Expr] = []
        for index in range(0, len(args) - 1, 2):
            condition = self.fold(args[index])
            if condition.node != "Const":
                branches += (condition, self.fold(args[index + 1]))
            elif condition.value is True:
                otherwise = self.fold(args[index + 1])
                break
        else:
            otherwise = self.fold(args[-1])
        return replace(expr, args=[*test, *branches, otherwise], value=bool(test)) if branches else otherwise

    @staticmethod
    def _as_constant(expr: Expr, step: Step) -> Expr:
        return _constant(expr, step.value) if isinstance(step, Constant) else expr


def _not_constant(row: Row) -> Any:
    raise Unknowable("what a CASE tests")


def _constant(expr: Expr, value: object) -> Expr:
    return Expr("Const", expr.type, typmod=expr.typmod, collation=expr.collation, value=value, null=value is None)


def always_true(expr: Expr) -> bool:
    """Return whether a condition is the constant TRUE."""
    return expr.node == "Const" and expr.type == BOOL and expr.value is True
