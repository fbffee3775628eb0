"""Conditional expressions, and comparisons that the grammar has words for."""

from __future__ import annotations

from tests.differential.filters.constructs.kinds import Kind
from tests.differential.filters.constructs.operands import STRINGS, operand, several
from tests.differential.filters.expressions import Maker
from tests.differential.filters.trees import Tree, joined, sql
from tests.support.generating import quoted

KIND = Kind()


def case(maker: Maker, want: str, depth: int) -> Tree:
    parts: list[str | Tree] = ["CASE"]
    simple = maker.chance(0.35)
    subject = maker.any_type()
    if simple:
        parts += [" ", maker.expr(subject, depth - 1, exact=True)]
    for _ in range(maker.random.choice((1, 1, 2))):
        parts += [" WHEN ", operand(maker, subject, depth) if simple else maker.condition(depth - 2)]
        parts += [" THEN ", operand(maker, want, depth)]
    if maker.chance(0.75):
        parts += [" ELSE ", operand(maker, want, depth)]
    return Tree((*parts, " END"), want)


@KIND.construct("CASE", 3)
def _any_case(maker: Maker, depth: int) -> Tree:
    return case(maker, maker.pick("boolean", maker.any_type()), depth)


def coalesce(maker: Maker, want: str, depth: int) -> Tree:
    return Tree(joined(", ", several(maker, want, depth, 1, 3), "COALESCE(", ")"), want)


@KIND.construct("COALESCE", 2)
def _any_coalesce(maker: Maker, depth: int) -> Tree:
    return coalesce(maker, maker.pick("boolean", maker.any_type()), depth)


def nullif(maker: Maker, want: str, depth: int) -> Tree:
    return sql("NULLIF({}, {})", maker.expr(want, depth - 1), operand(maker, want, depth), type=want)


@KIND.construct("NULLIF", 2)
def _any_nullif(maker: Maker, depth: int) -> Tree:
    return nullif(maker, maker.any_type(), depth)


def greatest(maker: Maker, want: str, depth: int) -> Tree:
    return Tree(joined(", ", several(maker, want, depth, 1, 3), maker.pick("GREATEST(", "LEAST("), ")"), want)


@KIND.construct("GREATEST, LEAST", 2)
def _any_greatest(maker: Maker, depth: int) -> Tree:
    return greatest(maker, maker.any_type(), depth)


@KIND.construct("IN", 4)
def _in(maker: Maker, depth: int) -> Tree:
    type_ = maker.any_type()
    return Tree(
        (
            "(",
            maker.expr(type_, depth - 1, exact=True),
            *joined(", ", several(maker, type_, depth, 1, 4), " IN (", "))"),
        ),
        "boolean",
    )


@KIND.construct("NOT IN", 1.5)
def _not_in(maker: Maker, depth: int) -> Tree:
    type_ = maker.any_type()
    return Tree(
        (
            "(",
            maker.expr(type_, depth - 1, exact=True),
            *joined(", ", several(maker, type_, depth, 1, 4), " NOT IN (", "))"),
        ),
        "boolean",
    )


@KIND.construct("BETWEEN", 2.5)
def _between(maker: Maker, depth: int) -> Tree:
    type_ = maker.any_type()
    word = maker.pick("BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC", "NOT BETWEEN SYMMETRIC", "BETWEEN ASYMMETRIC")
    return sql(
        f"({{}} {word} {{}} AND {{}})",
        maker.expr(type_, depth - 1),
        operand(maker, type_, depth),
        operand(maker, type_, depth),
        type="boolean",
    )


@KIND.construct("IS DISTINCT", 2)
def _distinct(maker: Maker, depth: int) -> Tree:
    type_ = maker.any_type()
    return sql(
        f"({{}} IS {maker.pick('', 'NOT ')}DISTINCT FROM {{}})",
        maker.expr(type_, depth - 1),
        operand(maker, type_, depth),
        type="boolean",
    )


@KIND.construct("IS NULL", 2)
def _is_null(maker: Maker, depth: int) -> Tree:
    return sql(
        f"({{}} {maker.pick('IS NULL', 'IS NOT NULL', 'ISNULL', 'NOTNULL')})",
        maker.expr(maker.any_type(), depth),
        type="boolean",
    )


@KIND.construct("IS TRUE", 1.5)
def _is_true(maker: Maker, depth: int) -> Tree:
    operand = maker.expr("boolean" if maker.clean or maker.chance(0.85) else maker.any_type(), depth - 1)
    return sql(f"({{}} IS {maker.pick('', 'NOT ')}{maker.pick('TRUE', 'FALSE', 'UNKNOWN')})", operand, type="boolean")


