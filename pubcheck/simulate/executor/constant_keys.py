"""WHERE key = constant: the rows come from a unique index instead of from the whole table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pubcheck.postgres.primnodes import Expr
from pubcheck.simulate.heap import Version

if TYPE_CHECKING:
    from pubcheck.simulate.executor.tables import Table


class KeyLookup:
    """The columns of a table that a condition compares with constants."""

    def __init__(self, values: dict[int, Any]) -> None:
        self.values = values

    def versions(self, table: Table) -> list[Version] | None:
        """The rows that may pass; None where no unique index is over such columns."""
        for unique in table.uniques:
            keys = unique.index.keys
            if unique.index.predicate is None and all(number in self.values for number in keys):
                index = table.storage.index(unique.index.oid, unique.key_of)
                key = index.key_of(self.values)
                return [] if key is None else list(index.at(key))
        return None


def constants_compared(expr: Expr) -> dict[int, Any]:
    """Column number -> constant, of the conditions ``column = constant`` that AND combines."""
    values: dict[int, Any] = {}
    stack = [expr]
    while stack:
        node = stack.pop()
        if node.node == "BoolExpr" and node.value == "AND":
            stack += node.args
        elif node.node == "OpExpr" and len(node.args) == 2:
            left, right = node.args
            if left.node == "Const":
                left, right = right, left
            if left.node == "Var" and right.node == "Const" and left.type == right.type and type(left.value) is tuple:
                _, item, name = left.value
                relation = getattr(item, "relation", None)
                column = relation.column(name) if relation is not None and name else None
                if column is not None and node.functions and node.functions[0] in _EQUAL:
                    values[column.number] = right.value
    return values


_EQUAL = frozenset((65, 67, 60, 63, 467, 2956))
"""int4eq, texteq, booleq, int2eq, int8eq, uuid_eq."""
