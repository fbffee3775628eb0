"""The constructs that a filter can be built around, each by name: what grammar and analysis have beyond plain calls."""

from __future__ import annotations

from tests.differential.filters.constructs import (
    collations,
    compounds,
    conditions,
    constants,
    names,
    people,
    refused,
    shapes,
    user_made,
    words,
)
from tests.differential.filters.constructs.kinds import Entry
from tests.differential.filters.expressions import Maker
from tests.differential.filters.trees import Tree, sql

CONSTRUCTS: dict[str, Entry] = {
    **names.KIND,
    **constants.KIND,
    **conditions.KIND,
    **compounds.KIND,
    **collations.KIND,
    **words.KIND,
    **refused.KIND,
    **user_made.KIND,
    **shapes.KIND,
    **people.KIND,
}
"""In an order that seeds depend on."""


def build(maker: Maker, name: str, depth: int) -> Tree | None:
    """A boolean expression around a construct; None where the database has nothing to make it of."""
    made = CONSTRUCTS[name].make(maker, depth)
    if made is None:
        return None
    tagged = Tree(made.parts, made.type, name, made.uses)
    if tagged.type == "boolean":
        return tagged
    return maker.about(tagged, depth - 1) if tagged.type else sql("({} IS NULL)", tagged, type="boolean")


def value(maker: Maker, want: str, depth: int) -> Tree | None:
    """A construct that gives a wanted type, inside of something else; None where none was found."""
    made: Tree | None
    if want == "boolean":
        name = maker.pick(*(_CLEAN_TESTS if maker.clean else _TESTS))
        made = CONSTRUCTS[name].make(maker, depth - 1) if CONSTRUCTS[name].since <= maker.major else None
        return made and Tree(made.parts, want, name, made.uses)
    how = maker.random.random()
    if how < 0.2:
        made, name = conditions.case(maker, want, depth), "CASE"
    elif how < 0.4:
        made, name = conditions.coalesce(maker, want, depth), "COALESCE"
    elif how < 0.55:
        made, name = conditions.nullif(maker, want, depth), "NULLIF"
    elif how < 0.7:
        made, name = conditions.greatest(maker, want, depth), "GREATEST, LEAST"
    elif how < 0.8 and want in ("text", "character varying", "bpchar", "name"):
        made = sql("({} COLLATE {})", maker.expr(want, depth - 1), sql(collations.collation(maker)), type=want)
        name = "COLLATE"
    elif maker.clean:
        return None
    elif how < 0.9:
        made, name = sql("(SELECT {})", maker.expr(want, depth - 1), type=want), "sub-select"
    elif maker.world.types.get(want) and maker.world.types[want].array:
        made = sql(
            "({})[{}]", maker.expr(maker.world.types[want].array, 0, exact=True), maker.expr("integer", 0), type=want
        )
        name = "subscript"
    else:
        return None
    return Tree(made.parts, made.type, name)


_CLEAN_TESTS = ("IN", "NOT IN", "BETWEEN", "IS DISTINCT", "IS NULL", "IS TRUE", "LIKE", "ANY, ALL", "row comparison",
    "CASE", "COALESCE")  # fmt: skip
_TESTS = (*_CLEAN_TESTS, "SIMILAR TO", "IS JSON", "sub-select in EXISTS", "OVERLAPS", "row IN", "IS NORMALIZED")
