"""The canonical form of a row filter, in which filters that mean the same look the same (sqlglot's optimizer).

This does not check that PostgreSQL accepts a filter. Only those rewritings of sqlglot are used that keep three-valued
logic and need no arithmetic: what `x + 1 = 3` is worth depends on the type of x, which is not known here.
"""

from __future__ import annotations

import re
from typing import Any, cast

from pglast.keywords import RESERVED_KEYWORDS, TYPE_FUNC_NAME_KEYWORDS
from sqlglot import exp, parse_one
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.normalize import normalize
from sqlglot.optimizer.normalize_identifiers import normalize_identifiers
from sqlglot.optimizer.simplify import Simplifier

from pubcheck.postgres.parse import SyntaxRefused, TooDeep, parse
from pubcheck.postgres.parse_tree import find

_DIALECT = "postgres"
_LONGEST = 4000
_MOST = 80
"""Characters of a filter, and ANDs and ORs in it, beyond which no form is sought: operands are compared each with each.
"""

_MISREAD = re.compile(r"\b0[xXoObB]\w|\b[uU]&['\"]")
"""Integers in other bases (16 and later), which sqlglot takes for bit strings, and text and names with Unicode escapes,
which it knows only in part."""
_PLAIN = re.compile(r"[a-z_][a-z0-9_$]*")
_KEPT_QUOTED = frozenset(RESERVED_KEYWORDS) | frozenset(TYPE_FUNC_NAME_KEYWORDS)


def canonical(condition: str) -> str | None:
    """Return a filter's condition, without the word WHERE, in canonical form; None if sqlglot cannot parse it.

    Identifiers are unqualified and unquoted where they can be, BETWEEN and NOT are resolved, operands sorted,
    duplicates removed, in conjunctive normal form where that is not much longer.
    """
    if len(condition) > _LONGEST or _MISREAD.search(condition):
        return None
    try:
        tree = parse_one(condition, read=_DIALECT, into=exp.Condition)
        tree = normalize_identifiers(tree, dialect=_DIALECT)
        _unqualify(tree)
        tree = tree.transform(_either_way, copy=False).transform(_membership, copy=False)
        if sum(1 for _ in tree.find_all(exp.Connector)) > _MOST:
            return None
        rewritten = _Logic(dialect=_DIALECT).simplify(tree)
        rewritten = _Logic(dialect=_DIALECT).simplify(normalize(rewritten, max_distance=64))
        rewritten = rewritten.transform(_membership, copy=False)
        text = cast(str, rewritten.sql(dialect=_DIALECT, comments=False))
        # What sqlglot cannot read again, or PostgreSQL cannot, it did not understand.
        parse_one(text, read=_DIALECT, into=exp.Condition)
        if not _functions(text) <= _functions(condition):
            return None
    except (SqlglotError, SyntaxRefused, TooDeep, RecursionError, ValueError, re.error):
        return None
    except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError):
        return None  # sqlglot's own, over text that it has only half understood
    return text


def _functions(condition: str) -> set[str]:
    """The names of the functions that PostgreSQL would call; for some sqlglot has names of its own, as HEX."""
    parsed = parse(f"SELECT {condition}")
    assert parsed is not None
    return {call["funcname"][-1]["String"]["sval"] for _, call in find(parsed[1], "FuncCall")}


def _unqualify(tree: Any) -> None:
    for column in list(tree.find_all(exp.Column)):
        for part in ("table", "db", "catalog"):
            column.set(part, None)
        name = column.this
        if isinstance(name, exp.Identifier) and name.args.get("quoted"):
            name.set("quoted", _PLAIN.fullmatch(name.name) is None or name.name in _KEPT_QUOTED)


def _either_way(node: Any) -> Any:
    """BETWEEN SYMMETRIC as the server takes it, which sqlglot would take for BETWEEN (transformAExprBetween)."""
    if not isinstance(node, exp.Between) or not node.args.get("symmetric"):
        return node
    value, low, high = node.this, node.args["low"], node.args["high"]
    orders = (exp.Between(this=value.copy(), low=a.copy(), high=b.copy()) for a, b in ((low, high), (high, low)))
    return exp.paren(exp.or_(*orders), copy=False)


def _membership(node: Any) -> Any:
    """Equality with one of several literals as IN, its literals sorted and each once."""
    if isinstance(node, exp.Or):
        tests = list(node.flatten())
        if all(isinstance(test, exp.EQ) and isinstance(test.expression, exp.Literal) for test in tests):
            left = tests[0].this
            if all(test.this == left for test in tests):
                return _in(left, [test.expression for test in tests])
    elif isinstance(node, exp.In) and node.expressions and all(isinstance(e, exp.Literal) for e in node.expressions):
        return _in(node.this, node.expressions)
    return node


def _in(left: Any, literals: list[Any]) -> Any:
    unique = {literal.sql(dialect=_DIALECT): literal for literal in literals}
    ordered = [unique[text] for text in sorted(unique)]
    if len(ordered) == 1:
        return exp.EQ(this=left.copy(), expression=ordered[0].copy())
    return exp.In(this=left.copy(), expressions=[literal.copy() for literal in ordered])


def _of_array(node: Any) -> bool:
    """ANY, SOME or ALL with an array; ALL is read as a function."""
    return isinstance(node, exp.SubqueryPredicate) or (isinstance(node, exp.Anonymous) and node.name.upper() == "ALL")


class _Logic(Simplifier):
    """Rewrites AND, OR, NOT and comparisons of a column with numbers; leaves values alone.

    What two texts are to each other only the column's type and collation say.
    """

    def _simplify_comparison(self, expression: Any, left: Any, right: Any, or_: bool = False) -> Any:
        if not all(isinstance(side, exp.Binary) and side.expression.is_number for side in (left, right)):
            return None
        return super()._simplify_comparison(expression, left, right, or_)

    def simplify_not(self, expression: Any) -> Any:
        compared = expression.this if isinstance(expression, exp.Not) else None
        if isinstance(compared, exp.Binary) and _of_array(compared.expression):
            return expression  # the opposite of < ALL is >= ANY
        return super().simplify_not(expression)

    def simplify_equality(self, expression: Any) -> Any:
        return expression

    def simplify_literals(self, expression: Any, root: bool = True) -> Any:
        return expression

    def simplify_concat(self, expression: Any) -> Any:
        return expression

    def simplify_datetrunc(self, expression: Any) -> Any:
        return expression

    def simplify_coalesce(self, expression: Any) -> Any:
        return expression

    def simplify_conditionals(self, expression: Any) -> Any:
        return expression