def _like(maker: Maker, words: tuple[str, ...], depth: int) -> Tree:
    operand = maker.expr(
        maker.pick(*STRINGS) if maker.clean or maker.chance(0.85) else maker.pick("bytea", maker.any_type()), depth - 1
    )
    pattern = maker.expr("text", depth - 1) if maker.chance(0.4) else sql(quoted(maker.pick("a%", "_b", "a!%%", "%",
        "a\\_")), type="text")  # fmt: skip
    escape = maker.pick(" ESCAPE '!'", " ESCAPE ''", " ESCAPE 'ab'", " ESCAPE t", " ESCAPE NULL",
        " ESCAPE 1") if maker.chance(0.3) else ""  # fmt: skip
    return sql(f"({{}} {maker.pick('', 'NOT ')}{maker.pick(*words)} {{}}{escape})", operand, pattern, type="boolean")


@KIND.construct("LIKE", 2.5)
def _any_like(maker: Maker, depth: int) -> Tree:
    return _like(maker, ("LIKE",), depth)


@KIND.construct("ILIKE", 1)
def _any_ilike(maker: Maker, depth: int) -> Tree:
    return _like(maker, ("ILIKE",), depth)


@KIND.construct("SIMILAR TO", 1.5)
def _similar(maker: Maker, depth: int) -> Tree:
    return _like(maker, ("SIMILAR TO",), depth)


@KIND.construct("ANY, ALL", 4)
def _any_all(maker: Maker, depth: int) -> Tree:
    type_ = maker.any_type()
    operator = maker.pick("=", "=", "<>", "<", ">=", "~~", "~", "&&", "@>", "LIKE", "NOT ILIKE", "+", "||",
        "OPERATOR(pg_catalog.=)")  # fmt: skip
    how = maker.random.random()
    array = maker.world.types[type_].array if type_ in maker.world.types else ""
    if how < 0.45 or not array:
        right = Tree(joined(", ", several(maker, type_, depth, 1, 3), "ARRAY[", "]"))
        if array and maker.chance(0.2):
            right = sql(f"{{}}::{array}", right)
    elif how < 0.8:
        right = maker.expr(array, depth - 1)
    else:
        right = maker.expr(type_, depth - 1)
    return sql(
        f"({{}} {operator} {maker.pick('ANY', 'ALL', 'SOME')} ({{}}))",
        maker.expr(type_, depth - 1),
        right,
        type="boolean",
    )


@KIND.construct("row comparison", 2.5)
def _row_comparison(maker: Maker, depth: int) -> Tree:
    types = [maker.any_type() for _ in range(maker.random.choice((1, 2, 2, 3)))]
    left = [maker.expr(type_, depth - 1) for type_ in types]
    right = [operand(maker, type_, depth) for type_ in types]
    if maker.noise(0.1):
        right.append(sql("1"))
    operator = maker.pick("=", "=", "<>", "<", "<=", ">", ">=", "IS DISTINCT FROM", "IS NOT DISTINCT FROM", "@@", "+",
        "OPERATOR(pg_catalog.<)", "LIKE")  # fmt: skip
    word = "ROW" if len(types) == 1 or maker.chance(0.4) else ""
    return Tree((*joined(", ", left, f"({word}(", ")"), *joined(", ", right,
        f" {operator} {'ROW' if len(right) == 1 else word}(", "))")), "boolean")  # fmt: skip


@KIND.construct("row IN", 1.5)
def _row_in(maker: Maker, depth: int) -> Tree:
    types = [maker.any_type() for _ in range(2)]
    left = [maker.expr(type_, depth - 1) for type_ in types]
    rows = [
        Tree(joined(", ", [operand(maker, type_, depth) for type_ in types], "(", ")"))
        for _ in range(maker.random.choice((1, 2)))
    ]
    return Tree((*joined(", ", left, "((", ")"), *joined(", ", rows, f" {maker.pick('IN', 'NOT IN')} (", "))")),
        "boolean")  # fmt: skip


@KIND.construct("OVERLAPS", 1.5)
def _overlaps(maker: Maker, depth: int) -> Tree:
    type_ = maker.pick(
        "date",
        "timestamp without time zone",
        "timestamp with time zone",
        "time without time zone",
        "time with time zone",
        maker.any_type(),
    )
    items = [operand(maker, type_, depth) for _ in range(4)]
    for index in (1, 3):
        if maker.chance(0.3):
            items[index] = maker.expr("interval", depth - 1)
    if maker.noise(0.08):
        items.pop()
    return Tree((*joined(", ", items[:2], "((", ")"), *joined(", ", items[2:], " OVERLAPS (", "))")), "boolean")
