"""Collations: given, and those that conflict."""

from __future__ import annotations

from tests.differential.filters.constructs.kinds import Kind
from tests.differential.filters.constructs.operands import STRINGS
from tests.differential.filters.expressions import Maker
from tests.differential.filters.trees import Tree, sql

KIND = Kind()


def collation(maker: Maker) -> str:
    if maker.clean:
        return maker.pick('"C"', '"POSIX"', '"default"', "ucs_basic", 'pg_catalog."C"')
    names = ['"C"', '"POSIX"', '"default"', "ucs_basic", 'pg_catalog."C"', *maker.world.collations]
    if maker.chance(0.02):
        return maker.random.choice(maker.catalog.collations)
    return maker.pick(*names)


@KIND.construct("COLLATE", 3)
def _collate(maker: Maker, depth: int) -> Tree:
    type_ = maker.pick(*STRINGS) if maker.clean or maker.chance(0.85) else maker.any_type()
    return sql(f"({{}} COLLATE {collation(maker)})", maker.expr(type_, depth - 1), type=type_)


@KIND.construct("collation conflict", 2)
def _conflict(maker: Maker, depth: int) -> Tree:
    first, other = collation(maker), collation(maker)
    left, right = maker.expr(maker.pick(*STRINGS), depth - 1), maker.expr(maker.pick(*STRINGS), depth - 1)
    form = maker.pick(
        "({} COLLATE A < {} COLLATE B)", "(({} || {} COLLATE A) = 'x' COLLATE B)",
            "(COALESCE({} COLLATE A, {}) < 'a')", "({} COLLATE A IN ({}, 'b' COLLATE B))",
        "(CASE WHEN true THEN {} COLLATE A ELSE {} COLLATE B END < 'a')", "(({}, 1) < ({} COLLATE A, 2))",
            "(ARRAY[{} COLLATE A, {}] = ARRAY['a' COLLATE B])",
        "(lower({} COLLATE A) = upper({} COLLATE B))", "(GREATEST({}, {} COLLATE A) LIKE 'a')",
            "(({} COLLATE A) LIKE ({} COLLATE B))",
        "({} = ANY (ARRAY[{} COLLATE A]))", "(({} COLLATE A || {} COLLATE B) IS NULL)",
            "(({} || {}) COLLATE A < 'b')", "(NULLIF({} COLLATE A, {} COLLATE B) IS NULL)",
        "({} COLLATE A IS DISTINCT FROM {} COLLATE B)", "(length({} COLLATE A || {} COLLATE B) > 1)",
    )  # fmt: skip
    return sql(
        form.replace("COLLATE A", f"COLLATE {first}").replace("COLLATE B", f"COLLATE {other}"),
        left,
        right,
        type="boolean",
    )
