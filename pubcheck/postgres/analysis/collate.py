"""Collations of nodes, and input collations of their functions (parser/parse_collate.c).

A collation has a strength: none, implicit (a column's, a type's default) or explicit (COLLATE). States of operands are
merged upwards. Two different implicit ones conflict, which matters only if a collation is needed at run time; two
different explicit ones are refused at once.
"""

from __future__ import annotations

from collections.abc import Iterator

from pubcheck.postgres.analysis.parse_state import ParseState, expr_location
from pubcheck.postgres.primnodes import Expr

_NONE, _IMPLICIT, _CONFLICT, _EXPLICIT = range(4)
_DEFAULT = 100
"""DEFAULT_COLLATION_OID."""
_LEAVES = frozenset(("Var", "Const", "Param", "CaseTestExpr"))
_USES_INPUT = frozenset(("FuncExpr", "OpExpr", "DistinctExpr", "NullIfExpr", "ScalarArrayOpExpr", "MinMaxExpr"))
"""Nodes that have an input collation (exprSetInputCollation)."""
_INDEPENDENT = frozenset(("BoolExpr", "NullTest", "BooleanTest", "RowExpr"))
"""Nodes that no operand's collation passes through, so that operands need not agree.

Operands of tests do merge in the server, but a test has one.
"""


class _State:
    """The merged collation of the operands up to here (assign_collations_context)."""

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
                first, second = p.cache.collation(self.collation), p.cache.collation(collation)
                message = f'collation mismatch between explicit collations "{first.name}" and "{second.name}"'
                raise p.error("42P21", message, location, "collation-mismatch")


def assign_collations(p: ParseState, expr: Expr) -> None:
    """Fill in ``collation`` and ``input_collation`` all over an expression. Raises ServerError 42P21.

    On a list and not by recursion, for chains of operators may be long (assign_collations_walker).
    """
    top = _State()
    if expr.node in _LEAVES:
        return
    frames: list[tuple[Expr, Iterator[tuple[Expr, _State]], _State, _State]] = []
    state = _State()
    frames.append((expr, _operands(expr, state), state, top))
    while frames:
        current, operands, state, parent = frames[-1]
        for operand, into in operands:
            if operand.node in _LEAVES:
                if operand.collation:
                    into.merge(p, operand.collation, _IMPLICIT, operand.location)
                continue
            below = _State()
            frames.append((operand, _operands(operand, below), below, into))
            break
        else:
            frames.pop()
            _finish(p, current, state, parent)


def _operands(expr: Expr, state: _State) -> Iterator[tuple[Expr, _State]]:
    """Return a node's operands in the server's order, each with the state that its collation is merged into.

    Operands that do not count for the node's own collation get a state of their own.
    """
    kind, args = expr.node, expr.args
    if kind in _INDEPENDENT:
        return ((operand, _State()) for operand in args)
    if kind == "RowCompareExpr":
        return _pairs(expr)
    if kind == "CaseExpr" and expr.value:
        # The tested expression has its collations already; conditions are boolean, so that only results count.
        args = args[1:]
    elif kind == "SubscriptingRef":
        return ((operand, state if operand is args[0] else _State()) for operand in (*args[1:], args[0]))
    return ((operand, state) for operand in args)


def _pairs(expr: Expr) -> Iterator[tuple[Expr, _State]]:
    """Yield the operands of a row comparison; each pair of columns has its own collation."""
    columns = expr.value
    for left, right in zip(expr.args[:columns], expr.args[columns:], strict=True):
        pair = _State()
        yield left, pair
        yield right, pair


def _finish(p: ParseState, expr: Expr, state: _State, parent: _State) -> None:
    """Set a node's collation from the merged state of its operands, and merge it into the parent's state."""
    kind = expr.node
    if kind in _INDEPENDENT or kind == "RowCompareExpr":
        return
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
    # A domain's own collation precedes that of its base type.
    bubbles = own == _DEFAULT if kind == "CoerceToDomain" else state.strength > _NONE
    if bubbles:
        expr.collation = 0 if state.strength == _CONFLICT else state.collation
        if state.strength:
            parent.merge(p, state.collation, state.strength, state.location)
    else:
        expr.collation = own
        parent.merge(p, own, _IMPLICIT, expr_location(expr))
