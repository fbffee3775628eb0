"""Conditions of some shape: ranges, long chains, comments, constants alone."""

from __future__ import annotations

from tests.differential.filters.constructs.kinds import Kind
from tests.differential.filters.expressions import RANGES, Maker
from tests.differential.filters.trees import Tree, joined, sql
from tests.support.generating import quoted

KIND = Kind()


@KIND.construct("range", 1)
def _range(maker: Maker, depth: int) -> Tree:
    element = maker.random.choice(list(RANGES))
    bounds = [maker.expr(element, depth - 1) for _ in range(2)]
    made = sql(
        f"{RANGES[element]}({{}}, {{}}{maker.pick('', '', chr(44) + ' ' + quoted('[]'))})",
        *bounds,
        type=RANGES[element],
    )
    return sql(maker.pick("({} <@ {})", "({} = {})"), maker.expr(element, depth - 1), made, type="boolean")


@KIND.construct("chain", 0.5)
def _chain(maker: Maker, depth: int) -> Tree:
    items = [maker.condition(0) for _ in range(maker.random.choice((5, 12, 30)))]
    return Tree(joined(maker.pick(" AND ", " OR "), items, "(", ")"), "boolean")


@KIND.construct("comment and space", 0.7)
def _comment(maker: Maker, depth: int) -> Tree:
    return sql(
        maker.pick("(/* é */ {} /* x */)", "(\n  {} -- end\n)", "(\t{})", "('日本' = 'é' OR {})"),
        maker.condition(depth - 1),
        type="boolean",
    )


@KIND.construct("untyped", 1.5)
def _untyped(maker: Maker, depth: int) -> Tree:
    """Literals of no type on all sides, which resolution must find types for."""
    functions = ("length", "lower", "abs", "round", "date_trunc", "substr", "concat", "mod", "sqrt", "upper",
        "array_length", "to_char", "age", "cardinality", "isempty", "jsonb_typeof", "host", "trunc", "to_json",
        "unnest", "array_append", "date_part", "sign", "min", "range_merge", "coalesce", "hashtext", "like",
        "bit_count")  # fmt: skip
    form = maker.pick("('1' = '1')", "('a' || 'b')", "('1' + '2')", "('1' + 1)", "(NULL = NULL)", "({f}('1'))",
        "({f}('1', '2'))", "({f}(NULL))", "({f}('1', 1))", "('a' LIKE 'b')", "(- '1')", "('1' IN ('1', '2'))",
        "(ARRAY['1'] = '{1}')", "('2024-01-01' - '2023-01-01')", "('a' < NULL)", "(CASE WHEN true THEN '1' END = 1)",
        "(NULLIF('1', '2') = '3')", "(GREATEST('1', '2') = 1)", "('{1}' @> '{2}')", "('1' IS DISTINCT FROM 1.5)",
        "(NULL || NULL)", "('a' ~ 'b')", "(NULL::int + '1')", "('1' = ANY ('{1}'))", "(@ '1')", "('1' @@ '2')",
        "('a' & 'b')", "('1' ^ '2')", "('1' * '2')", "(NULL IS NULL)", "(ROW('1') = ROW('1'))",
        "(ROW(NULL) = ROW(1))", "{f}({f}('1'))")  # fmt: skip
    return sql(form.replace("{f}", maker.pick(*functions)), type="")
