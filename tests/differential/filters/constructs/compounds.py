"""Arrays, rows, subscripts."""

from __future__ import annotations

from tests.differential.filters.constructs.kinds import Kind
from tests.differential.filters.constructs.operands import several
from tests.differential.filters.expressions import Maker
from tests.differential.filters.trees import Tree, joined, sql

KIND = Kind()


@KIND.construct("ARRAY", 3)
def _array(maker: Maker, depth: int) -> Tree:
    type_ = maker.any_type()
    array = maker.world.types[type_].array or "text[]"
    how = maker.random.random()
    if how < 0.1:
        return sql(maker.pick("ARRAY[]", f"ARRAY[]::{array}", "ARRAY[[], []]", f"ARRAY[ARRAY[]]::{array}",
            "ARRAY[NULL]", f"'{{}}'::{array}"), type=array)  # fmt: skip
    items = several(maker, type_, depth)
    if how < 0.2:
        return Tree((*joined(", ", items, "ARRAY[[", "]"), *joined(", ", several(maker, type_, depth), ", [", "]]")),
            array)  # fmt: skip
    if how < 0.26:
        items.append(maker.expr(array, 0))
    return Tree(joined(", ", items, "ARRAY[", "]"), array)


@KIND.construct("ROW", 1.5)
def _row(maker: Maker, depth: int) -> Tree:
    items = [maker.expr(maker.any_type(), depth - 1) for _ in range(maker.random.choice((0, 1, 2, 2)))]
    row = Tree(joined(", ", items, "ROW(", ")"))
    form = maker.pick("({} IS NULL)", "({} IS NOT NULL)", "({} = {})", "({}::text = 'a')", "({} IN ({}))",
        "({} IS DISTINCT FROM NULL)", "({} < {})", "({}::record = {})", "({} = ANY (ARRAY[{}]))",
        "(NULLIF({}, {}) IS NULL)", "(GREATEST({}, {}) IS NULL)", "({}::pair IS NULL)", "(row_to_json({}) IS NULL)",
        "({} *= {})")  # fmt: skip
    return sql(form, *[row] * form.count("{}"), type="boolean")


@KIND.construct("subscript", 2.5)
def _subscript(maker: Maker, depth: int) -> Tree:
    arrays = [column for column in maker.table.columns if column.type.endswith("[]") or column.type in ("jsonb",
        "point", "hstore", "box", "name", "oidvector", "lseg")]  # fmt: skip
    index = maker.expr(maker.pick("integer", "integer", "bigint", maker.any_type()), 0)
    if maker.chance(0.25) or not arrays:
        base = maker.expr(maker.pick("integer[]", "text[]", "jsonb", "point", maker.any_type()), 1)
    else:
        base = maker.reference(maker.random.choice(arrays))
    element = maker.world.types[base.type].element if base.type in maker.world.types else ""
    how = maker.random.random()
    if how < 0.55:
        return sql("({})[{}]", base, index, type=element)
    if how < 0.75:
        return sql(maker.pick("({})[1:{}]", "({})[:{}]", "({})[{}:]"), base, index, type=base.type)
    return sql(maker.pick("({})[1][{}]", "({})[{}][2:3]", "({})['a']", "({})['a'][{}]", "({})[:]", "({})[NULL]",
        "({})[1.5]").replace("{}", base.text, 1).replace("{}", index.text), type=element)  # fmt: skip
