"""Pairs of filters whose relation is plain to a reader, by type."""

from __future__ import annotations

import pytest

from pubcheck.filter_logic.questions import NoRow, TableFilters, Undecided, Witness
from tests.filter_logic.world import World

TABLE = """CREATE TABLE t (id integer PRIMARY KEY, a integer, z integer NOT NULL, small smallint, price numeric(6,2),
    n numeric, x double precision, y real, s text, e text NOT NULL, v varchar(5), c char(3), d date,
    ts timestamptz, f boolean, u uuid, j jsonb)"""

PAIRS = [
    ("a > 5", "a > 3", "narrower"),
    ("a > 5", "a <= 5", "disjoint"),
    ("a > 5 AND a < 7", "a = 6", "equivalent"),
    ("a IN (1, 2)", "a = 2 OR a = 1", "equivalent"),
    ("a BETWEEN 1 AND 3", "a IN (3, 4)", "overlapping"),
    ("a > 5.5", "a >= 6", "equivalent"),
    ("NOT (a > 5)", "a <= 5", "equivalent"),
    ("small > 40000", "a = 1", "disjoint"),
    ("price > 3.001", "price >= 3.01", "equivalent"),
    ("n > 1", "n >= 1.01", "wider"),
    ("x > 1.5", "x <= 1.5", "disjoint"),
    ("y >= 0.1", "y > 0.09", "narrower"),
    ("s = 'eu'", "s = 'us'", "disjoint"),
    ("s < 'm'", "s >= 'm'", "disjoint"),
    ("s LIKE 'ab%'", "s = 'abc'", "wider"),
    ("s LIKE 'ab%'", "s LIKE 'b%'", "disjoint"),
    ("s LIKE '%x'", "s NOT LIKE '%x'", "disjoint"),
    ("lower(s) = 'a'", "lower(s) = 'b'", "disjoint"),
    ("c = 'ab'", "c = 'ab '", "equivalent"),
    ("v = 'x'", "v IN ('x', 'y')", "narrower"),
    ("d BETWEEN '2024-01-01' AND '2024-01-31'", "d > '2024-01-31'", "disjoint"),
    ("ts >= '2024-01-01+00'", "ts >= '2024-01-01 01:00+01'", "equivalent"),
    ("f", "NOT f", "disjoint"),
    ("f IS TRUE", "f = true", "equivalent"),
    ("a IS DISTINCT FROM 3", "a <> 3", "wider"),
    ("coalesce(a, 0) > 5", "a > 5", "equivalent"),
    ("CASE WHEN a > 1 THEN true ELSE false END", "a > 1", "equivalent"),
    ("a < z", "z <= a", "disjoint"),
    ("a < z AND z < 5", "a < 4", "narrower"),
    ("a % 2 = 0", "a % 2 = 1", "disjoint"),
    ("a = 4", "a % 2 = 0", "narrower"),
    ("u = 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "u > 'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "disjoint"),
    ("j @> '{\"a\": 1}'", "j @> '{\"a\": 1}' AND a > 1", "wider"),
]


@pytest.fixture(scope="module")
def world() -> World:
    return World(TABLE)


@pytest.mark.parametrize(("first", "second", "kind"), PAIRS)
def test_kinds(world: World, first: str, second: str, kind: str) -> None:
    filters = TableFilters(world.session, world.relation, [world.filter(first), world.filter(second)])
    assert filters.comparison(0, 1).kind == kind


CONSTRAINED = [
    ("a integer CHECK (a BETWEEN 1 AND 9)", "", "a > 10", "never"),
    ("a integer NOT NULL CHECK (a > 0)", "", "a >= 1", "always"),
    ("a integer CHECK (a > 0)", "", "a >= 1", "neither"),
    ("s text NOT NULL CHECK (s IN ('a', 'b'))", "", "s <> 'c'", "always"),
    ("a integer NOT NULL, CHECK (a > 0) NOT VALID", "", "a > 0", "neither"),
]
PARTITIONS = [
    ("LIST (s)", "FOR VALUES IN ('a', 'b')", "s = 'c'", "never"),
    ("LIST (s)", "FOR VALUES IN ('a')", "s = 'a'", "always"),
    ("LIST (s)", "FOR VALUES IN ('a', NULL)", "s = 'a'", "neither"),
    ("LIST (s)", "DEFAULT", "s = 'other'", "never"),
    ("RANGE (a)", "FOR VALUES FROM (10) TO (20)", "a < 10", "never"),
    ("RANGE (a)", "FOR VALUES FROM (10) TO (MAXVALUE)", "a >= 10", "always"),
    ("RANGE (a, b)", "FOR VALUES FROM (10, 1) TO (20, 2)", "a > 20", "never"),
    ("RANGE (a, b)", "FOR VALUES FROM (10, 1) TO (20, 2)", "a = 20", "neither"),
    ("HASH (a)", "FOR VALUES WITH (MODULUS 2, REMAINDER 0)", "a = 1", "neither"),
    ("RANGE (day)", "FOR VALUES FROM ('2024-01-01') TO ('infinity')", "day < '2024-01-01'", "never"),
    ("RANGE (day)", "FOR VALUES FROM ('2024-01-01') TO ('infinity')", "day < 'infinity'", "always"),
    ("RANGE (day)", "FOR VALUES FROM ('2024-01-01') TO (MAXVALUE)", "day < 'infinity'", "neither"),
    ("RANGE (day)", "FOR VALUES FROM ('-infinity') TO ('2024-01-01')", "day < '2024-01-01'", "always"),
    ("RANGE (at)", "FOR VALUES FROM ('2024-01-01 00:00+00') TO ('infinity')", "at IS NOT NULL", "always"),
]


def coverage(world: World, condition: str) -> str:
    coverage = TableFilters(world.session, world.relation, [world.filter(condition)]).coverage(0)
    return (
        "never" if isinstance(coverage.true, NoRow) else "always" if isinstance(coverage.not_true, NoRow) else "neither"
    )


@pytest.mark.parametrize(("columns", "more", "condition", "expected"), CONSTRAINED)
def test_constraints(columns: str, more: str, condition: str, expected: str) -> None:
    # A constraint that is not validated can only be added to a table that exists.
    table, _, added = columns.partition(", CHECK")
    schema = f"CREATE TABLE t (id integer PRIMARY KEY, {table});"
    if added:
        schema += f" ALTER TABLE t ADD CHECK{added};"
    assert coverage(World(schema + more), condition) == expected


@pytest.mark.parametrize(("strategy", "bound", "condition", "expected"), PARTITIONS)
def test_partition_bounds(strategy: str, bound: str, condition: str, expected: str) -> None:
    schema = f"CREATE TABLE root (a integer, b integer, s text, day date, at timestamptz) PARTITION BY {strategy};"
    if strategy.startswith("LIST") and bound == "DEFAULT":
        schema += "CREATE TABLE other PARTITION OF root FOR VALUES IN ('other');"
    assert coverage(World(f"{schema} CREATE TABLE t PARTITION OF root {bound};"), condition) == expected


def test_a_gap_names_the_column_whose_nulls_it_is(world: World) -> None:
    filters = [world.filter(text) for text in ("a < 10 AND z > 0", "a >= 10", "z <= 0 AND a < 10")]
    gap = TableFilters(world.session, world.relation, filters).gap()
    assert isinstance(gap.rows, Witness)
    assert gap.nulls == ("a",)


def test_a_gap_of_other_rows_names_no_column(world: World) -> None:
    gap = TableFilters(world.session, world.relation, [world.filter("a < 10"), world.filter("a > 10")]).gap()
    assert isinstance(gap.rows, Witness)
    assert gap.nulls == ()


@pytest.mark.parametrize("condition", ["md5(s) = 'x'", "s < 'm' AND s > 'n'", "length(s) < 0"])
def test_what_is_not_followed_is_undecided(world: World, condition: str) -> None:
    filters = TableFilters(world.session, world.relation, [world.filter(condition)])
    assert isinstance(filters.coverage(0).true, Undecided)


def test_a_filter_of_very_many_parts_is_answered_or_undecided(world: World) -> None:
    many = " OR ".join(f"(a = {number} AND small <> {number})" for number in range(3000))
    filters = TableFilters(world.session, world.relation, [world.filter(many)])
    assert isinstance(filters.coverage(0).not_true, Witness | Undecided)


DEFINED = """CREATE TYPE status AS ENUM ('new', 'paid');
    CREATE DOMAIN amount AS integer NOT NULL CHECK (VALUE > 0);
    CREATE DOMAIN digit AS amount CHECK (VALUE < 10);
    CREATE DOMAIN fresh AS integer;
    ALTER DOMAIN fresh ADD CONSTRAINT positive CHECK (VALUE > 0) NOT VALID;
    CREATE TABLE t (id integer PRIMARY KEY, s status, cents amount NOT NULL, d digit, f fresh,
        label text GENERATED ALWAYS AS (CASE s WHEN 'new' THEN 'new' WHEN 'paid' THEN 'paid' END) STORED,
        number integer GENERATED ALWAYS AS (cents::integer) STORED, digits integer GENERATED ALWAYS AS (d) STORED,
        size text NOT NULL GENERATED ALWAYS AS (CASE WHEN id > 100 THEN 'big' ELSE 'small' END) STORED,
        large boolean GENERATED ALWAYS AS (id > 100) STORED, fs integer GENERATED ALWAYS AS (f) STORED);"""


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("label = 'lost'", "never"),
        ("label IN ('new', 'paid')", "neither"),
        ("label IN ('new', 'paid') OR label IS NULL", "always"),
        ("number > 0", "always"),
        ("digits > 20", "never"),
        ("digits IS NULL", "neither"),
        ("fs < 0", "neither"),
        ("size = 'medium'", "never"),
        ("size IN ('big', 'small')", "always"),
        ("large AND id < 50", "never"),
    ],
)
def test_generated_columns_have_the_values_of_their_expressions(condition: str, expected: str) -> None:
    assert coverage(World(DEFINED, 17), condition) == expected


def test_the_example_row_of_a_generated_column_has_its_value() -> None:
    world = World("CREATE TABLE t (a integer, total integer GENERATED ALWAYS AS (a * 2) STORED)")
    true_rows = TableFilters(world.session, world.relation, [world.filter("total > 10")]).coverage(0).true
    assert isinstance(true_rows, Witness)
    assert true_rows.row[2] == 2 * true_rows.row[1] > 10
