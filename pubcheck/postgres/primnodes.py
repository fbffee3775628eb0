"""Analysed expressions: the server's primnodes, as far as a row filter's fate depends on them (nodes/primnodes.h)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct

UNKNOWN = 705
"""The type of a literal that nothing has given a type yet."""

IMPLICIT, EXPLICIT_CAST, EXPLICIT_CALL, SQL_SYNTAX = "implicit cast", "explicit cast", "call", "syntax"
"""CoercionForm: how a function call came about."""
VARIADIC = "variadic"
"""The value of a call whose last argument is an array that takes the place of any number of arguments."""


class Expr(Struct):
    """One node. ``node`` is the server's name for its kind ("Var", "Const", "FuncExpr", "OpExpr"...).

    ``type``, ``typmod`` and ``collation`` are those of the result; ``input_collation`` is what functions and operators
    work with. ``location`` is a byte offset into the statement, -1 where the server has none. ``functions`` are the
    pg_proc oids that the node calls itself, ``operators`` the pg_operator oids (several in a RowCompareExpr).

    ``value``: the attribute number of a Var (0: the whole row); the text of a Const of type unknown, None for NULL,
    else the value read by the input function; the name of a Param, SQLValueFunction, SubLink or JSON construct.
    """

    node: str
    type: int
    args: list[Expr] = []
    location: int = -1
    typmod: int = -1
    collation: int = 0
    input_collation: int = 0
    functions: tuple[int, ...] = ()
    operators: tuple[int, ...] = ()
    form: str = EXPLICIT_CALL
    value: Any = None
    null: bool = False
    """A Const that is NULL."""
    start: int = -1
    """The start of the node's text, if ``location`` is that of an operator inside of it (exprLocation)."""


def conjuncts(condition: Expr | None) -> Iterator[Expr]:
    """The parts of a condition that AND connects."""
    if condition is None:
        return
    if condition.node == "BoolExpr" and condition.value == "AND":
        for part in condition.args:
            yield from conjuncts(part)
    else:
        yield condition


def nodes(expr: Expr) -> Iterator[Expr]:
    """Yield all nodes of an expression, parents first, in the order of the text."""
    stack = [expr]
    while stack:
        node = stack.pop()
        yield node
        if node.args:
            stack.extend(reversed(node.args))
