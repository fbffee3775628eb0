"""Operands whose types are to fit each other, mostly."""

from __future__ import annotations

from tests.differential.filters.expressions import Maker
from tests.differential.filters.trees import Tree

STRINGS = ("text", "text", "character varying", "bpchar", "name")


def operand(maker: Maker, want: str, depth: int) -> Tree:
    """An operand where the others decide on the type: of it, of a like type, or a literal of none."""
    how = maker.random.random()
    if how < 0.15 and not maker.clean:
        return maker.expr(maker.any_type(), depth - 1)
    if how < 0.3 and want in _LIKE:
        return maker.expr(maker.pick(*_LIKE[want]), depth - 1)
    return maker.expr(want, depth - 1)


_LIKE = {
    "integer": ("bigint", "smallint", "numeric"),
    "bigint": ("integer", "numeric", "double precision"),
    "smallint": ("integer", "real"),
    "numeric": ("integer", "double precision"),
    "text": ("character varying", "bpchar", "name"),
    "character varying": ("text", "character varying", "bpchar"),
    "bpchar": ("text", "character varying"),
    "name": ("text",),
    "date": ("timestamp without time zone", "timestamp with time zone"),
    "timestamp without time zone": ("date", "timestamp with time zone"),
    "timestamp with time zone": ("date", "timestamp without time zone"),
    "inet": ("cidr",),
    "double precision": ("real", "numeric"),
}


def several(maker: Maker, want: str, depth: int, least: int = 1, most: int = 3) -> list[Tree]:
    return [operand(maker, want, depth) for _ in range(maker.random.randint(least, most))]
