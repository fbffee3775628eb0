"""What users made: drawn where the world has it."""

from __future__ import annotations

from tests.differential.filters.constructs.kinds import Kind
from tests.differential.filters.expressions import Maker
from tests.differential.filters.trees import Tree, joined, sql

KIND = Kind()


@KIND.construct("user type", 4)
def _user_type(maker: Maker, depth: int) -> Tree | None:
    columns = [column for column in maker.table.columns if column.type not in maker.catalog.types]
    if not columns or maker.chance(0.15):
        made = maker.world.kinds("e", "d", "c", "r", "b", "m")
        return maker.literal(maker.pick(*made), exact=True) if made else None
    tree = maker.reference(maker.random.choice(columns))
    form = maker.pick("({} = {})", "({} IS NULL)", "({} IN ({}, {}))", "{}::text", "({} IS DISTINCT FROM {})",
        "({} < {})", "(COALESCE({}, {}) = {})", "ARRAY[{}]", "({} = ANY (ARRAY[{}]))", "({} || 'a')", "({} + 1)",
        "lower({})", "length({})", "({} LIKE 'a')", "(CASE {} WHEN {} THEN 1 END)", "({} BETWEEN {} AND {})",
        "({} = NULL)", "({} @> {})", "GREATEST({}, {})")  # fmt: skip
    others = [
        maker.literal(tree.type, exact=maker.chance(0.3)) if maker.chance(0.7) else maker.expr(tree.type, 0)
        for _ in range(form.count("{}") - 1)
    ]
    return sql(form, tree, *others, type="boolean" if form[-2:] == ")" else "")


@KIND.construct("user function", 3)
def _user_function(maker: Maker, depth: int) -> Tree | None:
    if not maker.world.functions:
        return None
    proc = maker.random.choice(maker.world.functions)
    if maker.chance(0.4):  # overloads: with arguments of other types
        types = [maker.any_type() for _ in proc.arguments]
        return Tree(
            joined(", ", [maker.expr(type_, depth - 1) for type_ in types], f"{proc.name}(", ")"),
            proc.result,
            uses=(proc.oid,),
        )
    return maker.call(proc, depth)


@KIND.construct("user operator", 2)
def _user_operator(maker: Maker, depth: int) -> Tree | None:
    operators = [operator for known in maker.world.made.operators.values() for operator in known]
    if not operators:
        return None
    return maker.apply(maker.random.choice(operators), depth)
