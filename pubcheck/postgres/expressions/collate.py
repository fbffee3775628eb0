"""Which collation each node has, and which its functions work with (parser/parse_collate.c).

A collation has a strength: none, implicit (a column's, a type's default) or explicit (COLLATE). States of operands are
merged upwards; two different implicit ones conflict, which matters only to what needs a collation at run time, and two
different explicit ones are refused at once.
"""

from __future__ import annotations

from pubcheck.postgres.expressions.locations import expr_location
from pubcheck.postgres.expressions.nodes import Expr
from pubcheck.postgres.expressions.state import ParseState

_NONE, _IMPLICIT, _CONFLICT, _EXPLICIT = range(4)
_DEFAULT = 100
"""DEFAULT_COLLATION_OID."""
_LEAVES = frozenset(("Var", "Const", "Param", "CaseTestExpr"))
_USES_INPUT = frozenset(("FuncExpr", "OpExpr", "DistinctExpr", "NullIfExpr", "ScalarArrayOpExpr", "MinMaxExpr"))
"""Nodes that have an input collation (exprSetInputCollation)."""
_BOOLEAN = frozenset(("BoolExpr", "NullTest", "BooleanTest"))
"""Nodes of type boolean that no operand's collation passes through."""


class _State:
    """What the operands that were seen so far add up to (assign_collations_context)."""

    __slots__ = ("collation", "location", "strength")

    def __init__(self) -> None:
        self.collation, self.strength, self.location = 0, _NONE, -1

    def merge(self, p: ParseState, collation: int, strength: int, location: int) -> None:
        """merge_collation_state. Raises ServerError 42P21."""
        if strength > self.strength:
            self.collation, self.strength, self.location = collation, strength, location
        elif strength == self.strength and collation != self.collation:
            if strength == _IMPLICIT:
                if self.collation == _DEFAULT:
                    self.collation, self.location = collation, location
                elif collation != _DEFAULT:
                    self.strength = _CONFLICT
            elif strength == _EXPLICIT:
                one, other = p.cache.collation(self.collation), p.cache.collation(collation)
                message = f'collation mismatch between explicit collations "{one.name}" and "{other.name}"'
                raise p.error("42P21", message, location, "rf-name-resolution")


def assign_collations(p: ParseState, expr: Expr) -> None:
    """Fill in ``collation`` and ``input_collation`` all over an expression. Raises ServerError 42P21."""
    _visit(p, expr, _State())


def _visit(p: ParseState, expr: Expr, parent: _State) -> None:
    """One node and all below it (assign_collations_walker)."""
    kind = expr.node
    if kind in _LEAVES:
        if expr.collation:
            parent.merge(p, expr.collation, _IMPLICIT, expr.location)
        return
    if kind in _BOOLEAN:
        _visit_boolean(p, expr)
        return
    if kind == "RowExpr":
        for argument in expr.args:
            _visit(p, argument, _State())
        return
    if kind == "RowCompareExpr":
        columns = expr.value
        for one, other in zip(expr.args[:columns], expr.args[columns:], strict=True):
            pair = _State()
            _visit(p, one, pair)
            _visit(p, other, pair)
        return
    state = _State()
    for argument in _contributing(p, expr):
        _visit(p, argument, state)
    if kind == "CollateExpr":
        parent.merge(p, expr.collation, _EXPLICIT, expr.location)
        return
    if kind == "FieldSelect":
        if expr.collation:
            parent.merge(p, expr.collation, _IMPLICIT, expr_location(expr))
        return
    own = p.cache.type(expr.type).collation
    if kind in _USES_INPUT:
        expr.input_collation = 0 if state.strength == _CONFLICT else state.collation
    if not own:
        expr.collation = 0
        return
    bubbles = state.strength > _NONE
    if kind == "CoerceToDomain":
        bubbles = own == _DEFAULT
    if bubbles:
        expr.collation = 0 if state.strength == _CONFLICT else state.collation
        if state.strength:
            parent.merge(p, state.collation, state.strength, state.location)
    else:
        expr.collation = own
        parent.merge(p, own, _IMPLICIT, expr_location(expr))


def _visit_boolean(p: ParseState, expr: Expr) -> None:
    """AND, OR, NOT and tests, nested as deeply as may be: their operands are independent of what is above."""
    todo = [expr]
    while todo:
        at = todo.pop()
        if at.node == "BoolExpr":
            todo.extend(reversed(at.args))
            continue
        state = _State()
        if at.node in _BOOLEAN:
            for argument in at.args:
                _visit(p, argument, state)
        else:
            _visit(p, at, state)


def _contributing(p: ParseState, expr: Expr) -> list[Expr]:
    """The operands that count for a node's collation; those that do not are seen to here."""
    kind = expr.node
    if kind == "CaseExpr":
        # What is tested has its collations already, and only results count; conditions are boolean.
        return expr.args[1:] if expr.value else expr.args
    if kind == "SubscriptingRef":
        for subscript in expr.args[1:]:
            _visit(p, subscript, _State())
        return expr.args[:1]
    return expr.args
