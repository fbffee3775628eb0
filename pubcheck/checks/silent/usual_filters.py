"""Row filters that clearly are true for some rows of their table and not for others."""

from __future__ import annotations

from pubcheck.postgres.catalog import Catalog
from pubcheck.postgres.catalog.rows import Filter, Relation
from pubcheck.postgres.oids import INT2, INT4, INT8, TEXT, VARCHAR
from pubcheck.postgres.parse import Node
from pubcheck.postgres.parse_tree import conjuncts

_INTEGERS, _STRINGS = frozenset((INT2, INT4, INT8)), frozenset((TEXT, VARCHAR))
_EQUAL = frozenset(("=", "<>"))
_ORDERED = _EQUAL | {"<", ">", "<=", ">="}
_LARGEST = 30_000
"""An integer that has others above and below it in every integer type."""


def is_usual(catalog: Catalog, relation: Relation, condition: Filter) -> bool:
    """Return whether a filter compares columns of a table without CHECK constraints with constants, each column once.

    The rules about what filters can be true for and how they fail take a while to load, and find nothing about such a
    filter alone.
    """
    if condition.expr is None or not isinstance(condition.tree, dict) or not relation.seen or relation.partition:
        return False
    if any(catalog.constraints[oid].kind == "c" for oid in catalog.constraints_of.get(relation.oid)):
        return False
    names = [_compared(relation, comparison.get("A_Expr", {})) for comparison in conjuncts(condition.tree)]
    return None not in names and len(set(names)) == len(names)


def _compared(relation: Relation, comparison: Node) -> str | None:
    """Return the column of a comparison that some values of its type meet and others do not, or None."""
    if comparison.get("kind") != "AEXPR_OP" or not comparison.keys() >= {"lexpr", "rexpr"}:
        return None
    operator = comparison["name"][-1]["String"]["sval"]
    fields = comparison["lexpr"].get("ColumnRef", {}).get("fields", ())
    name: str | None = fields[-1].get("String", {}).get("sval") if len(fields) == 1 else None
    column = relation.column(name) if name is not None else None
    constant = comparison["rexpr"].get("A_Const", {})
    if column is None or column.generated:
        return None
    if column.type in _INTEGERS:
        known = "ival" in constant and operator in _ORDERED and abs(constant["ival"].get("ival", 0)) <= _LARGEST
    else:
        known = column.type in _STRINGS and column.typmod < 0 and "sval" in constant and operator in _EQUAL
    return name if known else None
