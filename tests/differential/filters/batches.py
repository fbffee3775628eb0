"""A batch: one database and the publications with filters that are tried in it, all of it out of a seed."""

from __future__ import annotations

from random import Random
from typing import Any

import psycopg
from msgspec import Struct

from tests.differential.filters.catalog import Catalog, Operator, Proc
from tests.differential.filters.constructs import CONSTRUCTS, build, value
from tests.differential.filters.expressions import Maker
from tests.differential.filters.schemas import Ground, World
from tests.differential.filters.trees import Tree, sql

BATCH = 100
"""Filters that share a database: many enough that making it costs little, few enough for variety."""


class Filter(Struct, frozen=True):
    """One statement with a filter. ``tags`` are the constructs in it, the one it is built around first."""

    before: str
    tree: Tree
    after: str
    tags: tuple[str, ...] = ()

    @property
    def statement(self) -> str:
        return f"{self.before}{self.tree.text}{self.after}"


class Batch(Struct, frozen=True):
    """``number`` in the run of a ``seed`` for a ``major``: enough to make it again."""

    seed: int
    major: int
    number: int
    world: World
    filters: tuple[Filter, ...]


class Deck:
    """The order in which a run goes through functions, operators and constructs, so that none is left out."""

    def __init__(self, catalog: Catalog, seed: int) -> None:
        random = Random(f"{seed}/{catalog.major}")
        self.calls: list[Proc | Operator] = [*catalog.functions, *catalog.operators]
        random.shuffle(self.calls)
        known = {name: entry for name, entry in CONSTRUCTS.items() if entry.since <= catalog.major}
        count = 997
        total = sum(entry.weight for entry in known.values())
        self.constructs = [
            name for name, entry in known.items() for _ in range(max(1, round(count * entry.weight / total)))
        ]
        random.shuffle(self.constructs)


def make_batch(
    conn: psycopg.Connection[Any], catalog: Catalog, deck: Deck, seed: int, number: int, count: int = BATCH
) -> Batch:
    """Make a batch's database inside the transaction of ``conn``, and its filters; the same for the same arguments."""
    random = Random(f"{seed}/{catalog.major}/{number}")
    world = Ground(conn, catalog, random, conn.info.dbname).world()
    filters = tuple(make_filter(random, catalog, world, deck, number * BATCH + place) for place in range(count))
    return Batch(seed, catalog.major, number, world, filters)


def make_filter(random: Random, catalog: Catalog, world: World, deck: Deck, turn: int) -> Filter:
    """The filter whose ``turn`` it is."""
    table = random.choice(world.tables[1:]) if random.random() < (0.6 if world.features else 0.35) else world.tables[0]
    maker = Maker(random, catalog, world, table)
    maker.constructs = value
    maker.clean = random.random() < CLEAN
    depth = random.choice((1, 1, 2, 2, 3))
    # Of five turns two are of functions and operators in their order, two of constructs, one of anything.
    round_, place = divmod(turn, 5)
    focus, tree = "", None
    if place < 2:
        tree = _around_call(maker, deck.calls[(round_ * 2 + place) % len(deck.calls)])
    elif place < 4:
        focus = deck.constructs[(round_ * 2 + place - 2) % len(deck.constructs)]
        tree = build(maker, focus, depth)
    if tree is None:
        focus, tree = "", maker.condition(depth + 1)
    if random.random() < 0.15:
        tree = sql(
            maker.pick("({} AND {})", "({} OR {})", "(NOT {} AND {})"),
            tree,
            maker.condition(1),
            type="boolean",
            tag="AND, OR",
        )
    before, after = _publication(random, world, table.called)
    return Filter(before, tree, after, (focus, *sorted(tree.tags() - {focus})) if focus else tuple(sorted(tree.tags())))


CLEAN = 0.6
"""The share of filters that are made of what the server should accept."""


def _around_call(maker: Maker, drawn: Proc | Operator) -> Tree:
    exact = True if maker.chance(0.6) else None
    depth = maker.random.choice((0, 1, 1, 2))
    call = maker.call(drawn, depth, exact=exact) if isinstance(drawn, Proc) else maker.apply(drawn, depth, exact=exact)
    return maker.about(call, 0)


def _publication(random: Random, world: World, table: str) -> tuple[str, str]:
    """What stands before and after a filter's expression."""
    how = random.random()
    if how < 0.7:
        return f"CREATE PUBLICATION p FOR TABLE {table} WHERE (", ")"
    if how < 0.76:
        return f"CREATE PUBLICATION p FOR TABLE ONLY {table} WHERE (", ") WITH (publish = 'insert')"
    if how < 0.82:
        return f"CREATE PUBLICATION p FOR TABLE {table} (id) WHERE (", ")"
    if how < 0.9:
        return f"ALTER PUBLICATION q SET TABLE {table} WHERE (", ")"
    if how < 0.95 and table != world.tables[0].called:
        return f"ALTER PUBLICATION q ADD TABLE {table} WHERE (", ")"
    if table != world.tables[0].called:
        return f'CREATE PUBLICATION "Pü" FOR TABLE {world.tables[0].called} WHERE (id > 1), {table} WHERE (', ")"
    return f'CREATE  PUBLICATION\n"Pü é" FOR TABLE {table} WHERE\n  (', " )"
